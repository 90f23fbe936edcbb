package generable

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

var jsonKinds = []string{"object", "array", "string", "integer", "number", "boolean", "null"}

// kinds are the JSON types that a schema names; none when it names none.
func (im *importer) kinds(m *Map) []string {
	v, has := m.Get("type")
	if !has {
		return nil
	}
	var out []string
	for _, item := range listed(v) {
		if s, _ := item.AsStr(); slices.Contains(jsonKinds, s) && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// isKind reports whether v is of a JSON type.
func isKind(v Value, kind string) bool {
	switch v.Kind() {
	case Null:
		return kind == "null"
	case Bool:
		return kind == "boolean"
	case Int, Big:
		return kind == "integer" || kind == "number"
	case Float:
		_, whole := in.Whole(v)
		return kind == "number" || kind == "integer" && whole
	case Str:
		return kind == "string"
	case ListKind:
		return kind == "array"
	}
	return kind == "object"
}

// impliedKinds are the keywords by which a schema without a type is known to mean one.
var impliedKinds = []struct {
	kind string
	keys []string
}{
	{"object", []string{"properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties", "maxProperties"}},
	{"array", []string{"items", "prefixItems", "minItems", "maxItems", "uniqueItems"}},
	{"string", []string{"minLength", "maxLength", "pattern"}},
	{"number", []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}},
}

// single makes the type of a schema by the JSON types that it names or implies.
func (im *importer) single(m, merged *Map, at, hint string) *Type {
	v, has := merged.Get("type")
	kinds := im.kinds(merged)
	if has {
		for _, item := range listed(v) {
			if s, ok := item.AsStr(); !ok || !slices.Contains(jsonKinds, s) {
				got := JSON(item, nil)
				return im.fail(pointer(at, "type"), "one of "+strings.Join(jsonKinds, ", "), shorten(got), didYouMean(s, jsonKinds))
			}
		}
		if len(kinds) == 0 {
			return im.fail(pointer(at, "type"), "one of "+strings.Join(jsonKinds, ", "), "none", "")
		}
	} else {
		for _, i := range impliedKinds {
			if slices.ContainsFunc(i.keys, func(k string) bool { _, has := merged.Get(k); return has }) {
				kinds = []string{i.kind}
				break
			}
		}
	}
	if len(kinds) == 0 {
		return AnyT
	}
	var types []*Type
	for _, kind := range kinds {
		types = append(types, im.kind(kind, m, merged, at, hint))
	}
	return OneOf(types...)
}

func (im *importer) kind(kind string, m, merged *Map, at, hint string) *Type {
	switch kind {
	case "object":
		return im.object(merged, at, im.nameOf(m, hint), "")
	case "array":
		return im.limited(im.array(merged, at, hint), merged, at)
	case "string":
		return im.limited(StrT, merged, at)
	case "integer":
		return im.limited(IntT, merged, at)
	case "number":
		if im.o.KeepInts {
			return im.limited(OneOf(IntT, FloatT), merged, at)
		}
		return im.limited(FloatT, merged, at)
	case "boolean":
		return BoolT
	}
	return NoneT
}

// array makes the type of arrays: a list, or a tuple where the first items have schemas of
// their own.
func (im *importer) array(m *Map, at, hint string) *Type {
	items, hasItems := m.Get("items")
	first, hasFirst := m.Get("prefixItems")
	place := pointer(at, "prefixItems")
	if list, ok := items.AsList(); ok && !hasFirst { // as drafts before 2020-12 wrote it
		first, hasFirst, place = list.Value(), true, pointer(at, "items")
		items, hasItems = m.Get("additionalItems")
	}
	name := hint + "Item"
	var rest *Type
	end, ends := listEnd(m)
	if hasItems && items.Kind() != Bool && !ends {
		rest = im.typ(items, pointer(at, "items"), name)
	}
	if !hasFirst {
		if rest != nil {
			return ListOfType(rest)
		}
		return ListOfType(AnyT)
	}
	list, ok := first.AsList()
	if !ok || list.Len() == 0 {
		return im.fail(place, "a list of schemas", first.TypeName(), "")
	}
	var types []*Type
	for i, s := range list.Items() {
		if ends && i == end {
			break
		}
		types = append(types, im.typ(s, place+"/"+strconv.Itoa(i), name+strconv.Itoa(i+1)))
	}
	switch {
	case len(types) == 0:
		return ListOfType(AnyT)
	case rest == nil && !ends:
		rest = AnyT
	}
	return TupleType(types, rest)
}

// listEnd is the number of items behind which no item fits, if there is one.
func listEnd(m *Map) (int, bool) {
	items, _ := m.Get("items")
	first, hasFirst := m.Get("prefixItems")
	if items.Kind() == ListKind && !hasFirst {
		first = items
		items, _ = m.Get("additionalItems")
	}
	n := 0
	if list, ok := first.AsList(); ok {
		if n = slices.IndexFunc(list.Items(), never); n >= 0 {
			return n, true
		}
		n = list.Len()
	}
	return n, never(items)
}

// limited gives a type the limits that a schema sets it.
func (im *importer) limited(t *Type, m *Map, at string) *Type {
	l := Limits{}
	switch t.Deref().Kind {
	case StrType:
		l.MinLen, l.MaxLen = im.size(m, "minLength", at), im.size(m, "maxLength", at)
		l.Pattern = goPattern(stringAt(m, "pattern"))
		if f := stringAt(m, "format"); f != "" {
			if slices.Contains(FormatNames(), f) {
				l.Format = f
			} else {
				im.note(pointer(at, "format"), "one of the formats "+strings.Join(FormatNames(), ", "), quoteShort(f), "it is not checked")
			}
		}
	case ListType:
		l.MinLen, l.MaxLen = im.size(m, "minItems", at), im.size(m, "maxItems", at)
		if v, _ := m.Get("uniqueItems"); isBool(v, true) {
			l.Unique = true
		}
		if n, ends := listEnd(m); ends && (l.MaxLen == nil || *l.MaxLen > n) {
			l.MaxLen = &n
		}
	case DictType:
		l.MinLen, l.MaxLen = im.size(m, "minProperties", at), im.size(m, "maxProperties", at)
	case IntType, FloatType, OneOfType:
		im.bounds(&l, m, at)
	}
	out, errs := Limited(t, l)
	for _, e := range errs {
		if l.Pattern != "" && strings.Contains(e.Expected, "regular expression") {
			im.beyond(pointer(at, "pattern"), e.Expected, e.Got)
			continue
		}
		im.fail(at, e.Expected, e.Got, "")
	}
	return out
}

func (im *importer) bounds(l *Limits, m *Map, at string) {
	for _, b := range []struct {
		key string
		to  **float64
	}{{"minimum", &l.Ge}, {"maximum", &l.Le}, {"exclusiveMinimum", &l.Gt}, {"exclusiveMaximum", &l.Lt}, {"multipleOf", &l.MultipleOf}} {
		v, has := m.Get(b.key)
		if !has || v.IsNull() {
			continue
		}
		f, ok := v.AsNumber()
		switch {
		case ok && !math.IsInf(f, 0) && (b.key != "multipleOf" || f > 0):
			*b.to = &f
		case v.Kind() == Bool && strings.HasPrefix(b.key, "exclusive"): // draft 4 marks minimum
			if isBool(v, false) {
				continue
			}
			if b.key == "exclusiveMinimum" {
				l.Ge, l.Gt = nil, l.Ge
			} else {
				l.Le, l.Lt = nil, l.Le
			}
		default:
			im.fail(pointer(at, b.key), "a number", shorten(JSON(v, nil)), "")
		}
	}
}

func (im *importer) size(m *Map, key, at string) *int {
	v, has := m.Get(key)
	if !has || v.IsNull() {
		return nil
	}
	if w, ok := in.Whole(v); ok {
		v = w
	}
	n, ok := v.AsInt()
	if !ok || n < 0 || n > math.MaxInt32 {
		if v.Kind() == Big || n > math.MaxInt32 {
			return nil // no text or list is as long
		}
		im.fail(pointer(at, key), "a whole number of at least 0", shorten(JSON(v, nil)), "")
		return nil
	}
	size := int(n)
	return &size
}

// goPattern writes what JavaScript's regular expressions write in another way.
func goPattern(p string) string {
	if !strings.Contains(p, `\u`) {
		return p
	}
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		if p[i] != '\\' || i+1 == len(p) {
			b.WriteByte(p[i])
			continue
		}
		if p[i+1] == 'u' && i+6 <= len(p) {
			if _, err := strconv.ParseUint(p[i+2:i+6], 16, 32); err == nil {
				b.WriteString(`\x{` + p[i+2:i+6] + `}`)
				i += 5
				continue
			}
		}
		b.WriteString(p[i : i+2])
		i++
	}
	return b.String()
}

