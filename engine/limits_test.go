package engine_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// counting is a loop of n turns.
func counting(c *composer, n int64) *flow.Node {
	next := engine.GoFunc("next", 1, func(_ engine.Branch, a []generable.Value) (generable.Value, error) {
		if integer(a[0]) >= n {
			return generable.Value{}, nil
		}
		return a[0], nil
	})
	return c.Loop(c.site("loop", "main"), c.step("inc", intT, intT, add(1)), flow.LoopOptions{Next: next, Max: int(n) + 1})
}

// A loop needs no more space for many turns than for few.
func TestLoopsRunInConstantSpace(t *testing.T) {
	live := func(turns int64) uint64 {
		c := compose()
		main := counting(c, turns)
		last := c.Fn(c.site("fn", "last"), engine.GoFunc("last", 1, func(_ engine.Branch, a []generable.Value) (generable.Value, error) {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return generable.IntOf(int64(m.HeapAlloc + m.StackInuse)), nil
		}), intT, intT)
		all := c.Then(c.site("then", ""), main, last)
		c.sound(t)
		out, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: all, Input: generable.IntOf(0)})
		if err != nil {
			t.Fatal(err)
		}
		return uint64(integer(out))
	}
	live(10) // what is made once
	few, many := live(100), live(100_000)
	if many > few+64<<10 {
		t.Errorf("%d bytes are live after 100 turns, %d after 100,000", few, many)
	}
}

