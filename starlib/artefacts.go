package starlib

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/generable"
)

func typeMethodRows() []Builtin {
	text := Param{Name: "text", Kind: StrKind, Doc: "what a model wrote"}
	method := func(name, returns, doc string, f func(*Call) (starlark.Value, error), params ...Param) Builtin {
		return Builtin{Name: name, Of: "type", Group: GroupTypes, Params: params, Returns: returns, Doc: doc, Effect: Pure, Func: f}
	}
	partial := func(name, returns, doc string, f func(*Call) (starlark.Value, error), params ...Param) Builtin {
		return Builtin{Name: name, Of: "partial", Group: GroupTypes, Params: params, Returns: returns, Doc: doc, Effect: Pure, Func: f}
	}
	field := Param{Name: "name", Kind: StrKind, Doc: "the name of a field"}
	return []Builtin{
		method("llm_description", "str", "Describes the type to a model.", llmDescription),
		method("json_schema", "str", "Gives the JSON Schema, as text with keys in declared order.", jsonSchema,
			Param{Name: "as_dict", Kind: BoolKind, Default: "False", Doc: "give a dict instead of text"}),
		method("prompt_fragment", "str", "Tells a model how to answer with this type.", promptFragment),
		method("from_llm_output", "value", "Reads a value from what a model wrote, leniently. Gives None when none can be recovered.", fromLLMOutput, text),
		method("decode", "Decoded", "Reads a value from what a model wrote and tells what was repaired and what does not fit: .ok, .value, .repairs, .errors, .cost, and when it does not fit .partial and .complaint, the text to ask again with.", decodeFunc,
			append([]Param{text}, decodeParams...)...),
		method("partial", "partial", "Begins an instance that arrives field by field.", partialFunc),

		partial("with_field", "partial", "Gives a version in which the field has arrived; the original is unchanged.", withField,
			field, Param{Name: "value", Kind: AnyKind, Doc: "what arrived"}),
		partial("get", "value", "Gives the value of a field that has arrived, else the default.", partialGet,
			field, Param{Name: "default", Kind: AnyKind, Default: "None", Doc: "what to give instead"}),
		partial("has", "bool", "Tells whether a field has arrived, be it as None.", partialHas, field),
		partial("to_complete", "value", "Gives the instance, or None while something is missing or does not fit.", toComplete),
	}
}

func (c *Call) self() *generable.Type { return c.recv.(*typeValue).t }

func llmDescription(c *Call) (starlark.Value, error) {
	return starlark.String(c.self().LLMDescription()), nil
}

func promptFragment(c *Call) (starlark.Value, error) {
	return starlark.String(c.self().PromptFragment()), nil
}

func jsonSchema(c *Call) (starlark.Value, error) {
	if c.Bool("as_dict", false) {
		return fromValue(c.self().SchemaValue()), nil
	}
	return starlark.String(c.self().JSONSchema()), nil
}

func fromLLMOutput(c *Call) (starlark.Value, error) {
	r := generable.Decode(c.self(), c.Str("text"), generable.Options{})
	if !r.OK {
		return starlark.None, nil
	}
	return fromValue(r.Value), nil
}

// decodeOption is an option of the decoder that is chosen by a word.
func decodeOption(name, doc string) Param {
	words := generable.OptionWords(name)
	return Param{Name: name, Kind: oneOf(words...), Shape: KeywordOnly, Default: `"` + words[0] + `"`, Doc: doc}
}

// decodeParams are the options of the decoder.
var decodeParams = []Param{
	decodeOption("level", "how far to go to make the text fit: \"strict\" repairs nothing, \"safe\" changes nothing that was said, \"loose\" guesses"),
	decodeOption("pick", "which value to take when the text holds several that fit"),
	decodeOption("on_bad_item", "what becomes of an item that does not fit"),
	decodeOption("extra_keys", "what becomes of keys that are no fields"),
	{Name: "max_cost", Kind: decodeBound(`level = "strict" repairs nothing`), Shape: KeywordOnly, Default: "None", Doc: "refuse a value whose repairs cost more together"},
	{Name: "max_depth", Kind: decodeBound("without it, 512 levels are read"), Shape: KeywordOnly, Default: "512", Doc: "refuse lists and objects nested deeper"},
	{Name: "partial", Kind: BoolKind, Shape: KeywordOnly, Default: "False", Doc: "read a text that was cut: the value is what is known of it"},
}

func decodeFunc(c *Call) (starlark.Value, error) {
	o, err := c.decodeOptions()
	if err != nil || len(c.wrong) > 0 {
		return nil, err
	}
	o.Partial = c.Bool("partial", false)
	return decodedValue(generable.Decode(c.self(), c.Str("text"), o)), nil
}

// decodeBound takes a bound of the decoder.
func decodeBound(help string) Kind {
	return vetted(IntKind, func(_ *Param, v starlark.Value) []fault {
		if n := intOf(v); n < 1 {
			return wrong(help, "want at least 1, got %d", n)
		}
		return nil
	})
}

