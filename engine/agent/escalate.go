package agent

import (
	"cmp"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
)

// EscalateTool returns a tool with which a model asks for people: an event carries its reason and severity, and the
// run continues. If a fixer calls it, the fixer ends, and the model whose call was to be fixed is told.
func EscalateTool() *Tool {
	severity := generable.Field{Name: "severity", Type: generable.StrT, Guide: "low, medium, high or critical", Optional: true, Default: generable.StrOf("high")}
	return verdictTool("escalate", "Tells the people in charge that they are needed: for what you cannot solve with the other tools. The work goes on.",
		"what they have to know", func(v *engine.Verdict, args generable.Value) *engine.Error {
			v.Escalate, v.Severity = true, engine.Severity(textField(args, "severity"))
			return &engine.Error{Kind: engine.KindTool, Code: diag.ToolEscalated, Message: v.Reason, Verdict: v}
		}, severity)
}

// AbandonTool returns a tool with which a model ends its agent with an error of code [diag.ToolGaveUp].
func AbandonTool() *Tool {
	return verdictTool("give_up", "Ends the work at once with an error: for what cannot be solved and must not go on.",
		"why it cannot go on", func(v *engine.Verdict, _ generable.Value) *engine.Error {
			e := &engine.Error{Kind: engine.KindTool, Code: diag.ToolGaveUp, Message: "the model gave up: " + v.Reason, Verdict: v}
			return e.WithHelp("the tool give_up ends its agent; see the events for what led there")
		})
}

// verdictTool returns a tool with which a model returns a verdict, with a reason and more fields.
func verdictTool(name, doc, reason string, failure func(v *engine.Verdict, args generable.Value) *engine.Error, more ...generable.Field) *Tool {
	fields := []generable.Field{{Name: "reason", Type: generable.StrT, Guide: reason, Optional: true, Default: generable.StrOf("")}}
	return &Tool{Name: name, Class: engine.ClassRead, Returns: generable.StrT, Doc: doc,
		Params: &generable.Type{Kind: generable.RecordType, Name: name, Fields: append(fields, more...)},
		Run: engine.GoFunc(name, 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
			v := &engine.Verdict{Reason: cmp.Or(textField(args[0], "reason"), "the model gave no reason")}
			return generable.Value{}, failure(v, args[0])
		})}
}

// textField returns a field of a record, or "" if it is not text.
func textField(v generable.Value, name string) string {
	f, _ := typing.Field(v, name)
	text, _ := f.AsStr()
	return text
}

// ParseSeverity parses a severity, ignoring case. An empty or unknown text yields [engine.SeverityHigh]; known is
// false for an unknown text.
func ParseSeverity(text string) (s engine.Severity, known bool) {
	switch s = engine.Severity(strings.ToUpper(strings.TrimSpace(text))); s {
	case engine.SeverityLow, engine.SeverityMedium, engine.SeverityHigh, engine.SeverityCritical:
		return s, true
	}
	return engine.SeverityHigh, s == ""
}
