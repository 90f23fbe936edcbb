package interp

import (
	"cmp"

	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/conversation"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
)

// step is one operation of a plan. A plan is the compiled, immutable form of a node: a tree that one interpreter runs.
// All operators, functions and methods are lowered to it.
type step struct {
	node *flow.Node
	kids []*step
	// The position segment: its word, name and ordinal among siblings.
	word, name string
	n          int
	check      bool            // the input is not proven statically: check it against node.in
	gives      *generable.Type // the declared type that the output is not proven to have, or nil
	input      boundary        // where the input was joined to this step
	output     boundary        // where gives was declared
	agent      *conversation.Plan
	merge      *step   // of a parallel: turns the list into the output, or nil
	group      bool    // its kids are members of the structure around it, which receives the list of their outputs
	maps       []*step // of a graph, by edge: changes the value on the way, or nil
}

// Compiled returns the node's plan and compiles it when first needed. Compiling is pure, so a race between two runs
// only costs time.
func Compiled(n *flow.Node) *step {
	slot := &n.Spec().Plan
	if s, ok := slot.Load().(*step); ok {
		return s
	}
	slot.CompareAndSwap(nil, Compile(n))
	return slot.Load().(*step)
}

// Compile lowers a node without mistakes to a plan.
func Compile(n *flow.Node) *step {
	s := lower(n, n.In(), boundary{})
	s.inherit(nil)
	return s
}

func lower(n *flow.Node, from *generable.Type, at boundary) *step {
	s := &step{node: n, word: n.Kind().Segment(), name: n.Name()}
	kids := n.Children()
	switch n.Kind() {
	case flow.AgentNode:
		s.check, s.agent, s.input = !typing.Proven(from, n.In()), conversation.NewPlan(n.Agent()), at
	case flow.FnNode, flow.PickNode, flow.TemplateNode, flow.ApprovalNode:
		s.check, s.input = !typing.Proven(from, n.In()), at
	case flow.EachNode:
		s.check, s.input = !typing.Proven(from, n.In()), at
		s.kids = []*step{lower(kids[0], kids[0].In(), boundary{})}
	case flow.PipelineNode: // a structure leaves checking to the steps that its input reaches
		for i, k := range kids {
			s.kids = append(s.kids, lower(k, from, at))
			from = k.Out()
			if i+1 < len(kids) {
				at = boundary{kids[i+1].Spec().Joint.Or(n.Site().Arg(i + 1)), k}
			}
		}
	case flow.ParallelNode:
		merge := n.Merge()
		if merge != nil {
			kids = kids[:len(kids)-1]
			s.merge = lower(merge, generable.ListOfType(n.Spec().Item), boundary{n.Site().Arg(len(kids)), n})
		}
		s.lowerMembers(kids, from, at, n.Spec().Each, n)
	case flow.ForumNode:
		var gives *generable.Type
		if n.Consensus() > 0 {
			gives = n.Out()
		}
		s.lowerMembers(kids, from, at, gives, n)
	case flow.LoopNode:
		s.kids = []*step{lower(kids[0], from, at)}
		if len(kids) > 1 {
			s.kids = append(s.kids, lower(kids[1], kids[0].Out(), boundary{n.Site().Arg(1), kids[0]}))
			if generable.Unchecked(kids[1].Out(), n.In()) {
				unproven(s.kids[0], boundary{n.Site().Arg(1), kids[1]})
			}
		}
	case flow.BranchNode, flow.HandoffNode:
		source := kids[0]
		s.kids = []*step{lower(source, from, at)}
		routes, other := n.Routes()
		for i := range routes {
			r := &routes[i]
			at := boundary{r.HandlerSpan.Or(r.Span.Or(n.Site().Span)), source}
			s.kids = append(s.kids, giving(lower(r.Handler, cmp.Or(n.Spec().Sent[i], source.Out()), at), n.Out(), n))
		}
		if other != nil {
			at := boundary{n.Site().Arg(len(kids) - 1), source}
			s.kids = append(s.kids, giving(lower(other, cmp.Or(n.Spec().Rest, source.Out()), at), n.Out(), n))
		}
	case flow.GraphNode:
		s.lowerGraph(from, at)
		return s
	case flow.FallbackNode, flow.RaceNode:
		for _, k := range kids {
			s.kids = append(s.kids, giving(lower(k, from, at), n.Out(), n))
		}
	case flow.RetryNode, flow.AttemptNode, flow.BoundedNode, flow.VerifyNode:
		s.kids = []*step{lower(kids[0], from, at)}
	case flow.WrapNode:
		s.kids = []*step{giving(lower(kids[0], from, at), generable.StrT, n), lower(kids[1], from, at)}
	case flow.VoteNode:
		s.kids = []*step{lower(kids[0], from, at)}
		if len(kids) > 1 {
			s.kids = append(s.kids, giving(lower(kids[1], generable.ListOfType(n.Spec().Item), boundary{n.Site().Span, n}), n.Out(), n))
		}
	}
	if s.merge != nil {
		number(append(s.kids[:len(s.kids):len(s.kids)], s.merge))
		return s
	}
	number(s.kids)
	return s
}

