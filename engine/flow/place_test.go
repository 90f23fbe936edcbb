package flow_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/generable"
)

// A composition that fails claims nothing: its operands are free for another place.
func TestAFailedCompositionClaimsNothing(t *testing.T) {
	w := newWorld(t)
	a, b, d := w.node(strT, intT), w.node(strT, strT), w.node(intT, strT)
	left := w.Then(w.Op("`>>`"), a, d)
	w.Then(w.Op("`>>`"), left, w.node(intT, intT)) // str into int, left is opened for it
	w.then(w.node(strT, intT), b)                  // int into str
	main := w.then(w.Then(w.Op("`>>`"), left, w.node(strT, strT)), b)
	if got := w.Codes(); !slices.Equal(got, []string{"AS301", "AS301"}) || main.Failed() {
		t.Errorf("said\n%s", enginetest.Said(w.Diagnostics()))
	}
	if n := len(main.Children()[0].Children()); n != 3 {
		t.Errorf("left was not opened again: %d children", n)
	}
}

// An operator does not take back a node that became free and was then placed elsewhere.
func TestAReopenedChainTakesNothingBack(t *testing.T) {
	w := newWorld(t)
	a, b := w.node(strT, strT), w.node(strT, strT)
	left := w.Then(w.Op("`>>`"), a, b)
	w.Then(w.Op("`>>`"), left, w.node(intT, intT)) // str into int: a and b are free
	w.then(a, w.node(strT, strT))
	if again := w.Then(w.Op("`>>`"), left, w.node(strT, strT)); !again.Failed() {
		t.Error("a is in two places")
	}
	if got := w.Codes(); !slices.Equal(got, []string{"AS301", "AS401"}) {
		t.Errorf("said\n%s", enginetest.Said(w.Diagnostics()))
	}
}

// If two operators extend one chain, the first of them places it.
func TestAChainIsOpenedOnce(t *testing.T) {
	w := newWorld(t)
	left := w.Then(w.Op("`>>`"), w.node(strT, strT), w.node(strT, strT))
	first := w.Then(w.Op("`>>`"), left, w.node(strT, strT))
	second := w.Then(w.Op("`>>`"), left, w.node(strT, strT))
	if len(first.Children()) != 3 || first.Failed() || !second.Failed() || !slices.Equal(w.Codes(), []string{"AS401"}) {
		t.Errorf("said\n%s", enginetest.Said(w.Diagnostics()))
	}
	twice := w.node(strT, strT)
	chain := w.Then(w.Op("`>>`"), w.node(strT, strT), twice)
	if chain = w.Then(w.Op("`>>`"), chain, twice); !chain.Failed() || len(w.Codes()) != 2 {
		t.Errorf("said\n%s", enginetest.Said(w.Diagnostics()))
	}
}

