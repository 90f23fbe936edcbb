package engine_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// A model that keeps doing the same thing wrong with its tools until a budget ends: the error
// says what, and what there is instead. What it mended is not told.
func TestSpentOnAToolCall(t *testing.T) {
	wrong := func(name, args string) model.Response { return calls(name, args) }
	for _, tt := range []struct {
		name       string
		answers    []model.Response
		bare       bool // no tools
		budget     engine.Limits
		says, help string
		code       diag.Code // of the cause, "" when nothing is told
	}{
		{"unknown", []model.Response{wrong("serch", "{}"), wrong("serch", "{}"), wrong("serch", "{}")}, false, engine.Limits{Turns: engine.AtMost(3)},
			`the model asked for the tool "serch", which does not exist, 3 times`, `the tools are search, read; did you mean "search"`, diag.UnknownTool},
		{"nothing alike", []model.Response{wrong("zzz", "{}"), wrong("zzz", "{}")}, false, engine.Limits{Turns: engine.AtMost(2)},
			`"zzz", which does not exist, twice`, "the tools are search, read: say in the prompt", diag.UnknownTool},
		{"no tools", []model.Response{wrong("zzz", "{}")}, true, engine.Limits{Turns: engine.AtMost(1)},
			`"zzz", which does not exist, once`, "give the agent tools", diag.UnknownTool},
		{"calls", []model.Response{wrong("serch", "{}"), wrong("serch", "{}"), wrong("serch", "{}")}, false, engine.Limits{ToolCalls: engine.AtMost(2)},
			`the limit of 2 tool calls is reached; the model asked for the tool "serch"`, `did you mean "search"`, diag.UnknownTool},
		{"arguments", []model.Response{wrong("search", "{}"), wrong("search", "{}")}, false, engine.Limits{Turns: engine.AtMost(2)},
			`the tool "search" failed twice in a row: bad arguments`, "raise it with budget(turns", diag.ToolFailed},
		{"another", []model.Response{wrong("serch", "{}"), wrong("raed", "{}")}, false, engine.Limits{Turns: engine.AtMost(2)},
			`"raed", which does not exist, once`, `did you mean "read"`, diag.UnknownTool},
		{"mended", []model.Response{wrong("serch", "{}"), wrong("read", "{}")}, false, engine.Limits{Turns: engine.AtMost(2)},
			"gave no answer within 2 turns", "raise it with budget(turns", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := compose()
			tool := func(name string, fields ...generable.Field) *agent.Tool {
				return &agent.Tool{Name: name, Params: schema(t, name, fields...), Class: engine.ClassRead,
					Run: engine.GoFunc(name, 1, func(engine.Branch, []generable.Value) (generable.Value, error) { return generable.StrOf("ok"), nil })}
			}
			spec := &agent.AgentSpec{Name: "a", Prompt: "Find.", Budget: tt.budget}
			if !tt.bare {
				spec.Tools = []*agent.Tool{tool("search", generable.Field{Name: "q", Type: strT}), tool("read")}
			}
			main := c.Agent(c.site("agent", "a"), spec)
			c.sound(t)
			_, err := runNode(t, main, &answers{next: tt.answers}, "x")
			var e, cause *engine.Error
			if !errors.As(err, &e) || e.Kind != engine.KindBudget || !strings.Contains(e.Message, tt.says) || !strings.Contains(e.Help, tt.help) {
				t.Fatalf("got %+v", err)
			}
			if errors.As(e.Cause, &cause) != (tt.code != "") || cause != nil && cause.Code != tt.code {
				t.Errorf("the cause is %v", e.Cause)
			}
			if tt.code == "" && strings.Contains(e.Message, "serch") {
				t.Errorf("what was mended is told: %s", e.Message)
			}
		})
	}
}
