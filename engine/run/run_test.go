package run_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

func TestFailingBranchCancelsItsSiblings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := enginetest.Compose()
		// A sibling that is cancelled before its call never makes it: boom fails only once slow is in its call.
		started, stopped := make(chan struct{}), make(chan error, 1)
		boom := c.Fn(c.Site("fn", "boom"), engine.GoFunc("boom", 1, func(engine.Branch, []generable.Value) (generable.Value, error) {
			<-started
			return generable.Value{}, errors.New("boom")
		}), generable.StrT, generable.StrT)
		slow := c.Prompted("slow", generable.StrT, generable.StrT)
		main := c.Par(c.Site("par", "main"), flow.ParOptions{}, slow, boom)
		c.Sound(t)
		h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
			close(started)
			<-ctx.Done()
			stopped <- context.Cause(ctx)
			return engine.Failed(engine.Errorf(engine.KindCancelled, diag.Cancelled, "stopped"))
		})
		_, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h})
		if err == nil || !strings.Contains(err.Error(), "boom") {
			t.Fatalf("got %v, want boom", err)
		}
		if cause := <-stopped; !engine.IsControl(cause) {
			t.Errorf("the sibling was cancelled with %v, want a control outcome", cause)
		}
		var e *engine.Error
		if !errors.As(err, &e) || e.Path != "main/par:main#0[1]/fn:boom#0" || e.Pos.Line == 0 {
			t.Errorf("path %q, position %v", e.Path, e.Pos)
		}
	})
}

func TestPanicBecomesAnError(t *testing.T) {
	c := enginetest.Compose()
	main := c.Step("bad", generable.IntT, generable.IntT, func(generable.Value) generable.Value { panic("ouch") })
	c.Sound(t)
	_, err := enginetest.Everywhere(t, run.Spec{Node: main, Input: generable.IntOf(1)})
	var e *engine.Error
	if !errors.As(err, &e) || e.Kind != engine.KindPanic || e.Path != "main/fn:bad#0" || !strings.Contains(e.Raw, "run_test.go") {
		t.Fatalf("got %#v", err)
	}
	c = enginetest.Compose()
	agent := c.Prompted("a", generable.StrT, generable.StrT)
	c.Sound(t)
	_, err = run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: agent, Input: generable.StrOf(""), Handler: engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome { panic("in handler") })})
	if !errors.As(err, &e) || e.Kind != engine.KindPanic {
		t.Fatalf("got %#v", err)
	}
}

func TestModelCallBudget(t *testing.T) {
	c := enginetest.Compose()
	nodes := c.TextAgents(50)
	main := c.Par(c.Site("par", "main"), flow.ParOptions{}, nodes...)
	c.Sound(t)
	for _, s := range []engine.Sched{sched.NewGoSched(t.Context()), sched.NewCoopSched(1), sched.NewCoopSched(2)} {
		calls := make(chan struct{}, 100)
		h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
			calls <- struct{}{}
			return enginetest.Echo(ctx, e, k)
		})
		_, err := run.Exec(s, &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h, Limits: engine.Limits{ModelCalls: engine.AtMost(7)}})
		if !errors.Is(err, engine.ErrBudget) {
			t.Errorf("got %v, want a budget error", err)
		}
		if n := len(calls); n > 7 {
			t.Errorf("%d model calls with a budget of 7", n)
		}
	}
}

func TestIdsDoNotShiftWhenANodeIsInserted(t *testing.T) {
	run := func(extra bool) string {
		c := enginetest.Compose()
		nodes := []*flow.Node{c.Prompted("a", generable.StrT, generable.StrT), c.Prompted("b", generable.StrT, generable.StrT)}
		if extra {
			nodes = append([]*flow.Node{c.Step("noise", generable.StrT, generable.StrT, func(v generable.Value) generable.Value { return v })}, nodes...)
		}
		main := c.Then(c.Site("then", ""), nodes...)
		c.Sound(t)
		var seen enginetest.IDs
		if _, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: enginetest.Echo, Listener: seen.Listener()}); err != nil {
			t.Fatal(err)
		}
		return seen.Set()
	}
	if a, b := run(false), run(true); a != b {
		t.Errorf("ids without the node\n%s\nwith it\n%s", a, b)
	}
	if ids := run(false); !strings.Contains(ids, "main/then0/agent:a#0/llm0@") {
		t.Errorf("ids %s", ids)
	}
}
