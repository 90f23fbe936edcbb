package jsonschema

import "github.com/agentscript/agentscript/generable"

// keyword is the schema that has one keyword.
func keyword(name string, v generable.Value) *generable.Map {
	m := generable.NewMap(1)
	m.Set(name, v)
	return m
}

func without(m *generable.Map, keys ...string) *generable.Map {
	out := generable.NewMap(m.Len())
next:
	for i := range m.Len() {
		k, v := m.At(i)
		for _, key := range keys {
			if k == key {
				continue next
			}
		}
		out.Set(k, v)
	}
	return out
}

// allOf is the schema of what fits both.
func allOf(x, y generable.Value) generable.Value {
	if v, one := eitherOf(x, y); one {
		return v
	}
	return keyword("allOf", generable.ListOf(x, y)).Value()
}

// eitherOf is the one of two schemas that says what fits both, if one does: true and {} change
// nothing; false leaves nothing.
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

// valuesOf is the list of the values of a map.
func valuesOf(m *generable.Map) generable.Value {
	out := make([]generable.Value, m.Len())
	for i := range out {
		_, out[i] = m.At(i)
	}
	return generable.NewList(out).Value()
}

// commonTypes are the type names in both, null when there are none; an integer is a number.
func commonTypes(x, y generable.Value) generable.Value {
	names := make(map[string]generable.Value)
	for _, b := range listed(y) {
		s, _ := b.AsStr()
		names[s] = b
	}
	var out []generable.Value
	seen := make(map[string]bool)
	for _, a := range listed(x) {
		s, _ := a.AsStr()
		if _, both := names[s]; !both {
			switch _, number := names["number"]; {
			case s == "integer" && number:
			case s == "number" && names["integer"].Kind() == generable.Str:
				s, a = "integer", names["integer"]
			default:
				continue
			}
		}
		if !seen[s] {
			seen[s] = true
			out = append(out, a)
		}
	}
	switch len(out) {
	case 0:
		return generable.Value{}
	case 1:
		return out[0]
	}
	return generable.ListOf(out...)
}

func listed(v generable.Value) []generable.Value {
	if l, ok := v.AsList(); ok {
		return l.Items()
	}
	return []generable.Value{v}
}

// commonItems are the values in both.
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

// appendValueKey appends what equal values have in common.
func appendValueKey(b []byte, v generable.Value) []byte {
	if w, ok := in.Whole(v); ok {
		v = w
	}
	return generable.AppendCanon(b, v)
}

// outer is the greater of two bounds, with sign -1 the smaller.
func outer(x, y generable.Value, sign float64) generable.Value {
	a, ok1 := x.AsNumber()
	b, ok2 := y.AsNumber()
	if ok1 && (!ok2 || a*sign > b*sign) {
		return x
	}
	return y
}
