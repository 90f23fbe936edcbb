package data

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/jsonschema"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

func schemaTypeRows() []table.Builtin {
	return []table.Builtin{
		{Name: "type_from_json_schema", Group: table.GroupTypes, Returns: "type", Effect: table.Pure, Func: typeFromJSONSchema,
			Params: []table.Param{
				{Name: "schema", Kind: table.AnyOf(table.DictKind, table.StrKind), Doc: "the JSON Schema, as a dict or as text"},
				table.Opt("name", table.StrKind, "None", "the name; by default the variable's, else the schema's title"),
				table.Opt("lenient", table.BoolKind, "False", "whether to leave out what a type cannot express, with a warning, instead of failing"),
				table.Opt("_llm_description", table.StrKind, "None", "replaces the generated description for models, verbatim"),
			},
			Doc: "Makes a type from a JSON Schema (draft 2020-12), such as a tool's. Anything in the schema that a type cannot express is an error, reported with its place in the schema."},
	}
}

func typeFromJSONSchema(c *table.Call) (starlark.Value, error) {
	o := jsonschema.Options{Name: c.Str("name"), Lenient: c.Bool("lenient", false), Check: predicate.CheckOf}
	if o.Name == "" {
		o.Name = c.Variable()
	}
	var t *generable.Type
	var ignored, errs generable.FieldErrors
	if text, ok := c.Arg("schema").(starlark.String); ok {
		t, ignored, errs = jsonschema.Parse(string(text), o)
	} else {
		v, err := value.ToData(c.Arg("schema"))
		if err != nil {
			return nil, value.Prefixed("schema", err)
		}
		t, ignored, errs = jsonschema.Import(v, o)
	}
	at := c.ArgSpan("schema")
	if errs != nil {
		var list []*diag.Diagnostic
		for _, e := range errs {
			list = append(list, script.FieldProblem(diag.BadSchema, at, e))
		}
		return c.Fail(list...)
	}
	if !c.Running() {
		for _, e := range ignored {
			d := script.FieldProblem(diag.BadSchema, at, e)
			d.Severity, d.Message = diag.Warning, "not checked: "+d.Message
			c.State.Session.Report(d)
		}
	}
	if !t.IsNominal() {
		return value.NewType(c.State, t), nil
	}
	return declare(c, t), nil
}
