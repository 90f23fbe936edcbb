package engine

import (
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
)

// plan is the compiled, immutable form of a node: a tree of few operations that one
// interpreter runs. All operators, functions and methods lower to it.
type plan struct {
	root *step
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
	node *Node
	kids []*step
	// The position segment: its word, name and ordinal among siblings.
	word, name string
	n          int
	check      bool            // the input is not proven statically: check it against node.in
	gives      *generable.Type // the output is not proven to be of the type that was declared for it
	input      joint           // where the input was joined to this step
	output     joint           // where gives was declared
	agent      *agentPlan
	merge      *step   // of opPar: what is made of the list, or nil
	maps       []*step // of opJump, by edge: what changes the value on the way, or nil
}

// compiled returns the node's plan, compiled when first needed. Compiling is pure, so that a
// race of two runs costs time and nothing else.
func (n *Node) compiled() *plan {
	if p, ok := n.Cached().(*plan); ok {
		return p
	}
	return n.Cache(compile(n)).(*plan)
}

// compile lowers a sound node to a plan.
func compile(n *Node) *plan {
	p := &plan{root: lower(n, n.in, joint{})}
	p.root.inherit(nil)
	return p
}

// lower compiles n for inputs that are proven to be of type from and come to it at a joint.
func lower(n *Node, from *generable.Type, at joint) *step {
	s := &step{node: n, word: nodeSegments[n.kind], name: n.name}
	switch n.kind {
	case AgentNode:
		s.op, s.check, s.agent, s.input = opCall, !typing.Proven(from, n.in), planAgent(n.agent), at
	case FnNode, PickNode, TemplateNode:
		s.op, s.check, s.input = opCall, !typing.Proven(from, n.in), at
	case EachNode:
		s.op, s.check, s.input = opEach, !typing.Proven(from, n.in), at
		s.kids = []*step{lower(n.kids[0], n.kids[0].in, joint{})}
	case PipelineNode: // a structure leaves checking to the steps that its input reaches
		s.op = opSeq
		for i, k := range n.kids {
			s.kids = append(s.kids, lower(k, from, at))
			from = k.out
			if i+1 < len(n.kids) {
				at = joint{n.kids[i+1].joined(n, i+1), k}
			}
		}
	case ParallelNode:
		s.op = opPar
		for _, k := range n.branches() {
			s.kids = append(s.kids, giving(lower(k, from, at), n.each, n))
		}
		if m := n.Merge(); m != nil {
			s.merge = lower(m, generable.ListOfType(n.item), joint{n.site.arg(len(n.kids) - 1), n})
		}
	case ForumNode:
		s.op = opForum
		for _, k := range n.kids {
			k := lower(k, from, at)
			if n.quorum > 0 {
				k = giving(k, n.out, n)
			}
			s.kids = append(s.kids, k)
		}
	case LoopNode:
		s.op = opLoop
		s.kids = []*step{lower(n.kids[0], from, at)}
		if len(n.kids) > 1 {
			s.kids = append(s.kids, lower(n.kids[1], n.kids[0].out, joint{n.site.arg(1), n.kids[0]}))
			if generable.Unchecked(n.kids[1].out, n.in) {
				unproven(s.kids[0], joint{n.site.arg(1), n.kids[1]})
			}
		}
	case BranchNode, HandoffNode:
		s.op = opSwitch
		source := n.kids[0]
		s.kids = []*step{lower(source, from, at)}
		w := ways(source.out, n.routes)
		for i := range n.routes {
			r := &n.routes[i]
			at := joint{spanOr(r.HandlerSpan, spanOr(r.Span, n.site.Span)), source}
			s.kids = append(s.kids, giving(lower(r.Handler, oneOf(w.routes[i].sent, source.out), at), n.out, n))
		}
		if n.other != nil {
			at := joint{n.site.arg(len(n.kids) - 1), source}
			s.kids = append(s.kids, giving(lower(n.other, oneOf(w.rest, source.out), at), n.out, n))
		}
	case GraphNode:
		s.lowerGraph(from, at)
		return s
	case FallbackNode, RaceNode:
		s.op = opFirst
		for _, k := range n.kids {
			s.kids = append(s.kids, giving(lower(k, from, at), n.out, n))
		}
	case RetryNode:
		s.op, s.kids = opRetry, []*step{lower(n.kids[0], from, at)}
	case AttemptNode:
		s.op, s.kids = opAttempt, []*step{lower(n.kids[0], from, at)}
	case BoundedNode:
		s.op, s.kids = opBounded, []*step{lower(n.kids[0], from, at)}
	case VerifyNode:
		s.op, s.kids = opVerify, []*step{lower(n.kids[0], from, at)}
	case WrapNode:
		s.op = opWrap
		s.kids = []*step{giving(lower(n.kids[0], from, at), generable.StrT, n), lower(n.kids[1], from, at)}
	case VoteNode:
		s.op = opVote
		s.kids = []*step{lower(n.kids[0], from, at)}
		if len(n.kids) > 1 {
			s.kids = append(s.kids, giving(lower(n.kids[1], generable.ListOfType(n.item), joint{n.site.Span, n}), n.out, n))
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
func (s *step) lowerGraph(from *generable.Type, at joint) {
	n, g := s.node, s.node.graph
	s.op = opJump
	s.kids = append(s.kids, lower(n.kids[0], from, at))
	for k, kid := range n.kids[1:g.nodes] {
		s.kids = append(s.kids, lower(kid, kid.in, joint{g.at[k+1], n}))
	}
	s.maps = make([]*step, len(g.edges))
	var maps []*step
	for i := range g.edges {
		e := &g.edges[i]
		given, giver := g.sent[i], e.From
		if given == nil { // a mistake: it is never followed
			continue
		}
		if e.Map != nil {
			s.maps[i] = lower(e.Map, given, joint{e.Span, giver})
			maps = append(maps, s.maps[i])
			given, giver = e.Map.out, e.Map
		}
		if e.To != nil && !typing.Proven(given, e.To.in) {
			unproven(s.kids[g.to[i]], joint{e.Span, giver})
		}
		if e.To == nil && !typing.Proven(given, n.out) {
			s.gives, s.output = n.out, joint{n.site.Span, n}
		}
	}
	number(append(s.kids[:len(s.kids):len(s.kids)], maps...)) // they stand at one position
	if g.rest != nil && !typing.Proven(g.rest, n.kids[g.other].in) {
		unproven(s.kids[g.other], joint{n.site.Span, n})
	}
}

// oneOf is the union of what a route sends; all of the source's output when nothing is known.
func oneOf(sent []*generable.Type, all *generable.Type) *generable.Type {
	if len(sent) == 0 {
		return all
	}
	return generable.OneOf(sent...)
}

// giving has a step check its output where that is not proven to be of the declared type.
func giving(s *step, declared *generable.Type, by *Node) *step {
	if !typing.Proven(s.node.out, declared) {
		s.gives, s.output = declared, joint{by.site.Span, by}
	}
	return s
}

// unproven makes the entry of a step check its input, for what comes to it at a further joint.
func unproven(s *step, at joint) {
	switch s.op {
	case opCall, opEach:
		if !s.check && s.node.in.Kind != generable.AnyType {
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
	seen := make(map[callKey]int, len(kids))
	for _, k := range kids {
		key := callKey{k.word, k.name}
		k.n = seen[key]
		seen[key]++
	}
}