// decodeOptions reads the options of the decoder.
func (c *Call) decodeOptions() (generable.Options, error) {
	var o generable.Options
	for _, name := range []string{"level", "pick", "on_bad_item", "extra_keys"} {
		if c.Has(name) {
			if err := o.Set(name, c.Str(name)); err != nil {
				return o, err
			}
		}
	}
	for i, to := range []*int{&o.MaxCost, &o.MaxDepth} {
		name := []string{"max_cost", "max_depth"}[i]
		if !c.Has(name) {
			continue
		}
		*to = c.Int(name, 0)
	}
	return o, nil
}

// decodedValue is what a script sees of a result.
func decodedValue(r generable.Result) starlark.Value {
	repairs := make([]generable.Value, len(r.Repairs))
	for i, fix := range r.Repairs {
		repairs[i] = decodedRepair.make(generable.StrOf(fix.Kind), generable.StrOf(fix.Path), generable.StrOf(fix.Before), generable.StrOf(fix.After))
	}
	errs := make([]generable.Value, len(r.Errors))
	for i, e := range r.Errors {
		errs[i] = decodedError.make(generable.StrOf(e.Path), generable.StrOf(e.Expected), generable.StrOf(e.Got), generable.StrOf(e.Hint), generable.StrOf(e.Error()))
	}
	v := r.Value
	if !r.OK {
		v = generable.Value{}
	}
	return fromValue(decoded.make(generable.BoolOf(r.OK), v, generable.ListOf(repairs...), generable.ListOf(errs...), generable.IntOf(int64(r.Cost)), r.Partial, generable.StrOf(r.Complaint())))
}

// shape is a schema of ours whose instances builtins give. It is immutable.
type shape struct{ t *generable.Type }

func shapeOf(name string, fields ...string) shape {
	t := &generable.Type{Kind: generable.RecordType, Name: name}
	for _, f := range fields {
		t.Fields = append(t.Fields, generable.Field{Name: f, Type: generable.AnyT})
	}
	return shape{t}
}

func (s shape) make(vals ...generable.Value) generable.Value {
	return generable.NewRecord(s.t, vals).Value()
}

var (
	decoded       = shapeOf("Decoded", "ok", "value", "repairs", "errors", "cost", "partial", "complaint")
	decodedRepair = shapeOf("Repair", "kind", "path", "before", "after")
	decodedError  = shapeOf("FieldError", "path", "expected", "got", "hint", "message")
)

// partialValue is an instance that arrives field by field. It is immutable.
type partialValue struct {
	p generable.Partial
	c *state
}

var (
	_ starlark.HasAttrs = (*partialValue)(nil)
	_ starlark.Mapping  = (*partialValue)(nil)
)

func (p *partialValue) String() string {
	text := "partial(" + p.p.Type().String()
	for _, name := range p.p.ArrivedFieldNames() {
		v, _ := p.p.Get(name)
		text += ", " + name + " = " + fromValue(v).String()
	}
	return text + ")"
}
func (p *partialValue) Type() string         { return "partial" }
func (p *partialValue) Freeze()              {}
func (p *partialValue) Truth() starlark.Bool { return true }
func (p *partialValue) Hash() (uint32, error) {
	return starlark.String(p.String()).Hash()
}

func (p *partialValue) Attr(name string) (starlark.Value, error) {
	if name == "arrived_field_names" {
		var names []starlark.Value
		for _, n := range p.p.ArrivedFieldNames() {
			names = append(names, starlark.String(n))
		}
		return starlark.NewList(names), nil
	}
	if m := p.c.methods.method("partial", name, p); m != nil {
		return m, nil
	}
	return nil, noAttr("a partial value", name, p.AttrNames())
}

func (p *partialValue) AttrNames() []string {
	return append(p.c.methods.methodNames("partial"), "arrived_field_names")
}

// Get is p["field"], an error when the field has not arrived.
func (p *partialValue) Get(key starlark.Value) (starlark.Value, bool, error) {
	name, _ := key.(starlark.String)
	v, ok := p.p.Get(string(name))
	if !ok {
		return nil, false, noAttr("the partial "+p.p.Type().String(), string(name), p.p.ArrivedFieldNames())
	}
	return fromValue(v), true, nil
}

func partialFunc(c *Call) (starlark.Value, error) {
	p, err := generable.NewPartial(c.self())
	if err != nil {
		return nil, errorf("AS204", "%s", err)
	}
	return &partialValue{p, c.state}, nil
}

func (c *Call) part() *partialValue { return c.recv.(*partialValue) }

func withField(c *Call) (starlark.Value, error) {
	v, err := toValue(c.Arg("value"))
	if err != nil {
		return nil, prefixed(c.Str("name"), err)
	}
	next, err := c.part().p.WithField(c.Str("name"), v)
	if err != nil {
		return nil, errorf("AS503", "%s", err)
	}
	return &partialValue{next, c.state}, nil
}

func partialGet(c *Call) (starlark.Value, error) {
	if v, ok := c.part().p.Get(c.Str("name")); ok {
		return fromValue(v), nil
	}
	if d := c.Arg("default"); d != nil {
		return d, nil
	}
	return starlark.None, nil
}

func partialHas(c *Call) (starlark.Value, error) {
	return starlark.Bool(c.part().p.Has(c.Str("name"))), nil
}

func toComplete(c *Call) (starlark.Value, error) {
	r, errs := c.part().p.ToComplete()
	if errs != nil {
		return starlark.None, nil
	}
	return fromRecord(r), nil
}
