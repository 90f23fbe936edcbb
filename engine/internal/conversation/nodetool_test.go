package conversation_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// lead is an agent whose tools are nodes.
func lead(c *enginetest.Composer, tools ...*agent.Tool) *flow.Node {
	return c.Agent(c.Site("agent", "lead"), &agent.Spec{Name: "lead", Prompt: "Lead.", Tools: tools})
}

// byAgent answers each agent from a separate list.
func byAgent(lists map[string][]model.Response) engine.Handler {
	next := map[string]int{}
	return engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		i := next[e.Agent]
		if next[e.Agent]++; i >= len(lists[e.Agent]) {
			return engine.Failed(engine.Errorf(engine.KindServer, diag.ProviderError, "nothing left for %s", e.Agent))
		}
		r := lists[e.Agent][i]
		return engine.Outcome{Response: &r, Usage: r.Usage, Attempt: 1}
	})
}

// Set records an agent's last request, and the positions of its calls.
func Set(h engine.Handler, agent string, req **model.Request, at *[]string) engine.Handler {
	return engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, s engine.Sink) engine.Outcome {
		if r, ok := e.Req.(*model.Request); ok && e.Agent == agent {
			*req = r
		}
		*at = append(*at, e.At.Path())
		return h.Do(ctx, e, s)
	})
}

func TestNodeAsTool(t *testing.T) {
	query := enginetest.Schema(t, "Query", generable.Field{Name: "topic", Type: generable.StrT, Guide: "what to find"}, generable.Field{Name: "depth", Type: generable.IntT, Optional: true, Default: generable.IntOf(1)})
	c := enginetest.Compose()
	researcher := c.Prompted("researcher", query, generable.StrT)
	double := c.Then(c.Site("then", "double"), c.Step("first", generable.IntT, generable.IntT, enginetest.Add(1)), c.Step("second", generable.IntT, generable.IntT, enginetest.Add(1)))
	main := lead(c, flow.AsTool(researcher, "research", "Finds facts"), flow.AsTool(double, "double", "Adds two"))
	c.Sound(t)
	if kids := main.Children(); len(kids) != 2 || kids[0] != researcher || researcher.Free() {
		t.Errorf("its tools stand in the agent: %v", kids)
	}
	var req *model.Request
	var at []string
	h := Set(byAgent(map[string][]model.Response{
		"lead":       {enginetest.Calls("research", `{topic: "tides"}`), enginetest.Calls("double", `{"input": 3}`, "double", `{"input": 40}`), enginetest.Says("done")},
		"researcher": {enginetest.Says("twice a day")},
	}), "lead", &req, &at)
	out, err := enginetest.RunNode(t, main, h, "x")
	if err != nil || enginetest.Str(out) != "done" {
		t.Fatal(enginetest.Str(out), err)
	}
	if req.Tools[0].Name != "research" || req.Tools[0].Description != "Finds facts" || req.Tools[0].Params.JSONSchema() != query.JSONSchema() {
		t.Errorf("research is offered as %+v", req.Tools[0])
	}
	if names := req.Tools[1].Params.FieldNames(); len(names) != 1 || names[0] != "input" {
		t.Errorf("double takes %v", names)
	}
	var results []string
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			if p.Result != nil {
				results = append(results, p.Result.Text)
			}
		}
	}
	if got := strings.Join(results, ", "); got != "twice a day, 5, 42" {
		t.Errorf("the results are %s", got)
	}
	want := "main/agent:lead#0/tool:research#0/agent:researcher#0/llm0"
	if len(at) != 4 || at[1] != want {
		t.Errorf("the calls stand at %v, want %s", at, want)
	}
}

// A node's calls are effects like any other: the same on every scheduler and on replay.
func TestNodeAsToolEverywhere(t *testing.T) {
	c := enginetest.Compose()
	inner := lead(c, flow.AsTool(c.Prompted("deepest", nil, nil), "deeper", ""))
	main := c.Agent(c.Site("agent", "outer"), &agent.Spec{Name: "outer", Prompt: "Outer.", Tools: []*agent.Tool{flow.AsTool(inner, "deep", "")}})
	c.Sound(t)
	h := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		req := e.Req.(*model.Request)
		r := enginetest.Says(e.Agent)
		if len(req.Messages) == 1 && len(req.Tools) > 0 {
			r = enginetest.Calls(req.Tools[0].Name, `{"input": "a"}`, req.Tools[0].Name, `{"input": "b"}`)
		}
		return engine.Outcome{Response: &r, Attempt: 1}
	})
	out, err := enginetest.Everywhere(t, run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h, Model: "test/model"})
	if err != nil || enginetest.Str(out) != "outer" {
		t.Fatal(enginetest.Str(out), err)
	}
}

