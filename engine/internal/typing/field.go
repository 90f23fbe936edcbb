package typing

import (
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// FieldType returns the type of a field of t: of a schema, of a dict's entries, or of a union all of
// whose members have it. When one lacks it, that one is returned.
func FieldType(t *generable.Type, name string) (typ, lacks *generable.Type) {
	t = t.Deref()
	switch t.Kind {
	case generable.AnyType, generable.ErrorType:
		return generable.AnyT, nil
	case generable.DictType:
		return t.Elem, nil
	case generable.RecordType:
		if i := t.FieldIndex(name); i >= 0 {
			return t.Fields[i].Type, nil
		}
	case generable.UnionType, generable.OneOfType:
		var types []*generable.Type
		for _, v := range Cases(t) {
			f, lacks := FieldType(v, name)
			if lacks != nil {
				return nil, lacks
			}
			types = append(types, f)
		}
		if types != nil {
			return generable.OneOf(types...), nil
		}
	}
	return nil, t
}

// Field returns a field of a record or an entry of a map.
func Field(v generable.Value, name string) (generable.Value, bool) {
	if r, ok := v.AsRecord(); ok {
		return r.Get(name)
	}
	if m, ok := v.AsMap(); ok {
		return m.Get(name)
	}
	return generable.Value{}, false
}

// Fields iterates over the fields of a record or the entries of a map.
func Fields(v generable.Value) func(func(string, generable.Value) bool) {
	return func(yield func(string, generable.Value) bool) {
		if r, ok := v.AsRecord(); ok {
			for i, f := range r.Type().Fields {
				if !yield(f.Name, r.At(i)) {
					return
				}
			}
		}
		if m, ok := v.AsMap(); ok {
			for i := range m.Len() {
				if key, field := m.At(i); !yield(key, field) {
					return
				}
			}
		}
	}
}

// Rebuilt is a list with each of its items as part gives it, or a map of what part gives of the fields of a
// record or the entries of a map; any other value stays as it is.
func Rebuilt(v generable.Value, part func(generable.Value) generable.Value) generable.Value {
	if l, ok := v.AsList(); ok {
		items := make([]generable.Value, l.Len())
		for i := range items {
			items[i] = part(l.At(i))
		}
		return generable.NewList(items).Value()
	}
	if !HasFields(v) {
		return v
	}
	out := generable.NewMap(8)
	for key, item := range Fields(v) {
		out.Set(key, part(item))
	}
	return out.Value()
}

// HasFields reports whether a value is a record or a map.
func HasFields(v generable.Value) bool {
	_, record := v.AsRecord()
	_, entries := v.AsMap()
	return record || entries
}

// FieldHelp proposes fields of a schema in the place of one that it lacks.
func FieldHelp(d *diag.Diagnostic, name string, t *generable.Type, more string) {
	if hint := diag.DidYouMean(name, t.FieldNames()); hint != "" {
		d.Helpf("%s", hint)
		return
	}
	names := "it has no fields"
	if len(t.Fields) > 0 {
		names = "its fields are " + strings.Join(t.FieldNames(), ", ")
	}
	d.Helpf("%s%s", names, more)
}

// Routes writes the routes that a branch over t needs, the first few of them.
func Routes(t *generable.Type) string {
	const most = 4
	routes := text.Each(Keys(Cases(t)), func(key string) string { return key + ": handler" })
	if len(routes) > most {
		routes = append(routes[:most], "...")
	}
	return strings.Join(routes, ", ")
}
