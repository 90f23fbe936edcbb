package data

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/jsonschema"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/table"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

func typeMethodRows() []table.Builtin {
	text := table.Param{Name: "text", Kind: table.StrKind, Doc: "the model's output"}
	method := func(of, name, returns, doc string, f func(*table.Call) (starlark.Value, error), params ...table.Param) table.Builtin {
		return table.Builtin{Name: name, Of: of, Group: table.GroupTypes, Params: params, Returns: returns, Doc: doc, Effect: table.Pure, Func: f}
	}
	field := table.Param{Name: "name", Kind: table.Naming(table.StrKind, table.FieldName), Doc: "the name of a field"}
	return []table.Builtin{
		method("type", "llm_description", "str", "Returns the description of the type for a model.", llmDescription),
		method("type", "json_schema", "str", "Returns the JSON Schema as text, with keys in declared order.", jsonSchema,
			table.Param{Name: "as_dict", Kind: table.BoolKind, Default: "False", Doc: "return a dict instead of text"},
			table.Opt("words", table.BoolKind, "False", "include keywords such as x-alias for what JSON Schema cannot express, so that type_from_json_schema restores this type; they are never sent to models")),
		method("type", "prompt_fragment", "str", "Returns the text that asks a model to answer with this type.", promptFragment),
		method("type", "from_llm_output", "value", "Reads a value from a model's output, leniently. Returns None if no value can be recovered.", fromLLMOutput, text),
		method("type", "decode", "Decoded", "Reads a value from a model's output and reports what was repaired and what does not fit. The result has .ok, .value, .repairs, .errors and .cost and, if the output does not fit, .partial and .complaint, the text to ask the model again with.", decodeFunc,
			append([]table.Param{text}, decodeParams...)...),
		method("type", "partial", "partial", "Returns a partial instance without fields; fields are added as they arrive.", partialFunc),

		method("partial", "with_field", "partial", "Returns a copy in which the field has arrived; the original is unchanged.", withField,
			field, table.Param{Name: "value", Kind: table.AnyKind, Doc: "what arrived"}),
		method("partial", "get", "value", "Returns the value of a field that has arrived, or else the default.", partialGet,
			field, table.Param{Name: "default", Kind: table.AnyKind, Default: "None", Doc: "what to return instead"}),
		method("partial", "has", "bool", "Reports whether a field has arrived, even as None.", partialHas, field),
		method("partial", "to_complete", "value", "Returns the instance, or None while something is missing or does not fit.", toComplete),
	}
}

func self(c *table.Call) *generable.Type { return c.Receiver.(*value.Type).T }

func llmDescription(c *table.Call) (starlark.Value, error) {
	return starlark.String(self(c).LLMDescription()), nil
}

func promptFragment(c *table.Call) (starlark.Value, error) {
	return starlark.String(self(c).PromptFragment()), nil
}

func jsonSchema(c *table.Call) (starlark.Value, error) {
	switch asDict, words := c.Bool("as_dict", false), c.Bool("words", false); {
	case asDict && words:
		return value.FromData(jsonschema.Export(self(c))), nil
	case asDict:
		return value.FromData(self(c).SchemaValue()), nil
	case words:
		return starlark.String(jsonschema.ExportText(self(c))), nil
	}
	return starlark.String(self(c).JSONSchema()), nil
}

func fromLLMOutput(c *table.Call) (starlark.Value, error) {
	r := lenient.Decode(self(c), c.Str("text"), generable.Options{})
	if !r.OK {
		return starlark.None, nil
	}
	return value.FromData(r.Value), nil
}

// decodeOption returns the parameter for an option of the decoder that is chosen by a word.
func decodeOption(name, doc string) table.Param {
	words := generable.OptionWords(name)
	return table.Param{Name: name, Kind: table.OneOf(words...), Shape: table.KeywordOnly, Default: `"` + words[0] + `"`, Doc: doc}
}

