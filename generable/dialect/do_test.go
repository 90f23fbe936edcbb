package dialect

import (
	"fmt"
	"strconv"

	"github.com/agentscript/agentscript/generable"
)

// do returns the wire form of a value of the natural type, made of lists and dicts: what a model should have written
// for it. It fails for values of other types.
func do(w *Wire, v generable.Value) (generable.Value, error) {
	if errs := w.Natural.Conforms(v); errs != nil {
		return generable.Value{}, errs
	}
	d := &doer{}
	out := d.value(w.root, v)
	return out, d.bad
}

// doer writes values in their wire form.
type doer struct{ bad error }

func (d *doer) value(s *shape, v generable.Value) generable.Value {
	switch s.form {
	case wrapped:
		return pair(valueKey, d.value(s.items, v))
	case paired:
		return d.pairs(s, v)
	case entered:
		return pair(entriesKey, d.pairs(s, v))
	case encoded:
		return generable.StrOf(generable.JSON(v, s.full))
	case boxed:
		return pair(jsonKey, generable.StrOf(generable.JSON(v, s.full)))
	case tupled:
		list, _ := v.AsList()
		m := generable.NewMap(len(s.parts))
		for i, p := range s.parts {
			m.Set(strconv.Itoa(i), d.value(p, list.At(i)))
		}
		return m.Value()
	case digits:
		return generable.StrOf(generable.JSON(v, nil))
	case slotted:
		m := generable.NewMap(len(s.parts))
		of := d.part(s, v)
		for i, p := range s.parts {
			items := generable.ListOf()
			if p == of {
				items = generable.ListOf(d.value(p, v))
			}
			m.Set(slotName(s, i), items)
		}
		return m.Value()
	}
	switch s.nat.Kind {
	case generable.ListType:
		list, _ := v.AsList()
		items := make([]generable.Value, list.Len())
		for i := range items {
			items[i] = d.value(s.item(i), list.At(i))
		}
		return generable.NewList(items).Value()
	case generable.DictType:
		m, _ := v.AsMap()
		out := generable.NewMap(m.Len())
		for i := range m.Len() {
			key, item := m.At(i)
			out.Set(key, d.value(s.items, item))
		}
		return out.Value()
	case generable.RecordType:
		return d.record(s, v)
	case generable.UnionType, generable.OneOfType:
		if p := d.part(s, v); p != nil {
			return d.value(p, v)
		}
		return generable.Value{}
	case generable.AnyType:
		return generable.Plain(v, nil)
	}
	return v
}

// part finds the variant that v belongs to.
func (d *doer) part(s *shape, v generable.Value) *shape {
	for _, p := range s.parts {
		if p.full.Conforms(v) == nil {
			return p
		}
	}
	if d.bad == nil {
		d.bad = fmt.Errorf("a value of %s belongs to none of its variants", s.nat)
	}
	return nil
}

func (d *doer) pairs(s *shape, v generable.Value) generable.Value {
	m, _ := v.AsMap()
	items := make([]generable.Value, m.Len())
	for i := range items {
		key, item := m.At(i)
		p := generable.NewMap(2)
		p.Set(pairKey, generable.StrOf(key))
		p.Set(valueKey, d.value(s.items, item))
		items[i] = p.Value()
	}
	return generable.NewList(items).Value()
}

func (d *doer) record(s *shape, v generable.Value) generable.Value {
	r, _ := v.AsRecord()
	out := generable.NewMap(len(s.fields) + 1)
	if s.tag != "" {
		out.Set(s.tag, generable.StrOf(s.nat.Name))
	}
	for i := range s.fields {
		f, v := &s.fields[i], r.At(i)
		switch {
		case f.nat.Omit && (v == f.nat.Default || v.IsNull() && in.NullMeansAbsent(f.nat)):
			if !f.presence.leaves() {
				out.Set(f.name, f.presence.lack())
			}
		case f.presence == omitted && v.IsNull() && f.acceptsNull():
		case f.presence == listed && v.IsNull() && f.nat.Default.IsNull():
			out.Set(f.name, generable.ListOf())
		case f.presence == listed:
			out.Set(f.name, generable.ListOf(d.value(f.shape, v)))
		case f.presence == blank:
			out.Set(f.name, generable.StrOf(generable.JSON(v, f.nat.Type)))
		default:
			out.Set(f.name, d.value(f.shape, v))
		}
	}
	return out.Value()
}

func pair(key string, v generable.Value) generable.Value {
	m := generable.NewMap(1)
	m.Set(key, v)
	return m.Value()
}

// lack returns what represents a field without a value.
func (p presence) lack() generable.Value {
	switch p {
	case markedAbsent:
		return pair(absentKey, generable.BoolOf(true))
	case listed:
		return generable.ListOf()
	case blank:
		return generable.StrOf("")
	}
	return generable.Value{}
}
