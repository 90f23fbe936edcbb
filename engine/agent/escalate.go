package agent

import (
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
)

// EscalateTool is a tool by which a model tells people that it needs them: an event carries its reason
// and severity, and the run goes on. Called by a fixer, it ends the fixer, and the model whose call
// was to be mended is told.
func EscalateTool() *Tool {
	return &Tool{Name: "escalate", Class: engine.ClassRead, Returns: generable.StrT,
		Doc: "Tells the people in charge that they are needed: for what you cannot solve with the other tools. The work goes on.",
		Params: &generable.Type{Kind: generable.RecordType, Name: "escalate", Fields: []generable.Field{
			{Name: "reason", Type: generable.StrT, Guide: "what they have to know", Optional: true, Default: generable.StrOf("")},
			{Name: "severity", Type: generable.StrT, Guide: "low, medium, high or critical", Optional: true, Default: generable.StrOf("high")},
		}},
		Run: engine.GoFunc("escalate", 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
			v := &engine.Verdict{Escalate: true, Reason: textField(args[0], "reason"), Severity: engine.Severity(textField(args[0], "severity"))}
			if v.Reason == "" {
				v.Reason = "the model gave no reason"
			}
			return generable.Value{}, &engine.Error{Kind: engine.KindTool, Code: diag.ToolEscalated, Message: v.Reason, Verdict: v}
		})}
}

// AbandonTool is a tool by which a model ends its agent with an error, of code [diag.ToolGaveUp].
func AbandonTool() *Tool {
	return &Tool{Name: "give_up", Class: engine.ClassRead, Returns: generable.StrT,
		Doc: "Ends the work at once with an error: for what cannot be solved and must not go on.",
		Params: &generable.Type{Kind: generable.RecordType, Name: "give_up", Fields: []generable.Field{
			{Name: "reason", Type: generable.StrT, Guide: "why it cannot go on", Optional: true, Default: generable.StrOf("")},
		}},
		Run: engine.GoFunc("give_up", 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
			v := &engine.Verdict{Reason: textField(args[0], "reason")}
			if v.Reason == "" {
				v.Reason = "the model gave no reason"
			}
			e := &engine.Error{Kind: engine.KindTool, Code: diag.ToolGaveUp, Message: "the model gave up: " + v.Reason, Verdict: v}
			return generable.Value{}, e.WithHelp("the tool give_up ends its agent; see the events for what led there")
		})}
}

// textField is a field of a record, "" when it is no text.
func textField(v generable.Value, name string) string {
	f, _ := typing.Field(v, name)
	text, _ := f.AsStr()
	return text
}

// ParseSeverity reads a severity in any case. What is empty or none of them is [engine.SeverityHigh]; known
// is false for the latter.
func ParseSeverity(text string) (s engine.Severity, known bool) {
	switch s = engine.Severity(strings.ToUpper(strings.TrimSpace(text))); s {
	case engine.SeverityLow, engine.SeverityMedium, engine.SeverityHigh, engine.SeverityCritical:
		return s, true
	}
	return engine.SeverityHigh, s == ""
}
