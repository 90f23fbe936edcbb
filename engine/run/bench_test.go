package run_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/internal/interp"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/testenv"
)

func chain(n int) *flow.Node {
	c := enginetest.Compose()
	nodes := make([]*flow.Node, n)
	for i := range nodes {
		nodes[i] = c.Step("noop", generable.IntT, generable.IntT, enginetest.Identity)
	}
	return c.Then(c.Site("then", "main"), nodes...)
}

func fanout(n int) *flow.Node {
	c := enginetest.Compose()
	nodes := make([]*flow.Node, n)
	for i := range nodes {
		nodes[i] = c.Step("noop", generable.IntT, generable.IntT, enginetest.Identity)
	}
	return c.Par(c.Site("par", "main"), flow.ParOptions{}, nodes...)
}

func looped(n int64) *flow.Node {
	c := enginetest.Compose()
	next := engine.GoFunc("next", 1, func(_ engine.Branch, a []generable.Value) (generable.Value, error) {
		if enginetest.Int(a[0]) >= n {
			return generable.Value{}, nil
		}
		return a[0], nil
	})
	return c.Loop(c.Site("loop", "main"), c.Step("inc", generable.IntT, generable.IntT, enginetest.Add(1)), flow.LoopOptions{Next: next, Max: int(n) + 1})
}

func execute(b *testing.B, main *flow.Node) {
	b.Helper()
	spec := &run.Spec{Node: main, Input: generable.IntOf(0)}
	if _, err := run.Exec(sched.NewGoSched(context.Background()), spec); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := run.Exec(sched.NewGoSched(context.Background()), spec); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkChain(b *testing.B) {
	for _, n := range []int{1, 10, 100} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { execute(b, chain(n)) })
	}
}

func BenchmarkFanout(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) { execute(b, fanout(n)) })
	}
}

func BenchmarkLoop1000(b *testing.B) { execute(b, looped(1000)) }

func BenchmarkCompose100(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		interp.Compile(chain(100))
	}
}

// BenchmarkEffect makes one scripted model call, with and without a journal in memory.
func BenchmarkEffect(b *testing.B) {
	c := enginetest.Compose()
	main := c.Prompted("a", generable.StrT, generable.StrT)
	answer := &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: "ok"}}}
	h := engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		return engine.Outcome{Response: answer, Attempt: 1}
	})
	for _, kept := range []bool{false, true} {
		b.Run(fmt.Sprintf("journal=%v", kept), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				spec := &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h}
				if kept {
					spec.Journal = &store.Memory{}
				}
				if _, err := run.Exec(sched.NewGoSched(context.Background()), spec); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Allocations per node are limited: for a node of a chain, a turn of a loop and a branch of a fan-out.
func TestAllocationsPerNode(t *testing.T) {
	perNode := func(small, large *flow.Node, nodes float64) float64 {
		count := func(main *flow.Node) float64 {
			spec := &run.Spec{Node: main, Input: generable.IntOf(0)}
			return testenv.LeastAllocs(20, func() {
				if _, err := run.Exec(sched.NewGoSched(context.Background()), spec); err != nil {
					t.Fatal(err)
				}
			})
		}
		return (count(large) - count(small)) / nodes
	}
	for _, g := range []struct {
		name         string
		small, large *flow.Node
		nodes, limit float64
	}{
		{"chain", chain(1), chain(101), 100, 3},
		{"loop", looped(1), looped(1001), 1000, 5}, // a body, a callback and a position
		{"fan-out", fanout(100), fanout(1100), 1000, 6},
	} {
		if got := perNode(g.small, g.large, g.nodes); got > g.limit {
			t.Errorf("%s: %.1f allocations per node, at most %.0f", g.name, got, g.limit)
		} else {
			t.Logf("%s: %.1f allocations per node", g.name, got)
		}
	}
}

// A token event needs no separate allocation: the data of several is allocated together.
func TestAllocationsPerToken(t *testing.T) {
	c := enginetest.Compose()
	main := c.Prompted("a", generable.StrT, generable.StrT)
	c.Sound(t)
	count := func(n int) float64 {
		h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
			for i := range n {
				sink(engine.Token{Attempt: 1, Seq: i, Text: "token"})
			}
			return enginetest.Echo(ctx, e, sink)
		})
		spec := &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h, Model: "m/m",
			Listener: engine.Listener{Kinds: engine.EventToken, Emit: func(engine.Event) {}}}
		return testenv.LeastAllocs(20, func() {
			if _, err := run.Exec(sched.NewGoSched(context.Background()), spec); err != nil {
				t.Fatal(err)
			}
		})
	}
	const tokens = 6400
	if per := (count(tokens+100) - count(100)) / tokens; per > 1.0/64 {
		t.Errorf("%.4f allocations per token, at most one for 64", per)
	}
}

// BenchmarkEffects makes a hundred model calls in sequence, each in a separate node with a prompt of 1 KB. It
// reports the cost per call: not recorded, recorded by a journal in memory, and answered from it.
func BenchmarkEffects(b *testing.B) {
	const calls = 100
	c := enginetest.Compose()
	agents := make([]*flow.Node, calls)
	for i := range agents {
		agents[i] = c.Agent(c.Site("agent", ""), &agent.Spec{Name: fmt.Sprint("a", i), In: generable.StrT, Out: generable.StrT, Prompt: strings.Repeat("Be brief. ", 100)})
	}
	main := c.Then(c.Site("then", "main"), agents...)
	answer := &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: "ok"}}}
	h := engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		return engine.Outcome{Response: answer, Attempt: 1}
	})
	recorded := &store.Memory{}
	for _, way := range []struct {
		name string
		j    func() engine.Journal
	}{
		{"forgotten", func() engine.Journal { return nil }},
		{"remembered", func() engine.Journal { return &store.Memory{} }},
		{"answered", func() engine.Journal { return recorded }},
	} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				spec := &run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h, Journal: way.j()}
				if _, err := run.Exec(sched.NewGoSched(context.Background()), spec); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*calls), "ns/effect")
		})
	}
}