// beyondTypes are the keywords that no type can say; other keywords are read elsewhere.
var beyondTypes = []string{"not", "if", "dependentRequired", "dependentSchemas", "dependencies", "contains", "unevaluatedItems", "unevaluatedProperties"}

var knownKeywords = slices.Concat(beyondTypes, []string{
	"type", "properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties", "maxProperties",
	"items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems", "minContains", "maxContains",
	"minLength", "maxLength", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	"enum", "const", "anyOf", "oneOf", "allOf", "then", "else", "discriminator", "$ref", "$dynamicRef", "$recursiveRef",
})

// unsupported tells of the keywords of a schema that a type cannot say, and of those that
// nobody knows.
func (im *importer) unsupported(m *Map, at string) {
	for i := range m.Len() {
		key, v := m.At(i)
		switch {
		case annotations[key] || strings.HasPrefix(key, "x-"):
		case slices.Contains(beyondTypes, key):
			_, then := m.Get("then")
			_, otherwise := m.Get("else")
			if v.Kind() == Bool && (strings.HasPrefix(key, "unevaluated") || isBool(v, false) && key == "not") || key == "if" && !then && !otherwise {
				continue
			}
			im.beyond(pointer(at, key), "something that a type can say", quoteShort(key))
		case !slices.Contains(knownKeywords, key):
			hint := ""
			if len(im.ignored) < maxErrors {
				hint = didYouMean(key, knownKeywords)
			}
			im.note(pointer(at, key), "a keyword of JSON Schema", quoteShort(key), hint)
		}
	}
}
