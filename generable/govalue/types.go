package govalue

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/lenient"
)

// TypeFor is [TypeOf] for a type known when the program is compiled.
func TypeFor[T any](opts ...Option) (*generable.Type, error) {
	return TypeOf(reflect.TypeFor[T](), opts...)
}

// TypeOf makes a type from a Go type, according to how encoding/json writes its values. Structs become schemas, with
// these tags on their fields:
//
//   - json:"name,omitempty" as everywhere; with omitempty or omitzero the field may be left out;
//   - jsonschema:"description=…,enum=a,enum=b,minimum=0,default=1": also title, exclusiveMinimum,
//     maximum, exclusiveMaximum, multipleOf, minLength, maxLength, minItems, maxItems, uniqueItems,
//     pattern, format, example, required; a comma inside is written \\,; a text without any of
//     these is the description;
//   - alias:"a,b": other keys that models may use; alias_only:"true": models know the field only by the first of them;
//     dedent:"true": the indentation that all lines of a text share is removed;
//   - doc, desc or description: what to put there; on a field _ struct{}, what the struct is;
//   - stream:"atomic,first,state,items=atomic": how the field, and its items, appear while they arrive; on a field
//     _ struct{}, how an instance appears.
//
// Pointers accept None. time.Time is a str with format date-time, []byte a str in base64, big.Int an int; a type that
// marshals itself to text is a str. A type that marshals itself to JSON is any, and so is an interface without
// [Variants]. A type without a JSON form is an error.
func TypeOf(t reflect.Type, opts ...Option) (*generable.Type, error) {
	if t == nil {
		return generable.AnyT, nil
	}
	c := newCodec(opts)
	c.types, c.names = make(map[reflect.Type]*generable.Type), make(map[string]bool)
	out := c.typ(t, nil, "Root")
	if len(c.errs) == 0 {
		c.errs = out.Verify()
	}
	if err := c.errs.Err(); err != nil {
		return nil, err
	}
	return out, nil
}

func (c *codec) bad(at *message.Path, want, got, hint string) *generable.Type {
	if len(c.errs) < message.MaxErrors {
		c.errs = append(c.errs, in.Error(at.String(), want, got, hint))
	}
	return generable.ErrorT
}

func (c *codec) typ(t reflect.Type, at *message.Path, hint string) *generable.Type {
	if c.depth++; c.depth > generable.MaxTypeDepth {
		c.depth--
		return c.bad(at, "a type nested at most "+strconv.Itoa(generable.MaxTypeDepth)+" deep", "a deeper one", "")
	}
	defer func() { c.depth-- }()
	if t.Kind() == reflect.Pointer {
		return generable.OneOf(c.typ(t.Elem(), at, hint), generable.NoneT)
	}
	if u := c.unions[t]; u != nil {
		return c.union(t, u, at)
	}
	switch {
	case t == valueType:
		return generable.AnyT
	case t == bigIntType:
		return generable.IntT
	case t == timeType:
		out, _ := generable.Limited(generable.StrT, generable.Limits{Format: "date-time"})
		return out
	case isNumberText(t):
		return generable.OneOf(generable.IntT, generable.FloatT)
	case c.duration(t):
		return durationText()
	case t.Kind() == reflect.Interface, has[jsonMarshaler](t):
		return generable.AnyT
	case has[textMarshaler](t), isBytes(t):
		return generable.StrT
	}
	switch t.Kind() {
	case reflect.Bool:
		return generable.BoolT
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return generable.IntT
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		zero := 0.0
		out, _ := generable.Limited(generable.IntT, generable.Limits{Ge: &zero})
		return out
	case reflect.Float32, reflect.Float64:
		return generable.FloatT
	case reflect.String:
		return generable.StrT
	case reflect.Slice:
		return generable.ListOfType(c.typ(t.Elem(), at.Part("[]"), hint+"Item"))
	case reflect.Array:
		n := t.Len()
		out, _ := generable.Limited(generable.ListOfType(c.typ(t.Elem(), at.Part("[]"), hint+"Item")), generable.Limits{MinLen: &n, MaxLen: &n})
		return out
	case reflect.Map:
		switch k := t.Key(); {
		case k.Kind() == reflect.String, k.Kind() >= reflect.Int && k.Kind() <= reflect.Uintptr, has[textMarshaler](k):
			return generable.DictOfType(c.typ(t.Elem(), at.Part("[str]"), hint+"Value"))
		default:
			return c.bad(at, "a map with keys that are texts", t.String(), "")
		}
	case reflect.Struct:
		return c.schema(t, at, hint, "")
	}
	return c.bad(at, "a type with a JSON form", t.String(), `leave the field out with json:"-"`)
}

