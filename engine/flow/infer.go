package flow

import (
	"fmt"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
)

// The types of a pick, and of a template that declares no input, follow what comes before
// them. So do those of a structure that hands its input to such a step. They are open until
// they are placed behind a node whose output is known.

// isOpen reports whether the types of a structure still depend on what comes before it.
func isOpen(n *Node) bool {
	if n.failed {
		return false
	}
	switch n.kind {
	case PickNode, TemplateNode:
		return typing.Untyped(n.in)
	case PipelineNode, LoopNode, BranchNode, EachNode, GraphNode, HandoffNode, RetryNode, AttemptNode, VoteNode, VerifyNode, BoundedNode:
		return n.kids[0].open
	case ParallelNode, ForumNode, FallbackNode, RaceNode, WrapNode:
		for _, k := range n.branches() {
			if k.open {
				return true
			}
		}
	}
	return false
}

// follow settles the types of an open node by what comes before it. It reports false when a
// mistake was found by that; the node has then failed.
func (s *Session) follow(n *Node, in *generable.Type) bool {
	if n.failed {
		return false
	}
	if !n.open || typing.Untyped(in) {
		return true
	}
	if !s.settle(n, in) {
		n.failed = true
	}
	n.open = isOpen(n)
	standIn(n)
	return !n.failed
}

func (s *Session) settle(n *Node, in *generable.Type) bool {
	switch n.kind {
	case PickNode:
		out, ok := s.project(n, in)
		n.in, n.out = in, out
		return ok
	case TemplateNode:
		n.in = in
		return n.spec.Text.Check(&s.Reporter, n.site.Span, in)
	case PipelineNode:
		return s.follow(n.kids[0], in) && s.pipeline(n, 1)
	case ParallelNode:
		return s.followAll(n.branches(), in) && s.parallel(n)
	case ForumNode:
		return s.followAll(n.kids, in) && s.forum(n, 1)
	case LoopNode:
		return s.follow(n.kids[0], in) && s.loop(n)
	case BranchNode, HandoffNode:
		return s.follow(n.kids[0], in) && s.branch(n)
	case GraphNode:
		return s.follow(n.kids[0], in) && s.graph(n)
	case FallbackNode, RaceNode:
		return s.followAll(n.kids, in) && s.alternatives(n)
	case WrapNode:
		return s.followAll(n.kids, in) && s.wrap(n)
	case RetryNode:
		return s.follow(n.kids[0], in) && s.retry(n)
	case AttemptNode:
		return s.follow(n.kids[0], in) && s.attempt(n)
	case VoteNode:
		return s.follow(n.kids[0], in) && s.vote(n)
	case VerifyNode:
		return s.follow(n.kids[0], in) && s.verify(n)
	case BoundedNode:
		return s.follow(n.kids[0], in) && s.bounded(n)
	case EachNode:
		if in = in.Deref(); in.Kind == generable.ListType {
			return s.follow(n.kids[0], in.Elem) && s.each(n)
		}
	}
	return true
}

func (s *Session) followAll(kids []*Node, in *generable.Type) bool {
	ok := true
	for _, k := range kids {
		ok = s.follow(k, in) && ok
	}
	return ok
}

// project gives the type of what a pick takes from in.
func (s *Session) project(n *Node, in *generable.Type) (*generable.Type, bool) {
	typ, lacks := typing.FieldType(in, n.field)
	if lacks == nil {
		return typ, true
	}
	in = in.Deref()
	switch {
	case lacks != in:
		d := s.Errorf(diag.UnknownPick, n.site.Span, "not every %s has a field %q", in, n.field)
		d.Label = fmt.Sprintf("%s has none", lacks)
		d.Helpf("route the cases first: branch(node, {%s})", typing.Routes(in))
	case in.Kind == generable.RecordType:
		d := s.Errorf(diag.UnknownPick, n.site.Span, "%s has no field %q", in, n.field)
		typing.FieldHelp(d, n.field, in, "")
	default:
		d := s.Errorf(diag.UnknownPick, n.site.Span, "pick(%q) needs a schema or a dict in front of it", n.field)
		d.Label = fmt.Sprintf("%s has no fields", in)
		d.Helpf("leave it out, or let what comes before give a schema with the field %s", n.field)
	}
	return generable.ErrorT, false
}
