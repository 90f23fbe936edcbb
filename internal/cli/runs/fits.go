package runs

import (
	"encoding/json"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/jsonschema"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/internal/cli/keep"
	"github.com/agentscript/agentscript/internal/cli/term"
)

// fits returns a failure if an answer does not fit what a step asks.
func fits(w keep.Waiting, a engine.Answer) *term.Failure {
	switch {
	case a.Approved && w.Kind != engine.EffectApproval:
		return term.Usagef("answer with "+w.Line, "%s asks for no approval: it waits for %s", w.Step, w.For)
	case a.Again && (w.Kind == engine.EffectApproval || w.Kind == engine.EffectWait):
		return term.Usagef("answer with "+w.Line, "--again is for steps that may or may not have been carried out, and %s waits for %s", w.Step, w.For)
	case a.Failed != nil && w.Kind == engine.EffectWait:
		return term.Usagef("answer with "+w.Line, "%s waits for %s", w.Step, w.For)
	case a.Result != nil && w.Kind == engine.EffectApproval && kindOf(w.Data) != "null" && kindOf(a.Result) != kindOf(w.Data):
		return term.Usagef("what is sent takes the place of what is decided about", "the result does not fit: %s decides about a value that is %s, and got %s", w.Step, kindOf(w.Data), kindOf(a.Result))
	case a.Result == nil || w.Schema == "":
		return nil
	}
	t, _, wrong := jsonschema.Parse(w.Schema, jsonschema.Options{})
	if wrong != nil { // the run checks it itself
		return nil
	}
	if r := lenient.Decode(t, string(a.Result), generable.Options{Level: generable.Strict}); !r.OK {
		return term.Usagef("", "the result does not fit: %s waits for %s: %v", w.Step, w.For, r.Errors)
	}
	return nil
}

// kindOf describes the kind of a JSON value.
func kindOf(data json.RawMessage) string {
	var v any
	if json.Unmarshal(data, &v) != nil {
		return "null"
	}
	switch v.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return "a text"
	case float64:
		return "a number"
	case bool:
		return "true or false"
	}
	return "null"
}
