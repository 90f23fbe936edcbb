package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

var (
	intT, strT, anyT = generable.IntT, generable.StrT, generable.AnyT
)

func TestChainRunsInOrder(t *testing.T) {
	c := compose()
	a, b, d := c.step("a", intT, intT, add(1)), c.step("b", intT, intT, func(v generable.Value) generable.Value { return generable.IntOf(integer(v) * 10) }), c.step("d", intT, intT, add(-3))
	main := c.Then(c.op("`>>`"), c.Then(c.op("`>>`"), a, b), d)
	c.sound(t)
	if n := len(main.Children()); n != 3 {
		t.Errorf("a >> b >> d has %d children, want one pipeline of 3", n)
	}
	out, err := everywhere(t, run.Spec{Node: main, Input: generable.IntOf(4)})
	if err != nil || integer(out) != 47 {
		t.Fatalf("got %v, %v; want 47", integer(out), err)
	}
}

func TestParallelKeepsOrder(t *testing.T) {
	c := compose()
	var nodes []*flow.Node
	for i := range int64(20) {
		nodes = append(nodes, c.step(fmt.Sprint("s", i), intT, intT, add(i)))
	}
	main := c.Par(c.site("par", "main"), flow.ParOptions{Limit: 3}, nodes...)
	c.sound(t)
	if got := main.Out().String(); got != "list[int]" {
		t.Errorf("output type %s", got)
	}
	out, err := everywhere(t, run.Spec{Node: main, Input: generable.IntOf(100)})
	if err != nil {
		t.Fatal(err)
	}
	l, _ := out.AsList()
	for i := range l.Len() {
		if integer(l.At(i)) != int64(100+i) {
			t.Fatalf("branch %d gave %d", i, integer(l.At(i)))
		}
	}
}

func TestLoopEndsWithNone(t *testing.T) {
	c := compose()
	double := c.step("double", intT, intT, func(v generable.Value) generable.Value { return generable.IntOf(2 * integer(v)) })
	next := engine.GoFunc("next", 1, func(_ engine.Branch, a []generable.Value) (generable.Value, error) {
		if integer(a[0]) > 100 {
			return generable.Value{}, nil
		}
		return a[0], nil
	})
	main := c.Loop(c.site("loop", "main"), double, flow.LoopOptions{Next: next})
	c.sound(t)
	out, err := everywhere(t, run.Spec{Node: main, Input: generable.IntOf(1)})
	if err != nil || integer(out) != 128 {
		t.Fatalf("got %d, %v; want 128", integer(out), err)
	}
}

func TestLoopLimit(t *testing.T) {
	forever := engine.GoFunc("next", 1, func(_ engine.Branch, a []generable.Value) (generable.Value, error) { return a[0], nil })
	for _, last := range []bool{false, true} {
		c := compose()
		main := c.Loop(c.site("loop", "main"), c.step("inc", intT, intT, add(1)), flow.LoopOptions{Next: forever, Max: 3, LastWins: last})
		c.sound(t)
		out, err := everywhere(t, run.Spec{Node: main, Input: generable.IntOf(0)})
		var e *engine.Error
		switch {
		case last && (err != nil || integer(out) != 3):
			t.Errorf("last: got %d, %v", integer(out), err)
		case !last && (!errors.As(err, &e) || e.Code != diag.LoopLimit || e.Path == "" || !e.Pos.IsValid()):
			t.Errorf("fail: got %#v", err)
		}
	}
}

func TestBranchRoutesByType(t *testing.T) {
	c := compose()
	circle, _ := generable.NewSchema("Circle", "", []generable.Field{{Name: "r", Type: generable.FloatT}})
	rect, _ := generable.NewSchema("Rect", "", []generable.Field{{Name: "w", Type: generable.FloatT}, {Name: "h", Type: generable.FloatT}})
	shape, errs := generable.NewUnion("Shape", "", "", []*generable.Type{circle, rect})
	if errs != nil {
		t.Fatal(errs)
	}
	c.DeclareUnion(shape)
	classify := c.agent("classify", strT, shape, func(v generable.Value) generable.Value {
		m := generable.NewMap(2)
		if str(v) == "circle" {
			f, _ := generable.FloatOf(6)
			m.Set("r", f)
			r, errs := circle.Construct(m)
			if errs != nil {
				panic(errs)
			}
			return r.Value()
		}
		m.Set("w", generable.IntOf(2)) // widened by construction
		m.Set("h", generable.IntOf(3))
		r, errs := rect.Construct(m)
		if errs != nil {
			panic(errs)
		}
		return r.Value()
	})
	name := func(n string) func(generable.Value) generable.Value {
		return func(v generable.Value) generable.Value { return generable.StrOf(n + generable.JSON(v, nil)) }
	}
	main := c.Branch(c.site("branch", "main"), classify, []flow.Route{
		{Type: circle, Handler: c.agent("circle", circle, strT, name("circle "))},
		{Type: rect, Handler: c.Then(c.site("then", ""), c.agent("rect", rect, strT, name("rect ")), c.step("up", strT, strT, func(v generable.Value) generable.Value { return generable.StrOf(strings.ToUpper(str(v))) }))},
	}, flow.BranchOptions{})
	c.sound(t)
	for in, want := range map[string]string{"circle": `circle {"r":6.0}`, "x": `RECT {"W":2.0,"H":3.0}`} {
		out, err := everywhere(t, run.Spec{Node: main, Input: generable.StrOf(in)})
		if err != nil || str(out) != want {
			t.Errorf("%s: got %q, %v; want %q", in, str(out), err, want)
		}
	}
}

