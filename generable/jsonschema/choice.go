package jsonschema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/generable"
)

// choice makes the type of a schema that lists values or alternatives, and returns nil for others.
func (im *importer) choice(m, merged *generable.Map, at, hint string) *generable.Type {
	if v, ok := merged.Get("const"); ok {
		return im.literals([]generable.Value{v}, nil, m, merged, pointer(at, "const"), hint)
	}
	if v, ok := merged.Get("enum"); ok {
		list, isList := v.AsList()
		if !isList || list.Len() == 0 {
			return im.fail(pointer(at, "enum"), "a list of values", v.TypeName(), "")
		}
		return im.literals(list.Items(), nil, m, merged, pointer(at, "enum"), hint)
	}
	key := ""
	var branches []generable.Value
	for _, k := range []string{"oneOf", "anyOf"} {
		v, has := merged.Get(k)
		if !has {
			continue
		}
		list, isList := v.AsList()
		switch {
		case !isList || list.Len() == 0:
			return im.fail(pointer(at, k), "a list of schemas", v.TypeName(), "")
		case key == "":
			key, branches = k, list.Items()
		default:
			branches = listed((&conjunction{im: im}).cross(generable.ListOf(branches...), v, at))
		}
	}
	if key == "" {
		return nil
	}
	at = pointer(at, key)
	if slices.ContainsFunc(branches, never) {
		branches = slices.DeleteFunc(slices.Clone(branches), never)
	}
	if len(branches) == 0 {
		return im.nothing(at)
	}
	if slices.ContainsFunc(branches, requiresOnly) {
		im.beyond(at, "alternatives that are whole schemas", "which keys are required together")
		return nil
	}
	branches = im.distribute(merged, branches)
	if t := im.allLiterals(m, merged, branches, at, hint); t != nil {
		return t
	}
	if t := im.tagged(m, merged, branches, key, at, hint); t != nil {
		return t
	}
	types := make([]*generable.Type, len(branches))
	for i, b := range branches {
		name := hint
		if len(branches) > 1 {
			name += strconv.Itoa(i + 1)
		}
		types[i] = im.typ(b, at+"/"+strconv.Itoa(i), name)
	}
	return generable.OneOf(types...)
}

// requiresOnly reports whether an alternative only says which keys must be present.
func requiresOnly(v generable.Value) bool {
	m, ok := v.AsMap()
	return ok && m.Len() > 0 && !slices.ContainsFunc(m.Keys(), func(k string) bool { return !slices.Contains(countingKeywords, k) })
}

var countingKeywords = []string{"required", "not", "title", "description", "dependentRequired", "minProperties", "maxProperties"}

// distribute adds the keywords next to a choice to each alternative.
func (im *importer) distribute(merged *generable.Map, branches []generable.Value) []generable.Value {
	beside := generable.NewMap(merged.Len())
	for k, v := range merged.All() {
		if !annotations[k] && k != "anyOf" && k != "oneOf" && k != "discriminator" && !strings.HasPrefix(k, "x-") {
			beside.Set(k, v)
		}
	}
	if beside.Len() == 0 {
		return branches
	}
	_, typeOnly := beside.Get("type")
	typeOnly = typeOnly && beside.Len() == 1
	out := make([]generable.Value, len(branches))
	for i, b := range branches {
		if m, ok := b.AsMap(); ok && typeOnly {
			_, hasType := m.Get("type")
			_, _, isRef := refOf(m)
			if hasType || isRef {
				out[i] = b
				continue
			}
		}
		out[i] = (&conjunction{im: im}).also(beside.Value(), b, true)
	}
	return out
}

