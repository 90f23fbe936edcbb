package jsonschema

import (
	"slices"
	"strconv"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
)

// merged returns the schema m with its references and its allOf written out: all conditions in one object. It returns
// nil, and reports an error, if no such schema exists.
//
// All parts are merged in one pass, however deep they are nested or referred to, so that the work is proportional to
// the parts and not to the steps that lead to them.
func (im *importer) merged(m *generable.Map, at string) *generable.Map {
	u := im.use(m)
	if u.merged != nil {
		return u.merged
	}
	if u.void {
		return nil
	}
	if !composed(m) {
		u.merged = m
		return m
	}
	u.void = true // report it at most once
	c := &conjunction{im: im, taken: make(map[*generable.Map]bool), out: generable.NewMap(m.Len())}
	title, ok := c.collect(m, at)
	if !ok {
		return nil
	}
	for _, part := range c.parts {
		if !c.add(part) {
			return nil
		}
	}
	if c.names != nil {
		c.out.Set("required", generable.ListOf(valuesOf(c.names)...))
	}
	if !title.IsNull() {
		c.out.Set("title", title)
	}
	u.merged, u.void = c.out, false
	return c.out
}

// composed reports whether a schema refers to other schemas that must hold, too.
func composed(m *generable.Map) bool {
	_, _, isRef := refOf(m)
	return isRef || hasAny(m, "allOf")
}

// conjunction builds the schema of the values that fit all its parts.
type conjunction struct {
	im    *importer
	taken map[*generable.Map]bool // included parts; a part that is needed twice is included once
	parts []schemaPart

	out   *generable.Map
	own   map[string]*generable.Map          // members of out that were created here, and may grow
	made  map[*generable.Map]*generable.List // allOf that were created here, and may grow
	names *generable.Map                     // the required names, once they come from several parts
}

// schemaPart is a schema without references or allOf, and the place that needs it.
type schemaPart struct {
	m  *generable.Map
	at string
}

// collect lists the parts of a schema, its own keywords last. title is the title of the schema; without one, that of
// its only part, or null if it has several.
func (c *conjunction) collect(m *generable.Map, at string) (title generable.Value, ok bool) {
	im := c.im
	u := im.use(m)
	if u.busy {
		im.fail(at, "a schema that says what fits", "one that leads back to itself", "")
		return title, false
	}
	u.busy = true
	defer func() { u.busy = false }()
	parts := 0
	add := func(v generable.Value, place string) bool {
		if never(v) {
			im.nothing(place)
			return false
		}
		part, ok := v.AsMap()
		switch {
		case v.Kind() == generable.Bool:
			return true
		case !ok:
			im.fail(place, "a schema: an object, true or false", v.TypeName(), "")
			return false
		}
		parts++
		if c.taken[part] {
			if im.use(part).busy {
				im.fail(place, "a schema that says what fits", "one that leads back to itself", "")
				return false
			}
			return true
		}
		c.taken[part] = true
		if have := im.use(part).merged; have != nil || !composed(part) {
			if have != nil {
				part = have
			}
			title, _ = part.Get("title")
			return c.take(schemaPart{part, at})
		}
		title, ok = c.collect(part, place)
		return ok
	}
	ref, key, isRef := refOf(m)
	if isRef {
		target, path, ok := im.resolve(ref, pointer(at, key))
		if !ok || !add(target, path) {
			return title, false
		}
	}
	if all, has := m.Get("allOf"); has {
		list, ok := all.AsList()
		if !ok {
			im.fail(pointer(at, "allOf"), "a list of schemas", all.TypeName(), "")
			return title, false
		}
		for i, part := range list.Items() {
			if !add(part, pointer(at, "allOf")+"/"+strconv.Itoa(i)) {
				return title, false
			}
		}
	}
	if parts > 1 {
		title = generable.Value{}
	}
	if v, has := m.Get("title"); has {
		title = v
	}
	return title, c.take(schemaPart{without(m, key, "allOf", "$defs", "definitions"), at})
}

func (c *conjunction) take(part schemaPart) bool {
	c.parts = append(c.parts, part)
	return c.im.works(part.m.Len()+1, part.at)
}