// What no route takes, where composing could not tell, is an error of its own.
func TestNoRoute(t *testing.T) {
	c := compose()
	main := c.Branch(c.site("branch", "b"), c.step("any", strT, anyT, identity), []flow.Route{on(intT, c.step("i", intT, strT, identity)), on(true, c.step("t", anyT, strT, identity))}, flow.BranchOptions{})
	c.sound(t)
	_, err := everywhere(t, run.Spec{Node: main, Input: generable.StrOf("x")})
	var e *engine.Error
	if !errors.As(err, &e) || e.Code != diag.NoRoute || e.Kind != engine.KindType || e.Path != "main/branch:b#0" || !strings.Contains(e.Message, "no branch handles str") {
		t.Errorf("got %#v", err)
	}
}

func TestEachRunsOverAList(t *testing.T) {
	c := compose()
	main := c.Each(c.site("each", "main"), flow.EachOptions{Limit: 4}, c.prompted("reader", strT, strT))
	c.sound(t)
	var items []generable.Value
	for i := range 30 {
		items = append(items, generable.StrOf(fmt.Sprint("doc", i)))
	}
	out, err := everywhere(t, run.Spec{Node: main, Input: generable.ListOf(items...)})
	if err != nil {
		t.Fatal(err)
	}
	l, _ := out.AsList()
	for i := range l.Len() {
		if str(l.At(i)) != fmt.Sprintf("reader(doc%d)", i) {
			t.Fatalf("item %d: %q", i, str(l.At(i)))
		}
	}
}

func TestFailingBranchCancelsItsSiblings(t *testing.T) {
	c := compose()
	// A sibling that is cancelled before its call never calls: boom fails only when slow is in its call.
	started, stopped := make(chan struct{}), make(chan error, 1)
	boom := c.Fn(c.site("fn", "boom"), engine.GoFunc("boom", 1, func(engine.Branch, []generable.Value) (generable.Value, error) {
		<-started
		return generable.Value{}, errors.New("boom")
	}), strT, strT)
	slow := c.prompted("slow", strT, strT)
	main := c.Par(c.site("par", "main"), flow.ParOptions{}, slow, boom)
	c.sound(t)
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
}

func TestPanicBecomesAnError(t *testing.T) {
	c := compose()
	main := c.step("bad", intT, intT, func(generable.Value) generable.Value { panic("ouch") })
	c.sound(t)
	_, err := everywhere(t, run.Spec{Node: main, Input: generable.IntOf(1)})
	var e *engine.Error
	if !errors.As(err, &e) || e.Kind != engine.KindPanic || e.Path != "main/fn:bad#0" || !strings.Contains(e.Raw, "run_test.go") {
		t.Fatalf("got %#v", err)
	}
	c = compose()
	agent := c.prompted("a", strT, strT)
	c.sound(t)
	_, err = run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: agent, Input: generable.StrOf(""), Handler: engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome { panic("in handler") })})
	if !errors.As(err, &e) || e.Kind != engine.KindPanic {
		t.Fatalf("got %#v", err)
	}
}

func TestModelCallBudget(t *testing.T) {
	c := compose()
	var nodes []*flow.Node
	for i := range 50 {
		nodes = append(nodes, c.prompted(fmt.Sprint("a", i), strT, strT))
	}
	main := c.Par(c.site("par", "main"), flow.ParOptions{}, nodes...)
	c.sound(t)
	for _, s := range []engine.Sched{sched.NewGoSched(t.Context()), sched.NewCoopSched(1), sched.NewCoopSched(2)} {
		calls := make(chan struct{}, 100)
		h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
			calls <- struct{}{}
			return echo(ctx, e, k)
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

func TestWallTime(t *testing.T) {
	c := compose()
	main := c.prompted("slow", strT, strT)
	c.sound(t)
	h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		<-ctx.Done()
		return engine.Failed(engine.Errorf(engine.KindCancelled, diag.Cancelled, "stopped"))
	})
	_, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h, Limits: engine.Limits{Wall: 20 * time.Millisecond}})
	if !errors.Is(err, engine.ErrTimeout) {
		t.Errorf("got %v, want a timeout", err)
	}
}

func TestCancelReachesTheHandler(t *testing.T) {
	c := compose()
	main := c.prompted("slow", strT, strT)
	c.sound(t)
	ctx, cancel := context.WithCancel(t.Context())
	h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		cancel()
		<-ctx.Done()
		return engine.Failed(engine.Errorf(engine.KindNetwork, diag.ProviderError, "connection closed"))
	})
	_, err := run.Exec(sched.NewGoSched(ctx), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h})
	if !errors.Is(err, engine.ErrCancelled) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want cancelled", err)
	}
}

func TestIdsDoNotShiftWhenANodeIsInserted(t *testing.T) {
	run := func(extra bool) string {
		c := compose()
		nodes := []*flow.Node{c.prompted("a", strT, strT), c.prompted("b", strT, strT)}
		if extra {
			nodes = append([]*flow.Node{c.step("noise", strT, strT, func(v generable.Value) generable.Value { return v })}, nodes...)
		}
		main := c.Then(c.site("then", ""), nodes...)
		c.sound(t)
		var seen ids
		if _, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: echo, Listener: seen.listener()}); err != nil {
			t.Fatal(err)
		}
		return seen.set()
	}
	if a, b := run(false), run(true); a != b {
		t.Errorf("ids without the node\n%s\nwith it\n%s", a, b)
	}
	if ids := run(false); !strings.Contains(ids, "main/then0/agent:a#0/llm0@") {
		t.Errorf("ids %s", ids)
	}
}