// literals makes the type of exactly these values, which docs describe.
func (im *importer) literals(values []generable.Value, docs map[string]string, m, merged *generable.Map, at, hint string) *generable.Type {
	kinds := im.kinds(merged)
	if !im.looks(len(values), at) {
		return generable.ErrorT
	}
	var strs []string
	var ints, floats, rest []generable.Value
	var types []*generable.Type
	yes, no := false, false
	listed := make(map[string]bool)
	for _, v := range values {
		if len(kinds) > 0 && !slices.ContainsFunc(kinds, func(k string) bool { return isKind(v, k) }) {
			im.note(at, "values of type "+strings.Join(kinds, " or "), generable.JSON(v, nil), "it can never occur")
			continue
		}
		if w, ok := in.Whole(v); ok {
			v = w
		}
		switch v.Kind() {
		case generable.Null:
			types = append(types, generable.NoneT)
		case generable.Bool:
			is, _ := v.AsBool()
			yes, no = yes || is, no || !is
		case generable.Int, generable.Big:
			ints = append(ints, v)
		case generable.Float:
			floats = append(floats, v)
		case generable.Str:
			if s, _ := v.AsStr(); !listed[s] {
				listed[s] = true
				strs = append(strs, s)
			}
		default:
			rest = append(rest, v)
		}
	}
	only := func(t *generable.Type, values []generable.Value) {
		if len(values) > 0 {
			t, _ = generable.Limited(t, generable.Limits{Only: generable.NewList(values)})
			types = append(types, t)
		}
	}
	switch {
	case listed[""]:
		texts := make([]generable.Value, len(strs))
		for i, s := range strs {
			texts[i] = generable.StrOf(s)
		}
		only(generable.StrT, texts)
	case len(strs) > 0:
		t, errs := generable.NewNotedEnum(im.nameOf(m, hint), stringAt(merged, "description"), strs, im.notes(merged, strs, docs, at[:strings.LastIndexByte(at, '/')]))
		if len(errs) > 0 {
			return im.fail(at, errs[0].Expected, errs[0].Got, errs[0].Hint)
		}
		t.Description = stringAt(merged, wordDescription)
		types = append(types, t)
	}
	if len(floats) > 0 {
		only(generable.OneOf(generable.IntT, generable.FloatT), append(ints, floats...))
	} else {
		only(generable.IntT, ints)
	}
	switch {
	case yes && no:
		types = append(types, generable.BoolT)
	case yes || no:
		only(generable.BoolT, []generable.Value{generable.BoolOf(yes)})
	}
	only(generable.AnyT, rest)
	if len(types) == 0 {
		return im.fail(at, "a value that fits", "none", "")
	}
	return generable.OneOf(types...)
}

// allLiterals makes one type of alternatives that list values, such as those with a title or a description for each
// value. It returns nil if some have another form.
func (im *importer) allLiterals(m, merged *generable.Map, branches []generable.Value, at, hint string) *generable.Type {
	var values []generable.Value
	docs := make(map[string]string)
	for _, b := range branches {
		part, ok := b.AsMap()
		if !ok || hasAny(part, "enum") { // two enums remain two types: each has its own name
			return nil
		}
		if v, has := part.Get("const"); has {
			values = append(values, v)
			doc := stringAt(part, "description")
			if doc == "" {
				doc = stringAt(part, "title")
			}
			if s, ok := v.AsStr(); ok && doc != "" {
				docs[s] = doc
			}
		} else if stringAt(part, "type") == "null" {
			values = append(values, generable.Value{})
		} else {
			return nil
		}
	}
	if len(branches) < 2 || !slices.ContainsFunc(values, func(v generable.Value) bool { return !v.IsNull() }) {
		return nil
	}
	return im.literals(values, docs, m, without(merged, "type"), at, hint)
}

// tagged makes a declared union of alternatives that are objects distinguished by a key, or returns nil if they are
// not.
func (im *importer) tagged(m, merged *generable.Map, branches []generable.Value, key, at, hint string) *generable.Type {
	disc, hasDisc := merged.Get("discriminator")
	views := make([]*generable.Map, 0, len(branches))
	var from []int
	none := false
	for i, b := range branches {
		part, ok := b.AsMap()
		if !ok {
			return nil
		}
		if stringAt(part, "type") == "null" {
			none = true
			continue
		}
		view := im.merged(part, at+"/"+strconv.Itoa(i))
		if view == nil {
			return generable.ErrorT
		}
		if props, _ := view.Get("properties"); props.Kind() != generable.MapKind {
			return nil
		}
		if hasAny(view, "anyOf", "oneOf") {
			return nil
		}
		views, from = append(views, view), append(from, i)
	}
	if len(views) == 0 || (len(views) == 1 && key == "anyOf" && !hasDisc) {
		return nil
	}
	tag, values := "", [][]string(nil)
	if d, ok := disc.AsMap(); ok && stringAt(d, "propertyName") != "" {
		tag = stringAt(d, "propertyName")
		values = im.discriminated(d, tag, views, branches, from)
	} else {
		required := requiredOf(views)
		for _, name := range propertiesOf(views[0]).Keys() {
			if values = im.tagValues(name, views, required, at); values != nil {
				tag = name
				break
			}
		}
	}
	if values == nil {
		return nil
	}
	var variants []*generable.Type
	for i, view := range views {
		place := at + "/" + strconv.Itoa(from[i])
		for _, value := range values[i] {
			v := im.object(view, place, value, tag)
			if v.Kind != generable.RecordType {
				return v
			}
			variants = append(variants, v)
		}
	}
	t, errs := generable.NewUnion(im.nameOf(m, hint), stringAt(merged, "description"), tag, variants)
	for _, e := range errs {
		im.fail(at, e.Expected, e.Got, e.Hint)
	}
	if len(errs) == 0 {
		t.Description = stringAt(merged, wordDescription)
	}
	if none {
		return generable.OneOf(t, generable.NoneT)
	}
	return t
}

