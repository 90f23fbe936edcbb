package codec

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Encoder writes types and values that share a table. It is not safe for concurrent use.
type Encoder struct {
	types []entry
	index map[*generable.Type]int // open while its parts are written
	later []link
	depth int
}

// open marks a type whose parts are being written.
const open = -1

// link is a deferred edge to a type that may lead back.
type link struct {
	from int
	to   *generable.Type
	ref  bool // from is a reference to it, else a variant of it
}

// NewEncoder returns an Encoder with an empty table.
func NewEncoder() *Encoder { return &Encoder{index: make(map[*generable.Type]int)} }

// Table returns the types that the encoder has met, with all their parts.
func (e *Encoder) Table() (json.RawMessage, error) {
	for len(e.later) > 0 {
		l := e.later[0]
		e.later = e.later[1:]
		to, err := e.Type(l.to)
		if err != nil {
			return nil, err
		}
		if l.ref {
			e.types[l.from].To = &to
		} else {
			e.types[l.from].Tagged = &to
		}
	}
	if !text.AllValid(e.types) {
		return nil, errors.New("a type holds a text that is not UTF-8")
	}
	return json.Marshal(e.types)
}

// Type returns the index of a type in the table.
func (e *Encoder) Type(t *generable.Type) (int, error) {
	if t == nil {
		return 0, errors.New("a type is made of none")
	}
	if i, ok := e.index[t]; ok {
		if i == open {
			return 0, fmt.Errorf("%s contains itself without a reference", t.Name)
		}
		return i, nil
	}
	if e.depth++; t.TooDeep() || e.depth > maxNested || len(e.index) >= maxTypes {
		return 0, fmt.Errorf("a type is nested deeper than %d, or made of more than %d", generable.MaxTypeDepth, maxTypes)
	}
	e.index[t] = open
	out, err := e.entry(t)
	if err != nil {
		return 0, err
	}
	e.depth--
	i := len(e.types)
	e.types, e.index[t] = append(e.types, out), i
	if t.Kind == generable.RefType {
		to := in.Resolved(t)
		if to.Kind == generable.RefType {
			return 0, fmt.Errorf("the reference to %s is not bound", t.Name)
		}
		e.later = append(e.later, link{from: i, to: to, ref: true})
	} else if _, union := in.Hidden(t); union.Load() != nil {
		e.later = append(e.later, link{from: i, to: union.Load()})
	}
	return i, nil
}

func (e *Encoder) entry(t *generable.Type) (out entry, err error) {
	if int(t.Kind) >= len(kinds) {
		return out, errors.New("a type of no known kind")
	}
	out = entry{Kind: kinds[t.Kind], Name: t.Name, Doc: t.Doc, Description: t.Description, Tag: t.Tag, Values: t.Values, Stream: t.Stream}
	out.Foreign, out.Open = in.Foreign(t)
	if t.Elem != nil {
		elem, err := e.Type(t.Elem)
		if err != nil {
			return out, err
		}
		out.Elem = &elem
	}
	for _, v := range t.Variants {
		i, err := e.Type(v)
		if err != nil {
			return out, err
		}
		out.Variants = append(out.Variants, i)
	}
	if out.Limits, err = e.limits(t.Limits); err != nil {
		return out, err
	}
	for _, n := range t.Notes {
		out.Notes = append(out.Notes, note(n))
	}
	for i := range t.Fields {
		f, err := e.field(&t.Fields[i])
		if err != nil {
			return out, err
		}
		out.Fields = append(out.Fields, f)
	}
	return out, nil
}

func (e *Encoder) field(f *generable.Field) (out field, err error) {
	out = field{Name: f.Name, Guide: f.Guide, Optional: f.Optional, Omit: f.Omit, Explicit: f.Explicit,
		Alias: f.Alias, AliasOnly: f.AliasOnly, Dedent: f.Dedent, Stream: f.Stream}
	if out.Type, err = e.Type(f.Type); err != nil {
		return out, err
	}
	if out.Limits, err = e.limits(f.Limits); err != nil {
		return out, err
	}
	if !f.Default.IsNull() || in.IsAbsent(f.Default) {
		if out.Default, err = e.Value(f.Default); err != nil {
			return out, err
		}
	}
	for _, example := range f.Examples {
		v, err := e.Value(example)
		if err != nil {
			return out, err
		}
		out.Examples = append(out.Examples, v)
	}
	return out, nil
}

func (e *Encoder) limits(l *generable.Limits) (out *limits, err error) {
	if l == nil {
		return nil, nil
	}
	out = &limits{Ge: l.Ge, Le: l.Le, Gt: l.Gt, Lt: l.Lt, MinLen: l.MinLen, MaxLen: l.MaxLen, MultipleOf: l.MultipleOf,
		Unique: l.Unique, Pattern: l.Pattern, Format: l.Format}
	if l.Check != nil {
		out.Check = l.Check.Says
	}
	if l.Only != nil {
		out.Only, err = e.Value(l.Only.Value())
	}
	return out, err
}

// Value returns a value as JSON and adds the schemas of its records to the table.
func (e *Encoder) Value(v generable.Value) (json.RawMessage, error) {
	return e.value(nil, v, maxNested)
}

func (e *Encoder) value(b []byte, v generable.Value, depth int) (_ []byte, err error) {
	if depth == 0 {
		return nil, fmt.Errorf("a value is nested deeper than %d", maxNested)
	}
	if l, ok := v.AsList(); ok {
		return e.values(b, l.Items(), depth)
	}
	if m, ok := v.AsMap(); ok {
		flat := make([]generable.Value, 0, 2*m.Len())
		for i := range m.Len() {
			key, item := m.At(i)
			flat = append(flat, generable.StrOf(key), item)
		}
		b, err = e.values(append(b, `{"map":`...), flat, depth)
		return append(b, '}'), err
	}
	if r, ok := v.AsRecord(); ok {
		i, err := e.Type(r.Type())
		if err != nil {
			return nil, err
		}
		vals := make([]generable.Value, len(r.Type().Fields))
		for i := range vals {
			vals[i] = r.At(i)
		}
		b, err = e.values(fmt.Appendf(b, `{"schema":%d,"fields":`, i), vals, depth)
		return append(b, '}'), err
	}
	if in.IsAbsent(v) {
		return append(b, `{"absent":true}`...), nil
	}
	if s, ok := v.AsStr(); ok && !text.AllValid(s) {
		return nil, fmt.Errorf("a value holds %.200q, which is not UTF-8", s)
	}
	return generable.AppendJSON(b, v, nil), nil
}

func (e *Encoder) values(b []byte, items []generable.Value, depth int) (_ []byte, err error) {
	b = append(b, '[')
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = e.value(b, item, depth-1); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}
