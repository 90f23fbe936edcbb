package conversation

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// decode reads what a model wrote as a value of a type. form is the dialect of the schema that
// held the model to it, "" for none. Both forms of the value are read, the schema's and the
// type's own, since not every route honours a schema.
func decode(b *exec.Branch, t *generable.Type, text, form string) (lenient.Result, error) {
	if form == "" {
		return lenient.Decode(t, text, generable.Options{}), nil
	}
	w, err := b.Run.Forms.Compile(t, form)
	if err != nil { // a model of another version, or a record of one
		return lenient.Result{}, engine.Errorf(engine.KindBadResponse, diag.ProviderError, "an answer in the form %q cannot be read: %w", form, err).
			WithHelp("the model's handler names the dialect of its schemas: it has to be one that this version knows")
	}
	return w.Decode(text, generable.Options{}), nil
}

// emitRepairs makes an event of everything that was changed to read an answer.
func emitRepairs(b *exec.Branch, repairs []generable.Repair) {
	if len(repairs) == 0 || !b.Wants(engine.EventRepair) {
		return
	}
	for _, r := range repairs {
		b.Emit(engine.Event{Kind: engine.EventRepair, Data: &engine.RepairData{Name: r.Kind, Text: r.Path + " " + r.Before + " → " + r.After}})
	}
}
