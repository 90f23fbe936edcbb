package agentscript

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/govalue"
	"github.com/agentscript/agentscript/internal/input"
)

// inputOf reads the input of a node.
func inputOf(cfg *runConfig, t *generable.Type) (generable.Value, error) {
	switch {
	case cfg.raw != nil:
		return input.Text(*cfg.raw, t)
	case cfg.hasInput:
		return toValue("the input", cfg.input)
	case t.AcceptsNone():
		return generable.Value{}, nil
	}
	return generable.Value{}, engine.Errorf(engine.KindInput, diag.BadInput, "main takes %s and was given nothing", t).
		WithHelp("pass it as an argument, with --input-json or --input-file, or on stdin: %s", input.Shown(t))
}

// toValue makes a value of anything that has a JSON form.
func toValue(what string, v any) (generable.Value, error) {
	if in, ok := v.(generable.Value); ok { // made by the host, who vouches for its text
		return in, input.CheckUTF8(what, "", in)
	}
	out, err := govalue.From(v)
	if err != nil {
		return out, engine.Errorf(engine.KindInput, diag.BadInput, "%s has no JSON form: %w", what, err)
	}
	return out, nil
}
