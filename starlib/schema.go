package starlib

import (
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// dataRows are the builtins of types, values, texts and files, and of what a script may touch.
func dataRows() []Builtin {
	return slices.Concat(typeRows(), schemaTypeRows(), typeMethodRows(), streamRows(), valueRows(), textRows(), jsonRows(), scriptRows(), describeRows(), capabilityRows())
}

func typeRows() []Builtin {
	scalar := func(name, doc string, t *generable.Type) Builtin {
		return Builtin{Name: name, Group: GroupTypes, Returns: "type", Effect: Pure, Doc: doc,
			Params: []Param{{Name: "args", Kind: AnyKind, Shape: Variadic, Doc: "as the function of this name takes them"}},
			made: func(c *state, _ *Table) starlark.Value {
				fn := starlark.Universe[name].(*starlark.Builtin)
				return &typeValue{t: t, c: c, fn: fn, bare: t.Kind == generable.ListType || t.Kind == generable.DictType}
			}}
	}
	name := Param{Name: "_name", Kind: StrKind, Shape: KeywordOnly, Default: "None", Doc: "the name, where there is no variable to take it from"}
	description := Param{Name: "_llm_description", Kind: StrKind, Shape: KeywordOnly, Default: "None", Doc: "replaces the generated description for models, verbatim"}
	doc := func(text string) Param {
		return Param{Name: "doc", Kind: StrKind, Shape: Positional, Default: `""`, Skip: true, Doc: text}
	}
	return []Builtin{
		scalar("str", "The type of text; called, it converts a value to text.", generable.StrT),
		scalar("int", "The type of whole numbers of any size; called, it converts a number or text.", generable.IntT),
		scalar("float", "The type of numbers with a fraction; called, it converts a number or text.", generable.FloatT),
		scalar("bool", "The type of True and False; called, it gives the truth value.", generable.BoolT),
		scalar("list", "The type of lists: list[str]; called, it makes a list that can be changed.", generable.ListOfType(generable.AnyT)),
		scalar("dict", "The type of dicts with str keys: dict[str, int]; called, it makes a dict, also of an instance.", generable.DictOfType(generable.AnyT)),
		scalar("any", "The type of every value, checked at run time; called, it tells whether any item is true.", generable.AnyT),
		{Name: "schema", Group: GroupTypes, Returns: "type", Effect: Pure, Func: schemaFunc,
			Params: []Param{
				doc("what an instance is, for people and models"),
				{Name: "more", Kind: DictKind, Shape: Positional, Default: "{}", Skip: true, Doc: "fields whose names are reserved words: {\"from\": str}"},
				name, description,
				{Name: "fields", Kind: fieldKind, Shape: Keywords, Doc: "the fields: a type, or field(...)"},
			},
			Doc: "Declares a type with fields. It takes its name from the variable it is assigned to. T | None or a default makes a field optional."},
		{Name: "field", Group: GroupTypes, Returns: "field", Effect: Pure, Func: fieldFunc,
			Params: []Param{
				{Name: "type", Kind: TypeKind, Doc: "the type of the field"},
				{Name: "guide", Kind: StrKind, Default: `""`, Doc: "what to put there, for people and models"},
				{Name: "default", Kind: AnyKind, Shape: KeywordOnly, Default: "(required)", Doc: "the value when none is given"},
				{Name: "ge", Kind: FloatKind, Shape: KeywordOnly, Default: "None", Doc: "the least number"},
				{Name: "le", Kind: FloatKind, Shape: KeywordOnly, Default: "None", Doc: "the greatest number"},
				{Name: "gt", Kind: FloatKind, Shape: KeywordOnly, Default: "None", Doc: "a number that it is greater than"},
				{Name: "lt", Kind: FloatKind, Shape: KeywordOnly, Default: "None", Doc: "a number that it is less than"},
				{Name: "multiple_of", Kind: FloatKind, Shape: KeywordOnly, Default: "None", Doc: "a number that it is a multiple of"},
				{Name: "unique", Kind: BoolKind, Shape: KeywordOnly, Default: "False", Doc: "no two items of a list are equal"},
				{Name: "min_len", Kind: countKind, Shape: KeywordOnly, Default: "None", Doc: "the least length of text, list or dict"},
				{Name: "max_len", Kind: countKind, Shape: KeywordOnly, Default: "None", Doc: "the greatest length of text, list or dict"},
				{Name: "pattern", Kind: StrKind, Shape: KeywordOnly, Default: "None", Doc: "a regular expression (RE2) that some part of the text must match"},
				{Name: "format", Kind: oneOf(generable.FormatNames()...), Shape: KeywordOnly, Default: "None", Doc: "a well-known format of text"},
				{Name: "alias", Kind: anyOf(StrKind, listOf(StrKind)), Shape: KeywordOnly, Default: "None", Doc: "other keys that are accepted when text is decoded"},
				{Name: "examples", Kind: ListKind, Shape: KeywordOnly, Default: "None", Doc: "examples of values"},
				{Name: "check", Kind: predicateKind, Shape: KeywordOnly, Default: "None", Doc: "a condition as data that the value meets: ~eq(0), ge(10) | eq(0), matches(\"^[A-Z]\")"},
				{Name: "stream", Kind: anyOf(streamPolicy, listOf(streamPolicy)), Shape: KeywordOnly, Default: "None",
					Doc: "how it shows itself in a stream: \"atomic\" when it is complete, \"first\" before anything else of its instance, \"state\" with how much has arrived"},
			},
			Doc: "Describes a field of a schema, or a parameter of a tool or of def main."},
		{Name: "union", Group: GroupTypes, Returns: "type", Effect: Pure, Func: unionFunc,
			Params: []Param{
				doc("what the choice is about, for people and models"),
				{Name: "variants", Kind: TypeKind, Shape: Variadic, Doc: "the schemas"},
				{Name: "_tag", Kind: StrKind, Shape: KeywordOnly, Default: `"type"`, Doc: "the key that holds the variant's name"},
				name, description,
			},
			Doc: "Declares a type whose values are instances of one of several schemas, told apart by a tag."},
		{Name: "enum", Group: GroupTypes, Returns: "type", Effect: Pure, Func: enumFunc,
			Params: []Param{
				{Name: "values", Kind: StrKind, Shape: Variadic, Doc: "the values"},
				{Name: "_doc", Kind: StrKind, Shape: KeywordOnly, Default: `""`, Doc: "what the choice is about"},
				{Name: "_notes", Kind: DictKind, Shape: KeywordOnly, Default: "{}", Doc: "what a value means, for people and models: {\"low\": \"can wait\"}"},
				{Name: "_alias", Kind: DictKind, Shape: KeywordOnly, Default: "{}", Doc: "other words for a value that are accepted when text is decoded: {\"low\": [\"minor\"]}"},
				name, description,
			},
			Doc: "Declares a closed set of strings. Severity.low is the string."},
		{Name: "ref", Group: GroupTypes, Returns: "type", Effect: Pure, Func: refFunc,
			Params: []Param{{Name: "name", Kind: StrKind, Doc: "the name of a type of this file"}},
			Doc:    "Refers to a type that is declared later, or around the reference: a recursive type."},
	}
}

// fieldValue is what field(...) gives: a field that has no name yet.
type fieldValue struct {
	f generable.Field
}

func (f *fieldValue) String() string       { return "field(" + f.f.Type.String() + ")" }
func (f *fieldValue) Type() string         { return "field" }
func (f *fieldValue) Freeze()              {}
func (f *fieldValue) Truth() starlark.Bool { return true }
func (f *fieldValue) Hash() (uint32, error) {
	return 0, errorf(diag.ScriptError, "field(...) is no key")
}

// fieldKind takes a type or field(...).
var fieldKind = Kind{Word: "type or field(...)", Stub: "Type | Field",
	accept: func(v starlark.Value) (starlark.Value, bool) {
		if _, ok := v.(*fieldValue); ok {
			return v, true
		}
		return acceptType(v)
	}, hint: hintField}

// fieldOf reads a field under a name.
func fieldOf(name string, v starlark.Value) generable.Field {
	f := generable.Field{}
	if fv, ok := v.(*fieldValue); ok {
		f = fv.f
	} else {
		f.Type = typeOf(v)
	}
	f.Name = name
	return f
}

func fieldFunc(c *Call) (starlark.Value, error) {
	f := generable.Field{Type: c.typ("type"), Guide: c.Str("guide")}
	if c.stood {
		return &fieldValue{generable.Field{Type: generable.ErrorT}}, nil
	}
	if d := c.Arg("default"); d != nil {
		v, err := toValue(d)
		if err != nil {
			return nil, prefixed("default", err)
		}
		f.Default, f.Optional = v, true
	}
	limits := generable.Limits{Ge: c.Float("ge"), Le: c.Float("le"), Gt: c.Float("gt"), Lt: c.Float("lt"), MultipleOf: c.Float("multiple_of"),
		Unique: c.Bool("unique", false), Pattern: c.Str("pattern"), Format: c.Str("format")}
	if p, ok := c.Arg("check").(*predicateValue); ok {
		limits.Check = &generable.Check{Says: p.p.String(), Holds: p.p.Holds}
	}
	switch s := c.Arg("stream").(type) {
	case starlark.String:
		f.Stream = streamPolicies[string(s)]
	case *starlark.List:
		for item := range starlark.Elements(s) {
			f.Stream |= streamPolicies[string(item.(starlark.String))]
		}
	}
	for _, l := range []struct {
		name string
		to   **int
	}{{"min_len", &limits.MinLen}, {"max_len", &limits.MaxLen}} {
		if c.Has(l.name) {
			n := c.Int(l.name, 0)
			*l.to = &n
		}
	}
	if limits != (generable.Limits{}) {
		f.Limits = &limits
	}
	switch a := c.Arg("alias").(type) {
	case starlark.String:
		f.Alias = []string{string(a)}
	case *starlark.List:
		for item := range starlark.Elements(a) {
			f.Alias = append(f.Alias, string(item.(starlark.String)))
		}
	}
	if examples, ok := c.Arg("examples").(starlark.Sequence); ok {
		for item := range starlark.Elements(examples) {
			v, err := toValue(item)
			if err != nil {
				return nil, prefixed("examples", err)
			}
			f.Examples = append(f.Examples, v)
		}
	}
	return &fieldValue{f}, nil
}

// typeName is the name of a type that this call declares: given, or its variable's.
func (c *Call) typeName() string {
	if c.Has("_name") {
		return c.Str("_name")
	}
	return c.name()
}

func schemaFunc(c *Call) (starlark.Value, error) {
	var fields []generable.Field
	seen := map[string]bool{}
	if d, ok := c.Arg("more").(*starlark.Dict); ok {
		for key, v := range d.Entries() {
			name, ok := key.(starlark.String)
			if !ok {
				d := c.complain(diag.BadField, c.spanOf("more"), "the name of a field is a str, got %s", describe(key))
				d.Help = append(d.Help, "write it in quotes")
				continue
			}
			w, ok := fieldKind.takes(v)
			if !ok {
				d := c.complain(diag.WrongArgument, c.spanOf("more"), "%s: want %s, got %s", string(name), fieldKind.Word, describe(v))
				if h := hintField(v); h != "" {
					d.Help = append(d.Help, h)
				}
				continue
			}
			seen[string(name)] = true
			fields = append(fields, fieldOf(string(name), w))
		}
	}
	for _, kv := range c.kw {
		name := string(kv[0].(starlark.String))
		if seen[name] {
			d := c.complain(diag.DuplicateName, c.nameSpan(name), "the field %s is given twice", name)
			d.Help = append(d.Help, "leave one out: the dict is for names that are reserved words")
			continue
		}
		fields = append(fields, fieldOf(name, kv[1]))
	}
	t, errs := generable.NewSchema(c.typeName(), dedent(c.Str("doc")), fields)
	c.fieldErrors(diag.BadField, errs)
	return c.declare(t), nil
}

func unionFunc(c *Call) (starlark.Value, error) {
	tag := generable.DefaultTag
	if c.Has("_tag") {
		tag = c.Str("_tag")
	}
	var variants []*generable.Type
	names := map[string]bool{}
	for i, v := range c.Rest() {
		t, at := typeOf(v), c.argSpan(c.refs[i])
		d := t.Deref()
		switch {
		case d.Kind == generable.ErrorType:
			c.stood = true
		case d.Kind == generable.RecordType && d.Name == "":
			unnamed(c.complain(diag.UnnamedType, at, "a variant of a union needs a name"))
		case d.Kind == generable.RecordType && d.FieldIndex(tag) >= 0:
			out := c.complain(diag.TagClash, at, "%s has a field %s, which is the tag of the union", d, tag)
			out.Help = append(out.Help, `rename the field, or the tag: _tag = "kind"`)
		case d.Kind != generable.RecordType && d.Kind != generable.RefType:
			out := c.complain(diag.WrongArgument, at, "the variants of a union are schemas, got %s", describe(v))
			out.Help = append(out.Help, "join other types with |: "+t.String()+" | ...")
		case names[d.Name]:
			out := c.complain(diag.DuplicateName, at, "the union has two variants named %s", d.Name)
			out.Help = append(out.Help, "list each variant once; the name tells them apart, _name = gives another")
		default:
			variants = append(variants, t)
		}
		names[d.Name] = true
	}
	if len(c.Rest()) == 0 {
		out := c.complain(diag.MissingArgument, c.fnSpan(), "union needs variants")
		out.Help = append(out.Help, `union("doc", A, B)`)
	}
	name := c.typeName()
	if name == "" {
		unnamed(c.complain(diag.UnnamedType, c.fnSpan(), "a union needs a name"))
	}
	if len(c.wrong) > 0 || c.stood {
		return c.standIn(), nil
	}
	t, errs := generable.NewUnion(name, dedent(c.Str("doc")), tag, variants)
	c.fieldErrors(diag.BadField, errs)
	return c.declare(t), nil
}

func enumFunc(c *Call) (starlark.Value, error) {
	var values []string
	for _, v := range c.Rest() {
		s, _ := v.(starlark.String)
		values = append(values, string(s))
	}
	if c.stood {
		return c.standIn(), nil
	}
	notes := c.valueNotes(values)
	t, errs := generable.NewNotedEnum(c.typeName(), c.Str("_doc"), values, notes)
	for _, e := range errs {
		at := c.fnSpan()
		for i := range c.refs {
			if strings.HasPrefix(e.Path, "["+starlark.MakeInt(i).String()+"]") {
				at = c.argSpan(c.refs[i])
			}
		}
		c.complain(diag.BadEnum, at, "an enum wants %s, got %s", e.Expected, e.Got)
	}
	return c.declare(t), nil
}

// valueNotes reads what is said of an enum's values.
func (c *Call) valueNotes(values []string) []generable.ValueNote {
	notes := make([]generable.ValueNote, len(values))
	for _, name := range []string{"_notes", "_alias"} {
		d, ok := c.Arg(name).(*starlark.Dict)
		if !ok {
			continue
		}
		for key, v := range d.Entries() {
			s, _ := starlark.AsString(key)
			i := slices.Index(values, s)
			if i < 0 {
				c.complain(diag.BadEnum, c.spanOf(name), "%s: %s is no value of this enum", name, key).Help = []string{"its values are " + joined(values)}
				continue
			}
			if text, ok := v.(starlark.String); ok && name == "_notes" {
				notes[i].Doc = string(text)
				continue
			} else if ok {
				notes[i].Alias = []string{string(text)}
				continue
			}
			list := listOf(StrKind)
			words, ok := list.takes(v)
			if !ok || name == "_notes" {
				c.complain(diag.BadEnum, c.spanOf(name), "%s: want text for %s, got %s", name, key, describe(v))
				continue
			}
			for w := range starlark.Elements(words.(starlark.Iterable)) {
				notes[i].Alias = append(notes[i].Alias, string(w.(starlark.String)))
			}
		}
	}
	return notes
}

// fieldErrors reports what is wrong with fields, each at the argument that declares it.
func (c *Call) fieldErrors(code diag.Code, errs generable.FieldErrors) {
	for _, e := range errs {
		at := c.fnSpan()
		if field := firstStep(e.Path); field != "" {
			at = c.argSpan(argRef{name: field})
		}
		plain := *e
		plain.Hint = ""
		d := c.complain(code, at, "%s", plain.Error())
		if e.Hint != "" {
			d.Help = append(d.Help, e.Hint)
		}
	}
}

// declare finishes a nominal type: it becomes known by name to references of its file.
func (c *Call) declare(t *generable.Type) starlark.Value {
	if c.Has("_llm_description") && t.Kind != generable.ErrorType {
		t.Description = c.Str("_llm_description")
	}
	if !c.running() {
		c.lookup()
		c.state.types.declare(c.pos.Filename(), t)
		if t.Kind == generable.UnionType {
			c.state.session.DeclareUnion(t)
		}
	}
	return c.state.typ(t)
}

func refFunc(c *Call) (starlark.Value, error) {
	if c.stood {
		return c.standIn(), nil
	}
	if c.running() {
		return nil, errorf(diag.UnresolvedRef, "ref refers to a type while the flow runs").
			WithHelp("declare recursive types at the top level")
	}
	c.lookup()
	return c.state.typ(c.state.types.refer(c.pos.Filename(), c.Str("name"), c.spanOf("name"))), nil
}