// decodeParams are the options of the decoder.
var decodeParams = []table.Param{
	decodeOption("level", "how far to go to make the text fit: \"strict\" repairs nothing, \"safe\" does not change the meaning, \"loose\" guesses"),
	decodeOption("pick", "which value to take if the text contains several that fit"),
	decodeOption("on_bad_item", "how to handle a list item or dict entry that does not fit"),
	decodeOption("extra_keys", "how to handle keys that are not fields"),
	table.Opt("max_cost", decodeBound(`level = "strict" repairs nothing`), "None", "refuse a value whose repairs together cost more than this"),
	table.Opt("max_depth", decodeBound("without it, 512 levels are read"), "512", "refuse lists and objects that are nested deeper than this"),
	table.Opt("partial", table.BoolKind, "False", "accept a text that was cut off; the value holds what is known of it"),
}

func decodeFunc(c *table.Call) (starlark.Value, error) {
	o, err := decodeOptions(c)
	if err != nil || len(c.Problems) > 0 {
		return nil, err
	}
	o.Partial = c.Bool("partial", false)
	return decodedValue(lenient.Decode(self(c), c.Str("text"), o)), nil
}

// decodeBound takes a bound of the decoder.
func decodeBound(help string) *table.Kind {
	return table.Ints(func(_ *table.Param, n int64) []table.Fault {
		return table.FaultIf(n < 1, help, "want at least 1, got %d", n)
	})
}

// decodeOptions reads the options of the decoder.
func decodeOptions(c *table.Call) (generable.Options, error) {
	o := generable.Options{MaxCost: c.Int("max_cost", 0), MaxDepth: c.Int("max_depth", 0)}
	for _, name := range []string{"level", "pick", "on_bad_item", "extra_keys"} {
		if c.Has(name) {
			if err := o.Set(name, c.Str(name)); err != nil {
				return o, err
			}
		}
	}
	return o, nil
}

// decodedValue returns a result of the decoder as a script value.
func decodedValue(r lenient.Result) starlark.Value {
	repairs := make([]generable.Value, len(r.Repairs))
	for i, fix := range r.Repairs {
		repairs[i] = value.InstanceOf(value.RepairType, generable.StrOf(fix.Kind), generable.StrOf(fix.Path), generable.StrOf(fix.Before), generable.StrOf(fix.After))
	}
	errs := make([]generable.Value, len(r.Errors))
	for i, e := range r.Errors {
		errs[i] = value.InstanceOf(value.FieldErrorType, generable.StrOf(e.Path), generable.StrOf(e.Expected), generable.StrOf(e.Got), generable.StrOf(e.Hint), generable.StrOf(e.Error()))
	}
	v := r.Value
	if !r.OK {
		v = generable.Value{}
	}
	return value.FromData(value.InstanceOf(value.DecodedType, generable.BoolOf(r.OK), v, generable.ListOf(repairs...), generable.ListOf(errs...), generable.IntOf(int64(r.Cost)), r.Partial, generable.StrOf(r.Complaint())))
}

var (
	_ starlark.HasAttrs = (*value.Partial)(nil)
	_ starlark.Mapping  = (*value.Partial)(nil)
)

func partialFunc(c *table.Call) (starlark.Value, error) {
	p, err := generable.NewPartial(self(c))
	if err != nil {
		return nil, script.Errorf("AS204", "%s", err)
	}
	return &value.Partial{Partial: p, State: c.State}, nil
}

func part(c *table.Call) *value.Partial { return c.Receiver.(*value.Partial) }

func withField(c *table.Call) (starlark.Value, error) {
	v, err := value.ToData(c.Arg("value"))
	if err != nil {
		return nil, value.Prefixed(c.Str("name"), err)
	}
	next, err := part(c).Partial.WithField(c.Str("name"), v)
	if err != nil {
		return nil, script.Errorf("AS503", "%s", err)
	}
	return &value.Partial{Partial: next, State: c.State}, nil
}

func partialGet(c *table.Call) (starlark.Value, error) {
	if v, ok := part(c).Partial.Get(c.Str("name")); ok {
		return value.FromData(v), nil
	}
	if d := c.Arg("default"); d != nil {
		return d, nil
	}
	return starlark.None, nil
}

func partialHas(c *table.Call) (starlark.Value, error) {
	return starlark.Bool(part(c).Partial.Has(c.Str("name"))), nil
}

func toComplete(c *table.Call) (starlark.Value, error) {
	r, errs := part(c).Partial.ToComplete()
	if errs != nil {
		return starlark.None, nil
	}
	return value.FromRecord(r), nil
}
