package jsonschema

import (
	"slices"

	"github.com/agentscript/agentscript/generable"
)

func without(m *generable.Map, keys ...string) *generable.Map {
	out := generable.NewMap(m.Len())
	for k, v := range m.All() {
		if !slices.Contains(keys, k) {
			out.Set(k, v)
		}
	}
	return out
}

// hasAny reports whether a schema has one of the keywords.
func hasAny(m *generable.Map, keys ...string) bool {
	return slices.ContainsFunc(m.Keys(), func(k string) bool { return slices.Contains(keys, k) })
}

// listAt returns the list under a keyword, if it exists.
func listAt(m *generable.Map, key string) ([]generable.Value, bool) {
	v, _ := m.Get(key)
	if list, ok := v.AsList(); ok {
		return list.Items(), true
	}
	return nil, false
}

// eitherOf returns the one of two schemas that covers both, if one does: true and {} add nothing; false excludes
// everything.
func eitherOf(x, y generable.Value) (generable.Value, bool) {
	trivial := func(v generable.Value) bool {
		if m, ok := v.AsMap(); ok {
			return m.Len() == 0
		}
		return isBool(v, true)
	}
	switch {
	case trivial(x) || isBool(y, false):
		return y, true
	case trivial(y) || isBool(x, false):
		return x, true
	}
	return generable.Value{}, false
}

// hasMembers reports whether v is an object with members.
func hasMembers(v generable.Value) bool {
	m, ok := v.AsMap()
	return ok && m.Len() > 0
}

// valuesOf lists the values of a map.
func valuesOf(m *generable.Map) []generable.Value {
	var out []generable.Value
	for _, v := range m.All() {
		out = append(out, v)
	}
	return out
}

// commonTypes returns the type names in both, or null without any; an integer is a number.
func commonTypes(x, y generable.Value) generable.Value {
	theirs := kindsIn(y)
	var out []string
	for _, kind := range kindsIn(x) {
		if kind == "number" && !slices.Contains(theirs, kind) {
			kind = "integer"
		}
		if (slices.Contains(theirs, kind) || kind == "integer" && slices.Contains(theirs, "number")) && !slices.Contains(out, kind) {
			out = append(out, kind)
		}
	}
	switch len(out) {
	case 0:
		return generable.Value{}
	case 1:
		return generable.StrOf(out[0])
	}
	return in.Texts(out)
}

func listed(v generable.Value) []generable.Value {
	if l, ok := v.AsList(); ok {
		return l.Items()
	}
	return []generable.Value{v}
}

// commonItems returns the values in both.
func commonItems(x, y generable.Value) generable.Value {
	both := make(map[string]bool)
	var b []byte
	for _, v := range listed(y) {
		b = appendValueKey(b[:0], v)
		both[string(b)] = true
	}
	var out []generable.Value
	for _, v := range listed(x) {
		if b = appendValueKey(b[:0], v); both[string(b)] {
			out = append(out, v)
		}
	}
	return generable.ListOf(out...)
}

// appendValueKey appends a key that equal values share.
func appendValueKey(b []byte, v generable.Value) []byte {
	if w, ok := in.Whole(v); ok {
		v = w
	}
	return generable.AppendCanon(b, v)
}

// outer returns the greater of two bounds, or with sign -1 the smaller.
func outer(x, y generable.Value, sign float64) generable.Value {
	a, ok1 := x.AsNumber()
	b, ok2 := y.AsNumber()
	if ok1 && (!ok2 || a*sign > b*sign) {
		return x
	}
	return y
}
