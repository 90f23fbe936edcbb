package conversation_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/generable"
)

// TestMoreThanItsClass runs functions that do more than they declare: if a rule depends on the effect class, the
// operation is not made; what the class allows is.
func TestMoreThanItsClass(t *testing.T) {
	for _, row := range []struct {
		op     string
		class  engine.Class
		policy policy.Rules
		made   bool
	}{
		{"sh.run", engine.ClassOnce, policy.Rules{}, true},
		{"sh.run", engine.ClassOnce, policy.Rules{Allow: []string{"sly"}}, true},
		{"sh.run", engine.ClassOnce, policy.Rules{Deny: []string{"@once"}}, false},
		{"sh.run", engine.ClassOnce, policy.Rules{Allow: []string{"@read"}}, false},
		{"fs.read", engine.ClassRead, policy.Rules{Deny: []string{"@once"}}, true},
	} {
		op, _ := capability.Lookup(row.op)
		touched := 0
		sly := &agent.Tool{Name: "sly", Params: enginetest.Schema(t, "sly"), Run: engine.GoFunc("sly", 1, func(b engine.Branch, _ []generable.Value) (generable.Value, error) {
			_, err := run.Touch(b, op, "x", row.class, generable.NewMap(0))
			return generable.StrOf("touched"), err
		})}
		c := enginetest.Compose()
		main := c.Agent(c.Site("agent", "main"), &agent.Spec{Name: "main", Prompt: "Do.", Tools: []*agent.Tool{sly}, Policy: enginetest.Policy(t, row.policy)})
		c.Sound(t)
		a := &enginetest.Answers{Next: []model.Response{enginetest.Calls("sly", "{}"), enginetest.Says("done")}}
		out, err := enginetest.RunNode(t, main, engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
			if e.Kind == op.Kind {
				touched++
				return engine.Failed(engine.Errorf(engine.KindTool, diag.TouchFailed, "there is nothing here"))
			}
			return a.Do(ctx, e, sink)
		}), "x")
		if err != nil || enginetest.Str(out) != "done" {
			t.Fatalf("%+v: %q, %v", row, enginetest.Str(out), err)
		}
		told := a.Seen[1].Messages[2].Parts[0].Result.Text
		if made := touched == 1; made != row.made || strings.Contains(told, "nothing here") != row.made || touched > 1 {
			t.Errorf("%+v: touched %d times, the model is told %q", row, touched, told)
		}
	}
}

// A model repeats the same mistake with its tools until a budget ends: the error names the mistake, and the
// alternatives. A mistake that it corrected is not mentioned.
func TestSpentOnAToolCall(t *testing.T) {
	wrong := func(name, args string) model.Response { return enginetest.Calls(name, args) }
	for _, tt := range []struct {
		name       string
		answers    []model.Response
		bare       bool // no tools
		budget     engine.Limits
		says, help string
		code       diag.Code // of the cause, "" if none is reported
	}{
		{"unknown", []model.Response{wrong("serch", "{}"), wrong("serch", "{}"), wrong("serch", "{}")}, false, engine.Limits{Turns: engine.AtMost(3)},
			`the model asked for the tool "serch", which does not exist, 3 times`, `the tools are search, read; did you mean "search"`, diag.UnknownTool},
		{"nothing alike", []model.Response{wrong("zzz", "{}"), wrong("zzz", "{}")}, false, engine.Limits{Turns: engine.AtMost(2)},
			`"zzz", which does not exist, twice`, "the tools are search, read: say in the prompt", diag.UnknownTool},
		{"no tools", []model.Response{wrong("zzz", "{}")}, true, engine.Limits{Turns: engine.AtMost(1)},
			`"zzz", which does not exist, once`, "set tools = ", diag.UnknownTool},
		{"calls", []model.Response{wrong("serch", "{}"), wrong("serch", "{}"), wrong("serch", "{}")}, false, engine.Limits{ToolCalls: engine.AtMost(2)},
			`the limit of 2 tool calls is reached; the model asked for the tool "serch"`, `did you mean "search"`, diag.UnknownTool},
		{"arguments", []model.Response{wrong("search", "{}"), wrong("search", "{}")}, false, engine.Limits{Turns: engine.AtMost(2)},
			`the tool "search" failed twice in a row: bad arguments`, "raise it with budget(turns", diag.ToolFailed},
		{"another", []model.Response{wrong("serch", "{}"), wrong("raed", "{}")}, false, engine.Limits{Turns: engine.AtMost(2)},
			`"raed", which does not exist, once`, `did you mean "read"`, diag.UnknownTool},
		{"mended", []model.Response{wrong("serch", "{}"), wrong("read", "{}")}, false, engine.Limits{Turns: engine.AtMost(2)},
			"returned no answer within 2 turns", "raise it with budget(turns", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := enginetest.Compose()
			tool := func(name string, fields ...generable.Field) *agent.Tool {
				return &agent.Tool{Name: name, Params: enginetest.Schema(t, name, fields...), Class: engine.ClassRead,
					Run: engine.GoFunc(name, 1, func(engine.Branch, []generable.Value) (generable.Value, error) { return generable.StrOf("ok"), nil })}
			}
			spec := &agent.Spec{Name: "a", Prompt: "Find.", Budget: tt.budget}
			if !tt.bare {
				spec.Tools = []*agent.Tool{tool("search", generable.Field{Name: "q", Type: generable.StrT}), tool("read")}
			}
			main := c.Agent(c.Site("agent", "a"), spec)
			c.Sound(t)
			_, err := enginetest.RunNode(t, main, &enginetest.Answers{Next: tt.answers}, "x")
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
