package generable

import "strconv"

// merged is the schema that m comes to when its references and its allOf are written out: all
// that has to hold, in one object. It is nil, and an error told, when there is no such.
func (im *importer) merged(m *Map, at string) *Map {
	u := im.use(m)
	if u.merged != nil {
		return u.merged
	}
	if u.busy {
		im.fail(at, "a schema that says what fits", "one that leads back to itself", "")
		return nil
	}
	ref, key, isRef := refOf(m)
	all, hasAll := m.Get("allOf")
	if !isRef && !hasAll {
		u.merged = m
		return m
	}
	u.busy = true
	defer func() { u.busy = false }()
	var parts []*Map
	add := func(v Value, at string) bool {
		if b, ok := v.AsBool(); ok {
			if !b {
				im.beyond(at, "a schema that some value fits", "false")
			}
			return true
		}
		part, ok := v.AsMap()
		if !ok {
			im.fail(at, "a schema: an object, true or false", v.TypeName(), "")
			return false
		}
		if part = im.merged(part, at); part == nil {
			return false
		}
		parts = append(parts, part)
		return true
	}
	if isRef {
		target, path, ok := im.resolve(ref, pointer(at, key))
		if !ok || !add(target, path) {
			return nil
		}
	}
	if hasAll {
		list, ok := all.AsList()
		if !ok {
			im.fail(pointer(at, "allOf"), "a list of schemas", all.TypeName(), "")
			return nil
		}
		for i, part := range list.Items() {
			if !add(part, pointer(at, "allOf")+"/"+strconv.Itoa(i)) {
				return nil
			}
		}
	}
	own := NewMap(m.Len())
	for i := range m.Len() {
		if k, v := m.At(i); k != key && k != "allOf" && k != "$defs" && k != "definitions" {
			own.Set(k, v)
		}
	}
	out := NewMap(m.Len())
	for _, part := range append(parts, own) {
		out = im.both(out, part, at)
		if im.work += out.Len(); im.work > maxSchemaNodes {
			im.fail(at, "a schema of at most "+strconv.Itoa(maxSchemaNodes)+" parts", "a larger one", "")
			return nil
		}
	}
	if len(parts) > 1 {
		for _, k := range []string{"title"} { // of one of the parts, not of all together
			if v, has := own.Get(k); has {
				out.Set(k, v)
			} else {
				out = without(out, k)
			}
		}
	}
	u.merged = out
	return out
}

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

// both is the schema of what fits a and b.
func (im *importer) both(a, b *Map, at string) *Map {
	if a.Len() == 0 {
		return b
	}
	out := NewMap(a.Len() + b.Len())
	for i := range a.Len() {
		out.Set(a.At(i))
	}
	for i := range b.Len() {
		key, y := b.At(i)
		x, has := a.Get(key)
		if !has || Equal(x, y) {
			out.Set(key, y)
			continue
		}
		switch key {
		case "properties", "patternProperties":
			out.Set(key, mergeMembers(x, y))
		case "required":
			out.Set(key, mergeTexts(x, y))
		case "type":
			out.Set(key, commonTypes(x, y, func() { im.fail(pointer(at, "type"), "types that agree", JSON(x, nil)+" and "+JSON(y, nil), "") }))
		case "enum":
			out.Set(key, commonItems(x, y))
		case "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties":
			out.Set(key, outer(x, y, 1))
		case "maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties":
			out.Set(key, outer(x, y, -1))
		case "additionalProperties", "items", "propertyNames":
			out.Set(key, allOf(x, y))
		case "anyOf", "oneOf":
			out.Set(key, im.cross(x, y, at))
		case "const":
			im.fail(pointer(at, "const"), "one const", JSON(x, nil)+" and "+JSON(y, nil), "")
		case "pattern", "multipleOf", "prefixItems", "not", "if", "format":
			im.beyond(pointer(at, key), "a single "+key, "two that both have to hold")
			out.Set(key, y)
		default:
			out.Set(key, y)
		}
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

func mergeMembers(x, y Value) Value {
	a, ok1 := x.AsMap()
	b, ok2 := y.AsMap()
	if !ok1 || !ok2 {
		return y
	}
	out := NewMap(a.Len() + b.Len())
	for i := range a.Len() {
		out.Set(a.At(i))
	}
	for i := range b.Len() {
		k, v := b.At(i)
		if have, has := out.Get(k); has && !Equal(have, v) {
			v = allOf(have, v)
		}
		out.Set(k, v)
	}
	return out.Value()
}

func mergeTexts(x, y Value) Value {
	a, ok1 := x.AsList()
	b, ok2 := y.AsList()
	if !ok1 || !ok2 {
		return y
	}
	seen := NewMap(a.Len() + b.Len())
	for _, l := range []*List{a, b} {
		for _, v := range l.Items() {
			s, _ := v.AsStr()
			seen.Set(s, v)
		}
	}
	out := make([]Value, seen.Len())
	for i := range out {
		_, out[i] = seen.At(i)
	}
	return ListOf(out...)
}

// commonTypes are the type names in both; an integer is a number.
func commonTypes(x, y Value, none func()) Value {
	var out []Value
	for _, a := range listed(x) {
		for _, b := range listed(y) {
			s, _ := a.AsStr()
			t, _ := b.AsStr()
			switch {
			case s == t || s == "integer" && t == "number":
				out = append(out, a)
			case s == "number" && t == "integer":
				out = append(out, b)
			}
		}
	}
	switch len(out) {
	case 0:
		none()
		return x
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

func commonItems(x, y Value) Value {
	var out []Value
	for _, a := range listed(x) {
		for _, b := range listed(y) {
			if Equal(a, b) {
				out = append(out, a)
				break
			}
		}
	}
	return ListOf(out...)
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

// maxCross bounds what two choices that both have to be made come to.
const maxCross = 64

// cross makes one choice of two.
func (im *importer) cross(x, y Value, at string) Value {
	var out []Value
	for _, a := range listed(x) {
		for _, b := range listed(y) {
			out = append(out, allOf(a, b))
		}
	}
	if len(out) > maxCross {
		im.beyond(at, "a single anyOf or oneOf", "several that all have to hold")
		return y
	}
	return ListOf(out...)
}
