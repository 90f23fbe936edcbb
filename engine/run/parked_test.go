package run_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/hang"
	"github.com/agentscript/agentscript/internal/testenv"
)

// parked starts n runs and returns when all of them wait for a model. end lets them end, and waits for that.
func parked(n int, spec run.Spec) (end func()) {
	arrived, release, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	spec.Handler = engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
		arrived <- struct{}{}
		<-release
		return enginetest.Echo(ctx, e, k)
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
		select {
		case <-arrived:
		case <-done:
			panic("a run has ended without its model")
		}
	}
	return func() {
		close(release)
		for range n {
			<-done
		}
	}
}

// footprint is what a process uses.
type footprint struct {
	goroutines  int
	heap, stack uint64
}

func held() footprint {
	runtime.GC()
	runtime.GC() // so that stacks shrink and finalizers run
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return footprint{runtime.NumGoroutine(), m.HeapAlloc, m.StackInuse}
}

// parkable returns the runs whose footprint is measured: an agent alone, after other steps, and under every kind of
// limit.
func parkable() map[string]run.Spec {
	c := enginetest.Compose()
	a := c.Prompted("a", generable.StrT, generable.StrT)
	chained := c.Then(c.Site("then", ""), c.Step("noop", generable.StrT, generable.StrT, enginetest.Identity), c.Then(c.Site("then", ""), c.Prompted("b", generable.StrT, generable.StrT)))
	bounded := c.Agent(c.Site("agent", "c"), &agent.Spec{Name: "c", Prompt: "You are c.", Budget: engine.Limits{Wall: time.Hour, ModelCalls: engine.AtMost(5)}})
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

// A run that waits for a model holds one goroutine, the one on which it was started, and little memory. The race
// detector needs additional memory, so that bytes are only checked without it.
func TestParkedRunsHoldLittle(t *testing.T) {
	const n = 1000
	for name, spec := range parkable() {
		idle := runtime.NumGoroutine()
		ended := func() { // a goroutine that has reported its end may still be exiting
			hang.Until(t, fmt.Sprintf("%s: %d goroutines run", name, idle), func() bool { return runtime.NumGoroutine() <= idle })
		}
		parked(n, spec)() // lets Go allocate what it allocates once: goroutine descriptors, room for timers
		ended()
		before := held()
		end := parked(n, spec)
		after := held()
		if got := after.goroutines - before.goroutines; got != n {
			t.Errorf("%s: %d runs hold %d goroutines", name, n, got)
		}
		// Signed, because memory that other tests had left may be released in between.
		heap, stack := float64(int64(after.heap-before.heap))/n, float64(int64(after.stack-before.stack))/n
		if !testenv.RaceDetector && (heap > 4<<10 || stack > 8.5*(1<<10)) {
			t.Errorf("%s: a run holds %.0f bytes of heap and %.0f of stack, at most 4 and 8 KiB", name, heap, stack)
		}
		end()
		ended()
	}
}

// BenchmarkParkedRun reports what each of 1,000 runs uses while it waits for a model.
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
	c := enginetest.Compose()
	nodes := make([]*flow.Node, 1000)
	for i := range nodes {
		nodes[i] = c.Then(c.Site("then", ""), c.Prompted(fmt.Sprint("a", i), generable.StrT, generable.StrT), c.Prompted(fmt.Sprint("b", i), generable.StrT, generable.StrT))
	}
	main := c.Par(c.Site("par", ""), flow.ParOptions{}, nodes...)
	c.Sound(t)
	if _, err := run.Exec(sched.NewCoopSched(2), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: enginetest.Echo, Model: "test/model", Limits: engine.Limits{ModelCalls: engine.AtMost(2000), Wall: time.Hour}}); err != nil {
		t.Error(err)
	}
	_, err := run.Exec(sched.NewCoopSched(3), &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: enginetest.Echo, Model: "test/model", Limits: engine.Limits{ModelCalls: engine.AtMost(1000)}})
	if !errors.Is(err, engine.ErrBudget) {
		t.Errorf("got %v", err)
	}
}
