package generable

import (
	"math"
	"math/big"
	"slices"
	"strconv"

	"github.com/agentscript/agentscript/internal/text"
)

// AppendJSON appends v as compact JSON: records in declared order, maps in insertion order, no HTML escaping. Where t
// expects a declared union, the variant's discriminator comes first, so that the text decodes to the same value. A
// nil t means that the context is unknown: there, and where any value is expected, a variant carries the
// discriminator of the union that [Type.TagVariants] was called for.
func AppendJSON(b []byte, v Value, t *Type) []byte {
	switch v.kind {
	case Null:
		return append(b, "null"...)
	case Bool:
		return strconv.AppendBool(b, v.n != 0)
	case Int:
		return strconv.AppendInt(b, int64(v.n), 10)
	case Big:
		return (*big.Int)(v.p).Append(b, 10)
	case Float:
		return appendFloat(b, math.Float64frombits(v.n))
	case Str:
		s, _ := v.AsStr()
		return text.AppendQuoted(b, s)
	case ListKind:
		elem := elemFor(t, ListType, v)
		b = append(b, '[')
		for i, item := range (*List)(v.p).Items() {
			if i > 0 {
				b = append(b, ',')
			}
			b = AppendJSON(b, item, elem)
		}
		return append(b, ']')
	case MapKind:
		m, elem := (*Map)(v.p), elemFor(t, DictType, v)
		b = append(b, '{')
		for i, k := range m.keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(text.AppendQuoted(b, k), ':')
			b = AppendJSON(b, m.val(i), elem)
		}
		return append(b, '}')
	case RecordKind:
		r := (*Record)(v.p)
		b = append(b, '{')
		first := true
		if u := unionFor(t, r.typ); u != nil {
			b = append(text.AppendQuoted(b, u.Tag), ':')
			b = text.AppendQuoted(b, r.typ.Name)
			first = false
		}
		for i := range r.typ.Fields {
			if isAbsent(r.vals[i]) {
				continue
			}
			if !first {
				b = append(b, ',')
			}
			first = false
			f := &r.typ.Fields[i]
			b = append(text.AppendQuoted(b, f.Name), ':')
			b = AppendJSON(b, r.vals[i], f.Type)
		}
		return append(b, '}')
	}
	return b
}

// JSON returns v as compact JSON; see [AppendJSON].
func JSON(v Value, t *Type) string { return string(AppendJSON(nil, v, t)) }

// elemFor finds the element type of the list or dict type that t expects for v, looking into inline unions such as
// list[T] | None. It returns nil when t does not say.
func elemFor(t *Type, kind TypeKind, v Value) *Type {
	if t == nil {
		return nil
	}
	t = t.Deref()
	if t.Kind == kind {
		return t.Elem
	}
	if t.Kind != OneOfType {
		return nil
	}
	var elem *Type
	for _, m := range t.Variants {
		switch m = m.Deref(); {
		case m.Kind != kind:
		case elem == nil:
			elem = m.Elem
		default: // list[A] | list[B]: only the items decide
			return elemByFit(t, kind, v)
		}
	}
	return elem
}

func elemByFit(t *Type, kind TypeKind, v Value) *Type {
	for _, m := range t.Variants {
		if m = m.Deref(); m.Kind == kind && fits(v, m) {
			return m.Elem
		}
	}
	return nil
}

// unionFor finds the declared union, expected by t, that has schema s as a variant.
func unionFor(t, s *Type) *Type {
	if t == nil {
		return s.union.Load()
	}
	switch t = t.Deref(); t.Kind {
	case AnyType:
		return s.union.Load()
	case UnionType:
		for _, v := range t.Variants {
			if Same(v, s) {
				return t
			}
		}
	case OneOfType:
		for _, v := range t.Variants {
			if u := unionFor(v, s); u != nil {
				return u
			}
		}
	}
	return nil
}

