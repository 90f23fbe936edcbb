package exec_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/clock"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// Agents that share a budget wait while others hold or keep what they need: if it is enough for one after the other,
// each gets its answer in every order.
func TestSharedBudgetIsWaitedFor(t *testing.T) {
	for _, tt := range []struct {
		name   string
		agents int
		limits engine.Limits
		calls  int64
	}{
		// Each needs two calls, and keeps one of them for its last answer: one at a time is admitted.
		{"one at a time", 4, engine.Limits{ModelCalls: engine.AtMost(8)}, 8},
		{"turns", 3, engine.Limits{Turns: engine.AtMost(6)}, 6},
		{"money", 3, engine.Limits{USD: engine.Dollars(0.8)}, 6},
		{"tokens", 3, engine.Limits{Tokens: engine.AtMost(800)}, 6},
	} {
		for seed := range uint64(60) {
			c := enginetest.Compose()
			most := 20
			var nodes []*flow.Node
			for i := range tt.agents {
				n := looker(c, t, fmt.Sprintf("a%d", i), engine.Limits{Name: "p", OnLimit: engine.OnLimitAnswer, ModelCalls: tt.limits.ModelCalls,
					Turns: tt.limits.Turns, USD: tt.limits.USD, Tokens: tt.limits.Tokens})
				n.Agent().Params.MaxTokens = &most
				nodes = append(nodes, n)
			}
			main := c.Par(c.Site("par", ""), flow.ParOptions{}, nodes...)
			c.Sound(t)
			var made atomic.Int64
			w := works(func(agent string, turn int, req *model.Request) model.Response {
				made.Add(1)
				if turn < 1 && req.Choice.Mode != model.ChoiceNone {
					return endless(agent, turn, req)
				}
				return enginetest.Says("done")
			})
			spec := spend(main, w, engine.Limits{})
			spec.Pricer = perToken{}
			out, err := run.Exec(sched.NewCoopSched(seed), spec)
			if err != nil {
				t.Fatalf("%s, seed %d: %v", tt.name, seed, err)
			}
			if strings.Count(generable.JSON(out, nil), "done") != tt.agents || made.Load() != tt.calls {
				t.Errorf("%s, seed %d: %s with %d calls", tt.name, seed, generable.JSON(out, nil), made.Load())
			}
			if limit, set := tt.limits.ModelCalls.Value(); set && made.Load() > limit {
				t.Errorf("%s, seed %d: %d calls of %d", tt.name, seed, made.Load(), limit)
			}
		}
	}
}

// An agent does not wait for what the agent around it keeps. Of two agents whose inner agents wait for each other, one
// continues.
func TestNestedBudgetsDoNotWaitForEachOther(t *testing.T) {
	for seed := range uint64(60) {
		c := enginetest.Compose()
		limits := engine.Limits{Name: "p", OnLimit: engine.OnLimitAnswer, ModelCalls: engine.AtMost(6)}
		var leads []*flow.Node
		for _, name := range []string{"a", "b"} {
			inner := c.Agent(c.Site("agent", name+"_in"), &agent.Spec{Name: name + "_in", Prompt: "P.", Budget: engine.Limits{Name: "p", ModelCalls: engine.AtMost(6)}})
			look := &agent.Tool{Name: "look", Class: engine.ClassRead, Returns: generable.StrT, Params: enginetest.Schema(t, "look", generable.Field{Name: "at", Type: generable.StrT}),
				Run: engine.GoFunc("look", 1, func(b engine.Branch, _ []generable.Value) (generable.Value, error) {
					return run.Call(b, inner, generable.StrOf("x"))
				})}
			leads = append(leads, c.Agent(c.Site("agent", name), &agent.Spec{Name: name, Prompt: "P.", Tools: []*agent.Tool{look}, Budget: limits}))
		}
		main := c.Par(c.Site("par", ""), flow.ParOptions{}, leads...)
		w := works(func(agent string, turn int, req *model.Request) model.Response {
			if len(agent) > 1 {
				return enginetest.Says("inside")
			}
			return endless(agent, turn, req)
		})
		out, err := run.Exec(sched.NewCoopSched(seed), spend(main, w, engine.Limits{}))
		if err != nil || strings.Count(generable.JSON(out, nil), "the last answer") != 2 {
			t.Fatalf("seed %d: %s, %v", seed, generable.JSON(out, nil), err)
		}
	}
}

