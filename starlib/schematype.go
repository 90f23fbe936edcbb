package starlib

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

func schemaTypeRows() []Builtin {
	return []Builtin{
		{Name: "type_from_json_schema", Group: GroupTypes, Returns: "type", Effect: Pure, Func: typeFromJSONSchema,
			Params: []Param{
				{Name: "schema", Kind: anyOf(DictKind, StrKind), Doc: "the JSON Schema, as a dict or as its text"},
				{Name: "name", Kind: StrKind, Shape: KeywordOnly, Default: "None", Doc: "the name; otherwise the variable's, else the schema's title"},
				{Name: "lenient", Kind: BoolKind, Shape: KeywordOnly, Default: "False", Doc: "leave out what a type cannot say, with a warning, instead of refusing it"},
				{Name: "_llm_description", Kind: StrKind, Shape: KeywordOnly, Default: "None", Doc: "replaces the generated description for models, verbatim"},
			},
			Doc: "Makes a type of a JSON Schema (draft 2020-12), such as a tool's. What the schema says and a type cannot is an error with its place in the schema."},
	}
}

func typeFromJSONSchema(c *Call) (starlark.Value, error) {
	o := generable.SchemaOptions{Name: c.Str("name"), Lenient: c.Bool("lenient", false)}
	if o.Name == "" {
		o.Name = c.name()
	}
	var t *generable.Type
	var ignored, errs generable.FieldErrors
	if text, ok := c.Arg("schema").(starlark.String); ok {
		t, ignored, errs = generable.FromJSONSchemaText(string(text), o)
	} else {
		v, err := toValue(c.Arg("schema"))
		if err != nil {
			return nil, prefixed("schema", err)
		}
		t, ignored, errs = generable.FromJSONSchema(v, o)
	}
	at := c.spanOf("schema")
	found := func(e *generable.FieldError) *diag.Diagnostic {
		plain := *e
		plain.Hint = ""
		d := &diag.Diagnostic{Code: diag.BadSchema, Span: at, Message: plain.Error()}
		if e.Hint != "" {
			d.Help = []string{e.Hint}
		}
		return d
	}
	if errs != nil {
		var list []*diag.Diagnostic
		for _, e := range errs {
			list = append(list, found(e))
		}
		return c.fail(list...)
	}
	if !c.running() {
		for _, e := range ignored {
			d := found(e)
			d.Severity, d.Message = diag.Warning, "not checked: "+d.Message
			c.state.session.Report(d)
		}
	}
	if !t.IsNominal() {
		return c.state.typ(t), nil
	}
	return c.declare(t), nil
}
