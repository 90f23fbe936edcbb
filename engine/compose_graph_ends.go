package engine

import (
	"fmt"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// connected checks that every node is reached from the start, and that the end is.
func (s *Session) connected(n *Node, leads [][]int) bool {
	g, ok := n.spec.Graph, true
	reached := make([]bool, g.Nodes)
	exits := false // a node that is reached can end the graph
	var walk []int
	visit := func(k int) {
		if k < 0 {
			exits = true
		} else if !reached[k] {
			reached[k] = true
			walk = append(walk, k)
		}
	}
	visit(0)
	for len(walk) > 0 {
		k := walk[len(walk)-1]
		walk = walk[:len(walk)-1]
		for _, to := range leads[k] {
			visit(to)
		}
	}
	for k := range g.Nodes {
		switch {
		case n.kids[k].failed:
		case !reached[k]:
			ok = false
			d := s.Errorf(diag.Unreachable, g.At[k], "%s is never reached", n.kids[k].Label())
			NoteDefined(d, n.kids[k])
			if k == g.Other {
				d.Helpf("the edges take every value that comes: leave on_no_match out")
			} else {
				d.Helpf("the graph begins with %s: give an edge that leads here, or leave it out", n.kids[0].Label())
			}
		}
	}
	if ok && !exits && n.noMatch != NoMatchError { // one message for a cycle: at the start
		ok = false
		d := s.Errorf(diag.NoExit, n.site.Span, "this graph never ends")
		d.Label = "no way leads from " + n.kids[0].Label() + " to FINISH"
		d.Helpf("let some edge lead to FINISH: edge(node, FINISH, when = ...)")
	}
	return ok
}

// ending finds the type of what a graph gives.
func (s *Session) ending(n *Node, ends []*generable.Type, names []string) (*generable.Type, bool) {
	for _, t := range ends {
		if t.Deref().Kind == generable.ErrorType {
			return t, true
		}
	}
	switch {
	case n.declared != nil:
		ok := true
		for i, t := range ends {
			if generable.Assignable(t, n.declared) != nil {
				ok = false
				d := s.Errorf(diag.OutputsDiffer, n.site.Span, "graph declares output = %s", n.declared)
				d.Label = fmt.Sprintf("it ends with %s of %s", t, names[i])
				d.Helpf("widen it: output = %s", generable.OneOf(n.declared, t))
			}
		}
		return n.declared, ok
	case len(ends) == 0:
		return generable.AnyT, true
	}
	if t, ok := generable.Join(ends, s.unions); ok {
		return t, true
	}
	other := 0
	for i, t := range ends {
		if t.Deref().Kind == generable.AnyType {
			return generable.AnyT, true
		}
		if other == 0 && !generable.Same(ends[0], t) {
			other = i
		}
	}
	d := s.Errorf(diag.OutputsDiffer, n.site.Span, "this graph ends with different types")
	d.Label = fmt.Sprintf("%s gives %s, %s gives %s", names[0], ends[0], names[other], ends[other])
	d.Helpf("declare it: output = %s", generable.OneOf(ends...))
	return generable.ErrorT, false
}