func TestWideAndDeepGraphs(t *testing.T) {
	c := compose()
	wide := make([]*flow.Node, 10_000)
	for i := range wide {
		wide[i] = c.step("noop", intT, intT, identity)
	}
	deep := c.step("noop", intT, intT, identity)
	for range 9_000 {
		deep = c.Then(c.site("then", "deep"), deep)
	}
	flat := c.step("noop", intT, intT, add(1))
	for range 3_000 {
		flat = c.Then(c.op("`>>`"), flat, c.step("noop", intT, intT, add(1)))
	}
	right := c.step("noop", intT, intT, add(1))
	for range 3_000 {
		right = c.Then(c.op("`>>`"), c.step("noop", intT, intT, add(1)), right)
	}
	main := c.Then(c.site("then", "main"), deep, flat, right, c.Par(c.site("par", ""), flow.ParOptions{}, wide...))
	c.sound(t)
	if n := len(flat.Children()); n != 3_001 {
		t.Errorf("a chain of 3,001 operands has %d children", n)
	}
	for name, s := range map[string]engine.Sched{"goroutines": sched.NewGoSched(t.Context()), "cooperative": sched.NewCoopSched(1)} {
		soon(t, func() {
			out, err := run.Exec(s, &run.Spec{Node: main, Input: generable.IntOf(0)})
			l, _ := out.AsList()
			if err != nil || l.Len() != 10_000 || integer(l.At(9_999)) != 6_002 {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

func TestEachOverNothing(t *testing.T) {
	c := compose()
	main := c.Each(c.site("each", ""), flow.EachOptions{Limit: 0}, c.prompted("reader", strT, strT))
	c.sound(t)
	out, err := everywhere(t, run.Spec{Node: main, Input: generable.ListOf()})
	if l, ok := out.AsList(); err != nil || !ok || l.Len() != 0 {
		t.Errorf("got %s, %v", generable.JSON(out, nil), err)
	}
}

// A node that makes the next input may give None to stop.
func TestLoopWithANodeAsNext(t *testing.T) {
	c := compose()
	next := c.step("next", intT, oneOf(intT, noneT), func(v generable.Value) generable.Value {
		if integer(v) > 20 {
			return generable.Value{}
		}
		return v
	})
	repaired := c.Loop(c.site("loop", "check"), c.step("check", intT, boolT, func(v generable.Value) generable.Value { return generable.BoolOf(integer(v) > 3) }),
		flow.LoopOptions{UntilFunc: engine.GoFunc("ok", 1, func(_ engine.Branch, a []generable.Value) (generable.Value, error) { return a[0], nil }),
			Repair: c.step("mend", boolT, intT, func(generable.Value) generable.Value { return generable.IntOf(4) })})
	main := c.Then(c.site("then", ""), c.Loop(c.site("loop", "double"), c.step("double", intT, intT, func(v generable.Value) generable.Value { return generable.IntOf(2 * integer(v)) }), flow.LoopOptions{NextNode: next}),
		c.step("small", intT, intT, func(v generable.Value) generable.Value { return generable.IntOf(integer(v) - 30) }), repaired)
	c.sound(t)
	out, err := everywhere(t, run.Spec{Node: main, Input: generable.IntOf(1)})
	if ok, _ := out.AsBool(); err != nil || !ok {
		t.Errorf("got %s, %v", generable.JSON(out, nil), err)
	}
}

// The wall time of an agent ends what it calls, at the place where that stands. The clock is the
// scheduler's, and passes when nobody can go on.
func TestCallsUnderTheWallTimeOfAnAgent(t *testing.T) {
	c := compose()
	slow := c.Agent(c.site("agent", "slow"), &agent.AgentSpec{Name: "slow", Run: engine.GoFunc("slow", 1, func(b engine.Branch, a []generable.Value) (generable.Value, error) {
		return a[0], b.Wait(func() bool { return false })
	})})
	boss := c.Agent(c.site("agent", "boss"), &agent.AgentSpec{Name: "boss", Budget: engine.Limits{Wall: 10 * time.Millisecond},
		Run: engine.GoFunc("boss", 1, func(b engine.Branch, a []generable.Value) (generable.Value, error) { return run.Call(b, slow, a[0]) })})
	c.sound(t)
	for seed := range uint64(5) {
		_, err := run.Exec(sched.NewCoopSched(seed), &run.Spec{Node: boss, Input: generable.StrOf("x")})
		var e *engine.Error
		if !errors.As(err, &e) || e.Kind != engine.KindBudget || e.Path != "main/agent:boss#0/agent:slow#0" {
			t.Errorf("got %#v", err)
		}
	}
}

// A tool that ignores its context does not hold up an agent whose time is over: the flow goes on.
func TestADeafToolIsLeftBehind(t *testing.T) {
	c := compose()
	tool := &agent.Tool{Name: "wait", Doc: "Waits."}
	deaf := c.Agent(c.site("agent", "deaf"), &agent.AgentSpec{Name: "deaf", Prompt: "Wait.", Tools: []*agent.Tool{tool}, Budget: engine.Limits{Wall: time.Millisecond}})
	main := c.Fallback(c.site("fallback", ""), flow.FirstOptions{}, deaf, c.prompted("other", strT, strT))
	c.sound(t)
	release, returned := make(chan struct{}), make(chan struct{}, 1)
	h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
		switch {
		case e.Kind == engine.EffectTool:
			<-release
			returned <- struct{}{}
			return engine.Outcome{Value: generable.StrOf("too late")}
		case e.Agent == "deaf":
			r := calls("wait", "{}")
			return engine.Outcome{Response: &r, Attempt: 1}
		}
		return echo(ctx, e, k)
	})
	j := &store.Memory{}
	spec := &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h, Journal: j}
	soon(t, func() {
		out, err := run.Exec(sched.WithGrace(sched.NewGoSched(t.Context()), time.Millisecond), spec)
		if err != nil || str(out) != "other(x)" {
			t.Errorf("got %q, %v", str(out), err)
		}
	})
	close(release)
	if strings.Contains(strings.Join(j.IDs(), " "), "wait0@") { // it was called
		<-returned
	}
}

// parked starts n runs and returns when all wait for a model. What it returns ends them.
func parked(n int, spec run.Spec) (end func()) {
	arrived, release, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	spec.Handler = engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
		arrived <- struct{}{}
		<-release
		return echo(ctx, e, k)
	})
	for range n {
		go func() {
			own := spec
			_, err := run.Exec(sched.NewGoSched(context.Background()), &own)
			if err != nil {
				panic(err)
			}
			done <- struct{}{}
		}()
	}
	for range n {
		<-arrived
	}
	return func() {
		close(release)
		for range n {
			<-done
		}
	}
}

