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

// plan is the compiled, immutable form of a node: a tree of few operations that one
// interpreter runs. All operators, functions and methods lower to it.
type plan struct {
	Root *step
}

// opcode is an operation of a plan.
type opcode uint8

const (
	opCall    opcode = iota // run an agent, callback, pick or template
	opSeq                   // one after the other, each on the output of the one before
	opPar                   // all at once on the same input; the outputs as a list
	opEach                  // one step on every item of a list, at once
	opForum                 // all but the last speak on the same input, in rounds, then the last
	opSwitch                // the first route that takes the value
	opLoop                  // again, until there is no next input
	opJump                  // along edges, from step to step
	opFirst                 // the first success, in order or at once
	opRetry                 // again on the same input, until it gives what will do
	opAttempt               // what a step comes to, as a value
	opVote                  // a list of outputs, and one of them
	opWrap                  // one step, and one that is instructed by what it gave
	opVerify                // a verdict, and what it is about
	opBounded               // a step within a budget
)

// step is one operation.
type step struct {
	op   opcode
	node *flow.Node
	kids []*step
	// The position segment: its word, name and ordinal among siblings.
	word, name string
	n          int
	check      bool            // the input is not proven statically: check it against node.in
	gives      *generable.Type // the output is not proven to be of the type that was declared for it
	input      boundary        // where the input was joined to this step
	output     boundary        // where gives was declared
	agent      *conversation.Plan
	merge      *step   // of opPar: what is made of the list, or nil
	maps       []*step // of opJump, by edge: what changes the value on the way, or nil
}

// Compiled returns the node's plan, compiled when first needed. Compiling is pure, so that a
// race of two runs costs time and nothing else.
func Compiled(n *flow.Node) *plan {
	slot := &n.Spec().Plan
	if p, ok := slot.Load().(*plan); ok {
		return p
	}
	slot.CompareAndSwap(nil, Compile(n))
	return slot.Load().(*plan)
}

// Compile lowers a sound node to a plan.
func Compile(n *flow.Node) *plan {
	p := &plan{Root: lower(n, n.In(), boundary{})}
	p.Root.inherit(nil)
	return p
}

// lower compiles n for inputs that are proven to be of type from and come to it at a joint.
func lower(n *flow.Node, from *generable.Type, at boundary) *step {
	s := &step{node: n, word: n.Kind().Segment(), name: n.Name()}
	kids := n.Children()
	switch n.Kind() {
	case flow.AgentNode:
		s.op, s.check, s.agent, s.input = opCall, !typing.Proven(from, n.In()), conversation.NewPlan(n.Agent()), at
	case flow.FnNode, flow.PickNode, flow.TemplateNode:
		s.op, s.check, s.input = opCall, !typing.Proven(from, n.In()), at
	case flow.EachNode:
		s.op, s.check, s.input = opEach, !typing.Proven(from, n.In()), at
		s.kids = []*step{lower(kids[0], kids[0].In(), boundary{})}
	case flow.PipelineNode: // a structure leaves checking to the steps that its input reaches
		s.op = opSeq
		for i, k := range kids {
			s.kids = append(s.kids, lower(k, from, at))
			from = k.Out()
			if i+1 < len(kids) {
				at = boundary{kids[i+1].Spec().Joint.Or(n.Site().Arg(i + 1)), k}
			}
		}
	case flow.ParallelNode:
		s.op = opPar
		merge := n.Merge()
		if merge != nil {
			kids = kids[:len(kids)-1]
			s.merge = lower(merge, generable.ListOfType(n.Spec().Item), boundary{n.Site().Arg(len(kids)), n})
		}
		for _, k := range kids {
			s.kids = append(s.kids, giving(lower(k, from, at), n.Spec().Each, n))
		}
	case flow.ForumNode:
		s.op = opForum
		for _, k := range kids {
			k := lower(k, from, at)
			if n.Consensus() > 0 {
				k = giving(k, n.Out(), n)
			}
			s.kids = append(s.kids, k)
		}
	case flow.LoopNode:
		s.op = opLoop
		s.kids = []*step{lower(kids[0], from, at)}
		if len(kids) > 1 {
			s.kids = append(s.kids, lower(kids[1], kids[0].Out(), boundary{n.Site().Arg(1), kids[0]}))
			if generable.Unchecked(kids[1].Out(), n.In()) {
				unproven(s.kids[0], boundary{n.Site().Arg(1), kids[1]})
			}
		}
	case flow.BranchNode, flow.HandoffNode:
		s.op = opSwitch
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
		s.op = opFirst
		for _, k := range kids {
			s.kids = append(s.kids, giving(lower(k, from, at), n.Out(), n))
		}
	case flow.RetryNode:
		s.op, s.kids = opRetry, []*step{lower(kids[0], from, at)}
	case flow.AttemptNode:
		s.op, s.kids = opAttempt, []*step{lower(kids[0], from, at)}
	case flow.BoundedNode:
		s.op, s.kids = opBounded, []*step{lower(kids[0], from, at)}
	case flow.VerifyNode:
		s.op, s.kids = opVerify, []*step{lower(kids[0], from, at)}
	case flow.WrapNode:
		s.op = opWrap
		s.kids = []*step{giving(lower(kids[0], from, at), generable.StrT, n), lower(kids[1], from, at)}
	case flow.VoteNode:
		s.op = opVote
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

// lowerGraph lowers the nodes of a graph. Several edges may lead to a node, and what each
// brings differs, so that a node checks its input where any of them is not proven.
func (s *step) lowerGraph(from *generable.Type, at boundary) {
	n := s.node
	g, spec, kids := n.Spec().Graph, n.Spec(), n.Children()
	edges, _ := n.Edges()
	s.op = opJump
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
	number(append(s.kids[:len(s.kids):len(s.kids)], maps...)) // they stand at one position
	if spec.Rest != nil && !typing.Proven(spec.Rest, kids[g.Other].In()) {
		unproven(s.kids[g.Other], boundary{n.Site().Span, n})
	}
}

// giving has a step check its output where that is not proven to be of the declared type.
func giving(s *step, declared *generable.Type, by *flow.Node) *step {
	if !typing.Proven(s.node.Out(), declared) {
		s.gives, s.output = declared, boundary{by.Site().Span, by}
	}
	return s
}

// unproven makes the entry of a step check its input, for what comes to it at a further joint.
func unproven(s *step, at boundary) {
	switch s.op {
	case opCall, opEach:
		if !s.check && s.node.In().Kind != generable.AnyType {
			s.check, s.input = true, at
		}
	case opPar, opForum, opFirst, opWrap:
		for _, k := range s.kids {
			unproven(k, at)
		}
	case opSeq, opLoop, opSwitch, opJump, opRetry, opAttempt, opVote, opVerify, opBounded:
		unproven(s.kids[0], at)
	}
}

// number gives siblings of one word and name their ordinals.
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

// inherit settles the histories of a plan's agents.
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