// union makes the union of an interface whose implementations are known.
func (c *codec) union(t reflect.Type, u *union, at *message.Path) *generable.Type {
	if done := c.types[t]; done != nil {
		return done
	}
	self := generable.RefTo(message.Unique(nameOf(t), c.names))
	c.types[t] = self
	var variants []*generable.Type
	for _, v := range u.variants {
		s := deref(v)
		if s.Kind() != reflect.Struct {
			return c.bad(at, "structs as variants", v.String(), "")
		}
		variants = append(variants, c.schema(s, at, "", u.tag))
	}
	out, errs := generable.NewUnion(self.Name, "", u.tag, variants)
	for _, e := range errs {
		c.bad(at, e.Expected, e.Got, e.Hint)
	}
	self.Bind(out)
	c.types[t] = out
	return out
}

// schema makes the schema of a struct. If tag is set, the struct is a variant, and a field with that name is the tag
// itself.
func (c *codec) schema(t reflect.Type, at *message.Path, hint, tag string) *generable.Type {
	if tag == "" {
		if done := c.types[t]; done != nil {
			return done
		}
	}
	name := nameOf(t)
	if name == "" {
		name = hint
	}
	var self *generable.Type
	if tag == "" {
		name = message.Unique(name, c.names)
		self = generable.RefTo(name)
		c.types[t] = self
	}
	s := structOf(t)
	var fields []generable.Field
	for i := range s.fields {
		if s.fields[i].name != tag || tag == "" {
			fields = append(fields, c.fieldType(&s.fields[i], at))
		}
	}
	out, errs := generable.NewSchema(name, s.doc, fields)
	for _, e := range errs {
		c.bad(at.Key(strings.TrimPrefix(e.Path, ".")), e.Expected, e.Got, e.Hint)
	}
	own, items := c.streams(s.stream, at)
	out, err := generable.Streamed(out, own)
	if err != nil || items != 0 {
		c.bad(at, "a policy that suits the struct in the tag stream", message.Quote(s.stream), "items= is for fields; first needs a field that has to be there")
	}
	if self != nil {
		self.Bind(out)
		c.types[t] = out
	}
	return out
}

// fieldType makes a field from a struct field and its tags.
func (c *codec) fieldType(g *field, at *message.Path) generable.Field {
	step := at.Key(g.name)
	t := g.typ
	if g.omitEmpty && t.Kind() == reflect.Pointer { // nil is left out, not null
		t = t.Elem()
	}
	f := generable.Field{Name: g.name, Type: c.typ(t, step, message.TypeNameAfter(g.name)), Guide: firstTag(g.tag, "doc", "desc", "description", "jsonschema_description")}
	if f.Guide == "" && c.duration(deref(t)) {
		f.Guide = durationGuide
	}
	if g.asText {
		f.Type = generable.StrT
	}
	var l generable.Limits
	f.Type, l = takeLimits(f.Type)
	items := generable.StreamPolicy(0)
	f.Stream, items = c.streams(g.tag.Get("stream"), step)
	typ, err := generable.StreamedItems(f.Type, items)
	if f.Type = typ; err != nil {
		c.bad(step, err.Expected+" for items= in the tag stream", err.Got, err.Hint)
	}
	required := c.tags(&f, &l, g, step)
	c.words(&f, g, step)
	f.Limits = &l
	switch {
	case f.Optional || required:
	case g.omitEmpty:
		f = generable.OmittedField(f)
	}
	return f
}

// words reads the tags of a field that affect how its text is read.
func (c *codec) words(f *generable.Field, g *field, at *message.Path) {
	if tag := g.tag.Get("alias"); tag != "" {
		f.Alias = splitTag(tag)
	}
	for name, to := range map[string]*bool{"alias_only": &f.AliasOnly, "dedent": &f.Dedent} {
		switch tag := g.tag.Get(name); tag {
		case "", "false":
		case "true":
			*to = true
		default:
			c.bad(at, "true or false in the tag "+name, message.Quote(tag), "")
		}
	}
}

// streams reads the stream tag: the policies of a field or struct, and those of its items.
func (c *codec) streams(tag string, at *message.Path) (own, items generable.StreamPolicy) {
	for word := range strings.SplitSeq(tag, ",") {
		into := &own
		word, ofItems := strings.CutPrefix(strings.TrimSpace(word), "items=")
		if ofItems {
			into = &items
		}
		p, ok := generable.StreamPolicyOf(word)
		if !ok && tag != "" {
			c.bad(at, "one of "+strings.Join(generable.StreamWords(), ", ")+" in the tag stream", message.Quote(word), message.DidYouMean(word, generable.StreamWords()))
		}
		*into |= p
	}
	return own, items
}