// propertiesOf returns the properties of an alternative that has some.
func propertiesOf(view *generable.Map) *generable.Map {
	v, _ := view.Get("properties")
	props, _ := v.AsMap()
	return props
}

// requiredOf returns the names that each alternative requires.
func requiredOf(views []*generable.Map) []map[string]bool {
	out := make([]map[string]bool, len(views))
	for i, view := range views {
		names, _ := view.Get("required")
		out[i] = make(map[string]bool)
		for _, v := range listed(names) {
			s, ok := v.AsStr()
			out[i][s] = out[i][s] || ok
		}
	}
	return out
}

// tagValues returns the values of a property that distinguishes the alternatives: a required text that is a different
// constant in each of them. It returns nil for other properties.
func (im *importer) tagValues(name string, views []*generable.Map, required []map[string]bool, at string) [][]string {
	out := make([][]string, len(views))
	seen := make(map[string]bool)
	for i, view := range views {
		if !required[i][name] || !im.looks(1, at) {
			return nil
		}
		if out[i] = constTexts(view, name); len(out[i]) != 1 {
			return nil
		}
		if !allNew(out[i], seen) {
			return nil
		}
	}
	return out
}

// allNew reports whether no text is empty or in seen, and adds the texts to seen.
func allNew(texts []string, seen map[string]bool) bool {
	for _, s := range texts {
		if s == "" || seen[s] {
			return false
		}
		seen[s] = true
	}
	return true
}

// constTexts returns the texts that a property can have, if they are listed.
func constTexts(view *generable.Map, name string) []string {
	p, _ := propertiesOf(view).Get(name)
	m, ok := p.AsMap()
	if !ok {
		return nil
	}
	if c, has := m.Get("const"); has {
		if s, ok := c.AsStr(); ok {
			return []string{s}
		}
		return nil
	}
	var out []string
	list, _ := listAt(m, "enum")
	for _, v := range list {
		s, ok := v.AsStr()
		if !ok {
			return nil
		}
		out = append(out, s)
	}
	return out
}

// discriminated returns the names of the alternatives of an OpenAPI discriminator: the constants of the property,
// else the mapping, else the names of the schemas.
func (im *importer) discriminated(d *generable.Map, tag string, views []*generable.Map, branches []generable.Value, from []int) [][]string {
	mapping, _ := d.Get("mapping")
	names, ok := mapping.AsMap()
	if !ok {
		names = generable.NewMap(0)
	}
	named := make(map[string][]string) // the mapped values, by the schema's reference or name
	for value, to := range names.All() {
		if s, ok := to.AsStr(); ok {
			named[s] = append(named[s], value)
		}
	}
	out := make([][]string, len(views))
	seen := make(map[string]bool)
	for i, view := range views {
		out[i] = constTexts(view, tag)
		branch, _ := branches[from[i]].AsMap()
		ref, _, isRef := refOf(branch)
		if len(out[i]) == 0 && isRef {
			last := ref[strings.LastIndexByte(ref, '/')+1:]
			if out[i] = named[ref]; last != ref {
				out[i] = slices.Concat(out[i], named[last])
			}
			if len(out[i]) == 0 {
				out[i] = []string{last}
			}
		}
		if len(out[i]) == 0 || !allNew(out[i], seen) {
			return nil
		}
	}
	return out
}