// lowerMembers lowers the nodes that a parallel or forum runs. whole declares their output to be of type gives; nil if
// it is not declared. A structure that was opened by its name keeps its position around its members.
func (s *step) lowerMembers(kids []*flow.Node, from *generable.Type, at boundary, gives *generable.Type, whole *flow.Node) {
	for _, k := range kids {
		var member *step
		switch {
		case k == s.node.Leads():
			member = &step{node: k, word: k.Kind().Segment(), name: k.Name(), group: true}
			member.lowerMembers(k.Children(), from, at, gives, whole)
			number(member.kids)
		case gives == nil:
			member = lower(k, from, at)
		default:
			member = giving(lower(k, from, at), gives, whole)
		}
		s.kids = append(s.kids, member)
	}
}

// lowerGraph lowers the nodes of a graph. Several edges with different values may lead to a node, so a node checks its
// input if any of them is not proven.
func (s *step) lowerGraph(from *generable.Type, at boundary) {
	n := s.node
	g, spec, kids := n.Spec().Graph, n.Spec(), n.Children()
	edges, _ := n.Edges()
	s.kids = append(s.kids, lower(kids[0], from, at))
	for k, kid := range kids[1:g.Nodes] {
		s.kids = append(s.kids, lower(kid, kid.In(), boundary{g.At[k+1], n}))
	}
	s.maps = make([]*step, len(edges))
	var maps []*step
	for i := range edges {
		e := &edges[i]
		given, giver := spec.Sent[i], e.From
		if given == nil { // a mistake: it is never followed
			continue
		}
		if e.Map != nil {
			s.maps[i] = lower(e.Map, given, boundary{e.Span, giver})
			maps = append(maps, s.maps[i])
			given, giver = e.Map.Out(), e.Map
		}
		if e.To != nil && !typing.Proven(given, e.To.In()) {
			unproven(s.kids[g.To[i]], boundary{e.Span, giver})
		}
		if e.To == nil && !typing.Proven(given, n.Out()) {
			s.gives, s.output = n.Out(), boundary{n.Site().Span, n}
		}
	}
	number(append(s.kids[:len(s.kids):len(s.kids)], maps...)) // they share one position
	if spec.Rest != nil && !typing.Proven(spec.Rest, kids[g.Other].In()) {
		unproven(s.kids[g.Other], boundary{n.Site().Span, n})
	}
}

// giving makes a step check its output if that is not proven to have the declared type.
func giving(s *step, declared *generable.Type, by *flow.Node) *step {
	if !typing.Proven(s.node.Out(), declared) {
		s.gives, s.output = declared, boundary{by.Site().Span, by}
	}
	return s
}

// unproven makes the entry of a step check its input, for values that arrive through another boundary.
func unproven(s *step, at boundary) {
	switch s.node.Kind() {
	case flow.AgentNode, flow.FnNode, flow.PickNode, flow.TemplateNode, flow.ApprovalNode, flow.EachNode:
		if !s.check && s.node.In().Kind != generable.AnyType {
			s.check, s.input = true, at
		}
	case flow.ParallelNode, flow.ForumNode, flow.FallbackNode, flow.RaceNode, flow.WrapNode:
		for _, k := range s.kids {
			unproven(k, at)
		}
	default:
		unproven(s.kids[0], at)
	}
}

// number sets the ordinals of siblings with the same word and name.
func number(kids []*step) {
	if len(kids) < 2 {
		return
	}
	seen := make(map[exec.CallKey]int, len(kids))
	for _, k := range kids {
		key := exec.CallKey{Word: k.word, Name: k.name}
		k.n = seen[key]
		seen[key]++
	}
}

// inherit sets the histories of a plan's agents.
func (s *step) inherit(h *agent.History) {
	if s.node.History() != nil {
		h = s.node.History()
	}
	if s.agent != nil {
		own := s.agent.Spec.History
		if own == nil {
			own = h
		}
		for _, sk := range s.agent.Skills {
			sk.History = own
		}
	}
	for _, list := range [][]*step{s.kids, s.maps} {
		for _, k := range list {
			if k != nil {
				k.inherit(h)
			}
		}
	}
	if s.merge != nil {
		s.merge.inherit(h)
	}
}
