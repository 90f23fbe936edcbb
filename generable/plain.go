package generable

import "github.com/agentscript/agentscript/internal/text"

// Plain returns v as dicts, lists and scalars: what [AppendJSON] writes, as a value. Where t says
// that a declared union is expected, the discriminator comes first. A nil t means that nothing is
// known.
func Plain(v Value, t *Type) Value {
	switch v.kind {
	case ListKind:
		elem := elemFor(t, ListType, v)
		items := (*List)(v.p).Items()
		out := make([]Value, len(items))
		for i, item := range items {
			out[i] = Plain(item, elem)
		}
		return NewList(out).Value()
	case MapKind:
		elem := elemFor(t, DictType, v)
		m := (*Map)(v.p)
		out := NewMap(m.Len())
		for i, key := range m.keys {
			out.Set(key, Plain(m.val(i), elem))
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
			out.Set(r.typ.Fields[i].Name, Plain(r.vals[i], r.typ.Fields[i].Type))
		}
		return out.Value()
	}
	return v
}

// appendIndented appends v, which holds no records, as JSON indented by two spaces.
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