func TestFailuresInsideATool(t *testing.T) {
	failing := func(c *enginetest.Composer) *flow.Node {
		return c.Fn(c.Site("fn", "sink"), engine.GoFunc("sink", 1, func(engine.Branch, []generable.Value) (generable.Value, error) {
			return generable.Value{}, engine.Errorf(engine.KindScript, diag.CallbackFailed, "the pipe is blocked")
		}), generable.StrT, generable.StrT)
	}
	busy := func(c *enginetest.Composer, l engine.Limits) *flow.Node {
		return c.Agent(c.Site("agent", "busy"), &agent.Spec{Name: "busy", Prompt: "Work.", Budget: l,
			Tools: []*agent.Tool{{Name: "spin", Class: engine.ClassRead, Run: engine.GoFunc("spin", 1, func(engine.Branch, []generable.Value) (generable.Value, error) { return generable.StrOf("spun"), nil })}}})
	}
	spin := enginetest.Calls("spin", "{}")
	rows := []struct {
		name   string
		tool   func(*enginetest.Composer) *flow.Node
		inside []model.Response
		limits engine.Limits // of the run
		told   string        // to the model; "" ends the run
		ends   error
	}{
		{name: "a function that fails", tool: failing, told: "the pipe is blocked"},
		{name: "an agent whose model fails", tool: func(c *enginetest.Composer) *flow.Node { return c.Prompted("busy", nil, nil) }, told: "nothing left for busy"},
		{name: "an agent that uses up its turns", tool: func(c *enginetest.Composer) *flow.Node { return busy(c, engine.Limits{Turns: engine.AtMost(1)}) }, inside: []model.Response{spin}, told: "returned no answer within one turn"},
		{name: "an agent that uses up its calls of tools", tool: func(c *enginetest.Composer) *flow.Node { return busy(c, engine.Limits{ToolCalls: engine.AtMost(0)}) }, inside: []model.Response{spin}, told: "tool call"},
		{name: "an agent that uses up its model calls", tool: func(c *enginetest.Composer) *flow.Node { return busy(c, engine.Limits{ModelCalls: engine.AtMost(1)}) }, inside: []model.Response{spin}, told: "the budget of agent \"busy\" is used up"},
		{name: "an agent that gives up", tool: func(c *enginetest.Composer) *flow.Node {
			return c.Agent(c.Site("agent", "busy"), &agent.Spec{Name: "busy", Prompt: "Work.", Tools: []*agent.Tool{agent.AbandonTool()}})
		}, inside: []model.Response{enginetest.Calls("give_up", `{"reason": "no way"}`)}, told: "no way"},
		{name: "a run that is used up", tool: func(c *enginetest.Composer) *flow.Node { return busy(c, engine.Limits{}) }, inside: []model.Response{spin}, limits: engine.Limits{ModelCalls: engine.AtMost(2)}, ends: engine.ErrBudget},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			c := enginetest.Compose()
			main := lead(c, flow.AsTool(r.tool(c), "work", "Works"))
			c.Sound(t)
			var req *model.Request
			var at []string
			h := Set(byAgent(map[string][]model.Response{"lead": {enginetest.Calls("work", `{"input": "x"}`), enginetest.Says("done")}, "busy": r.inside}), "lead", &req, &at)
			out, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h, Model: "test/model", Limits: r.limits})
			if r.told == "" {
				if !errors.Is(err, r.ends) {
					t.Fatalf("got %q, %v", enginetest.Str(out), err)
				}
				return
			}
			if err != nil || enginetest.Str(out) != "done" {
				t.Fatalf("got %q, %v", enginetest.Str(out), err)
			}
			res := req.Messages[2].Parts[0].Result
			if !res.IsError || !strings.Contains(res.Text, r.told) {
				t.Errorf("the model is told %+v, want %q", res, r.told)
			}
		})
	}
}

// A tool's use counts against the budget of the agent that calls it; when that is used up, the model is not told.
func TestToolWithinTheCallersBudget(t *testing.T) {
	c := enginetest.Compose()
	main := c.Agent(c.Site("agent", "lead"), &agent.Spec{Name: "lead", Prompt: "Lead.", Budget: engine.Limits{ModelCalls: engine.AtMost(1)},
		Tools: []*agent.Tool{flow.AsTool(c.Prompted("helper", nil, nil), "help", "Helps")}})
	c.Sound(t)
	var at []string
	var req *model.Request
	_, err := enginetest.RunNode(t, main, Set(byAgent(map[string][]model.Response{"lead": {enginetest.Calls("help", `{"input": "x"}`), enginetest.Says("done")}, "helper": {enginetest.Says("y")}}), "lead", &req, &at), "x")
	var e *engine.Error
	if !errors.As(err, &e) || e.Kind != engine.KindBudget || e.Scope != "main/agent:lead#0" || len(at) != 1 {
		t.Errorf("got %v after the calls %v", err, at)
	}
	got := flow.Bounds(main, 1)
	if len(got) != 2 || got[0].Agent != "helper" || got[0].Calls != 1 || got[1].Calls != 1 {
		t.Errorf("its bounds are %+v", got)
	}
}

