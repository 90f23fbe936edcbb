package jsonschema

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
)

var jsonKinds = []string{"object", "array", "string", "integer", "number", "boolean", "null"}

// kinds returns the JSON types that a schema names, if any.
func (im *importer) kinds(m *generable.Map) []string {
	v, _ := m.Get("type")
	return kindsIn(v)
}

// kindsIn returns the JSON types that a value of the keyword type names, each once.
func kindsIn(v generable.Value) []string {
	var out []string
	for _, item := range listed(v) {
		if s, _ := item.AsStr(); slices.Contains(jsonKinds, s) && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// isKind reports whether v has a JSON type.
func isKind(v generable.Value, kind string) bool {
	switch v.Kind() {
	case generable.Null:
		return kind == "null"
	case generable.Bool:
		return kind == "boolean"
	case generable.Int, generable.Big:
		return kind == "integer" || kind == "number"
	case generable.Float:
		_, whole := in.Whole(v)
		return kind == "number" || kind == "integer" && whole
	case generable.Str:
		return kind == "string"
	case generable.ListKind:
		return kind == "array"
	}
	return kind == "object"
}

// impliedKinds lists the keywords that imply a type for schemas without one.
var impliedKinds = []struct {
	kind string
	keys []string
}{
	{"object", []string{"properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties", "maxProperties"}},
	{"array", []string{"items", "prefixItems", "minItems", "maxItems", "uniqueItems"}},
	{"string", []string{"minLength", "maxLength", "pattern"}},
	{"number", []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}},
}

// single makes the type of a schema from the JSON types that it names or implies.
func (im *importer) single(m, merged *generable.Map, at, hint string) *generable.Type {
	v, has := merged.Get("type")
	kinds := im.kinds(merged)
	if has {
		for _, item := range listed(v) {
			if s, ok := item.AsStr(); !ok || !slices.Contains(jsonKinds, s) {
				got := generable.JSON(item, nil)
				return im.fail(pointer(at, "type"), "one of "+strings.Join(jsonKinds, ", "), message.Shorten(got), message.DidYouMean(s, jsonKinds))
			}
		}
		if len(kinds) == 0 {
			return im.fail(pointer(at, "type"), "one of "+strings.Join(jsonKinds, ", "), "none", "")
		}
	} else {
		for _, i := range impliedKinds {
			if hasAny(merged, i.keys...) {
				kinds = []string{i.kind}
				break
			}
		}
	}
	if len(kinds) == 0 {
		return generable.AnyT
	}
	var types []*generable.Type
	for _, kind := range kinds {
		types = append(types, im.kind(kind, m, merged, at, hint))
	}
	return generable.OneOf(types...)
}

func (im *importer) kind(kind string, m, merged *generable.Map, at, hint string) *generable.Type {
	switch kind {
	case "object":
		return im.object(merged, at, im.nameOf(m, hint), "")
	case "array":
		return im.limited(im.array(merged, at, hint), merged, at)
	case "string":
		return im.limited(generable.StrT, merged, at)
	case "integer":
		return im.limited(generable.IntT, merged, at)
	case "number":
		if im.o.KeepInts {
			return im.limited(generable.OneOf(generable.IntT, generable.FloatT), merged, at)
		}
		return im.limited(generable.FloatT, merged, at)
	case "boolean":
		return generable.BoolT
	}
	return generable.NoneT
}

// array makes the type of arrays: a list, or a tuple if the first items have their own schemas.
func (im *importer) array(m *generable.Map, at, hint string) *generable.Type {
	items, hasItems := m.Get("items")
	first, hasFirst := m.Get("prefixItems")
	place := pointer(at, "prefixItems")
	if list, ok := items.AsList(); ok && !hasFirst { // the form of drafts before 2020-12
		first, hasFirst, place = list.Value(), true, pointer(at, "items")
		items, hasItems = m.Get("additionalItems")
	}
	name := hint + "Item"
	var rest *generable.Type
	end, ends := listEnd(m)
	if hasItems && items.Kind() != generable.Bool && !ends {
		rest = im.typ(items, pointer(at, "items"), name)
	}
	if !hasFirst {
		if rest != nil {
			return generable.ListOfType(rest)
		}
		return generable.ListOfType(generable.AnyT)
	}
	list, ok := first.AsList()
	if !ok || list.Len() == 0 {
		return im.fail(place, "a list of schemas", first.TypeName(), "")
	}
	var types []*generable.Type
	for i, s := range list.Items() {
		if ends && i == end {
			break
		}
		types = append(types, im.typ(s, place+"/"+strconv.Itoa(i), name+strconv.Itoa(i+1)))
	}
	switch {
	case len(types) == 0:
		return generable.ListOfType(generable.AnyT)
	case rest == nil && !ends:
		rest = generable.AnyT
	}
	return generable.TupleType(types, rest)
}

// listEnd returns the number of items after which no further item fits, if it exists.
func listEnd(m *generable.Map) (int, bool) {
	items, _ := m.Get("items")
	first, hasFirst := m.Get("prefixItems")
	if items.Kind() == generable.ListKind && !hasFirst {
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

// limited returns a type with the limits that a schema sets.
func (im *importer) limited(t *generable.Type, m *generable.Map, at string) *generable.Type {
	l := generable.Limits{}
	switch t.Deref().Kind {
	case generable.StrType:
		l.MinLen, l.MaxLen = im.size(m, "minLength", at), im.size(m, "maxLength", at)
		l.Pattern = goPattern(stringAt(m, "pattern"))
		if f := stringAt(m, "format"); f != "" {
			if slices.Contains(generable.FormatNames(), f) {
				l.Format = f
			} else {
				im.note(pointer(at, "format"), "one of the formats "+strings.Join(generable.FormatNames(), ", "), message.Quote(f), "it is not checked")
			}
		}
	case generable.ListType:
		l.MinLen, l.MaxLen = im.size(m, "minItems", at), im.size(m, "maxItems", at)
		if v, _ := m.Get("uniqueItems"); isBool(v, true) {
			l.Unique = true
		}
		if n, ends := listEnd(m); ends && (l.MaxLen == nil || *l.MaxLen > n) {
			l.MaxLen = &n
		}
	case generable.DictType:
		l.MinLen, l.MaxLen = im.size(m, "minProperties", at), im.size(m, "maxProperties", at)
	case generable.IntType, generable.FloatType, generable.OneOfType:
		im.bounds(&l, m, at)
	}
	out, errs := generable.Limited(t, l)
	for _, e := range errs {
		if l.Pattern != "" && strings.Contains(e.Expected, "regular expression") {
			im.beyond(pointer(at, "pattern"), e.Expected, e.Got)
			continue
		}
		im.fail(at, e.Expected, e.Got, "")
	}
	return out
}

func (im *importer) bounds(l *generable.Limits, m *generable.Map, at string) {
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
		case v.Kind() == generable.Bool && strings.HasPrefix(b.key, "exclusive"): // draft 4 marks minimum as exclusive
			if isBool(v, false) {
				continue
			}
			if b.key == "exclusiveMinimum" {
				l.Ge, l.Gt = nil, l.Ge
			} else {
				l.Le, l.Lt = nil, l.Le
			}
		default:
			im.fail(pointer(at, b.key), "a number", message.Shorten(generable.JSON(v, nil)), "")
		}
	}
}

func (im *importer) size(m *generable.Map, key, at string) *int {
	v, has := m.Get(key)
	if !has || v.IsNull() {
		return nil
	}
	if w, ok := in.Whole(v); ok {
		v = w
	}
	n, ok := v.AsInt()
	if !ok || n < 0 || n > math.MaxInt32 {
		if v.Kind() == generable.Big || n > math.MaxInt32 {
			return nil // no text or list is that long
		}
		im.fail(pointer(at, key), "a whole number of at least 0", message.Shorten(generable.JSON(v, nil)), "")
		return nil
	}
	size := int(n)
	return &size
}

// goPattern converts escapes of JavaScript's regular expressions to Go's.
func goPattern(p string) string {
	if !strings.Contains(p, `\u`) {
		return p
	}
	escape := regexp.MustCompile(`(?s)\\(u[0-9a-fA-F]{4}|.)`)
	return escape.ReplaceAllStringFunc(p, func(e string) string {
		if len(e) == len(`\u0000`) {
			return `\x{` + e[2:] + `}`
		}
		return e
	})
}

// beyondTypes are the keywords that no type can express; other keywords are read elsewhere.
var beyondTypes = []string{"not", "if", "dependentRequired", "dependentSchemas", "dependencies", "contains", "unevaluatedItems", "unevaluatedProperties"}

var knownKeywords = slices.Concat(beyondTypes, []string{
	"type", "properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties", "maxProperties",
	"items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems", "minContains", "maxContains",
	"minLength", "maxLength", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
	"enum", "const", "anyOf", "oneOf", "allOf", "then", "else", "discriminator", "$ref", "$dynamicRef", "$recursiveRef",
})

// unsupported reports the keywords of a schema that a type cannot express, and unknown
// ones.
func (im *importer) unsupported(m *generable.Map, at string) {
	for key, v := range m.All() {
		switch {
		case annotations[key] || strings.HasPrefix(key, "x-"):
		case slices.Contains(beyondTypes, key):
			if v.Kind() == generable.Bool && (strings.HasPrefix(key, "unevaluated") || isBool(v, false) && key == "not") || key == "if" && !hasAny(m, "then", "else") {
				continue
			}
			im.beyond(pointer(at, key), "something that a type can say", message.Quote(key))
		case !slices.Contains(knownKeywords, key):
			hint := ""
			if len(im.ignored) < message.MaxErrors {
				hint = message.DidYouMean(key, knownKeywords)
			}
			im.note(pointer(at, key), "a keyword of JSON Schema", message.Quote(key), hint)
		}
	}
}
