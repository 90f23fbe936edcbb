package flow

import (
	"cmp"
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/internal/callback"
	"github.com/agentscript/agentscript/engine/internal/node"
	"github.com/agentscript/agentscript/generable"
)

// Fn makes a pure step from a callback. Types that are not declared are any, and are checked where they meet a declared
// one.
func (s *Session) Fn(site Site, f engine.Func, in, out *generable.Type) *Node {
	if f == nil {
		d := s.Errorf(diag.MissingArgument, site.Span, "fn needs a function")
		d.Helpf("fn(lambda x: ..., input = T, output = U)")
		return s.Failed(FnNode, site)
	}
	n := &Node{kind: FnNode, name: site.Name, site: site, in: cmp.Or(in, generable.AnyT), out: cmp.Or(out, generable.AnyT), spec: node.Spec{Func: f}}
	n.failed = !callback.CheckArity(&s.Reporter, site.Arg(0), f, 1, cmp.Or(site.What, "fn"))
	return s.add(n)
}

// Pick makes a projection of one field. Its types follow the declared input, or else the node before it.
func (s *Session) Pick(site Site, field string, in *generable.Type) *Node {
	n := s.add(&Node{kind: PickNode, name: site.Name, site: site, field: field,
		in: generable.AnyT, out: generable.AnyT, open: true})
	if in != nil {
		s.inferOpen(n, in)
	}
	return n
}

// Approval makes a step that passes its input on after a person has approved it. Its type is the declared one, or else
// that of the node before it.
func (s *Session) Approval(site Site, question string, in *generable.Type) *Node {
	n := &Node{kind: ApprovalNode, name: site.Name, site: site, question: question, in: cmp.Or(in, generable.AnyT), out: cmp.Or(in, generable.AnyT)}
	n.spec.Func = engine.GoFunc("approval", 1, func(b engine.Branch, args []generable.Value) (generable.Value, error) {
		return b.Approved(question, args[0], n.in)
	})
	n.open = isOpen(n)
	return s.add(n)
}

// Template makes a step that renders a text from its input. Its placeholders are checked against the declared input, or
// else against the output of the node before it.
func (s *Session) Template(site Site, t *agent.TemplateText, in *generable.Type) *Node {
	n := &Node{kind: TemplateNode, name: site.Name, site: site, in: cmp.Or(in, generable.AnyT), out: generable.StrT, spec: node.Spec{Text: t}}
	if in != nil {
		n.failed = !t.Check(&s.Reporter, site.Span, in)
	}
	n.open = isOpen(n)
	return s.add(n)
}

// Bounded limits what a node uses, each time it runs. If the limits have a name, everything with that name shares them.
func (s *Session) Bounded(site Site, node *Node, l engine.Limits) *Node {
	return s.structure(&Node{kind: BoundedNode, site: site, bound: &l, types: (*Session).bounded}, []*Node{node}, nil)
}

func (s *Session) bounded(n *Node) bool {
	n.in, n.out = n.kids[0].in, n.kids[0].out
	return true
}

// Then composes nodes in sequence: X→Y, Y→Z becomes X→Z.
func (s *Session) Then(site Site, nodes ...*Node) *Node {
	if !s.some(PipelineNode, site, nodes) {
		return s.Failed(PipelineNode, site)
	}
	n := &Node{kind: PipelineNode, site: site, flat: site.ByOp, types: func(s *Session, n *Node) bool { return s.pipeline(n, 1) }}
	return s.structure(n, nodes, func(left *Node) bool {
		return s.pipeline(n, len(n.kids)-len(n.added(left))) // the edges inside were proven when it was made
	})
}

// pipeline checks the edges that lead to the kids starting at index from.
func (s *Session) pipeline(n *Node, from int) bool {
	ok := true
	n.endsWrong = false
	for i := from; i < len(n.kids); i++ {
		before := n.kids[i-1].beforeLast()
		if n.endsWrong {
			before = n.kids[i-2].last()
		}
		n.endsWrong = !s.join(n.site.at(i), n.kids[i-1], n.kids[i], before)
		ok = ok && !n.endsWrong
	}
	n.in, n.out = n.kids[0].in, n.kids[len(n.kids)-1].out
	return ok
}

// Speaking is a function that knows which nodes it can call.
type Speaking interface{ Speaks() []*Node }

// Called returns the nodes, each once, that the functions of nodes may call, directly or indirectly. It reports whether
// the list is complete: a host's own function does not declare the nodes it calls.
func Called(nodes ...*Node) (called []*Node, all bool) {
	all = true
	speak := func(f any) {
		s, ok := f.(Speaking)
		if !ok {
			all = false
			return
		}
		for _, n := range s.Speaks() {
			if !slices.Contains(called, n) {
				called = append(called, n)
			}
		}
	}
	var agents func(n *Node)
	agents = func(n *Node) {
		if n.agent != nil {
			n.agent.Helpers(speak)
		}
		for _, kid := range n.kids {
			agents(kid)
		}
	}
	look := func(n *Node) {
		n.Callbacks(func(f engine.Func) { speak(f) })
		agents(n)
	}
	for _, n := range nodes {
		look(n)
	}
	for i := 0; i < len(called); i++ {
		look(called[i])
	}
	return called, all
}