func TestBoundsOfTools(t *testing.T) {
	c := enginetest.Compose()
	main := c.Agent(c.Site("agent", "lead"), &agent.Spec{Name: "lead", Prompt: "Lead.", Repairs: 1, Budget: engine.Limits{ToolCalls: engine.AtMost(5)},
		Tools: []*agent.Tool{flow.AsTool(c.Prompted("helper", nil, nil), "help", "Helps")}})
	c.Sound(t)
	var got []string
	for _, b := range flow.Bounds(main, 1) {
		got = append(got, fmt.Sprint(b.Agent, b.Calls))
	}
	if s := strings.Join(got, " "); s != "helper5 lead8" {
		t.Errorf("got %s", s)
	}
}

func TestToolsHaveOnePlace(t *testing.T) {
	t.Run("in two agents", func(t *testing.T) {
		c := enginetest.Compose()
		tool := flow.AsTool(c.Prompted("helper", nil, nil), "help", "Helps")
		lead(c, tool)
		lead(c, tool)
		if got := c.Diagnostics(); len(got) != 1 || got[0].Code != diag.AlreadyPlaced || !strings.Contains(got[0].Message, "the agent helper is part of another agent already") {
			t.Errorf("said %s", enginetest.Said(got))
		}
	})
	t.Run("in a pipeline as well", func(t *testing.T) {
		c := enginetest.Compose()
		helper := c.Prompted("helper", nil, nil)
		main := lead(c, flow.AsTool(helper, "help", "Helps"))
		c.Then(c.Op("`>>`"), main, helper)
		if got := c.Diagnostics(); len(got) != 1 || got[0].Code != diag.AlreadyPlaced {
			t.Errorf("said %s", enginetest.Said(got))
		}
	})
	t.Run("of the agent and of its skill", func(t *testing.T) {
		c := enginetest.Compose()
		tool := flow.AsTool(c.Prompted("helper", nil, nil), "help", "Helps")
		n := c.Agent(c.Site("agent", "lead"), &agent.Spec{Name: "lead", Tools: []*agent.Tool{tool}, Skills: []*agent.Skill{{Name: "s", Tools: []*agent.Tool{tool}}}})
		if len(c.Diagnostics()) > 0 || len(n.Children()) != 1 {
			t.Errorf("one tool on both levels: %s, %v", enginetest.Said(c.Diagnostics()), n.Children())
		}
	})
	t.Run("an agent that is refused holds nothing", func(t *testing.T) {
		c := enginetest.Compose()
		helper := c.Prompted("helper", nil, nil)
		tool := flow.AsTool(helper, "help", "Helps")
		c.Agent(c.Site("agent", "bad"), &agent.Spec{Name: "bad", Run: enginetest.Stop, Tools: []*agent.Tool{tool}})
		if !helper.Free() {
			t.Error("the tool's node is taken")
		}
	})
	t.Run("after loading", func(t *testing.T) {
		c := enginetest.Compose()
		helper := c.Prompted("helper", nil, nil)
		c.Sound(t)
		late := enginetest.Compose()
		lead(late, flow.AsTool(helper, "help", "Helps"))
		if got := late.Diagnostics(); len(got) != 1 || got[0].Code != diag.SealedNode {
			t.Errorf("said %s", enginetest.Said(got))
		}
	})
}

// Agents that are tools of each other nest no deeper than the budget allows, and no model on the way is asked to react.
func TestToolsNestAsDeepAsTheBudgetSays(t *testing.T) {
	for _, depth := range []int64{1, 2, 3} {
		c := enginetest.Compose()
		inner := c.Agent(c.Site("agent", "b"), &agent.Spec{Name: "b", Prompt: "B.", Tools: []*agent.Tool{flow.AsTool(c.Prompted("c", nil, nil), "third", "")}})
		main := c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Prompt: "A.", Tools: []*agent.Tool{flow.AsTool(inner, "second", "")}})
		c.Sound(t)
		h := byAgent(map[string][]model.Response{"a": {enginetest.Calls("second", `{"input": "x"}`), enginetest.Says("end")}, "b": {enginetest.Calls("third", `{"input": "x"}`), enginetest.Says("y")}, "c": {enginetest.Says("z")}})
		out, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h, Model: "test/model",
			Limits: engine.Limits{Depth: engine.AtMost(depth)}})
		if depth == 3 && (err != nil || enginetest.Str(out) != "end") || depth < 3 && !errors.Is(err, engine.ErrBudget) {
			t.Errorf("depth %d: %q, %v", depth, enginetest.Str(out), err)
		}
	}
}
