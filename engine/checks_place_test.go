package engine_test

import (
	"slices"
	"testing"

	"github.com/agentscript/agentscript/engine"
)

// A composition that fails claims nothing: what it was given is free for another place.
func TestAFailedCompositionClaimsNothing(t *testing.T) {
	w := newWorld(t)
	a, b, d := w.node(strT, intT), w.node(strT, strT), w.node(intT, strT)
	left := w.Then(w.op("`>>`"), a, d)
	w.Then(w.op("`>>`"), left, w.node(intT, intT)) // str into int, left is opened for it
	w.then(w.node(strT, intT), b)                  // int into str
	main := w.then(w.Then(w.op("`>>`"), left, w.node(strT, strT)), b)
	if got := w.codes(); !slices.Equal(got, []string{"AS301", "AS301"}) || main.Failed() {
		t.Errorf("said\n%s", said(w.Diagnostics()))
	}
	if n := len(main.Children()[0].Children()); n != 3 {
		t.Errorf("left was not opened again: %d children", n)
	}
}

// What an operator was told by options it keeps: it is not opened for the next one.
func TestOptionsAreNotFlattenedAway(t *testing.T) {
	c := compose()
	rounds := c.Forum(c.op("`*`"), engine.ForumOptions{Rounds: 3}, c.str(), c.str())
	limited := c.Par(c.op("`/`"), engine.ParOptions{Limit: 1}, c.str(), c.str())
	declared := c.Par(c.op("`/`"), engine.ParOptions{Output: strT}, c.str(), c.str())
	lists := func() *engine.Node { return c.step(c.fresh(), strT, list(strT), identity) }
	for what, n := range map[string]*engine.Node{
		"rounds":   c.Forum(c.op("`*`"), engine.ForumOptions{}, rounds, c.str()),
		"limit":    c.Par(c.op("`/`"), engine.ParOptions{}, limited, lists()),
		"declared": c.Par(c.op("`/`"), engine.ParOptions{}, declared, lists()),
	} {
		if len(n.Children()) != 2 {
			t.Errorf("%s: %d children", what, len(n.Children()))
		}
	}
	c.sound(t)
}

func TestNodesOfASealedSessionAreNotComposed(t *testing.T) {
	old := compose()
	n := old.str()
	old.Seal()
	c := compose()
	if got := c.Then(c.site("then", ""), n, c.str()); !got.Failed() || !slices.Equal(c.codes(), []string{"AS402"}) {
		t.Errorf("said\n%s", said(c.Diagnostics()))
	}
}

// Strict notes stand where only a run can tell, once each, and nowhere else.
func TestStrictNotes(t *testing.T) {
	w := newWorld(t)
	w.Strict = true
	loose := w.node(anyT, anyT)
	head := w.then(loose, w.node(strT, w.draft))                          // noted
	w.then(head, w.then(w.pick("lines"), w.node(intT, intT)), w.pick("")) // settled: no note, the last is an error
	w.branch(w.node(strT, anyT), on(strT, w.node(strT, intT)))            // proven by the route
	w.Branch(w.site("branch", ""), w.node(strT, anyT), []engine.Route{on(strT, w.node(strT, intT))}, engine.BranchOptions{Otherwise: w.node(intT, intT)})
	w.Seal()
	if got := w.codes(); !slices.Equal(got, []string{"AS311", "AS317", "AS317"}) {
		t.Errorf("said\n%s", said(w.Diagnostics()))
	}
}
