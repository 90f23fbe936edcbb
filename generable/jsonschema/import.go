package jsonschema

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/lenient"
)

// Options configure [Import]. The zero value is strict.
type Options struct {
	// Name is the name of the root type; "" means the schema's title, else Root.
	Name string
	// Lenient leaves out what a type cannot express and reports it among the ignored parts. Otherwise it is an error.
	Lenient bool
	// KeepInts reads "number" as int | float rather than float, so that an integer keeps all its digits.
	KeepInts bool
	// Check returns the check with the given text, an entry of a schema's x-constraints, or nil if it is unknown. If
	// Check is nil, all constraints are reported among the ignored parts.
	Check func(says string) *generable.Check
}

// Import converts a JSON Schema (draft 2020-12, and the parts of older drafts and of OpenAPI that tools still write)
// to a type. It is designed for the schemas of tools and hosts; docs/decoding.md describes how each keyword is read.
//
// Errors and the ignored parts name their place in the schema as a JSON pointer, "#/properties/age/minimum". With
// errors, the type is nil. Ignored are keywords that a type cannot express (only with Lenient), unknown ones, and
// formats that are not checked.
func Import(schema generable.Value, o Options) (t *generable.Type, ignored, errs generable.FieldErrors) {
	im := newImporter(schema, o)
	if t = im.read(); len(im.errs) > 0 {
		return nil, im.ignored, im.errs
	}
	return t, im.ignored, nil
}

func newImporter(schema generable.Value, o Options) *importer {
	return &importer{o: o, root: generable.Plain(schema, nil), nodes: make(map[*generable.Map]*schemaUse), names: make(map[string]int)}
}

// read makes the type of the whole schema.
func (im *importer) read() (t *generable.Type) {
	o := im.o
	if im.index(im.root, "#", 0); len(im.errs) == 0 {
		whole := im.whole()
		if m, ok := whole.AsMap(); ok && o.Name != "" {
			im.use(m).given = o.Name
		}
		t = im.typ(whole, "#", "Root")
	}
	if len(im.errs) == 0 {
		im.errs = append(im.errs, t.Verify()...)
	}
	if im.more > 0 {
		im.errs = append(im.errs, in.Error("", "a schema without errors", strconv.Itoa(im.more)+" errors more", ""))
	}
	return t
}

// Parse is [Import] for the text of a schema, which must be valid JSON.
func Parse(text string, o Options) (t *generable.Type, ignored, errs generable.FieldErrors) {
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	r := lenient.Decode(generable.AnyT, text, generable.Options{Level: generable.Strict})
	if len(r.Errors) == 0 && len(r.Repairs) > 0 {
		fix := r.Repairs[0]
		e := &generable.FieldError{Path: fix.Path, Expected: "JSON", Got: strings.ReplaceAll(fix.Kind, "-", " "), Offset: fix.Offset}
		before := text[:fix.Offset]
		e.Line = 1 + strings.Count(before, "\n")
		e.Col = 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
		r.Errors = generable.FieldErrors{e}
	}
	if len(r.Errors) > 0 || !r.OK {
		for _, e := range r.Errors {
			e.Hint = "a schema is plain JSON"
		}
		return nil, nil, r.Errors
	}
	return Import(r.Value, o)
}

const (
	// maxSchemaNodes bounds the work for one schema: allOf can double it with each level.
	maxSchemaNodes = 200_000
	// maxSchemaLooks bounds how many values of lists are examined: references can lead to the same long list again
	// and again.
	maxSchemaLooks = 20_000_000
	// maxSchemaDepth bounds the nesting of a schema's text.
	maxSchemaDepth = 2000
)

// importer reads one schema. It identifies the schema's objects by their pointers, so that an object that is referred
// to twice becomes one type.
type importer struct {
	o       Options
	root    generable.Value
	nodes   map[*generable.Map]*schemaUse
	anchors map[string]*generable.Map // by "#name" and by id
	base    string                    // the id of the root
	names   map[string]int            // how often each name of a reference has been requested; references are known only by name
	depth   int
	deep    bool // the schema is nested too deep
	work    int  // parts and members that have been read or merged
	looked  int  // values of lists that have been examined

	errs, ignored generable.FieldErrors
	more          int
}

// schemaUse is the state of one object of the schema.
type schemaUse struct {
	typ    *generable.Type
	ref    *generable.Type // stands for the type while it is being made, if it was requested
	open   bool
	name   string         // the name by which it is referred to
	given  string         // the name from the caller
	merged *generable.Map // with references and allOf resolved
	void   bool           // merged cannot be made
	busy   bool           // its parts are being listed
}

func (im *importer) use(m *generable.Map) *schemaUse {
	u := im.nodes[m]
	if u == nil {
		u = &schemaUse{}
		im.nodes[m] = u
	}
	return u
}

// fail records an error and returns the type that replaces the faulty one.
//
//go:noinline
func (im *importer) fail(at, want, got, hint string) *generable.Type {
	if len(im.errs) >= message.MaxErrors {
		im.more++
	} else {
		im.errs = append(im.errs, in.Error(at, want, got, hint))
	}
	return generable.ErrorT
}

// works counts members that are read or merged. It reports false, and records an error, when the limit is exceeded.
func (im *importer) works(n int, at string) bool {
	if im.work += n; im.work <= maxSchemaNodes {
		return true
	}
	im.fail(at, "a schema of at most "+strconv.Itoa(maxSchemaNodes)+" parts", "a larger one", "")
	return false
}

