package engine

import "github.com/agentscript/agentscript/generable"

// Plan is the compiled, immutable form of a node: a tree of few operations that one
// interpreter runs. All operators, functions and methods lower to it.
type Plan struct {
	root *step
}

// opcode is an operation of a plan.
type opcode uint8

const (
	opCall   opcode = iota // run an agent, callback, pick or template
	opSeq                  // one after the other, each on the output of the one before
	opPar                  // all at once on the same input; the outputs as a list
	opEach                 // one step on every item of a list, at once
	opRound                // all at once on the same input; the outputs join the transcript
	opSwitch               // the first route that takes the value
	opLoop                 // again, until there is no next input
)

// step is one operation.
type step struct {
	op   opcode
	node *Node
	kids []*step
	// The position segment: its word, name and ordinal among siblings.
	word, name string
	n          int
	check      bool // the input is not proven statically: check it against node.in
	agent      *agentPlan
}

// compiled returns the node's plan, compiled when first needed. Compiling is pure, so that a
// race of two runs costs time and nothing else.
func (n *Node) compiled() *Plan {
	if p := n.plan.Load(); p != nil {
		return p
	}
	p := Compile(n)
	n.plan.CompareAndSwap(nil, p)
	return n.plan.Load()
}

// Compile lowers a sound node to a plan.
func Compile(n *Node) *Plan { return &Plan{root: lower(n, n.in)} }

// lower compiles n for inputs that are proven to be of type from.
func lower(n *Node, from *generable.Type) *step {
	s := &step{node: n, word: nodeSegments[n.kind], name: n.name, check: generable.Unchecked(from, n.in)}
	switch n.kind {
	case AgentNode:
		s.op, s.agent = opCall, planAgent(n)
	case FnNode, PickNode, TemplateNode:
		s.op = opCall
	case PipelineNode:
		s.op, s.check = opSeq, false // its first step checks
		for _, k := range n.kids {
			s.kids = append(s.kids, lower(k, from))
			from = k.out
		}
	case ParallelNode:
		s.op, s.check = opPar, false
		for _, k := range n.kids {
			s.kids = append(s.kids, lower(k, from))
		}
	case EachNode:
		s.op = opEach
		s.kids = []*step{lower(n.kids[0], n.kids[0].in)}
	case ForumNode:
		s.op, s.check = opSeq, false
		last := len(n.kids) - 1
		for r := range n.rounds {
			round := &step{op: opRound, node: n, word: "round", n: r}
			for _, k := range n.kids[:last] {
				round.kids = append(round.kids, lower(k, from))
			}
			number(round.kids)
			s.kids = append(s.kids, round)
		}
		s.kids = append(s.kids, lower(n.kids[last], from))
	case LoopNode:
		s.op, s.check = opLoop, false
		s.kids = []*step{lower(n.kids[0], from)}
		if len(n.kids) > 1 {
			s.kids = append(s.kids, lower(n.kids[1], n.kids[0].out))
		}
		// Later turns come from a callback, or from a node of its own type.
		if n.loop.next != nil || generable.Unchecked(n.kids[len(n.kids)-1].out, n.in) {
			unproven(s.kids[0])
		}
	case BranchNode:
		s.op, s.check = opSwitch, false
		source := n.kids[0]
		s.kids = []*step{lower(source, from)}
		for i := range n.routes {
			s.kids = append(s.kids, lower(n.routes[i].Handler, routed(source.out, &n.routes[i])))
		}
		if n.other != nil {
			s.kids = append(s.kids, lower(n.other, generable.OneOf(append(remaining(source.out, n.routes), n.other.in)...)))
		}
	}
	number(s.kids)
	return s
}

// routed is the type that a route is proven to send.
func routed(from *generable.Type, r *Route) *generable.Type {
	if r.Type != nil {
		return r.Type
	}
	return from
}

// unproven makes the entry of a step check its input.
func unproven(s *step) {
	switch s.op {
	case opCall, opEach:
		s.check = s.node.in.Kind != generable.AnyType
	case opPar, opRound:
		for _, k := range s.kids {
			unproven(k)
		}
	case opSeq, opLoop, opSwitch:
		unproven(s.kids[0])
	}
}

// number gives siblings of one word and name their ordinals.
func number(kids []*step) {
	seen := map[string]int{}
	for _, k := range kids {
		if k.word == "round" {
			continue
		}
		key := k.word + ":" + k.name
		k.n = seen[key]
		seen[key]++
	}
}
