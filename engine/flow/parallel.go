package flow

import (
	"fmt"
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/node"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// FirstOptions are the options of a fallback and a race.
type FirstOptions struct {
	Output *generable.Type // the declared output, nil to infer it
}

// Fallback runs nodes on one input, one after the other, until one succeeds. Nodes X→Y become X→Y.
func (s *Session) Fallback(site Site, o FirstOptions, nodes ...*Node) *Node {
	return s.first(FallbackNode, site, o, nodes)
}

// Race runs nodes on one input concurrently. The first success wins, and the others are cancelled. Nodes X→Y become
// X→Y.
func (s *Session) Race(site Site, o FirstOptions, nodes ...*Node) *Node {
	return s.first(RaceNode, site, o, nodes)
}

func (s *Session) first(kind NodeKind, site Site, o FirstOptions, nodes []*Node) *Node {
	if !s.some(kind, site, nodes) {
		return s.Failed(kind, site)
	}
	return s.structure(&Node{kind: kind, site: site, declared: o.Output, types: (*Session).alternatives}, nodes, nil)
}

// alternatives infers the types of a structure in which one node returns the output.
func (s *Session) alternatives(n *Node) bool {
	in, strange := s.commonInput(n.site, n.kids)
	ok := len(strange) == 0 && s.inferAll(sound(n.kids), in)
	out, ok2 := s.commonOutput(n.site, n.declared, n.kids, nil, strange)
	n.in, n.out = in, out
	return ok && ok2
}

// OnError says how failures of concurrent branches are handled.
type OnError uint8

// What a parallel or an each does when a branch fails.
const (
	OnErrorRaise OnError = iota // the other branches are cancelled, and the node fails
	OnErrorKeep                 // each branch returns an Attempt, in its place
	OnErrorDrop                 // the list contains the successes
)

// itemOf returns the item type of the list that concurrent branches return, for branches that return t.
func (n *Node) itemOf(t *generable.Type) *generable.Type {
	if n.onError == OnErrorKeep {
		return AttemptOf(t)
	}
	return t
}

// ParOptions are the options of a parallel.
type ParOptions struct {
	Limit  int             // concurrent branches, 0 for all
	Output *generable.Type // the declared type of a branch's output, nil to infer it

	OnError OnError
	Merge   *Node // turns the list into the output: list[Y]→Z makes X→Z; nil: the list is the output
}

// Par runs nodes concurrently on one input. Nodes X→Y become X→list[Y], in declared order.
func (s *Session) Par(site Site, o ParOptions, nodes ...*Node) *Node {
	if !s.some(ParallelNode, site, nodes) {
		return s.Failed(ParallelNode, site)
	}
	n := &Node{kind: ParallelNode, site: site, flat: site.ByOp && o == (ParOptions{}), declared: o.Output, onError: o.OnError, types: (*Session).parallel, spec: node.Spec{Limit: o.Limit}}
	if o.Merge != nil {
		nodes, n.merges = append(nodes[:len(nodes):len(nodes)], o.Merge), true
	}
	return s.structure(n, nodes, func(left *Node) bool { return s.widened(n, left) || s.parallel(n) })
}

// widened infers the types of a parallel that has one branch more than an opened left operand, if the types stay the
// same. A long chain of operators then does not visit all its branches again for each operator.
func (s *Session) widened(n, left *Node) bool {
	if left == nil || left.open {
		return false
	}
	for _, k := range n.added(left) {
		known := slices.ContainsFunc(left.gives, func(t *generable.Type) bool { return generable.Same(t, k.out) })
		if k.failed || k.open || !known || !generable.Same(k.in, left.in) {
			return false
		}
	}
	n.in, n.out, n.spec.Each, n.spec.Item, n.gives = left.in, left.out, left.spec.Each, left.spec.Item, left.gives
	return true
}

func (s *Session) parallel(n *Node) bool {
	members := n.members()
	in, strange := s.commonInput(n.site, members)
	ok := len(strange) == 0 && s.inferAll(sound(n.branches()), in)
	declared := n.declared
	if n.merges {
		given := text.Each(members, func(k *Node) *generable.Type { return k.out })
		all := generable.OneOf(given...)
		if _, same := s.joined(given); declared == nil && !same { // merge turns them into one value
			declared = all
		} else if m := n.Merge(); declared != nil && generable.Assignable(m.out, declared) == nil && generable.Assignable(all, declared) != nil {
			d := s.mistake(diag.OutputsDiffer, n.site.Span, "output is the type of the branches of a par, not of merge", fmt.Sprintf("they return %s, and output = %s", all, declared))
			d.Helpf("leave output out; the result of merge is declared there: merge = fn(f, output = %s)", declared)
			return false
		}
	}
	out, ok2 := s.commonOutput(n.site, declared, members, nil, strange)
	n.in, n.spec.Each, n.spec.Item = in, out, n.itemOf(out)
	n.out = generable.ListOfType(n.spec.Item)
	if n.flat {
		n.gives = n.gives[:0:0]
		for _, k := range members {
			if !slices.ContainsFunc(n.gives, func(t *generable.Type) bool { return generable.Same(t, k.out) }) {
				n.gives = append(n.gives, k.out)
			}
		}
	}
	return ok && ok2 && s.merge(n)
}

// merge checks the node that merges a parallel's list.
func (s *Session) merge(n *Node) bool {
	m := n.Merge()
	if m == nil || m.failed {
		return true
	}
	list, at := n.out, n.site.Arg(len(n.kids)-1)
	why, ok := s.hand(at, n.site.What, list, m)
	if ok {
		n.out = m.out
	}
	if why == nil {
		return ok
	}
	d := s.cannotJoin(at, "merge takes the list of the branches' outputs", fmt.Sprintf("they return %s, %s wants %s", list, m.Label(), m.in), why, list, m)
	d.Helpf("let %s take %s", m.Label(), list)
	return false
}

// DefaultEachLimit is how many items an each runs concurrently by default.
const DefaultEachLimit = 16

// EachOptions are the options of an each.
type EachOptions struct {
	Limit   int // concurrent items, default 16
	OnError OnError
}

// Each lifts a node over lists: X→Y becomes list[X]→list[Y]. It keeps the order.
func (s *Session) Each(site Site, o EachOptions, body *Node) *Node {
	if o.Limit <= 0 {
		o.Limit = DefaultEachLimit
	}
	n := &Node{kind: EachNode, site: site, onError: o.OnError, types: (*Session).each, spec: node.Spec{Limit: o.Limit}}
	return s.structure(n, []*Node{body}, nil)
}

func (s *Session) each(n *Node) bool {
	n.spec.Each = n.kids[0].out
	n.spec.Item = n.itemOf(n.spec.Each)
	n.in, n.out = generable.ListOfType(n.kids[0].in), generable.ListOfType(n.spec.Item)
	return true
}
