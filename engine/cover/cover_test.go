package cover_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/cover"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/testenv"
)

// wide returns n agents in parallel, followed by a branch.
func wide(t *testing.T, n int) *flow.Node {
	c := enginetest.Compose()
	agents := make([]*flow.Node, n)
	for i := range agents {
		agents[i] = c.CodeAgent("a", generable.StrT, generable.StrT, enginetest.Identity)
	}
	list := generable.ListOfType(generable.StrT)
	none := c.Step("none", list, generable.BoolT, func(v generable.Value) generable.Value { return generable.BoolOf(false) })
	yes := func() *flow.Node {
		return c.Step("yes", generable.BoolT, generable.StrT, func(generable.Value) generable.Value { return generable.StrOf("") })
	}
	main := c.Branch(c.Site("branch", ""), c.Then(c.Site("then", ""), c.Par(c.Site("par", ""), flow.ParOptions{}, agents...), none),
		[]flow.Route{enginetest.On(true, yes()), enginetest.On(false, yes())}, flow.BranchOptions{})
	c.Sound(t)
	return main
}

// Ten thousand agents are counted one by one, and counting an event allocates nothing.
func TestWideGraph(t *testing.T) {
	const n = 10_000
	main := wide(t, n)
	g := cover.New(main)
	var events []engine.Event
	_, err := run.Exec(sched.NewCoopSched(1), &run.Spec{Node: main, Input: generable.StrOf("x"), Listener: engine.Listener{Kinds: cover.Events, Emit: func(e engine.Event) {
		events = append(events, e)
		g.Event(e)
	}}})
	if err != nil {
		t.Fatal(err)
	}
	items := g.Items()
	want := []cover.Total{{Family: cover.Edge, Covered: 1, All: 2}, {Family: cover.Variant, Covered: 1, All: 2}, {Family: cover.Tool}, {Family: cover.Agent, Covered: n, All: n}}
	if got := cover.Totals(items); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := want[0].Percent() + want[2].Percent(); got != 150 {
		t.Errorf("half and nothing are %v", got)
	}
	for _, it := range items {
		if it.Family == cover.Agent && it.Count != 1 {
			t.Fatalf("%s: %d", it, it.Count)
		}
	}
	next := 0
	if allocs := testenv.LeastAllocs(len(events), func() {
		g.Event(events[next%len(events)])
		next++
	}); allocs > 0 {
		t.Errorf("%v allocations an event", allocs)
	}
}

// Lists of the same script add up in any order, also after a round trip through JSON, and items that only one list has
// remain.
func TestMerge(t *testing.T) {
	one, other := cover.New(wide(t, 2)).Items(), cover.New(wide(t, 3)).Items()
	one[0].Count, other[0].Count = 2, 3
	data, err := json.Marshal(one)
	if err != nil {
		t.Fatal(err)
	}
	var read []cover.Item
	if err := json.Unmarshal(data, &read); err != nil || !slices.Equal(read, one) {
		t.Fatalf("%v, want %v: %v", read, one, err)
	}
	got := cover.Merge(read, other)
	if back := cover.Merge(other, one); !slices.Equal(got, back) {
		t.Errorf("%v, the other way round %v", got, back)
	}
	if got[0].Count != 5 || len(got) <= len(other) {
		t.Errorf("%v", got)
	}
}

// A failed node, and events of nodes that are not part of the graph, are ignored.
func TestStrangers(t *testing.T) {
	main := wide(t, 2)
	g := cover.New(nil, wide(t, 2))
	if _, err := run.Exec(sched.NewCoopSched(1), &run.Spec{Node: main, Input: generable.StrOf("x"), Listener: engine.Listener{Kinds: engine.EventAll, Emit: g.Event}}); err != nil {
		t.Fatal(err)
	}
	for _, it := range g.Items() {
		if it.Count != 0 {
			t.Errorf("%s: %d", it, it.Count)
		}
	}
}