// The cost of a chain of operators is linear in its length.
func TestLongChainsOfOperators(t *testing.T) {
	chain := func(n int) uint64 {
		w := newWorld(t)
		nodes := make([]*flow.Node, n)
		for i := range nodes {
			nodes[i] = w.node(strT, strT)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		all := nodes[0]
		for _, k := range nodes[1:] {
			site := w.Op("`>>`")
			site.Args = []diag.Span{site.Span, site.Span}
			all = w.Then(site, all, k)
		}
		runtime.ReadMemStats(&after)
		if len(all.Children()) != n || all.Failed() {
			t.Fatalf("%d children", len(all.Children()))
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	const n, times = 500, 8
	if short, long := chain(n), chain(times*n); long > 2*times*short {
		t.Errorf("%d operators allocate %d bytes, %d operators %d bytes: that is not linear", n, short, times*n, long)
	}
}

// A structure keeps the options of its operator: it is not opened for the next one.
func TestOptionsAreNotFlattenedAway(t *testing.T) {
	c := enginetest.Compose()
	rounds := c.Forum(c.Op("`*`"), flow.ForumOptions{Rounds: 3}, c.Text(), c.Text())
	limited := c.Par(c.Op("`/`"), flow.ParOptions{Limit: 1}, c.Text(), c.Text())
	declared := c.Par(c.Op("`/`"), flow.ParOptions{Output: strT}, c.Text(), c.Text())
	lists := func() *flow.Node { return c.Step(c.Fresh(), strT, list(strT), enginetest.Identity) }
	for what, n := range map[string]*flow.Node{
		"rounds":   c.Forum(c.Op("`*`"), flow.ForumOptions{}, rounds, c.Text()),
		"limit":    c.Par(c.Op("`/`"), flow.ParOptions{}, limited, lists()),
		"declared": c.Par(c.Op("`/`"), flow.ParOptions{}, declared, lists()),
	} {
		if len(n.Children()) != 2 {
			t.Errorf("%s: %d children", what, len(n.Children()))
		}
	}
	c.Sound(t)
}

func TestNodesOfASealedSessionAreNotComposed(t *testing.T) {
	old := enginetest.Compose()
	n := old.Text()
	old.Seal()
	c := enginetest.Compose()
	if got := c.Then(c.Site("then", ""), n, c.Text()); !got.Failed() || !slices.Equal(c.Codes(), []string{"AS402"}) {
		t.Errorf("said\n%s", enginetest.Said(c.Diagnostics()))
	}
}

// Strict notes appear where only a run can decide, once each, and nowhere else.
func TestStrictNotes(t *testing.T) {
	w := newWorld(t)
	w.Strict = true
	loose := w.node(anyT, anyT)
	head := w.then(loose, w.node(strT, w.draft))                          // noted
	w.then(head, w.then(w.pick("lines"), w.node(intT, intT)), w.pick("")) // settled: no note, the last is an error
	w.branch(w.node(strT, anyT), enginetest.On(strT, w.node(strT, intT))) // proven by the route
	w.Branch(w.Site("branch", ""), w.node(strT, anyT), []flow.Route{enginetest.On(strT, w.node(strT, intT))}, flow.BranchOptions{Otherwise: w.node(intT, intT)})
	w.Seal()
	if got := w.Codes(); !slices.Equal(got, []string{"AS311", "AS317", "AS317"}) {
		t.Errorf("said\n%s", enginetest.Said(w.Diagnostics()))
	}
}

// pointedAt returns a site whose operands are written on separate lines.
func pointedAt(site flow.Site, lines ...int) flow.Site {
	for _, line := range lines {
		site.Args = append(site.Args, diag.Span{Pos: diag.Pos{File: "flow.star", Line: line, Col: 1}})
	}
	return site
}

// A mistake in an operand is reported where the operand is written, even if a chain of operators was opened before it.
func TestMistakesPointAtTheirOperand(t *testing.T) {
	w := newWorld(t)
	left := w.Par(pointedAt(w.Op("`/`"), 1, 2), flow.ParOptions{}, w.node(strT, intT), w.node(strT, intT))
	w.Par(pointedAt(w.Op("`/`"), 1, 3), flow.ParOptions{}, left, w.node(boolT, intT))
	student := w.Wrap(pointedAt(w.Site("wrap", ""), 4, 5), w.node(strT, strT), w.node(strT, strT))
	var lines []int
	for _, d := range w.Diagnostics() {
		lines = append(lines, d.Span.Pos.Line)
	}
	if !slices.Equal(lines, []int{3, 5}) {
		t.Errorf("pointed at the lines %v:\n%s", lines, enginetest.Said(w.Diagnostics()))
	}
	if student.In() != generable.ErrorT || student.Out() != generable.ErrorT {
		t.Errorf("the wrap that failed is %s → %s: it is to fit everywhere", student.In(), student.Out())
	}
}

// Conditions on the fields of a schema divide all its values.
func TestConditionsPartASchema(t *testing.T) {
	w := newWorld(t)
	on := func(op predicate.Op, h *flow.Node) flow.Route {
		p, err := predicate.New(op, "lines", new(generable.IntOf(5)))
		if err != nil {
			t.Fatal(err)
		}
		return flow.Route{Pred: p, Handler: h}
	}
	n := w.branch(w.node(strT, w.draft), on(predicate.Ge, w.node(w.draft, intT)), on(predicate.Lt, w.node(w.draft, intT)))
	if n.Failed() || n.Out() != intT {
		t.Errorf("said\n%s", enginetest.Said(w.Diagnostics()))
	}
}

// The first step of a student takes the teacher's input type.
func TestAWrapSettlesItsStudent(t *testing.T) {
	w := newWorld(t)
	student := w.then(w.pick("lime"), w.Prompted("writer", strT, strT))
	w.Wrap(w.Site("wrap", ""), w.node(w.draft, strT), student)
	if got := w.Codes(); !slices.Equal(got, []string{string(diag.UnknownPick)}) {
		t.Errorf("said\n%s", enginetest.Said(w.Diagnostics()))
	}
}
