package engine

import (
	"strconv"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// EscalateTool is a tool by which a model tells people that it needs them: an event carries its reason
// and severity, and the run goes on. Called by a fixer, it ends the fixer, and the model whose call
// was to be mended is told.
func EscalateTool() *Tool {
	return &Tool{Name: "escalate", Class: ClassRead, Returns: generable.StrT,
		Doc: "Tells the people in charge that they are needed: for what you cannot solve with the other tools. The work goes on.",
		Params: &generable.Type{Kind: generable.RecordType, Name: "escalate", Fields: []generable.Field{
			{Name: "reason", Type: generable.StrT, Guide: "what they have to know", Optional: true, Default: generable.StrOf("")},
			{Name: "severity", Type: generable.StrT, Guide: "low, medium, high or critical", Optional: true, Default: generable.StrOf("high")},
		}},
		Run: GoFunc("escalate", 1, func(_ Branch, args []generable.Value) (generable.Value, error) {
			v := &Verdict{Escalate: true, Reason: textField(args[0], "reason"), Severity: Severity(textField(args[0], "severity"))}
			if v.Reason == "" {
				v.Reason = "the model gave no reason"
			}
			return generable.Value{}, &Error{Kind: KindTool, Code: diag.ToolEscalated, Message: v.Reason, Verdict: v}
		})}
}

// GiveUpTool is a tool by which a model ends its agent with an error, of code [diag.ToolGaveUp].
func GiveUpTool() *Tool {
	return &Tool{Name: "give_up", Class: ClassRead, Returns: generable.StrT,
		Doc: "Ends the work at once with an error: for what cannot be solved and must not go on.",
		Params: &generable.Type{Kind: generable.RecordType, Name: "give_up", Fields: []generable.Field{
			{Name: "reason", Type: generable.StrT, Guide: "why it cannot go on", Optional: true, Default: generable.StrOf("")},
		}},
		Run: GoFunc("give_up", 1, func(_ Branch, args []generable.Value) (generable.Value, error) {
			v := &Verdict{Reason: textField(args[0], "reason")}
			if v.Reason == "" {
				v.Reason = "the model gave no reason"
			}
			e := &Error{Kind: KindTool, Code: diag.ToolGaveUp, Message: "the model gave up: " + v.Reason, Verdict: v}
			return generable.Value{}, e.WithHelp("the tool give_up ends its agent; see the events for what led there")
		})}
}

// textField is a field of a record, "" when it is no text.
func textField(v generable.Value, name string) string {
	f, _ := typing.Field(v, name)
	text, _ := f.AsStr()
	return text
}

// escalates carries out the verdict of a model that called the tool escalate: people are told, and
// the model that it was done. Of a fixer it is the failure that ends it. Other errors stay what they
// are.
func (b *branch) escalates(err error) (generable.Value, error) {
	e, ok := err.(*Error)
	if !ok || !e.decides() || !e.Verdict.Escalate {
		return generable.Value{}, err
	}
	v, said := *e.Verdict, string(e.Verdict.Severity)
	var known bool
	if v.Severity, known = ParseSeverity(said); !known && b.Wants(EventRepair) {
		b.emit(Event{Kind: EventRepair, Data: &RepairData{Name: "escalate", Text: "severity " + strconv.Quote(text.Clip(said, mostShown)) + " → " + string(v.Severity)}})
	}
	if b.mending {
		own := *e
		own.Verdict = &v
		return generable.Value{}, &own
	}
	b.tellEscalated("", v.Reason, v.Severity)
	return generable.StrOf("Escalated with severity " + string(v.Severity) + ": " + v.Reason), nil
}

// tellEscalated emits the event of an escalation. tool is the one that failed, "" when a model
// escalates by itself.
func (b *branch) tellEscalated(tool, reason string, severity Severity) {
	if b.Wants(EventEscalation) {
		b.emit(Event{Kind: EventEscalation, Data: &EscalationData{tool, reason, severity}})
	}
}

// escalated is what a model is told of a call whose mending was handed to people.
func (b *branch) escalated(tool string, r *Remedy, failure *Error) *Error {
	reason, severity := r.reason(failure), r.Severity
	if severity == "" {
		severity = SeverityHigh
	}
	b.tellEscalated(tool, reason, severity)
	return Errorf(KindTool, diag.ToolEscalated, "tool %q failed and was escalated with severity %s: %s. Correct the arguments and call it again, or go on without it", tool, severity, reason).
		WithHelp("see the escalation in the events, and what the tool failed by")
}
