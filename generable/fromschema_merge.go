package generable

func without(m *Map, keys ...string) *Map {
	out := NewMap(m.Len())
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

// allOf is the schema of what fits both. true and {} change nothing; false leaves nothing.
func allOf(x, y Value) Value {
	trivial := func(v Value) bool {
		if m, ok := v.AsMap(); ok {
			return m.Len() == 0
		}
		return v.kind == Bool && v.n != 0
	}
	switch {
	case trivial(x) || y.kind == Bool && y.n == 0:
		return y
	case trivial(y) || x.kind == Bool && x.n == 0:
		return x
	}
	return object("allOf", ListOf(x, y)).Value()
}

// commonTypes are the type names in both, null when there are none; an integer is a number.
func commonTypes(x, y Value) Value {
	names := make(map[string]Value)
	for _, b := range listed(y) {
		s, _ := b.AsStr()
		names[s] = b
	}
	var out []Value
	seen := make(map[string]bool)
	for _, a := range listed(x) {
		s, _ := a.AsStr()
		if _, both := names[s]; !both {
			switch _, number := names["number"]; {
			case s == "integer" && number:
			case s == "number" && names["integer"].kind == Str:
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
		return Value{}
	case 1:
		return out[0]
	}
	return ListOf(out...)
}

func listed(v Value) []Value {
	if l, ok := v.AsList(); ok {
		return l.Items()
	}
	return []Value{v}
}

// commonItems are the values in both.
func commonItems(x, y Value) Value {
	both := make(map[string]bool)
	var b []byte
	for _, v := range listed(y) {
		b = appendValueKey(b[:0], v)
		both[string(b)] = true
	}
	var out []Value
	for _, v := range listed(x) {
		if b = appendValueKey(b[:0], v); both[string(b)] {
			out = append(out, v)
		}
	}
	return ListOf(out...)
}

// appendValueKey appends what equal values have in common.
func appendValueKey(b []byte, v Value) []byte {
	if w, ok := exactInt(v); ok {
		v = w
	}
	return AppendCanon(b, v)
}

// outer is the greater of two bounds, with sign -1 the smaller.
func outer(x, y Value, sign float64) Value {
	a, ok1 := x.AsNumber()
	b, ok2 := y.AsNumber()
	if ok1 && (!ok2 || a*sign > b*sign) {
		return x
	}
	return y
}
