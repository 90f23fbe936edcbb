package data

import (
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// Rows returns the builtins for types, values, texts and files, and for capabilities.
func Rows() []table.Builtin {
	return slices.Concat(typeRows(), schemaTypeRows(), typeMethodRows(), streamRows(), valueRows(), textRows(), jsonRows(), scriptRows(), describeRows(), capabilityRows())
}

func typeRows() []table.Builtin {
	scalar := func(name, doc string, t *generable.Type) table.Builtin {
		return table.Builtin{Name: name, Group: table.GroupTypes, Returns: "type", Effect: table.Pure, Doc: doc,
			Params: []table.Param{{Name: "args", Kind: table.AnyKind, Shape: table.Variadic, Doc: "the arguments of Starlark's function of the same name"}},
			Make: func(c *script.State, _ *table.Table) starlark.Value {
				out := &value.Type{T: t, State: c, Func: starlark.Universe[name].(*starlark.Builtin), Bare: t.Kind == generable.DictType}
				if t.Kind == generable.ListType {
					out.Bare, out.Of = true, generable.ListOfType
				}
				return out
			}}
	}
	name := table.Opt("_name", table.StrKind, "None", "the name; by default that of the variable it is assigned to")
	description := table.Opt("_llm_description", table.StrKind, "None", "replaces the generated description for models, verbatim")
	doc := func(text string) table.Param {
		return table.Param{Name: "doc", Kind: table.StrKind, Shape: table.Positional, Default: `""`, Skip: true, Doc: text}
	}
	return []table.Builtin{
		scalar("str", "The type of text. Called as a function, it converts a value to text.", generable.StrT),
		scalar("int", "The type of whole numbers of any size. Called as a function, it converts a number or text.", generable.IntT),
		scalar("float", "The type of numbers with a fraction. Called as a function, it converts a number or text.", generable.FloatT),
		scalar("bool", "The type of True and False. Called as a function, it returns the truth value of its argument.", generable.BoolT),
		scalar("list", "The type of lists, such as list[str]. Called as a function, it makes a mutable list.", generable.ListOfType(generable.AnyT)),
		scalar("dict", "The type of dicts with str keys, such as dict[str, int]. Called as a function, it makes a dict, also from an instance of a schema.", generable.DictOfType(generable.AnyT)),
		scalar("any", "The type of any value, checked at run time. Called as a function, it reports whether any item is true.", generable.AnyT),
		{Name: "schema", Group: table.GroupTypes, Returns: "type", Effect: table.Pure, Func: schemaFunc,
			Params: []table.Param{
				doc("describes an instance to people and models"),
				{Name: "more", Kind: table.DictKind, Shape: table.Positional, Default: "{}", Skip: true, Doc: "fields whose names are reserved words: {\"from\": str}"},
				name, description,
				streamParam("_stream", "how an instance appears in a stream: \"atomic\" only once it is complete, \"first\" once all required fields are there, \"state\" along with how much has arrived; \"done\", \"not_null\" and \"with_state\" are other words for these"),
				{Name: "fields", Kind: FieldKind, Shape: table.Keywords, Doc: "the fields: a type, or field(...)"},
			},
			Doc: "Declares a type with fields. The type is named after the variable it is assigned to. T | None or a default makes a field optional."},
		{Name: "field", Group: table.GroupTypes, Returns: "field", Effect: table.Pure, Func: fieldFunc,
			Params: []table.Param{
				{Name: "type", Kind: table.TypeKind, Doc: "the type of the field"},
				{Name: "guide", Kind: table.StrKind, Default: `""`, Doc: "what to put there, for people and models"},
				table.Opt("default", table.AnyKind, "(required)", "the value when the field is left out"),
				table.Opt("ge", table.FloatKind, "None", "the minimum, inclusive"),
				table.Opt("le", table.FloatKind, "None", "the maximum, inclusive"),
				table.Opt("gt", table.FloatKind, "None", "the minimum, exclusive"),
				table.Opt("lt", table.FloatKind, "None", "the maximum, exclusive"),
				table.Opt("multiple_of", table.FloatKind, "None", "a number that the value must be a multiple of"),
				table.Opt("unique", table.BoolKind, "False", "whether the items of a list must all be different"),
				table.Opt("min_len", table.CountKind, "None", "the minimum length of a text, list or dict"),
				table.Opt("max_len", table.CountKind, "None", "the maximum length of a text, list or dict"),
				table.Opt("pattern", table.StrKind, "None", "a regular expression (RE2) that some part of the text must match"),
				table.Opt("format", table.OneOf(generable.FormatNames()...), "None", "a well-known format of text"),
				table.Opt("alias", table.AnyOf(table.StrKind, table.ListOf(table.StrKind)), "None", "other keys that are accepted when text is decoded"),
				table.Opt("alias_only", table.BoolKind, "False", "whether models see the field under its alias (the first, if there are several) instead of its name"),
				table.Opt("dedent", table.BoolKind, "False", "whether to remove the indentation that all lines of a text share"),
				table.Opt("examples", table.ListKind, "None", "examples of values"),
				table.Opt("check", table.PredicateKind, "None", "a condition that the value must meet: ~eq(0), ge(10) | eq(0), matches(\"^[A-Z]\")"),
				streamParam("stream", "how it appears in a stream: \"atomic\" only once it is complete, \"first\" before the rest of its instance, \"state\" along with how much has arrived; \"done\", \"not_null\" and \"with_state\" are other words for these"),
				streamParam("stream_items", "how each item of its list or dict appears in a stream: \"atomic\" or \"state\""),
			},
			Doc: "Describes a field of a schema, or a parameter of a tool or of def main."},
		{Name: "union", Group: table.GroupTypes, Returns: "type", Effect: table.Pure, Func: unionFunc,
			Params: []table.Param{
				doc("what the choice is about, for people and models"),
				{Name: "variants", Kind: table.TypeKind, Shape: table.Variadic, Doc: "the schemas"},
				table.Opt("_tag", table.StrKind, `"type"`, "the key that holds the variant's name"),
				name, description,
				streamParam("_stream", "how an instance appears in a stream: \"atomic\" or \"state\""),
			},
			Doc: "Declares a type whose values are instances of one of several schemas, distinguished by a tag. An instance written as JSON starts with the tag, unless its own schema is the expected type. If several unions share a schema, the first one declared applies."},
		{Name: "enum", Group: table.GroupTypes, Returns: "type", Effect: table.Pure, Whole: true, Func: enumFunc,
			Params: []table.Param{
				{Name: "values", Kind: enumValue, Shape: table.Variadic, Doc: "the values"},
				table.Opt("_doc", table.StrKind, `""`, "what the choice is about"),
				table.Opt("_notes", table.DictKind, "{}", "what a value means, for people and models: {\"low\": \"can wait\"}"),
				table.Opt("_alias", table.DictKind, "{}", "other words that are accepted for a value when text is decoded: {\"low\": [\"minor\"]}"),
				name, description,
			},
			Doc: "Declares a closed set of strings. An attribute such as Severity.low is the string itself."},
		{Name: "ref", Group: table.GroupTypes, Returns: "type", Effect: table.Pure, Whole: true, Func: refFunc,
			Params: []table.Param{{Name: "name", Kind: table.Naming(table.StrKind, table.TypeName), Doc: "the name of a type in this file"}},
			Doc:    "Refers to a type that is declared later or that contains the reference, for recursive types."},
	}
}

// enumValue takes a value of an enum. Other languages pass them as a list.
var enumValue = table.Hinted(table.StrKind, func(v starlark.Value) string {
	if list, ok := v.(*starlark.List); ok {
		var values []string
		for item := range list.Elements() {
			values = append(values, item.String())
		}
		return "pass the values one by one: enum(" + script.Joined(values) + "); its name is that of its variable"
	}
	return ""
})

// FieldKind takes a type or field(...).
var FieldKind = &table.Kind{Word: "type or field(...)", Stub: "Type | Field",

	Accept: value.Either(value.As[*value.Field], value.AcceptType), Hint: table.HintField}

// emptyOf returns the empty value that a type or its constructor stands for as a default, or "" for anything else.
func emptyOf(v starlark.Value) string {
	switch v := v.(type) {
	case *value.Type:
		switch v.T.Deref().Kind {
		case generable.ListType:
			return "[]"
		case generable.DictType:
			return "{}"
		}
	case *starlark.Builtin:
		return map[string]string{"list": "[]", "dict": "{}", "set": "[]"}[v.Name()]
	}
	return ""
}

func fieldFunc(c *table.Call) (starlark.Value, error) {
	f := generable.Field{Type: c.Type("type"), Guide: c.Str("guide")}
	if c.Incomplete {
		return &value.Field{Field: generable.Field{Type: generable.ErrorT}}, nil
	}
	if d := c.Arg("default"); d != nil {
		if empty := emptyOf(d); empty != "" {
			c.Problemf(diag.WrongValue, c.ArgSpan("default"), "default: %s is not data", value.Describe(d)).Advise("write default = " + empty + ": each instance gets its own")
			return c.Placeholder(), nil
		}
		v, err := value.ToData(d)
		if err != nil {
			return nil, value.Prefixed("default", err)
		}
		f.Default, f.Optional = v, true
	}
	limits := generable.Limits{Ge: c.Float("ge"), Le: c.Float("le"), Gt: c.Float("gt"), Lt: c.Float("lt"), MultipleOf: c.Float("multiple_of"),
		Unique: c.Bool("unique", false), MinLen: c.OptInt("min_len"), MaxLen: c.OptInt("max_len"), Pattern: c.Str("pattern"), Format: c.Str("format")}
	if p, ok := c.Arg("check").(*value.Predicate); ok {
		limits.Check = &generable.Check{Says: p.Pred.String(), Holds: p.Pred.Holds, Hints: p.Pred.Hints}
		if t := f.Type.Deref(); t.Kind != generable.RefType && t.Kind != generable.ErrorType {
			if why := p.Pred.Mismatches(t); len(why) > 0 {
				d := c.Problemf(diag.BadCondition, c.ArgSpan("check"), "this condition cannot be asked of %s", t)
				d.Label = why[0]
				d.Help = []string{"test the value itself, ge(80), or a field that it has; what is in a list is tested in code: fn(f, ...) after the agent"}
				if corrected := p.Pred.Corrected(t); corrected != nil {
					d.Help = []string{"write " + corrected.String()}
				}
			} else if never, _ := p.Pred.Settled(t); never {
				d := c.Problemf(diag.BadCondition, c.ArgSpan("check"), "no value of the field passes its check")
				d.Label = p.Pred.String() + " is false for every " + t.String()
				d.Help = []string{"remove what contradicts: & needs both, | needs one"}
			}
		}
	}
	f.Stream, f.Type = policy(c, "stream"), streamed(c, "stream_items", f.Type, generable.StreamedItems)
	if limits != (generable.Limits{}) {
		f.Limits = &limits
	}
	f.Alias, f.AliasOnly, f.Dedent = c.Texts("alias"), c.Bool("alias_only", false), c.Bool("dedent", false)
	if f.AliasOnly && len(f.Alias) == 0 {
		c.Problemf(diag.BadField, c.ArgSpan("alias_only"), "alias_only rules the name out, and there is no alias").Advise("add alias = \"...\", or leave alias_only out")
		return c.Placeholder(), nil
	}
	for _, item := range c.List("examples") {
		v, err := value.ToData(item)
		if err != nil {
			return nil, value.Prefixed("examples", err)
		}
		f.Examples = append(f.Examples, v)
	}
	return &value.Field{Field: f}, nil
}

// typeName returns the name of the type that this call declares: the given one, or its variable's.
func typeName(c *table.Call) string {
	if c.Has("_name") {
		return c.Str("_name")
	}
	return c.Variable()
}

func schemaFunc(c *table.Call) (starlark.Value, error) {
	var fields []generable.Field
	seen := map[string]bool{}
	if d, ok := c.Arg("more").(*starlark.Dict); ok {
		for key, v := range d.Entries() {
			name, ok := key.(starlark.String)
			if !ok {
				c.Problemf(diag.BadField, c.ArgSpan("more"), "the name of a field is a str, got %s", value.Describe(key)).Advise("write it in quotes")
				continue
			}
			w, ok := FieldKind.Takes(v)
			if !ok {
				c.Problemf(diag.WrongArgument, c.ArgSpan("more"), "%s: want %s, got %s", string(name), FieldKind.Word, value.Describe(v)).Advise(table.HintField(v))
				continue
			}
			seen[string(name)] = true
			fields = append(fields, value.FieldOf(string(name), w))
		}
	}
	for _, kv := range c.Kwargs {
		name := string(kv[0].(starlark.String))
		if seen[name] {
			c.Problemf(diag.DuplicateName, c.NameSpan(name), "the field %s is declared twice", name).
				Advise("leave one out: the dict is for names that are reserved words")
			continue
		}
		fields = append(fields, value.FieldOf(name, kv[1]))
	}
	t, errs := generable.NewSchema(typeName(c), script.Dedent(c.Str("doc")), fields)
	fieldErrors(c, diag.BadField, errs)
	return declare(c, streamed(c, "_stream", t, generable.Streamed)), nil
}

func unionFunc(c *table.Call) (starlark.Value, error) {
	tag := c.StrOr("_tag", generable.DefaultTag)
	var variants []*generable.Type
	names := map[string]bool{}
	for i, v := range c.Rest() {
		t, at := value.TypeOf(v), c.RefSpan(c.RestRefs[i])
		d := t.Deref()
		switch {
		case d.Kind == generable.ErrorType:
			c.Incomplete = true
		case d.Kind == generable.RecordType && d.Name == "":
			table.Unnamed(c.Problemf(diag.UnnamedType, at, "a variant of a union needs a name"))
		case d.Kind == generable.RecordType && d.FieldIndex(tag) >= 0:
			out := c.Problemf(diag.TagClash, at, "%s has a field %s, which is the tag of the union", d, tag)
			out.Help = append(out.Help, `rename the field, or the tag: _tag = "kind"`)
		case d.Kind != generable.RecordType && d.Kind != generable.RefType:
			out := c.Problemf(diag.WrongArgument, at, "the variants of a union are schemas, got %s", value.Describe(v))
			out.Help = append(out.Help, "join other types with |: "+t.String()+" | ...")
		case names[d.Name]:
			out := c.Problemf(diag.DuplicateName, at, "the union has two variants named %s", d.Name)
			out.Help = append(out.Help, "list each variant once; names distinguish them, _name = sets another")
		default:
			variants = append(variants, t)
		}
		names[d.Name] = true
	}
	if len(c.Rest()) == 0 {
		c.Problemf(diag.MissingArgument, c.FuncSpan(), "union needs variants").Advise(`union("doc", A, B)`)
	}
	name := typeName(c)
	if name == "" {
		table.Unnamed(c.Problemf(diag.UnnamedType, c.FuncSpan(), "a union needs a name"))
	}
	if len(c.Problems) > 0 || c.Incomplete {
		return c.Placeholder(), nil
	}
	t, errs := generable.NewUnion(name, script.Dedent(c.Str("doc")), tag, variants)
	fieldErrors(c, diag.BadField, errs)
	return declare(c, streamed(c, "_stream", t, generable.Streamed)), nil
}

func enumFunc(c *table.Call) (starlark.Value, error) {
	values := table.StringsOf(c.Rest())
	t, errs := generable.NewNotedEnum(typeName(c), c.Str("_doc"), values, valueNotes(c, values))
	for _, e := range errs {
		at := c.FuncSpan()
		for i := range c.RestRefs {
			if strings.HasPrefix(e.Path, "["+starlark.MakeInt(i).String()+"]") {
				at = c.RefSpan(c.RestRefs[i])
			}
		}
		c.Problemf(diag.BadEnum, at, "an enum wants %s, got %s", e.Expected, e.Got)
	}
	return declare(c, t), nil
}

// valueNotes reads the notes on an enum's values.
func valueNotes(c *table.Call, values []string) []generable.ValueNote {
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
				c.Problemf(diag.BadEnum, c.ArgSpan(name), "%s: %s is not a value of this enum", name, key).Help = []string{"its values are " + script.Joined(values)}
				continue
			}
			if text, ok := v.(starlark.String); ok && name == "_notes" {
				notes[i].Doc = string(text)
				continue
			} else if ok {
				notes[i].Alias = []string{string(text)}
				continue
			}
			list := table.ListOf(table.StrKind)
			words, ok := list.Takes(v)
			if !ok || name == "_notes" {
				c.Problemf(diag.BadEnum, c.ArgSpan(name), "%s: want text for %s, got %s", name, key, value.Describe(v))
				continue
			}
			notes[i].Alias = append(notes[i].Alias, table.StringsOf(table.Sequence(words))...)
		}
	}
	return notes
}

