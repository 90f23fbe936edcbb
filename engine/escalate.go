package engine

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
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
		Run: GoFunc("escalate", 1, func(b *Branch, args []generable.Value) (generable.Value, error) {
			r := &Remedy{Do: RemedyEscalate, Reason: textField(args[0], "reason")}
			said := textField(args[0], "severity")
			known := false
			if r.Severity, known = ParseSeverity(said); !known && b.Wants(EventRepair) {
				b.emit(Event{Kind: EventRepair, Name: "escalate", Text: "severity " + quoted(clip(said, mostShown)) + " → " + string(r.Severity)})
			}
			if r.Reason == "" {
				r.Reason = "the model gave no reason"
			}
			if b.mending {
				return generable.Value{}, &Error{Kind: KindTool, Code: diag.ToolEscalated, Message: r.Reason, verdict: r}
			}
			b.tellEscalated("", r)
			return generable.StrOf("Escalated with severity " + string(r.Severity) + ": " + r.Reason), nil
		})}
}

// GiveUpTool is a tool by which a model ends its agent with an error, of code [diag.ToolGaveUp].
func GiveUpTool() *Tool {
	return &Tool{Name: "give_up", Class: ClassRead, Returns: generable.StrT,
		Doc: "Ends the work at once with an error: for what cannot be solved and must not go on.",
		Params: &generable.Type{Kind: generable.RecordType, Name: "give_up", Fields: []generable.Field{
			{Name: "reason", Type: generable.StrT, Guide: "why it cannot go on", Optional: true, Default: generable.StrOf("")},
		}},
		Run: GoFunc("give_up", 1, func(_ *Branch, args []generable.Value) (generable.Value, error) {
			r := &Remedy{Do: RemedyGiveUp, Reason: textField(args[0], "reason")}
			if r.Reason == "" {
				r.Reason = "the model gave no reason"
			}
			e := &Error{Kind: KindTool, Code: diag.ToolGaveUp, Message: "the model gave up: " + r.Reason, verdict: r}
			return generable.Value{}, e.WithHelp("the tool give_up ends its agent; see the events for what led there")
		})}
}

// textField is a field of a record, "" when it is no text.
func textField(v generable.Value, name string) string {
	f, _ := field(v, name)
	text, _ := f.AsStr()
	return text
}

// tellEscalated emits the event of an escalation. tool is the one that failed, "" when a model
// escalates by itself.
func (b *Branch) tellEscalated(tool string, r *Remedy) {
	if b.Wants(EventEscalation) {
		b.emit(Event{Kind: EventEscalation, Name: tool, Text: r.Reason, Severity: r.Severity})
	}
}

// escalated is what a model is told of a call whose mending was handed to people.
func (b *Branch) escalated(tool string, r *Remedy, failure *Error) *Error {
	own := *r
	if own.Reason = r.reason(failure); own.Severity == "" {
		own.Severity = SeverityHigh
	}
	b.tellEscalated(tool, &own)
	return Errorf(KindTool, diag.ToolEscalated, "tool %q failed and was escalated with severity %s: %s. Correct the arguments and call it again, or go on without it", tool, own.Severity, own.Reason).
		WithHelp("see the escalation in the events, and what the tool failed by")
}
