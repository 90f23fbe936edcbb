package engine_test

import (
	"context"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// No run of a random composition, with failures or without, makes more model calls than its bound.
func TestBoundsHold(t *testing.T) {
	total := int64(0)
	for seed := range uint64(600) {
		g := newGenerator(seed, seed%2 == 1)
		e := g.expr(4)
		if strings.Contains(e.text, "calls(") {
			continue // code that calls agents
		}
		c := compose()
		main := e.build(c)
		c.sound(t)
		bound := most(flow.Bounds(main, 100))
		for x := range int64(4) {
			var made atomic.Int64
			counting := engine.HandlerFunc(func(ctx context.Context, ef *engine.Effect, sink engine.Sink) engine.Outcome {
				if ef.Kind == engine.EffectModel {
					made.Add(1)
				}
				return arithmetic.Do(ctx, ef, sink)
			})
			_, _ = run.Exec(sched.NewCoopSched(seed), &run.Spec{Node: main, Input: generable.IntOf(x), Handler: counting, Model: "test/model"}) // a run may fail
			total += made.Load()
			if made.Load() > bound {
				t.Fatalf("seed %d, input %d: %d calls, bound %d: %s", seed, x, made.Load(), bound, e.text)
			}
		}
	}
	if total < 1000 {
		t.Errorf("only %d calls were made", total)
	}
}

func most(bounds []flow.Bound) (sum int64) {
	for _, b := range bounds {
		if b.Calls > math.MaxInt64-sum {
			return math.MaxInt64
		}
		sum += b.Calls
	}
	return sum
}

func TestBounds(t *testing.T) {
	c := compose()
	agent := func(name string) *flow.Node { return c.prompted(name, strT, strT) } // answers once, and once more for one that fits
	one := most(flow.Bounds(agent("probe"), 1))
	if one < 1 || one > 2 {
		t.Fatalf("an agent without tools makes %d calls", one)
	}
	never := engine.GoFunc("never", 1, func(engine.Branch, []generable.Value) (generable.Value, error) { return generable.Value{}, nil })
	for name, row := range map[string]struct {
		node  *flow.Node
		items int
		want  int64
		per   bool
	}{
		"a chain":  {c.Then(c.site("then", "t"), agent("a"), agent("b")), 1, 2 * one, false},
		"parallel": {c.Par(c.site("par", "p"), flow.ParOptions{}, agent("a"), agent("b"), agent("c")), 1, 3 * one, false},
		"each":     {c.Each(c.site("each", "e"), flow.EachOptions{}, agent("a")), 7, 7 * one, true},
		"a loop":   {c.Loop(c.site("loop", "l"), agent("a"), flow.LoopOptions{Next: never, Max: 5}), 1, 5 * one, false},
		"the dearest route": {c.Branch(c.site("branch", "b"), agent("ask"), []flow.Route{
			on("x", agent("cheap")), on("y", c.Then(c.site("then", "t2"), agent("dear1"), agent("dear2"))),
		}, flow.BranchOptions{Otherwise: agent("rest")}), 1, 5 * one, false},
		"retry": {c.Retry(c.site("retry", "r"), agent("a"), flow.RetryOptions{Max: 4}), 1, 4 * one, false},
		"bounded": {c.Each(c.site("each", "eb"), flow.EachOptions{}, c.Bounded(c.site("bounded", ""),
			c.Loop(c.site("loop", "lb"), agent("a"), flow.LoopOptions{Next: never, Max: 9}), engine.Limits{ModelCalls: atMost(4)})), 3, 12, true},
		"bounded in turns": {c.Bounded(c.site("bounded", ""), c.Loop(c.site("loop", "lt"), agent("a"), flow.LoopOptions{Next: never, Max: 9}), engine.Limits{Turns: atMost(5)}), 1, 5, false},
		"code":             {c.step("f", strT, strT, identity), 1, 0, false},
	} {
		bounds := flow.Bounds(row.node, row.items)
		if got := most(bounds); got != row.want {
			t.Errorf("%s: %d calls, want %d", name, got, row.want)
		}
		if len(bounds) > 0 && bounds[0].PerItem != row.per {
			t.Errorf("%s: per item is %v", name, bounds[0].PerItem)
		}
	}
	if flow.Bounds(nil, 1) != nil {
		t.Error("nothing has a bound")
	}
	deep := agent("deep")
	for range 30 {
		deep = c.Loop(c.site("loop", ""), deep, flow.LoopOptions{Next: never, Max: 1000})
	}
	if got := most(flow.Bounds(deep, 1)); got != math.MaxInt64 {
		t.Errorf("loops in loops: %d", got)
	}
}
