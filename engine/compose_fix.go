package engine

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// Fix gives a node its one place as the fixer of calls that fail, so that it is checked, drawn and
// counted like any other. It takes a [ToolFailureType] or a str. The recipe that it stands in may be
// shared by any number of tools and agents; the node is what [Remedy].Fixer wants.
func (s *Session) Fix(site Site, fixer *Node) *Node {
	n := &Node{kind: FixNode, site: site}
	if placed := s.structure(n, []*Node{fixer}, func(*Node) bool { return s.fix(n) }); placed.failed {
		return placed
	}
	return n.kids[0]
}

func (s *Session) fix(n *Node) bool {
	k := n.kids[0]
	n.in, n.out = ToolFailureType, k.out
	if k.failed {
		return true
	}
	if !s.follow(k, ToolFailureType) {
		return false
	}
	for _, t := range []*generable.Type{ToolFailureType, generable.StrT} {
		if generable.Assignable(t, k.in) == nil {
			n.in = t
			return true
		}
	}
	d := s.Errorf(diag.CannotJoin, n.site.Arg(0), "a fixer takes a ToolFailure or a str")
	d.Label = k.Label() + " takes " + k.in.String()
	NoteDefined(d, k)
	d.Helpf("set input = ToolFailure on it, or put a step before it: then(fn(f, input = ToolFailure, output = %s), %s)", k.in, k.Label())
	return false
}