// A refusal says what is used and what is needed; a last answer that is a call is reported as such.
func TestRefusalsSayWhatIsKept(t *testing.T) {
	c := enginetest.Compose()
	most := 100
	n := looker(c, t, "a", engine.Limits{Tokens: engine.AtMost(700), OnLimit: engine.OnLimitAnswer})
	n.Agent().Params.MaxTokens = &most
	c.Sound(t)
	w := works(func(string, int, *model.Request) model.Response { return enginetest.Calls("look", `{"at": "x"}`) })
	_, err := run.Exec(sched.NewCoopSched(1), spend(n, w, engine.Limits{}))
	for _, want := range []string{"has too little left: none of its 700 tokens is used", "and its last answer after it", `called "look" instead of answering`} {
		if !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}

// Several waiting calls of one conversation count as one waiting conversation: the others may still return what they
// keep, and then there is enough for all.
func TestWaitsInsideOneConversation(t *testing.T) {
	for limit := int64(900); limit <= 1500; limit += 10 {
		c := enginetest.Compose()
		most := 20
		l := engine.Limits{Name: "p", OnLimit: engine.OnLimitAnswer, Tokens: engine.AtMost(limit)}
		inner := c.Prompted("in", generable.StrT, generable.StrT)
		inner.Agent().Budget, inner.Agent().Params.MaxTokens = engine.Limits{Name: "p", Tokens: l.Tokens}, &most
		lead := looker(c, t, "lead", l)
		lead.Agent().Params.MaxTokens = &most
		lead.Agent().Tools[0].Run = engine.GoFunc("look", 1, func(b engine.Branch, _ []generable.Value) (generable.Value, error) {
			return run.Call(b, inner, generable.StrOf("x"))
		})
		other := looker(c, t, "other", l)
		other.Agent().Params.MaxTokens = &most
		other.Agent().Tools[0].Run = nil // a tool of the host, which ends its agent
		main := c.Par(c.Site("par", ""), flow.ParOptions{Output: generable.AnyT}, lead, c.Attempt(c.Site("attempt", ""), other))
		c.Sound(t)
		w := works(func(agent string, turn int, req *model.Request) model.Response {
			switch {
			case agent == "lead" && turn == 0:
				return enginetest.Calls("look", `{"at": "x"}`, "look", `{"at": "y"}`)
			case agent == "other":
				return endless(agent, turn, req)
			}
			return enginetest.Says("done by " + agent)
		})
		tool := engine.HandlerFunc(func(ctx context.Context, _ *engine.Effect, _ engine.Sink) engine.Outcome {
			clock.Sleep(ctx, time.Hour) // until nothing else is active
			return engine.Failed(engine.Errorf(engine.KindConfig, diag.ToolFailed, "no luck"))
		})
		inside := 0
		spec := spend(main, engine.Handlers{engine.EffectModel: w, engine.EffectTool: tool}, engine.Limits{})
		spec.Listener = engine.Listener{Kinds: engine.EventTool, Emit: func(e engine.Event) {
			if strings.Contains(e.Text(), "done by in") {
				inside++
			}
		}}
		if _, err := run.Exec(sched.NewCoopSched(1), spec); err != nil || inside != 2 {
			t.Errorf("of %d tokens: %d calls inside, %v", limit, inside, err)
		}
	}
}

// A call that does not fit next to what its own conversation keeps is refused at once: it does not wait for what others
// hold.
func TestNothingWaitsForWhatItIsInsideOf(t *testing.T) {
	c := enginetest.Compose()
	few, many := 20, 400
	l := engine.Limits{Name: "p", OnLimit: engine.OnLimitAnswer, Tokens: engine.AtMost(615)} // what is left besides the last answer is less than the input of a call
	inner, other := c.Prompted("in", generable.StrT, generable.StrT), c.Prompted("other", generable.StrT, generable.StrT)
	for _, n := range []*flow.Node{inner, other} {
		n.Agent().Budget, n.Agent().Params.MaxTokens = engine.Limits{Name: "p", Tokens: l.Tokens}, &few
	}
	inner.Agent().Params.MaxTokens = &many
	lead := looker(c, t, "lead", l)
	lead.Agent().Params.MaxTokens = &few
	lead.Agent().Tools[0].Run = engine.GoFunc("look", 1, func(b engine.Branch, _ []generable.Value) (generable.Value, error) {
		return run.Call(b, inner, generable.StrOf("x"))
	})
	main := c.Par(c.Site("par", ""), flow.ParOptions{}, lead, other)
	c.Sound(t)
	w := works(endless)
	w.usage = model.Usage{In: 60, Out: 10}
	h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
		if e.Agent == "other" {
			clock.Sleep(ctx, time.Hour) // until nothing else is active
			return enginetest.Answer("done")
		}
		return w.Do(ctx, e, k)
	})
	spec, s := spend(main, h, engine.Limits{}), sched.NewCoopSched(1)
	var refused []time.Duration
	start := s.Now()
	spec.Listener = engine.Listener{Kinds: engine.EventBudget, Emit: func(e engine.Event) {
		if e.Err() != nil {
			refused = append(refused, e.At.Sub(start))
		}
	}}
	if _, err := run.Exec(s, spec); err != nil || len(refused) != 1 || refused[0] >= time.Hour {
		t.Errorf("refused after %v, %v", refused, err)
	}
}
