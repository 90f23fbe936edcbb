package agentscript

import (
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/govalue"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/starlib"
)

// input reads the input of a node.
func input(cfg *runConfig, t *generable.Type) (generable.Value, error) {
	switch {
	case cfg.raw != nil:
		return FromText(*cfg.raw, t)
	case cfg.hasInput:
		return toValue("the input", cfg.input)
	case t.AcceptsNone():
		return generable.Value{}, nil
	}
	return generable.Value{}, engine.Errorf(engine.KindInput, diag.BadInput, "main takes %s and was given nothing", t).
		WithHelp("pass it as an argument, with --input-json or --input-file, or on stdin")
}

// inputOptions are how input is read: as models' answers are, but a key that is no field is a mistake
// of whoever wrote it.
var inputOptions = generable.Options{ExtraKeys: generable.ExtraError}

// FromText reads a value of type t from text: a str verbatim, everything else as JSON, in which
// flaws such as single quotes and numbers in quotes are repaired. Keys that are no fields are
// errors, AS716 like all that does not fit, with line and column.
func FromText(text string, t *generable.Type) (generable.Value, error) {
	if acceptsText(t) {
		return generable.StrOf(text), isUTF8("the input", "", generable.StrOf(text))
	}
	return read(text, t)
}

// FromJSON is FromText for a text that is JSON also where t takes a str.
func FromJSON(text string, t *generable.Type) (generable.Value, error) {
	if !acceptsText(t) {
		return read(text, t)
	}
	v, err := read(text, generable.AnyT)
	if err != nil {
		return v, err
	}
	out, errs := t.Convert(v)
	if errs != nil {
		return out, unfit(t, errs)
	}
	return out, nil
}

func read(text string, t *generable.Type) (generable.Value, error) {
	if err := isUTF8("the input", "", generable.StrOf(text)); err != nil {
		return generable.Value{}, err
	}
	res := lenient.Decode(t, text, inputOptions)
	if !res.OK {
		return res.Value, unfit(t, res.Errors)
	}
	return res.Value, nil
}

func unfit(t *generable.Type, errs generable.FieldErrors) error {
	return engine.Errorf(engine.KindInput, diag.BadInput, "the input is no %s: %w", t, errs).WithHelp("main takes %s", t)
}

// ArgsFromJSON reads arguments from a JSON object of them, for [Args]. Parameters that it does
// not name are left out.
func ArgsFromJSON(text string, params []starlib.MainParam) (map[string]any, error) {
	whole, err := read(text, generable.AnyT)
	if err != nil {
		return nil, err
	}
	if _, ok := whole.AsMap(); !ok {
		return nil, engine.Errorf(engine.KindInput, diag.BadInput, "the arguments of main are an object, not %s", whole.TypeName()).
			WithHelp(`write {"%s": ...}`, firstOf(params))
	}
	absent := generable.NewRecord(&generable.Type{Kind: generable.RecordType, Name: "absent"}, nil)
	t := &generable.Type{Kind: generable.RecordType, Name: "main"}
	for _, p := range params {
		t.Fields = append(t.Fields, generable.Field{Name: p.Name, Type: p.Type, Guide: p.Doc, Optional: true, Default: absent.Value()})
	}
	res := lenient.Decode(t, text, inputOptions)
	if !res.OK {
		return nil, engine.Errorf(engine.KindInput, diag.BadInput, "the arguments do not fit main: %w", res.Errors)
	}
	args := map[string]any{}
	given, _ := res.Value.AsRecord()
	for _, p := range params {
		v, _ := given.Get(p.Name)
		if r, ok := v.AsRecord(); !ok || r.Type() != absent.Type() {
			args[p.Name] = v
		}
	}
	return args, nil
}

func firstOf(params []starlib.MainParam) string {
	if len(params) == 0 {
		return "name"
	}
	return params[0].Name
}

func acceptsText(t *generable.Type) bool {
	switch t = t.Deref(); t.Kind {
	case generable.StrType, generable.AnyType, generable.EnumType:
		return true
	case generable.OneOfType:
		return slices.ContainsFunc(t.Variants, acceptsText)
	}
	return false
}

// toValue makes a value of anything that has a JSON form.
func toValue(what string, v any) (generable.Value, error) {
	if in, ok := v.(generable.Value); ok { // made by the host, who vouches for its text
		return in, isUTF8(what, "", in)
	}
	out, err := govalue.From(v)
	if err != nil {
		return out, engine.Errorf(engine.KindInput, diag.BadInput, "%s has no JSON form: %w", what, err)
	}
	return out, nil
}
