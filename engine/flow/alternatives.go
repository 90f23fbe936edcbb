package flow

import (
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// FirstOptions are the options of a fallback and a race.
type FirstOptions struct {
	Output *generable.Type // the declared output, nil to infer it
}

// Fallback runs nodes on one input, one after the other, until one succeeds: X→Y each gives
// X→Y.
func (s *Session) Fallback(site Site, o FirstOptions, nodes ...*Node) *Node {
	return s.first(FallbackNode, site, o, nodes)
}

// Race runs nodes on one input at once. The first success wins, and the others are cancelled:
// X→Y each gives X→Y.
func (s *Session) Race(site Site, o FirstOptions, nodes ...*Node) *Node {
	return s.first(RaceNode, site, o, nodes)
}

func (s *Session) first(kind NodeKind, site Site, o FirstOptions, nodes []*Node) *Node {
	if !s.some(kind, site, nodes) {
		return s.failedNode(kind, site)
	}
	n := &Node{kind: kind, site: site, declared: o.Output}
	return s.structure(n, nodes, func(*Node) bool { return s.alternatives(n) })
}

// alternatives finds the types of nodes of which one gives the output.
func (s *Session) alternatives(n *Node) bool {
	in, strange := s.commonInput(n.site, n.kids)
	ok := len(strange) == 0 && s.followAll(sound(n.kids), in)
	out, ok2 := s.commonOutput(n.site, n.declared, n.kids, nil, strange)
	n.in, n.out = in, out
	return ok && ok2
}

// Bounded bounds what a node uses, each time that it runs or, where the limits have a name,
// together with all else that has it.
func (s *Session) Bounded(site Site, node *Node, l engine.Limits) *Node {
	n := &Node{kind: BoundedNode, site: site, bound: &l}
	return s.structure(n, []*Node{node}, func(*Node) bool { return s.bounded(n) })
}

func (s *Session) bounded(n *Node) bool {
	n.in, n.out = n.kids[0].in, n.kids[0].out
	return true
}

// Bound gives the limits of a bounded node, nil of any other.
func (n *Node) Bound() *engine.Limits { return n.bound }
