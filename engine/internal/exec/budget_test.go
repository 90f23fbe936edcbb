package exec_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// toolCall returns a tool of the script that calls nodes.
func toolCall(t *testing.T, name string, nodes ...*flow.Node) *agent.Tool {
	return &agent.Tool{Name: name, Params: enginetest.Schema(t, name), Returns: generable.StrT, Class: engine.ClassRead,
		Run: engine.GoFunc(name, 1, func(b engine.Branch, _ []generable.Value) (generable.Value, error) {
			var out generable.Value
			for _, n := range nodes {
				var err error
				if out, err = run.Call(b, n, generable.StrOf("from "+name)); err != nil {
					return out, err
				}
			}
			return out, nil
		})}
}

// usesTool answers the first turn with calls of a tool and the second with a text.
func usesTool(agent string, calls int, name string) engine.HandlerFunc {
	return func(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
		req := e.Req.(*model.Request)
		if e.Agent != agent || len(req.Messages) > 1 {
			return enginetest.Echo(ctx, e, k)
		}
		r := model.Response{Finish: model.FinishCalls}
		for i := range calls {
			r.Parts = append(r.Parts, model.Part{Kind: model.PartCall, Call: &model.ToolCall{ID: fmt.Sprint(i), Name: name, Args: "{}"}})
		}
		return engine.Outcome{Response: &r, Attempt: 1}
	}
}

// A tool of the script holds nothing while it runs: what it calls may need the same resource.
func TestAToolDoesNotWaitForItself(t *testing.T) {
	c := enginetest.Compose()
	leaf := &agent.Tool{Name: "leaf", Params: enginetest.Schema(t, "leaf"), Class: engine.ClassRead, Run: engine.GoFunc("leaf", 1, func(engine.Branch, []generable.Value) (generable.Value, error) {
		return generable.StrOf("leaf"), nil
	})}
	inner := c.Agent(c.Site("agent", "inner"), &agent.Spec{Name: "inner", Prompt: "Inner.", Tools: []*agent.Tool{leaf}})
	outer := c.Agent(c.Site("agent", "outer"), &agent.Spec{Name: "outer", Prompt: "Outer.", Tools: []*agent.Tool{toolCall(t, "ask", inner)}})
	c.Sound(t)
	h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
		if e.Agent == "inner" {
			return usesTool("inner", 1, "leaf")(ctx, e, k)
		}
		return usesTool("outer", 1, "ask")(ctx, e, k)
	})
	enginetest.Schedulers(t, func(t *testing.T, s engine.Sched) {
		_, err := run.Exec(s, &run.Spec{Node: outer, Input: generable.StrOf("x"), Handler: h, Limits: engine.Limits{ToolCalls: engine.AtMost(1)}})
		if !errors.Is(err, engine.ErrBudget) {
			t.Errorf("got %v, want a budget error", err)
		}
	})
}

// badJournal fails or panics when it receives an outcome.
type badJournal struct {
	store.Memory
	panics bool
}

func (j *badJournal) Commit(context.Context, string, *engine.Effect, engine.Outcome) error {
	if j.panics {
		panic("disk on fire")
	}
	return errors.New("disk full")
}

// What a call holds is returned whatever its result, so that nobody waits forever.
func TestHoldsAreSettled(t *testing.T) {
	c := enginetest.Compose()
	var nodes []*flow.Node
	for i := range 6 {
		n := c.Prompted(fmt.Sprint("a", i), generable.StrT, generable.StrT)
		nodes = append(nodes, c.Step(fmt.Sprint("s", i), generable.StrT, generable.StrT, enginetest.Identity), n)
	}
	calls := engine.GoFunc("main", 0, func(b engine.Branch, _ []generable.Value) (generable.Value, error) {
		for _, n := range nodes { // a host that continues after a failure
			run.Call(b, n, generable.StrOf("x"))
		}
		return generable.StrOf("end"), nil
	})
	c.Sound(t)
	for _, panics := range []bool{false, true} {
		enginetest.Schedulers(t, func(t *testing.T, s engine.Sched) {
			out, err := run.Exec(s, &run.Spec{Main: calls, Handler: enginetest.Echo, Journal: &badJournal{panics: panics}, Limits: engine.Limits{ModelCalls: engine.AtMost(2)}})
			if err != nil || enginetest.Str(out) != "end" {
				t.Errorf("got %v, %v", enginetest.Str(out), err)
			}
		})
	}
}

