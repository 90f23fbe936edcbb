package jsonschema

import (
	"slices"
	"strconv"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
)

// object makes the type of objects: a schema if keys are named, else a dict. If tag is set, it is a key that the
// enclosing union handles and name is the variant's; otherwise name is a hint.
func (im *importer) object(m *generable.Map, at, name, tag string) *generable.Type {
	props := im.members(m, "properties", at)
	required := im.required(m, at)
	extra, hasExtra := m.Get("additionalProperties")
	closed := hasExtra && never(extra)
	patterns := im.members(m, "patternProperties", at)
	if patterns.Len() > 0 {
		im.beyond(pointer(at, "patternProperties"), "keys by name", "patterns of keys")
		values := slices.DeleteFunc(valuesOf(patterns), never) // of the keys that match a pattern
		if hasExtra && !closed {
			values = append(values, extra)
		}
		switch {
		case len(values) == 0:
		case props.Len() > 0:
			closed = false // a key that matches a pattern may occur
		case len(values) == 1:
			extra, hasExtra, closed = values[0], true, false
		default:
			extra, hasExtra, closed = in.Object("anyOf", generable.ListOf(values...)).Value(), true, false
		}
	}
	if names, ok := m.Get("propertyNames"); ok && never(names) {
		if props.Len() == 0 {
			closed = true
		}
	} else if ok {
		if keys := im.keyNames(names, at); len(keys) > 0 && props.Len() == 0 {
			if !hasExtra {
				extra = generable.BoolOf(true)
			}
			for _, k := range keys {
				props.Set(k, extra)
			}
			closed, hasExtra = true, false
		}
	}
	if props.Len() == 0 && required.Len() == 0 && !closed {
		elem := generable.AnyT
		if hasExtra {
			elem = im.typ(extra, pointer(at, "additionalProperties"), name+"Value")
		}
		return im.limited(generable.DictOfType(elem), m, at)
	}
	if hasExtra && !closed && hasMembers(extra) {
		im.beyond(pointer(at, "additionalProperties"), "true or false next to properties", "a schema")
	}
	for _, k := range []string{"minProperties", "maxProperties"} {
		if _, has := m.Get(k); has {
			im.beyond(pointer(at, k), "properties without a count of them", "a count")
		}
	}
	if !im.works(props.Len(), at) { // a union can make several types from them
		return generable.ErrorT
	}
	var fields []generable.Field
	for key, s := range props.All() {
		if key == tag && tag != "" {
			continue
		}
		place := pointer(pointer(at, "properties"), key)
		_, needed := required.Get(key)
		switch {
		case never(s) && needed:
			return im.nothing(place)
		case never(s):
			im.beyond(place, "a schema that some value fits", "one that no value fits")
			continue
		}
		fields = append(fields, im.property(key, s, needed, place))
	}
	for _, key := range required.Keys() {
		if _, has := props.Get(key); !has && (key != tag || tag == "") {
			fields = append(fields, generable.Field{Name: key, Type: generable.AnyT, Explicit: true})
		}
	}
	t, errs := in.NewForeign(name, stringAt(m, "description"), fields, !closed)
	for _, e := range errs {
		im.fail(at, e.Expected, e.Got, message.Hints(e.Path, e.Hint))
	}
	t.Description = stringAt(m, wordDescription)
	return t
}

// members reads a keyword that holds schemas by name.
func (im *importer) members(m *generable.Map, key, at string) *generable.Map {
	v, has := m.Get(key)
	have, ok := v.AsMap()
	switch {
	case !has:
		return generable.NewMap(0)
	case !ok:
		im.fail(pointer(at, key), "an object of schemas", v.TypeName(), "")
		return generable.NewMap(0)
	}
	return without(have)
}