// looks counts values that are examined, and otherwise behaves like works.
func (im *importer) looks(n int, at string) bool {
	if im.looked += n; im.looked <= maxSchemaLooks {
		return true
	}
	im.fail(at, "a schema of at most "+strconv.Itoa(maxSchemaLooks)+" values", "a larger one", "")
	return false
}

// isBool reports whether v is the truth value b.
func isBool(v generable.Value, b bool) bool {
	is, ok := v.AsBool()
	return ok && is == b
}

// never reports whether a schema says that nothing fits: false, or not combined with everything.
func never(v generable.Value) bool {
	if m, ok := v.AsMap(); ok {
		what, has := m.Get("not")
		all, ok := what.AsMap()
		return has && (ok && all.Len() == 0 || isBool(what, true))
	}
	return isBool(v, false)
}

// nothing records a schema that nothing fits. No type expresses that, and leaving it out would turn it into its
// opposite.
func (im *importer) nothing(at string) *generable.Type {
	return im.fail(at, "a schema that some value fits", "one that no value fits", "")
}

// beyond records something that a type cannot express.
func (im *importer) beyond(at, want, got string) {
	if !im.o.Lenient {
		im.fail(at, want, got, "read the schema leniently to go without it")
		return
	}
	im.note(at, want, got, "")
}

// note records something that is ignored.
func (im *importer) note(at, want, got, hint string) {
	if len(im.ignored) < message.MaxErrors {
		im.ignored = append(im.ignored, in.Error(at, want, got, hint))
	}
}

// whole returns the schema to start with. If a definition repeats the root, as for a type that contains itself, that
// definition has the name.
func (im *importer) whole() generable.Value {
	m, ok := im.root.AsMap()
	if !ok {
		return im.root
	}
	for _, key := range []string{"$defs", "definitions"} {
		defs, _ := m.Get(key)
		d, ok := defs.AsMap()
		if !ok {
			continue
		}
		for name, def := range d.All() {
			if body, ok := def.AsMap(); ok && body.Len() == m.Len()-1 && generable.Equal(without(m, key).Value(), def) {
				im.use(body).name = name
				return def
			}
		}
	}
	return im.root
}

// typ makes the type of a schema at a place. hint is its name if the schema has none.
func (im *importer) typ(s generable.Value, at, hint string) *generable.Type {
	switch {
	case never(s):
		return im.nothing(at)
	case s.Kind() == generable.Bool:
		return generable.AnyT
	}
	m, ok := s.AsMap()
	if !ok {
		return im.fail(at, "a schema: an object, true or false", s.TypeName(), "")
	}
	u := im.use(m)
	switch {
	case u.typ != nil:
		return u.typ
	case u.open:
		if u.ref == nil {
			u.ref = generable.RefTo(im.unique(im.nameOf(m, hint)))
		}
		return u.ref
	}
	if !im.works(1, at) {
		return generable.ErrorT
	}
	if im.deep { // already reported: each level may lead to several others that are as deep
		return generable.ErrorT
	}
	if im.depth >= generable.MaxTypeDepth-2 {
		im.deep = true
		return im.fail(at, "a schema nested at most "+strconv.Itoa(generable.MaxTypeDepth-2)+" deep", "a deeper one", "")
	}
	im.depth++
	u.open = true
	t := im.build(m, at, hint)
	u.open = false
	im.depth--
	if u.ref != nil && !u.ref.BindPart(t) {
		t = im.fail(at, "a schema that says what fits", "one that leads back to itself", "")
		u.ref.BindPart(t)
	}
	u.typ = t
	return t
}

// build makes the type of an object of the schema.
func (im *importer) build(m *generable.Map, at, hint string) *generable.Type {
	if m.Len() == 0 {
		return generable.AnyT
	}
	if target, path, ok := im.onlyRef(m, at); ok {
		if target.Kind() == generable.Null {
			return generable.ErrorT
		}
		return im.constrained(im.nullable(m, im.typ(target, path, hint)), m, at)
	}
	merged := im.merged(m, at)
	if merged == nil {
		return generable.ErrorT
	}
	im.unsupported(merged, at)
	t := im.choice(m, merged, at, hint)
	if t == nil {
		t = im.single(m, merged, at, hint)
	}
	return im.constrained(im.nullable(merged, t), merged, at)
}

// nullable handles OpenAPI 3.0's form of T | None.
func (im *importer) nullable(m *generable.Map, t *generable.Type) *generable.Type {
	if v, _ := m.Get("nullable"); isBool(v, true) {
		return generable.OneOf(t, generable.NoneT)
	}
	return t
}

// nameOf returns the name of the type that an object of the schema declares: its title, the name by which it is
// referred to, else the hint.
func (im *importer) nameOf(m *generable.Map, hint string) string {
	if name := im.use(m).given; name != "" {
		return name
	}
	if v, ok := m.Get("title"); ok {
		if s, _ := v.AsStr(); s != "" {
			return message.TypeName(s)
		}
	}
	if name := im.use(m).name; name != "" {
		return name
	}
	return hint
}

// unique returns a name that no other reference has.
func (im *importer) unique(name string) string {
	out := name
	for im.names[out] > 0 {
		im.names[name]++
		out = name + "_" + strconv.Itoa(im.names[name])
	}
	im.names[out] = 1
	return out
}

// pointer adds a step to a JSON pointer.
func pointer(at, step string) string {
	return at + "/" + strings.ReplaceAll(strings.ReplaceAll(step, "~", "~0"), "/", "~1")
}

func stringAt(m *generable.Map, key string) string {
	v, _ := m.Get(key)
	s, _ := v.AsStr()
	return s
}