func TestAJournalThatFailsEndsTheRun(t *testing.T) {
	for _, panics := range []bool{false, true} {
		c := enginetest.Compose()
		main := c.Prompted("a", generable.StrT, generable.StrT)
		c.Sound(t)
		_, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: enginetest.Echo, Journal: &badJournal{panics: panics}})
		var e *engine.Error
		if !errors.As(err, &e) || e.Kind != engine.KindStore || e.Code != diag.JournalFailed || !strings.Contains(e.Message, "disk") || e.Path == "" {
			t.Errorf("panics %v: got %#v", panics, err)
		}
	}
}

// Calls of an agent that runs code count against the agent's budget.
func TestBudgetOfADeterministicAgent(t *testing.T) {
	c := enginetest.Compose()
	var helpers []*flow.Node
	for i := range 5 {
		helpers = append(helpers, c.Prompted(fmt.Sprint("h", i), generable.StrT, generable.StrT))
	}
	boss := c.Agent(c.Site("agent", "boss"), &agent.Spec{Name: "boss", Budget: engine.Limits{ModelCalls: engine.AtMost(3)},
		Run: engine.GoFunc("boss", 1, func(b engine.Branch, a []generable.Value) (generable.Value, error) {
			for _, n := range helpers {
				if _, err := run.Call(b, n, a[0]); err != nil {
					return a[0], err
				}
			}
			return a[0], nil
		})})
	c.Sound(t)
	h := &enginetest.CallCounter{Handler: enginetest.Echo}
	_, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: boss, Input: generable.StrOf("x"), Handler: h})
	if !errors.Is(err, engine.ErrBudget) || h.Calls.Load() != 3 || !strings.Contains(err.Error(), "boss") {
		t.Errorf("%d calls, %v", h.Calls.Load(), err)
	}
	slow := enginetest.Compose()
	main := slow.Agent(slow.Site("agent", "slow"), &agent.Spec{Name: "slow", Budget: engine.Limits{Wall: 10 * time.Millisecond},
		Run: engine.GoFunc("slow", 1, func(b engine.Branch, a []generable.Value) (generable.Value, error) {
			for {
				if err := b.Steps(1); err != nil {
					return a[0], err
				}
				time.Sleep(time.Millisecond)
			}
		})})
	slow.Sound(t)
	synctest.Test(t, func(t *testing.T) {
		if _, err := enginetest.RunNode(t, main, nil, "x"); !errors.Is(err, engine.ErrBudget) {
			t.Errorf("wall time: got %v", err)
		}
	})
}

func TestStepBudget(t *testing.T) {
	c := enginetest.Compose()
	main := c.Fn(c.Site("fn", "spin"), engine.GoFunc("spin", 1, func(b engine.Branch, a []generable.Value) (generable.Value, error) {
		for {
			if err := b.Steps(100); err != nil {
				return a[0], err
			}
		}
	}), generable.StrT, generable.StrT)
	both := c.Par(c.Site("par", ""), flow.ParOptions{}, main, c.Step("other", generable.StrT, generable.StrT, enginetest.Identity))
	c.Sound(t)
	enginetest.Schedulers(t, func(t *testing.T, s engine.Sched) {
		_, err := run.Exec(s, &run.Spec{Node: both, Input: generable.StrOf("x"), Limits: engine.Limits{Steps: engine.AtMost(100_000)}})
		var e *engine.Error
		if !errors.As(err, &e) || e.Kind != engine.KindBudget || e.Code != diag.StepLimit {
			t.Errorf("got %v", err)
		}
	})
}

func TestTokenBudgetStartsNoFurtherCall(t *testing.T) {
	c := enginetest.Compose()
	nodes := c.TextAgents(10)
	main := c.Then(c.Site("then", ""), nodes...)
	c.Sound(t)
	h := &enginetest.CallCounter{Handler: engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		r := enginetest.Says("ok")
		return engine.Outcome{Response: &r, Usage: r.Usage, Attempt: 1} // 15 tokens
	})}
	_, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h, Limits: engine.Limits{Tokens: engine.AtMost(40)}})
	if !errors.Is(err, engine.ErrBudget) || h.Calls.Load() != 3 {
		t.Errorf("%d calls, %v", h.Calls.Load(), err)
	}
}