// fieldErrors reports errors of fields, each at the argument that declares the field.
func fieldErrors(c *table.Call, code diag.Code, errs generable.FieldErrors) {
	for _, e := range errs {
		at := c.FuncSpan()
		if field := value.FirstStep(e.Path); field != "" {
			at = c.RefSpan(table.ArgRef{Name: field})
		}
		c.Problems.Add(script.FieldProblem(code, at, e))
	}
}

// declare finishes a nominal type: references in its file can now find it by name.
func declare(c *table.Call, t *generable.Type) starlark.Value {
	if c.Has("_llm_description") && t.Kind != generable.ErrorType {
		t.Description = c.Str("_llm_description")
	}
	if !c.Running() {
		c.Locate()
		c.State.Types.Declare(c.Pos.Filename(), t)
		if t.Kind == generable.UnionType {
			t.TagVariants()
			c.State.Session.DeclareUnion(t)
		}
	}
	return value.NewType(c.State, t)
}

func refFunc(c *table.Call) (starlark.Value, error) {
	if c.Running() {
		return nil, script.Errorf(diag.UnresolvedRef, "ref refers to a type while the flow runs").
			WithHelp("declare recursive types at the top level")
	}
	c.Locate()
	return value.NewType(c.State, c.State.Types.Refer(c.Pos.Filename(), c.Str("name"), c.ArgSpan("name"))), nil
}
