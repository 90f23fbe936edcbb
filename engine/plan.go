package engine

import "github.com/agentscript/agentscript/generable"

// plan is the compiled, immutable form of a node: a tree of few operations that one
// interpreter runs. All operators, functions and methods lower to it.
type plan struct {
	root *step
}

// opcode is an operation of a plan.
type opcode uint8

const (
	opCall   opcode = iota // run an agent, callback, pick or template
	opSeq                  // one after the other, each on the output of the one before
	opPar                  // all at once on the same input; the outputs as a list
	opEach                 // one step on every item of a list, at once
	opForum                // all but the last speak on the same input, in rounds, then the last
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
	check      bool            // the input is not proven statically: check it against node.in
	gives      *generable.Type // the output is not proven to be of the type that was declared for it
	agent      *agentPlan
}

// compiled returns the node's plan, compiled when first needed. Compiling is pure, so that a
// race of two runs costs time and nothing else.
func (n *Node) compiled() *plan {
	if p := n.plan.Load(); p != nil {
		return p
	}
	n.plan.CompareAndSwap(nil, compile(n))
	return n.plan.Load()
}

// compile lowers a sound node to a plan.
func compile(n *Node) *plan { return &plan{root: lower(n, n.in)} }

// lower compiles n for inputs that are proven to be of type from.
func lower(n *Node, from *generable.Type) *step {
	s := &step{node: n, word: nodeSegments[n.kind], name: n.name}
	switch n.kind {
	case AgentNode:
		s.op, s.check, s.agent = opCall, !proven(from, n.in), planAgent(n.agent)
	case FnNode, PickNode, TemplateNode:
		s.op, s.check = opCall, !proven(from, n.in)
	case EachNode:
		s.op, s.check = opEach, !proven(from, n.in)
		s.kids = []*step{lower(n.kids[0], n.kids[0].in)}
	case PipelineNode: // a structure leaves checking to the steps that its input reaches
		s.op = opSeq
		for _, k := range n.kids {
			s.kids = append(s.kids, lower(k, from))
			from = k.out
		}
	case ParallelNode:
		s.op = opPar
		for _, k := range n.kids {
			s.kids = append(s.kids, giving(lower(k, from), n.out.Elem))
		}
	case ForumNode:
		s.op = opForum
		for _, k := range n.kids {
			s.kids = append(s.kids, lower(k, from))
		}
	case LoopNode:
		s.op = opLoop
		s.kids = []*step{lower(n.kids[0], from)}
		if len(n.kids) > 1 {
			s.kids = append(s.kids, lower(n.kids[1], n.kids[0].out))
			if generable.Unchecked(n.kids[1].out, n.in) {
				unproven(s.kids[0])
			}
		}
	case BranchNode:
		s.op = opSwitch
		source := n.kids[0]
		s.kids = []*step{lower(source, from)}
		w := ways(source.out, n.routes)
		for i := range n.routes {
			s.kids = append(s.kids, giving(lower(n.routes[i].Handler, oneOf(w.routes[i].sent, source.out)), n.out))
		}
		if n.other != nil {
			s.kids = append(s.kids, giving(lower(n.other, oneOf(w.rest, source.out)), n.out))
		}
	}
	number(s.kids)
	return s
}

// oneOf is the union of what a route sends; all of the source's output when nothing is known.
func oneOf(sent []*generable.Type, all *generable.Type) *generable.Type {
	if len(sent) == 0 {
		return all
	}
	return generable.OneOf(sent...)
}

// giving has a step check its output where that is not proven to be of the declared type.
func giving(s *step, declared *generable.Type) *step {
	if !proven(s.node.out, declared) {
		s.gives = declared
	}
	return s
}

// unproven makes the entry of a step check its input.
func unproven(s *step) {
	switch s.op {
	case opCall, opEach:
		s.check = s.node.in.Kind != generable.AnyType
	case opPar, opForum:
		for _, k := range s.kids {
			unproven(k)
		}
	case opSeq, opLoop, opSwitch:
		unproven(s.kids[0])
	}
}

// number gives siblings of one word and name their ordinals.
func number(kids []*step) {
	if len(kids) < 2 {
		return
	}
	seen := make(map[callKey]int, len(kids))
	for _, k := range kids {
		key := callKey{k.node.kind, k.name}
		k.n = seen[key]
		seen[key]++
	}
}