// add restricts the schema to values that fit another part, too.
func (c *conjunction) add(part schemaPart) bool {
	im, at := c.im, part.at
	for key, y := range part.m.All() {
		if key == "title" {
			continue
		}
		x, has := c.out.Get(key)
		if !has || c.own[key] == nil && generable.Equal(x, y) {
			c.out.Set(key, y)
			continue
		}
		switch key {
		case "properties", "patternProperties":
			if !c.members(key, x, y, at) {
				return false
			}
			continue
		case "required":
			if !c.required(x, y, at) {
				return false
			}
			continue
		case "type":
			common := commonTypes(x, y)
			if common.IsNull() {
				im.fail(pointer(at, "type"), "types that agree", message.Shorten(generable.JSON(x, nil))+" and "+message.Shorten(generable.JSON(y, nil)), "")
				return false
			}
			y = common
		case "enum":
			if !im.looks(len(listed(x))+len(listed(y)), at) {
				return false
			}
			y = commonItems(x, y)
		case "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties":
			y = outer(x, y, 1)
		case "maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties":
			y = outer(x, y, -1)
		case "additionalProperties", "items", "propertyNames":
			y = c.also(x, y, true)
		case "anyOf", "oneOf":
			y = c.cross(x, y, at)
		case "const":
			im.fail(pointer(at, "const"), "one const", message.Shorten(generable.JSON(x, nil))+" and "+message.Shorten(generable.JSON(y, nil)), "")
			return false
		case "pattern", "multipleOf", "prefixItems", "not", "if", "format":
			im.beyond(pointer(at, key), "a single "+key, "two that both have to hold")
		}
		c.out.Set(key, y)
	}
	return true
}

// members merges schemas by name into the existing ones.
func (c *conjunction) members(key string, x, y generable.Value, at string) bool {
	a, ok1 := x.AsMap()
	b, ok2 := y.AsMap()
	if !ok1 || !ok2 {
		delete(c.own, key)
		c.out.Set(key, y)
		return true
	}
	own := c.own[key]
	if own == nil {
		if !c.im.works(a.Len(), at) {
			return false
		}
		own = without(a)
		if c.own == nil {
			c.own = make(map[string]*generable.Map)
		}
		c.own[key] = own
		c.out.Set(key, own.Value())
	}
	for k, v := range b.All() {
		if have, has := own.Get(k); has && !generable.Equal(have, v) {
			v = c.also(have, v, true)
		}
		own.Set(k, v)
	}
	return c.im.works(b.Len(), at)
}

// required adds names to the required ones.
func (c *conjunction) required(x, y generable.Value, at string) bool {
	if x.Kind() != generable.ListKind || y.Kind() != generable.ListKind {
		c.names = nil
		c.out.Set("required", y)
		return true
	}
	if c.names == nil {
		c.names = generable.NewMap(0)
		if !c.require(x, at) {
			return false
		}
	}
	return c.require(y, at)
}

func (c *conjunction) require(names generable.Value, at string) bool {
	for _, v := range listed(names) {
		s, _ := v.AsStr()
		c.names.Set(s, v)
	}
	return c.im.works(len(listed(names)), at)
}

// also returns the schema of the values that fit x and y. It extends an allOf that was created here if x is used for
// nothing else; otherwise each allOf would be nested in the next.
func (c *conjunction) also(x, y generable.Value, only bool) generable.Value {
	m, _ := x.AsMap()
	if l := c.made[m]; m != nil && l != nil && hasMembers(y) {
		if only {
			in.SetList(l, append(l.Items(), y))
			return x
		}
		return c.allOf(append(slices.Clip(l.Items()), y))
	}
	if v, one := eitherOf(x, y); one {
		return v
	}
	return c.allOf([]generable.Value{x, y})
}

func (c *conjunction) allOf(items []generable.Value) generable.Value {
	l := generable.NewList(items)
	m := in.Object("allOf", l.Value())
	if c.made == nil {
		c.made = make(map[*generable.Map]*generable.List)
	}
	c.made[m] = l
	return m.Value()
}

// maxCross bounds the number of alternatives when two required choices are combined.
const maxCross = 64

// cross combines two choices into one.
func (c *conjunction) cross(x, y generable.Value, at string) generable.Value {
	a, b := listed(x), listed(y)
	if len(a)*len(b) > maxCross {
		c.im.beyond(at, "a single anyOf or oneOf", "several that all have to hold")
		return y
	}
	out := make([]generable.Value, 0, len(a)*len(b))
	for _, v := range a {
		for _, w := range b {
			out = append(out, c.also(v, w, len(b) == 1))
		}
	}
	return generable.ListOf(out...)
}
