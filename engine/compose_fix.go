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
	d := s.Errorf(diag.CannotJoin, n.site.arg(0), "a fixer takes a ToolFailure or a str")
	d.Label = k.Label() + " takes " + k.in.String()
	noteDefined(d, k)
	d.Helpf("set input = ToolFailure on it, or put a step before it: then(fn(f, input = ToolFailure, output = %s), %s)", k.in, k.Label())
	return false
}

// fixers are the nodes that mend the calls of an agent's tools, each once.
func (a *AgentSpec) fixers() []*Node {
	var nodes []*Node
	seen := map[*Node]bool{}
	add := func(r *Recovery) {
		if r == nil {
			return
		}
		for _, list := range [][]Remedy{r.BadArgs, r.Failure} {
			for i := range list {
				if n := list[i].Fixer; n != nil && !seen[n] {
					seen[n] = true
					nodes = append(nodes, n)
				}
			}
		}
	}
	add(a.OnToolError)
	for _, t := range a.Tools {
		add(t.OnError)
	}
	for _, sk := range a.Skills {
		for _, t := range sk.Tools {
			add(t.OnError)
		}
	}
	return nodes
}

// checkRecovery checks that functions which decide about failures can be called.
func (s *Session) checkRecovery(at diag.Span, r *Recovery) bool {
	if r == nil {
		return true
	}
	ok := true
	for _, list := range [][]Remedy{r.BadArgs, r.Failure} {
		for i := range list {
			if j := list[i].Judge; j != nil {
				ok = s.arity(spanOr(list[i].Span, at), &judging{Judge: j, info: j.Info()}, 1, remedyWords[list[i].Do]) && ok
			}
		}
	}
	return ok
}

// mayBe reports whether a value of one type may be converted to another.
func mayBe(from, to *generable.Type) bool {
	if generable.Assignable(from, to) == nil {
		return true
	}
	switch from.Deref().Kind {
	case generable.AnyType, generable.DictType, generable.UnionType, generable.IntType:
		return true // it depends on the value
	}
	return false
}

// checkMended warns of what a tool's own remedies give in place of its result when that is not what the
// tool returns: it would help no call that failed. A fixer for bad arguments gives arguments.
func (s *Session) checkMended(at diag.Span, t *Tool, r *Recovery) {
	if r == nil || t.Returns == nil {
		return
	}
	for i := range r.Failure {
		m := &r.Failure[i]
		by, gives := "", ""
		switch {
		case m.Args || m.Do != RemedyFix && m.Do != RemedyFixed:
			continue
		case m.Do == RemedyFixed:
			if _, errs := t.Returns.Convert(m.Value); errs == nil {
				continue
			}
			by, gives = "the value", m.Value.TypeName()
		case m.Fixer == nil || m.Fixer.failed || mayBe(m.Fixer.out, t.Returns):
			continue
		default:
			by, gives = m.Fixer.Label(), m.Fixer.out.String()
		}
		d := s.Warnf(diag.CannotJoin, spanOr(m.Span, at), "of a failure %s gives the result of tool %q, and this one is of another type", remedyWords[m.Do], t.Name)
		d.Label = by + " gives " + gives + ", the tool returns " + t.Returns.String()
		d.Notef(spanOr(t.Span, at).Pos, "the tool is made")
		d.Helpf("if it gives arguments, have the call executed again with them: then = \"call\"; or let it mend bad arguments alone: recover(bad_args = ...)")
	}
}
