package possible

import (
	"maps"
	"slices"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/generable"
)

// Fields holds what is known about the fields of an instance beyond their types, for example that an optional one is
// set. An instance never changes, and Fields is immutable.
type Fields map[string]*Value

// With returns the fields with one more known value.
func (f Fields) With(name string, v *Value) Fields {
	out := maps.Clone(f)
	if out == nil {
		out = Fields{}
	}
	out[name] = v
	return out
}

func (f Fields) same(o Fields) bool {
	return maps.EqualFunc(f, o, func(v, w *Value) bool { return EqualValues(v, w, 0) })
}

// unite returns what is known about both instances.
func (f Fields) unite(o Fields, depth int) Fields {
	var out Fields
	for name, v := range f {
		if w, both := o[name]; both {
			out = out.With(name, Unite(v, w, depth))
		}
	}
	return out
}

// Field returns the possible values of a field of an instance, or nil if it has no such field.
func (a *Alt) Field(name string) *Value {
	if v, ok := a.Fields[name]; ok {
		return v
	}
	i := a.Typ.FieldIndex(name)
	if i < 0 {
		return nil
	}
	return fieldOf(&a.Typ.Fields[i])
}

// Constructed returns an instance of a schema that is constructed with the given fields. The others have their
// defaults.
func Constructed(t *generable.Type, given map[string]*Value) *Value {
	a := Alt{Kind: Record, Typ: t}
	for i := range t.Fields {
		f := &t.Fields[i]
		v := fieldOf(f)
		if len(v.Alts) < 2 {
			continue
		}
		isNone := func(a *Alt) bool { return a.Kind == None }
		g := given[f.Name]
		if g == nil {
			g = OfKind(None)
			if f.Optional && f.Default.Kind() != generable.Null {
				g = OfKind(Boolean) // any value except None
			}
		}
		switch {
		case g.Any: // not known to be None
			a.Fields = a.Fields.With(f.Name, &Value{Any: true, Alts: v.Alts})
		case All(g, isNone):
			a.Fields = a.Fields.With(f.Name, OfKind(None))
		case All(g, func(a *Alt) bool { return !isNone(a) && a.Kind != Unset }):
			if set := v.Without(isNone); set != nil {
				a.Fields = a.Fields.With(f.Name, set)
			}
		}
	}
	return One(a)
}

// tested is the region of an instance that a name held in several regions, so a condition may have tested it.
const tested = -1

// In returns a value whose instances are marked as bound to a name in a region.
func (v *Value) In(region int) *Value {
	if v == nil || !slices.ContainsFunc(v.Alts, func(a Alt) bool { return a.Kind == Record && a.Region != region && a.Region != tested }) {
		return v
	}
	out := &Value{Any: v.Any, Alts: slices.Clone(v.Alts), typ: v.typ}
	for i := range out.Alts {
		if a := &out.Alts[i]; a.Kind == Record {
			a.Region = inRegions(a.Region, region)
		}
	}
	return out
}

func inRegions(a, b int) int {
	if a != 0 && b != 0 && a != b {
		return tested
	}
	return max(a, b)
}

// Frozen returns a value whose containers frozen for the reason from are frozen for the reason to instead; "" means not
// frozen.
func (v *Value) Frozen(from, to string) *Value {
	out := &Value{Any: v.Any, typ: v.typ}
	for _, a := range v.Alts {
		if a.Frozen == from && (a.Kind == List || a.Kind == Dict || a.Kind == Set) {
			a.Frozen = to
		}
		out.add(a, 0)
	}
	return out
}

// Exact returns a value whose alternatives of a kind are all the given one.
func (v *Value) Exact(k Kind, exact starlark.Value) *Value {
	if v == nil || !slices.ContainsFunc(v.Alts, func(a Alt) bool { return a.Kind == k && a.Exact == nil }) {
		return v
	}
	out := &Value{Any: v.Any, Alts: slices.Clone(v.Alts)}
	for i := range out.Alts {
		if out.Alts[i].Kind == k {
			out.Alts[i].Exact = exact
		}
	}
	return out
}

// Marked returns a value that has a path for one of its alternatives.
func (v *Value) Marked(i int, m *Mark) *Value {
	out := &Value{Any: v.Any, Alts: slices.Clone(v.Alts), typ: v.typ}
	out.Alts[i].Mark = m
	return out
}

// NoneOnPath adds a path to None among other alternatives.
func (v *Value) NoneOnPath(m *Mark) *Value {
	if v == nil || v.Any || len(v.Alts) < 2 {
		return v
	}
	for i := range v.Alts {
		if v.Alts[i].Kind != None || v.Alts[i].Mark != nil {
			continue
		}
		out := &Value{Alts: slices.Clone(v.Alts), typ: v.typ}
		out.Alts[i].Mark = m
		return out
	}
	return v
}
