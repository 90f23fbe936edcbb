// Package input reads the input of a run from text, as a command line and a host have it, and words what
// is wrong with it.
package input

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// options are how input is read: as models' answers are, but a key that is no field is a mistake
// of whoever wrote it.
var options = generable.Options{ExtraKeys: generable.ExtraError}

// Text reads a value of type t from text: a str verbatim, everything else as JSON, in which
// flaws such as single quotes and numbers in quotes are repaired. Keys that are no fields are
// errors, AS716 like all that does not fit, with line and column.
func Text(text string, t *generable.Type) (generable.Value, error) {
	if t.AcceptsText() {
		return generable.StrOf(text), CheckUTF8("the input", "", generable.StrOf(text))
	}
	return read(text, t)
}

// JSON is [Text] for a text that is JSON also where t takes a str.
func JSON(text string, t *generable.Type) (generable.Value, error) {
	if !t.AcceptsText() {
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
	if err := CheckUTF8("the input", "", generable.StrOf(text)); err != nil {
		return generable.Value{}, err
	}
	res := lenient.Decode(t, text, options)
	if !res.OK {
		return res.Value, unfit(t, res.Errors)
	}
	return res.Value, nil
}

func unfit(t *generable.Type, errs generable.FieldErrors) error {
	return engine.Errorf(engine.KindInput, diag.BadInput, "the input is no %s: %w", t, errs).WithHelp("main takes %s", t)
}

// Args reads arguments from a JSON object of them, by the name of the parameter. Parameters that it
// does not name are left out.
func Args(text string, params []generable.Field) (map[string]any, error) {
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
		t.Fields = append(t.Fields, generable.Field{Name: p.Name, Type: p.Type, Guide: p.Guide, Optional: true, Default: absent.Value()})
	}
	res := lenient.Decode(t, text, options)
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

func firstOf(params []generable.Field) string {
	if len(params) == 0 {
		return "name"
	}
	return params[0].Name
}
