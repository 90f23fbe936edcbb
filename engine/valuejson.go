package engine

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/internal/text"
)

// The typed form of a value is JSON that reads back as the same value, numbers, the order of maps and
// the schemas of records included. It is what generable.AppendJSON writes, with two differences: a
// record is {"$record": the ID of its schema, "$fields": its fields}, and a map with a key that begins
// with $ is {"$map": its entries}.
const (
	recordKey = "$record"
	fieldsKey = "$fields"
	mapKey    = "$map"
)

// maxTypedDepth bounds how deep the typed form of a value is nested: within what the decoder reads.
const maxTypedDepth = 500

// Types finds a schema by its ID. It returns nil when there is none.
type Types func(id string) *generable.Type

// TypesOf finds the schemas that the given types are made of.
func TypesOf(types ...*generable.Type) Types {
	known := map[string]*generable.Type{}
	for _, t := range types {
		generable.Walk(t, func(t *generable.Type) bool {
			if t.Kind == generable.RecordType {
				known[t.ID()] = t
			}
			return true
		})
	}
	return func(id string) *generable.Type { return known[id] }
}

// appendTyped appends the typed form of v. What cannot be written completely is an error: text that
// is not UTF-8, and what is nested too deep.
func appendTyped(b []byte, v generable.Value, depth int) ([]byte, error) {
	if depth < 0 {
		return b, fmt.Errorf("the value is nested deeper than %d", maxTypedDepth)
	}
	if s, ok := v.AsStr(); ok {
		return appendText(b, s)
	}
	if l, ok := v.AsList(); ok {
		b = append(b, '[')
		for i, item := range l.Items() {
			var err error
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendTyped(b, item, depth-1); err != nil {
				return b, err
			}
		}
		return append(b, ']'), nil
	}
	if m, ok := v.AsMap(); ok {
		return appendMap(b, m, depth)
	}
	if r, ok := v.AsRecord(); ok {
		return appendRecord(b, r, depth)
	}
	return generable.AppendJSON(b, v, nil), nil
}

func appendMap(b []byte, m *generable.Map, depth int) (_ []byte, err error) {
	ends := "}"
	for _, k := range m.Keys() {
		if strings.HasPrefix(k, "$") {
			b, ends = append(b, `{"`+mapKey+`":`...), "}}"
			depth-- // it takes two levels, as a record does
			break
		}
	}
	b = append(b, '{')
	for i := range m.Len() {
		k, v := m.At(i)
		if b, err = appendEntry(b, i == 0, k, v, depth); err != nil {
			return b, err
		}
	}
	return append(b, ends...), nil
}

func appendRecord(b []byte, r *generable.Record, depth int) (_ []byte, err error) {
	t := r.Type()
	if b, err = appendText(append(b, `{"`+recordKey+`":`...), t.ID()); err != nil {
		return b, err
	}
	b = append(b, `,"`+fieldsKey+`":{`...)
	first := true
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Omit && r.At(i) == f.Default { // it was not given, which is not the same as None
			continue
		}
		if b, err = appendEntry(b, first, f.Name, r.At(i), depth-1); err != nil {
			return b, err
		}
		first = false
	}
	return append(b, "}}"...), nil
}

func appendEntry(b []byte, first bool, key string, v generable.Value, depth int) ([]byte, error) {
	if !first {
		b = append(b, ',')
	}
	b, err := appendText(b, key)
	if err != nil {
		return b, err
	}
	return appendTyped(append(b, ':'), v, depth-1)
}

func appendText(b []byte, s string) ([]byte, error) {
	if !utf8.ValidString(s) {
		return b, fmt.Errorf("%q is not UTF-8", text.Clip(s, MaxShown))
	}
	return text.AppendQuoted(b, s), nil
}

// readTyped reads what appendTyped wrote. Schemas are nominal: one that types does not know is an
// error, and so is a record that does not conform to its schema. A nil types knows none.
func readTyped(data []byte, types Types) (generable.Value, error) {
	res := lenient.Decode(generable.AnyT, string(data), generable.Options{Level: generable.Strict})
	if !res.OK {
		return generable.Value{}, res.Errors
	}
	return types.restore(res.Value)
}

// restore makes the maps that stand for records, or for maps with unusual keys, what they stand for.
func (t Types) restore(v generable.Value) (generable.Value, error) {
	if l, ok := v.AsList(); ok {
		items := make([]generable.Value, l.Len())
		for i, item := range l.Items() {
			var err error
			if items[i], err = t.restore(item); err != nil {
				return v, err
			}
		}
		return generable.NewList(items).Value(), nil
	}
	m, ok := v.AsMap()
	if !ok {
		return v, nil
	}
	if m.Len() == 0 || !strings.HasPrefix(m.Keys()[0], "$") {
		return t.entries(m, false)
	}
	if inner, ok := only(m, mapKey); ok && m.Len() == 1 {
		return t.entries(inner, true)
	}
	if fields, ok := only(m, fieldsKey); ok && m.Len() == 2 {
		id, _ := m.Get(recordKey)
		if id, ok := id.AsStr(); ok {
			return t.record(id, fields)
		}
	}
	return v, fmt.Errorf("%q is no key of a map", m.Keys()[0])
}

// only returns the map under a key.
func only(m *generable.Map, key string) (*generable.Map, bool) {
	v, _ := m.Get(key)
	return v.AsMap()
}

func (t Types) entries(m *generable.Map, dollars bool) (generable.Value, error) {
	out := generable.NewMap(m.Len())
	for i := range m.Len() {
		k, v := m.At(i)
		if !dollars && strings.HasPrefix(k, "$") {
			return generable.Value{}, fmt.Errorf("%q is no key of a map", k)
		}
		v, err := t.restore(v)
		if err != nil {
			return v, err
		}
		out.Set(k, v)
	}
	return out.Value(), nil
}

func (t Types) record(id string, fields *generable.Map) (generable.Value, error) {
	var schema *generable.Type
	if t != nil {
		schema = t(id)
	}
	if schema == nil || schema.Kind != generable.RecordType {
		return generable.Value{}, fmt.Errorf("the schema %s is not known", text.Clip(id, MaxShown))
	}
	given, err := t.entries(fields, true)
	if err != nil {
		return given, err
	}
	m, _ := given.AsMap()
	vals, found := make([]generable.Value, len(schema.Fields)), 0
	for i := range schema.Fields {
		f := &schema.Fields[i]
		v, ok := m.Get(f.Name)
		switch {
		case ok:
			found++
			if errs := f.Type.Conforms(v); errs != nil {
				return v, fmt.Errorf("the field %s of a %s: %w", f.Name, schema.Name, errs)
			}
		case f.Omit:
			v = f.Default
		default:
			return v, fmt.Errorf("the field %s of a %s is missing", f.Name, schema.Name)
		}
		vals[i] = v
	}
	if found < m.Len() {
		return given, fmt.Errorf("a %s has a field that its schema lacks", schema.Name)
	}
	return generable.NewRecord(schema, vals).Value(), nil
}
