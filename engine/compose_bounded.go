package engine

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// Bounded bounds what a node uses, each time that it runs or, where the limits have a name,
// together with all else that has it.
func (s *Session) Bounded(site Site, node *Node, l Limits) *Node {
	n := &Node{kind: BoundedNode, site: site, bound: &l}
	return s.structure(n, []*Node{node}, func(*Node) bool { return s.bounded(n) })
}

func (s *Session) bounded(n *Node) bool {
	n.in, n.out = n.kids[0].in, n.kids[0].out
	return true
}

// Bound gives the limits of a bounded node, nil of any other.
func (n *Node) Bound() *Limits { return n.bound }

// confined runs a node within a budget.
func (b *branch) confined(s *step, v generable.Value) (out generable.Value, err error) {
	l := s.node.Bound()
	if l.Name == "" || !b.budget.within(l.Name) {
		outer := b.budget
		b.budget = newBudget(outer, b.at, "the budget of "+s.node.Label(), l, true)
		defer func() { b.budget = outer }()
	}
	deepest := b.deepest
	if own, set := l.Depth.Value(); set {
		if most := nestBound(b.agents, own); deepest == 0 || most < deepest {
			b.deepest = most
		}
		defer func() { b.deepest = deepest }()
	}
	if l.Wall <= 0 {
		return b.exec(s.kids[0], v)
	}
	late := Errorf(KindBudget, diag.BudgetExceeded, "%s used up its time of %s", s.node.Label(), l.Wall).WithHelp("raise it with budget(wall = ...)")
	err = b.within(l.Wall, late, func() error {
		out, err = b.exec(s.kids[0], v)
		return err
	})
	return out, err
}