// required returns the names of the required properties, as keys.
func (im *importer) required(m *generable.Map, at string) *generable.Map {
	out := generable.NewMap(0)
	v, has := m.Get("required")
	if !has || v.Kind() == generable.Bool { // drafts before 4 marked the property itself
		return out
	}
	list, ok := v.AsList()
	if !ok {
		im.fail(pointer(at, "required"), "a list of names", v.TypeName(), "")
		return out
	}
	for i, item := range list.Items() {
		s, ok := item.AsStr()
		if !ok {
			im.fail(pointer(at, "required")+"/"+strconv.Itoa(i), "a name", item.TypeName(), "")
			return out
		}
		out.Set(s, item)
	}
	return out
}

// keyNames returns the allowed names of keys, if they are listed.
func (im *importer) keyNames(names generable.Value, at string) []string {
	m, ok := names.AsMap()
	if !ok {
		return nil
	}
	if m = im.merged(m, pointer(at, "propertyNames")); m == nil {
		return nil
	}
	list, ok := listAt(m, "enum")
	if v, has := m.Get("const"); has {
		list, ok = []generable.Value{v}, true
	}
	if ok {
		var out []string
		for _, v := range list {
			if s, _ := v.AsStr(); s != "" {
				out = append(out, s)
			}
		}
		return out
	}
	for _, k := range m.Keys() {
		if k != "type" && !annotations[k] {
			im.beyond(pointer(at, "propertyNames"), "a list of names", k)
			break
		}
	}
	return nil
}

// property makes a field from a property.
func (im *importer) property(name string, s generable.Value, required bool, at string) generable.Field {
	f := generable.Field{Name: name, Type: im.typ(s, at, message.TypeNameAfter(name))}
	f.Type, f.Limits = in.Unlimited(f.Type)
	none := f.Type.AcceptsNone()
	if f.Type.Kind == generable.RefType { // it is still being made
		none = im.takesNull(s, at, make(map[*generable.Map]bool))
	}
	m, ok := s.AsMap()
	if !ok {
		m = generable.NewMap(0)
	}
	f.Guide = stringAt(m, "description")
	im.fieldWords(&f, m, at)
	d, hasDefault := m.Get("default")
	if hasDefault {
		if d.IsNull() && !none {
			f.Type = generable.OneOf(f.Type, generable.NoneT)
		}
		f.Optional, f.Default = true, d
		if why := mismatch(f); why != nil {
			im.beyond(pointer(at, "default"), "a default that fits: "+why.Expected, why.Got)
			f.Optional, f.Default, hasDefault = false, generable.Value{}, false
		}
	}
	switch {
	case hasDefault:
	case required:
		f.Explicit = none
	case !none || f.Type.Deref().Kind == generable.AnyType:
		f = generable.OmittedField(f)
	}
	examples, ok := listAt(m, "examples")
	if e, has := m.Get("example"); has {
		examples, ok = []generable.Value{e}, true
	}
	if ok {
		f.Examples = slices.Clone(examples)
		if why := mismatch(f); why != nil {
			im.note(pointer(at, "examples"), "examples that fit: "+why.Expected, why.Got, "")
			f.Examples = nil
		}
	}
	return f
}

// takesNull reports whether null fits a schema whose type is still being made.
func (im *importer) takesNull(s generable.Value, at string, seen map[*generable.Map]bool) bool {
	m, ok := s.AsMap()
	if !ok {
		return false
	}
	if m = im.merged(m, at); m == nil || seen[m] {
		return false
	}
	seen[m] = true
	if v, _ := m.Get("nullable"); isBool(v, true) || slices.Contains(im.kinds(m), "null") {
		return true
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		branches, _ := listAt(m, key)
		if slices.ContainsFunc(branches, func(b generable.Value) bool { return im.takesNull(b, at, seen) }) {
			return true
		}
	}
	return false
}

// mismatch reports what is wrong with a field's default or examples.
func mismatch(f generable.Field) *generable.FieldError {
	if errs := in.Mismatch(f); len(errs) > 0 {
		return errs[0]
	}
	return nil
}
