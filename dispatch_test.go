package agentscript_test

import (
	"context"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
)

// Effects are dispatched to other processes, except those of the kinds for which the run has its own handlers.
func TestHandlerBesideDispatch(t *testing.T) {
	m := flow(t, `
ask = approval("Pay it?")
def main():
    ask(1)
    return sh.run(["true"]).code
`, agentscript.WithUngranted())
	var sent []engine.EffectKind
	there := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		sent = append(sent, e.Kind)
		return engine.Unhandled(e)
	})
	asked := 0
	here := engine.Approvals(func(context.Context, *engine.ApprovalRequest) (engine.Decision, error) {
		asked++
		return engine.Decision{Approved: true}, nil
	})
	_, err := m.Start(t.Context(), agentscript.Dispatch(there), agentscript.HandlerFor(engine.EffectApproval, here)).Wait()
	if err == nil || asked != 1 || len(sent) != 1 || sent[0] != engine.EffectExec {
		t.Errorf("asked %d times, dispatched %v, %v", asked, sent, err)
	}
}