// An agent's budget of tool calls covers only its own calls. Agents that its tools call have their own limits, and the
// run's limit covers all.
func TestToolCallBudget(t *testing.T) {
	c := enginetest.Compose()
	noop := &agent.Tool{Name: "noop", Params: enginetest.Schema(t, "noop"), Class: engine.ClassRead, Run: engine.GoFunc("noop", 1, func(engine.Branch, []generable.Value) (generable.Value, error) {
		return generable.StrOf("ok"), nil
	})}
	inner := c.Agent(c.Site("agent", "inner"), &agent.Spec{Name: "inner", Prompt: "Inner.", Tools: []*agent.Tool{noop}})
	outer := c.Agent(c.Site("agent", "outer"), &agent.Spec{Name: "outer", Prompt: "Outer.", Tools: []*agent.Tool{toolCall(t, "ask", inner)},
		Budget: engine.Limits{ToolCalls: engine.AtMost(2)}})
	c.Sound(t)
	handler := func(asks int) engine.Handler {
		return engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
			if e.Agent == "inner" {
				return usesTool("inner", 20, "noop")(ctx, e, k)
			}
			return usesTool("outer", asks, "ask")(ctx, e, k)
		})
	}
	if out, err := enginetest.RunNode(t, outer, handler(2), "x"); err != nil {
		t.Errorf("two calls: %s, %v", enginetest.Str(out), err)
	}
	if _, err := enginetest.RunNode(t, outer, handler(3), "x"); !errors.Is(err, engine.ErrBudget) || !strings.Contains(err.Error(), "outer") {
		t.Errorf("three calls: %v", err)
	}
	spec := run.Spec{Node: outer, Input: generable.StrOf("x"), Handler: handler(2), Model: "test/model", Limits: engine.Limits{ToolCalls: engine.AtMost(30)}}
	if _, err := run.Exec(sched.NewGoSched(t.Context()), &spec); !errors.Is(err, engine.ErrBudget) {
		t.Errorf("42 calls in a run of 30: %v", err)
	}
}

// A refusal is recorded: a replay returns the same, and charges nothing for a call that was never made.
func TestRefusalsReplay(t *testing.T) {
	c := enginetest.Compose()
	nodes := c.TextAgents(4)
	extra := c.Prompted("extra", generable.StrT, generable.StrT)
	c.Sound(t)
	var first []string
	main := func(more bool) engine.Func {
		return engine.GoFunc("main", 0, func(b engine.Branch, _ []generable.Value) (generable.Value, error) {
			var seen []string
			for _, n := range nodes {
				_, err := run.Call(b, n, generable.StrOf("x"))
				seen = append(seen, fmt.Sprint(err))
			}
			if first == nil {
				first = seen
			} else if fmt.Sprint(first) != fmt.Sprint(seen) {
				t.Errorf("replayed %v\nrecorded %v", seen, first)
			}
			if more {
				return run.Call(b, extra, generable.StrOf("x"))
			}
			return generable.Value{}, nil
		})
	}
	j := &store.Memory{}
	limit := func(n int64) engine.Limits { return engine.Limits{ModelCalls: engine.AtMost(n)} }
	if _, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Main: main(false), Handler: enginetest.Echo, Journal: j, Limits: limit(2)}); err != nil {
		t.Fatal(err)
	}
	if n := len(j.IDs()); n != 4 {
		t.Errorf("%d outcomes are recorded, want two answers and two refusals", n)
	}
	// Resumed with one more call allowed: the two refusals did not count as calls.
	if _, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Main: main(true), Handler: enginetest.Echo, Journal: j, Limits: limit(3)}); err != nil {
		t.Errorf("the third call: %v", err)
	}
}

// While other calls are open a reservation waits: calls in flight are paid for and end well.
func TestARefusalLetsCallsInFlightEnd(t *testing.T) {
	c := enginetest.Compose()
	nodes := c.TextAgents(12)
	main := c.Par(c.Site("par", ""), flow.ParOptions{}, nodes...)
	c.Sound(t)
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		var mu sync.Mutex
		running, ended := 0, 0
		h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
			mu.Lock()
			if running++; running == 4 {
				time.AfterFunc(20*time.Millisecond, func() { close(release) })
			}
			mu.Unlock()
			select {
			case <-release:
			case <-ctx.Done():
				return engine.Failed(engine.Errorf(engine.KindNetwork, diag.ProviderError, "cut off"))
			}
			mu.Lock()
			ended++
			mu.Unlock()
			return enginetest.Echo(ctx, e, k)
		})
		_, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h, Limits: engine.Limits{ModelCalls: engine.AtMost(4)}})
		if !errors.Is(err, engine.ErrBudget) || running != 4 || ended != 4 {
			t.Errorf("%v; %d calls, %d ended", err, running, ended)
		}
	})
}
