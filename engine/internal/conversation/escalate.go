package conversation

import (
	"strconv"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// escalates carries out the verdict of a model that called the tool escalate: people are told, and
// the model that it was done. Of a fixer it is the failure that ends it. Other errors stay what they
// are.
func escalates(b *exec.Branch, err error) (generable.Value, error) {
	e, ok := err.(*engine.Error)
	if !ok || !e.Decides() || !e.Verdict.Escalate {
		return generable.Value{}, err
	}
	v, said := *e.Verdict, string(e.Verdict.Severity)
	var known bool
	if v.Severity, known = engine.ParseSeverity(said); !known && b.Wants(engine.EventRepair) {
		b.Emit(engine.Event{Kind: engine.EventRepair, Data: &engine.RepairData{Name: "escalate", Text: "severity " + strconv.Quote(text.Clip(said, engine.MaxShown)) + " → " + string(v.Severity)}})
	}
	if b.Recovering {
		own := *e
		own.Verdict = &v
		return generable.Value{}, &own
	}
	emitEscalation(b, "", v.Reason, v.Severity)
	return generable.StrOf("Escalated with severity " + string(v.Severity) + ": " + v.Reason), nil
}

// emitEscalation emits the event of an escalation. tool is the one that failed, "" when a model
// escalates by itself.
func emitEscalation(b *exec.Branch, tool, reason string, severity engine.Severity) {
	if b.Wants(engine.EventEscalation) {
		b.Emit(engine.Event{Kind: engine.EventEscalation, Data: &engine.EscalationData{Name: tool, Text: reason, Severity: severity}})
	}
}

// escalated is what a model is told of a call whose mending was handed to people.
func escalated(b *exec.Branch, tool string, r *agent.Remedy, failure *engine.Error) *engine.Error {
	reason, severity := reason(r, failure), r.Severity
	if severity == "" {
		severity = engine.SeverityHigh
	}
	emitEscalation(b, tool, reason, severity)
	return engine.Errorf(engine.KindTool, diag.ToolEscalated, "tool %q failed and was escalated with severity %s: %s. Correct the arguments and call it again, or go on without it", tool, severity, reason).
		WithHelp("see the escalation in the events, and what the tool failed by")
}