// takeLimits is unlimited, but returns the limits as a value that can be extended.
func takeLimits(t *generable.Type) (*generable.Type, generable.Limits) {
	t, l := in.Unlimited(t)
	if l == nil {
		return t, generable.Limits{}
	}
	return t, *l
}

// tags reads the jsonschema tag of a field.
func (c *codec) tags(f *generable.Field, l *generable.Limits, g *field, at *message.Path) (required bool) {
	tag := g.tag.Get("jsonschema")
	if tag == "" || tag == "-" {
		return false
	}
	parts := splitTag(tag)
	if !slices.ContainsFunc(parts, func(p string) bool {
		key, _, _ := strings.Cut(p, "=")
		return slices.Contains(tagWords, strings.TrimSpace(key))
	}) {
		if f.Guide == "" {
			f.Guide = tag
		}
		return false
	}
	var enum []string
	for _, p := range parts {
		key, text, given := strings.Cut(p, "=")
		switch key = strings.TrimSpace(key); key {
		case "description":
			f.Guide = text
		case "title":
			if f.Guide == "" {
				f.Guide = text
			}
		case "required":
			required = true
		case "enum":
			enum = append(enum, text)
		case "pattern":
			l.Pattern = text
		case "format":
			l.Format = text
		case "uniqueItems":
			l.Unique = !given || text == "true"
		case "default", "example":
			v := c.tagValue(text, f.Type)
			if key == "example" {
				f.Examples = append(f.Examples, v)
			} else {
				f.Optional, f.Default = true, v
			}
		case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
			n, err := strconv.ParseFloat(text, 64)
			if err != nil {
				c.bad(at, "a number for "+key, message.Quote(text), "")
				continue
			}
			*map[string]**float64{"minimum": &l.Ge, "maximum": &l.Le, "exclusiveMinimum": &l.Gt, "exclusiveMaximum": &l.Lt, "multipleOf": &l.MultipleOf}[key] = &n
		case "minLength", "maxLength", "minItems", "maxItems":
			n, err := strconv.Atoi(text)
			if err != nil {
				c.bad(at, "a whole number for "+key, message.Quote(text), "")
				continue
			}
			if strings.HasPrefix(key, "min") {
				l.MinLen = &n
			} else {
				l.MaxLen = &n
			}
		case "":
		default:
			c.bad(at, "one of "+strings.Join(tagWords, ", ")+" in the tag jsonschema", message.Quote(key), message.DidYouMean(key, tagWords))
		}
	}
	if len(enum) > 0 {
		f.Type = c.enum(enum, f.Type, g, at)
	}
	return required
}

var tagWords = []string{"description", "title", "required", "enum", "pattern", "format", "uniqueItems", "default", "example",
	"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems"}

// splitTag splits a tag at its commas; \, is a comma inside a part.
func splitTag(tag string) []string {
	const comma = "\x00"
	parts := strings.Split(strings.ReplaceAll(tag, `\,`, comma), ",")
	for i := range parts {
		parts[i] = strings.ReplaceAll(parts[i], comma, ",")
	}
	return parts
}

// tagValue reads a value in a tag: as JSON of the type, else as text.
func (c *codec) tagValue(text string, t *generable.Type) generable.Value {
	if t.Deref().Kind == generable.StrType || t.Deref().Kind == generable.EnumType {
		return generable.StrOf(text)
	}
	if r := lenient.Decode(t, text, generable.Options{}); r.OK {
		return r.Value
	}
	return generable.StrOf(text) // refused later as a default
}

// enum limits a field, or the items of its list, to the given values.
func (c *codec) enum(words []string, t *generable.Type, g *field, at *message.Path) *generable.Type {
	switch {
	case t.Kind == generable.ListType:
		return generable.ListOfType(c.enum(words, t.Elem, g, at))
	case t.Kind == generable.OneOfType && in.NonNone(t) != nil:
		return generable.OneOf(c.enum(words, in.NonNone(t), g, at), generable.NoneT)
	case t.Deref().Kind == generable.StrType:
		name := nameOf(deref(g.typ))
		if name == "" || name == "string" {
			name = message.TypeNameAfter(g.name)
		}
		out, errs := generable.NewEnum(name, "", words)
		for _, e := range errs {
			c.bad(at, e.Expected, e.Got, e.Hint)
		}
		return out
	}
	values := make([]generable.Value, len(words))
	for i, w := range words {
		r := lenient.Decode(t, w, generable.Options{Level: generable.Strict})
		if !r.OK {
			return c.bad(at, "values of type "+t.String()+" in the enum", message.Quote(w), "")
		}
		values[i] = r.Value
	}
	out, _ := generable.Limited(t, generable.Limits{Only: generable.NewList(values)})
	return out
}