// AppendCanon appends a canonical text of v for hashing: equal values have equal bytes, map keys are sorted, records
// carry the identity of their schema. An integer and a float of the same value differ, since their JSON does. The
// text is not JSON.
func AppendCanon(b []byte, v Value) []byte {
	switch v.kind {
	case ListKind:
		b = append(b, '[')
		for _, item := range (*List)(v.p).Items() {
			b = append(AppendCanon(b, item), ',')
		}
		return append(b, ']')
	case MapKind:
		m := (*Map)(v.p)
		keys := slices.Clone(m.keys)
		slices.Sort(keys)
		b = append(b, '{')
		for _, k := range keys {
			b = append(text.AppendQuoted(b, k), ':')
			item, _ := m.Get(k)
			b = append(AppendCanon(b, item), ',')
		}
		return append(b, '}')
	case RecordKind:
		r := (*Record)(v.p)
		b = append(append(b, r.typ.ID()...), '(')
		for _, item := range r.vals {
			b = append(AppendCanon(b, item), ',')
		}
		return append(b, ')')
	case Float:
		if f := math.Float64frombits(v.n); f == 0 {
			return append(b, "0.0"...) // negative zero equals zero
		}
	}
	return AppendJSON(b, v, nil)
}

// appendFloat appends the shortest text that reads back as f, and always as a float.
func appendFloat(b []byte, f float64) []byte {
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	start := len(b)
	b = strconv.AppendFloat(b, f, format, -1, 64)
	if format == 'f' && !slices.Contains(b[start:], '.') {
		b = append(b, ".0"...)
	}
	return b
}

// Plain returns v as dicts, lists and scalars: the value that [AppendJSON] writes.
func Plain(v Value, t *Type) Value { return plain(v, t, func(f *Field) string { return f.Name }) }

// Answer returns v as a model writes it: like [Plain], with each field under its [Field.Key].
func Answer(v Value, t *Type) Value { return plain(v, t, (*Field).Key) }

// Key returns the key under which models write the field: its name or, with AliasOnly, its first alias.
func (f *Field) Key() string {
	if f.AliasOnly && len(f.Alias) > 0 {
		return f.Alias[0]
	}
	return f.Name
}

func plain(v Value, t *Type, key func(*Field) string) Value {
	switch v.kind {
	case ListKind:
		elem := elemFor(t, ListType, v)
		items := (*List)(v.p).Items()
		out := make([]Value, len(items))
		for i, item := range items {
			out[i] = plain(item, elem, key)
		}
		return NewList(out).Value()
	case MapKind:
		elem := elemFor(t, DictType, v)
		m := (*Map)(v.p)
		out := NewMap(m.Len())
		for i, name := range m.keys {
			out.Set(name, plain(m.val(i), elem, key))
		}
		return out.Value()
	case RecordKind:
		r := (*Record)(v.p)
		out := NewMap(len(r.vals) + 1)
		if u := unionFor(t, r.typ); u != nil {
			out.Set(u.Tag, StrOf(r.typ.Name))
		}
		for i := range r.vals {
			if isAbsent(r.vals[i]) {
				continue
			}
			f := &r.typ.Fields[i]
			out.Set(key(f), plain(r.vals[i], f.Type, key))
		}
		return out.Value()
	}
	return v
}

// appendIndented appends v, which must not contain records, as JSON indented by two spaces.
func appendIndented(b []byte, v Value, indent string) []byte {
	const step = "  "
	newline := func(indent string) { b = append(append(b, '\n'), indent...) }
	switch v.kind {
	case ListKind:
		items := (*List)(v.p).Items()
		if len(items) == 0 {
			return append(b, "[]"...)
		}
		b = append(b, '[')
		for i, item := range items {
			if i > 0 {
				b = append(b, ',')
			}
			newline(indent + step)
			b = appendIndented(b, item, indent+step)
		}
		newline(indent)
		return append(b, ']')
	case MapKind:
		m := (*Map)(v.p)
		if m.Len() == 0 {
			return append(b, "{}"...)
		}
		b = append(b, '{')
		for i, key := range m.keys {
			if i > 0 {
				b = append(b, ',')
			}
			newline(indent + step)
			b = append(text.AppendQuoted(b, key), ": "...)
			b = appendIndented(b, m.val(i), indent+step)
		}
		newline(indent)
		return append(b, '}')
	}
	return AppendJSON(b, v, nil)
}
