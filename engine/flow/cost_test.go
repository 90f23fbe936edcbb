package flow_test

import (
	"math"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/generable"
)

func TestBounds(t *testing.T) {
	c := enginetest.Compose()
	agent := func(name string) *flow.Node { return c.Prompted(name, generable.StrT, generable.StrT) } // one answer, and one repeated call for an answer that fits
	one := enginetest.TotalCalls(flow.Bounds(agent("probe"), 1))
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
		"a chain":  {c.Then(c.Site("then", "t"), agent("a"), agent("b")), 1, 2 * one, false},
		"parallel": {c.Par(c.Site("par", "p"), flow.ParOptions{}, agent("a"), agent("b"), agent("c")), 1, 3 * one, false},
		"each":     {c.Each(c.Site("each", "e"), flow.EachOptions{}, agent("a")), 7, 7 * one, true},
		"a loop":   {c.Loop(c.Site("loop", "l"), agent("a"), flow.LoopOptions{Next: never, Max: 5}), 1, 5 * one, false},
		"the dearest route": {c.Branch(c.Site("branch", "b"), agent("ask"), []flow.Route{
			enginetest.On("x", agent("cheap")), enginetest.On("y", c.Then(c.Site("then", "t2"), agent("dear1"), agent("dear2"))),
		}, flow.BranchOptions{Otherwise: agent("rest")}), 1, 5 * one, false},
		"retry": {c.Retry(c.Site("retry", "r"), agent("a"), flow.RetryOptions{Max: 4}), 1, 4 * one, false},
		"bounded": {c.Each(c.Site("each", "eb"), flow.EachOptions{}, c.Bounded(c.Site("bounded", ""),
			c.Loop(c.Site("loop", "lb"), agent("a"), flow.LoopOptions{Next: never, Max: 9}), engine.Limits{ModelCalls: engine.AtMost(4)})), 3, 12, true},
		"bounded in turns": {c.Bounded(c.Site("bounded", ""), c.Loop(c.Site("loop", "lt"), agent("a"), flow.LoopOptions{Next: never, Max: 9}), engine.Limits{Turns: engine.AtMost(5)}), 1, 5, false},
		"code":             {c.Step("f", generable.StrT, generable.StrT, enginetest.Identity), 1, 0, false},
	} {
		bounds := flow.Bounds(row.node, row.items)
		if got := enginetest.TotalCalls(bounds); got != row.want {
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
		deep = c.Loop(c.Site("loop", ""), deep, flow.LoopOptions{Next: never, Max: 1000})
	}
	if got := enginetest.TotalCalls(flow.Bounds(deep, 1)); got != math.MaxInt64 {
		t.Errorf("loops in loops: %d", got)
	}
}

// TestBoundsOfGraph: a node of a graph counts as often as the paths to it, its cycles and max_steps allow it to run.
func TestBoundsOfGraph(t *testing.T) {
	c := enginetest.Compose()
	agent := func(name string) *flow.Node { return c.Prompted(name, generable.StrT, generable.StrT) }
	one := enginetest.TotalCalls(flow.Bounds(agent("probe"), 1))
	write, judge, mend, mapped, last, lost := agent("write"), agent("judge"), agent("mend"), agent("mapped"), agent("last"), agent("other")
	when := func(text string) flow.Route {
		v := generable.StrOf(text)
		p, err := predicate.New(predicate.Eq, "", &v)
		if err != nil {
			t.Fatal(err)
		}
		return flow.Route{Pred: p}
	}
	g := c.Graph(c.Site("graph", "g"), write, []flow.Edge{
		{From: write, To: judge}, {From: judge, To: last, Guard: when("good")}, {From: judge, To: mend, Map: mapped, Guard: when("bad")},
		{From: mend, To: judge}, {From: last}, {From: lost, To: judge},
	}, flow.GraphOptions{MaxSteps: 10, OnNoMatch: flow.NoMatchNode, Otherwise: lost})
	if found := c.Diagnostics(); found.HasErrors() {
		t.Fatal(found)
	}
	want := map[string]int64{"write": 1, "judge": 5, "mend": 4, "mapped": 5, "last": 1, "other": 4}
	for _, b := range flow.Bounds(g, 1) {
		if b.Calls != want[b.Agent]*one {
			t.Errorf("%s: %d calls, want %d", b.Agent, b.Calls, want[b.Agent]*one)
		}
	}
}