// footprint is what a process holds.
type footprint struct {
	goroutines  int
	heap, stack uint64
}

func held() footprint {
	runtime.GC()
	runtime.GC() // stacks shrink, and what finalizers held is gone
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return footprint{runtime.NumGoroutine(), m.HeapAlloc, m.StackInuse}
}

// parkable are the runs whose footprint is told: an agent alone, behind other steps, and under
// every kind of limit.
func parkable() map[string]run.Spec {
	c := compose()
	a := c.prompted("a", strT, strT)
	chained := c.Then(c.site("then", ""), c.step("noop", strT, strT, identity), c.Then(c.site("then", ""), c.prompted("b", strT, strT)))
	bounded := c.Agent(c.site("agent", "c"), &agent.AgentSpec{Name: "c", Prompt: "You are c.", Budget: engine.Limits{Wall: time.Hour, ModelCalls: engine.AtMost(5)}})
	c.Seal()
	spec := func(n *flow.Node, l engine.Limits) run.Spec {
		return run.Spec{Node: n, Input: generable.StrOf("x"), Model: "test/model", Limits: l}
	}
	return map[string]run.Spec{
		"agent":    spec(a, engine.Limits{}),
		"pipeline": spec(chained, engine.Limits{}),
		"limits":   spec(bounded, engine.Limits{Wall: time.Hour, ModelCalls: engine.AtMost(100), Tokens: engine.AtMost(1000)}),
	}
}

// A run that waits for a model holds one goroutine, the one that it was started on, and little
// memory. The race detector keeps books of its own, so that bytes are gated without it.
func TestParkedRunsHoldLittle(t *testing.T) {
	for name, spec := range parkable() {
		const n = 1000
		before := held()
		end := parked(n, spec)
		after := held()
		if got := after.goroutines - before.goroutines; got != n {
			t.Errorf("%s: %d runs hold %d goroutines", name, n, got)
		}
		// Signed: what other tests had left may be given back in between.
		heap, stack := float64(int64(after.heap-before.heap))/n, float64(int64(after.stack-before.stack))/n
		if !raceDetector && (heap > 4<<10 || stack > 8.5*(1<<10)) {
			t.Errorf("%s: a run holds %.0f bytes of heap and %.0f of stack, at most 4 and 8 KiB", name, heap, stack)
		}
		end()
		settled(t, before.goroutines)
	}
}

// BenchmarkParkedRun tells what 1,000 runs hold, each, while they wait for a model.
func BenchmarkParkedRun(b *testing.B) {
	for _, name := range []string{"agent", "pipeline", "limits"} {
		b.Run(name, func(b *testing.B) {
			const n = 1000
			spec := parkable()[name]
			for b.Loop() {
				before := held()
				end := parked(n, spec)
				after := held()
				end()
				b.ReportMetric(float64(after.goroutines-before.goroutines)/n, "goroutines/run")
				b.ReportMetric(float64(after.heap-before.heap)/n, "heap-B/run")
				b.ReportMetric(float64(after.stack-before.stack)/n, "stack-B/run")
			}
		})
	}
}

// A thousand branches that each make several calls on the cooperative scheduler.
func TestAThousandCooperativeBranches(t *testing.T) {
	c := compose()
	nodes := make([]*flow.Node, 1000)
	for i := range nodes {
		nodes[i] = c.Then(c.site("then", ""), c.prompted(fmt.Sprint("a", i), strT, strT), c.prompted(fmt.Sprint("b", i), strT, strT))
	}
	main := c.Par(c.site("par", ""), flow.ParOptions{}, nodes...)
	c.sound(t)
	soon(t, func() {
		if _, err := run.Exec(sched.NewCoopSched(2), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: echo, Model: "test/model", Limits: engine.Limits{ModelCalls: engine.AtMost(2000), Wall: time.Hour}}); err != nil {
			t.Error(err)
		}
		_, err := run.Exec(sched.NewCoopSched(3), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: echo, Model: "test/model", Limits: engine.Limits{ModelCalls: engine.AtMost(1000)}})
		if !errors.Is(err, engine.ErrBudget) {
			t.Errorf("got %v", err)
		}
	})
}
