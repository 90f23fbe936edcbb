// Package typing answers questions about types that conditions, declarations and flows share: the cases of a type, its
// fields, and what is proven about a value before a run.
package typing

import (
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Untyped reports whether a type says nothing about its values: it is any, or that of a failed node.
func Untyped(t *generable.Type) bool {
	k := t.Deref().Kind
	return k == generable.AnyType || k == generable.ErrorType
}

// Proven reports whether every value of type from is one of type to, so that a run has nothing left to check.
func Proven(from, to *generable.Type) bool {
	return generable.Assignable(from, to) == nil && !generable.Unchecked(from, to)
}

// IsNumber reports whether values of a type are numbers.
func IsNumber(t *generable.Type) bool {
	return t.Kind == generable.IntType || t.Kind == generable.FloatType
}

// Cases returns the types that routing distinguishes in a type: variants, members, None.
func Cases(t *generable.Type) []*generable.Type {
	switch t = t.Deref(); t.Kind {
	case generable.OneOfType:
		var out []*generable.Type
		for _, v := range t.Variants {
			out = append(out, Cases(v)...)
		}
		return out
	case generable.UnionType:
		var out []*generable.Type
		for _, v := range t.Variants {
			// A reference in a union may refer to a union, even to itself. That is reported where the type is declared.
			if v = v.Deref(); v.Kind != generable.UnionType {
				out = append(out, v)
			}
		}
		return out
	}
	return []*generable.Type{t}
}

// Values returns the values of a case as branch keys, nil if it has too many to list.
func Values(c *generable.Type) []string {
	switch c.Kind {
	case generable.BoolType:
		return []string{"True", "False"}
	case generable.EnumType:
		return text.Each(c.Values, text.Quote)
	}
	return nil
}

// Keys returns the branch keys that the given cases can have.
func Keys(cases []*generable.Type) []string {
	var keys []string
	for _, c := range cases {
		if values := Values(c); values != nil {
			keys = append(keys, values...)
		} else {
			keys = append(keys, c.String())
		}
	}
	return keys
}

// maxListed is how many cases a message lists. A type may have any number.
const maxListed = 12

// Listed lists cases for a message: the first ones if there are many.
func Listed(names []string) string {
	if len(names) <= maxListed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), len(names)-maxListed)
}

// Literal writes a value in the syntax of scripts.
func Literal(v generable.Value) string {
	switch v.Kind() {
	case generable.Null:
		return "None"
	case generable.Bool:
		if b, _ := v.AsBool(); b {
			return "True"
		}
		return "False"
	}
	return generable.JSON(v, nil)
}

// FieldType returns the type of a field of t: of a schema, of a dict's entries, or of a union whose members all have
// it. If a member lacks it, FieldType returns that member as lacks.
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

// Rebuilt applies part to each item of a list, each field of a record or each entry of a map, and returns the result as
// a list or a map. Any other value is returned unchanged.
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

// FieldHelp proposes fields of a schema in place of an unknown one.
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

// Routes writes the routes that a branch over t needs, at most the first few.
func Routes(t *generable.Type) string {
	const most = 4
	routes := text.Each(Keys(Cases(t)), func(key string) string { return key + ": handler" })
	if len(routes) > most {
		routes = append(routes[:most], "...")
	}
	return strings.Join(routes, ", ")
}
