package flow

import (
	"fmt"
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/node"
	"github.com/agentscript/agentscript/generable"
)

// participants returns the kids of a forum that discuss.
func (n *Node) participants() []*Node {
	if n.Decides() != nil {
		return n.kids[:len(n.kids)-1]
	}
	return n.kids
}

// ForumOptions are the options of a forum.
type ForumOptions struct {
	Rounds    int   // of the participants, at least 1; 0 is 1
	Captain   *Node // decides, and all nodes are participants; nil: the last node is the captain
	Consensus int   // instead of a captain: how many participants of the last round must agree
	Otherwise *Node // decides when they do not agree, as a captain would; nil: no agreement is an error

	ConsensusSpan diag.Span
}

// Forum lets all nodes but the captain discuss the input of the first node. The captain sees the transcript of every
// round and answers. With Consensus there is no captain: the answer is the one that enough participants gave in the
// last round.
func (s *Session) Forum(site Site, o ForumOptions, nodes ...*Node) *Node {
	if !s.some(ForumNode, site, nodes) {
		return s.Failed(ForumNode, site)
	}
	switch {
	case o.Consensus != 0 && o.Captain != nil:
		d := s.Errorf(diag.WrongArgument, o.ConsensusSpan.Or(site.Span), "a forum has a captain or a consensus, not both")
		d.Helpf("the captain that decides when they do not agree is otherwise = node")
		return s.Failed(ForumNode, site)
	case o.Consensus == 0 && o.Otherwise != nil:
		d := s.Errorf(diag.WrongArgument, site.Span, "otherwise belongs to consensus")
		d.Helpf("forum(a, b, c, consensus = 2, otherwise = node); who decides always is captain = node")
		return s.Failed(ForumNode, site)
	case o.Consensus < 0 || o.Consensus > len(nodes):
		d := s.Errorf(diag.BadVote, o.ConsensusSpan.Or(site.Span), "consensus must be from 1 to %d, not %d", len(nodes), o.Consensus)
		d.Helpf("it is how many participants must agree; more than half is unambiguous")
		return s.Failed(ForumNode, site)
	case o.Captain != nil:
		nodes = append(nodes[:len(nodes):len(nodes)], o.Captain)
	case o.Otherwise != nil:
		nodes = append(nodes[:len(nodes):len(nodes)], o.Otherwise)
	}
	if len(nodes) < 2 {
		d := s.Errorf(diag.EmptyComposition, site.Span, "a forum needs a participant and a captain")
		d.Helpf("forum(participant, captain): the last one decides")
		return s.Failed(ForumNode, site)
	}
	if !s.bounds(site, "rounds", o.Rounds, 1) {
		return s.Failed(ForumNode, site)
	}
	n := &Node{kind: ForumNode, site: site, flat: site.ByOp && o.Rounds <= 1, quorum: o.Consensus,
		types: func(s *Session, n *Node) bool { return s.forum(n, 1) }, spec: node.Spec{Rounds: max(1, o.Rounds)}}
	return s.structure(n, nodes, func(left *Node) bool {
		if o.Otherwise != nil {
			n.other = n.kids[len(n.kids)-1]
		}
		if left != nil && left.open {
			return n.types(s, n)
		}
		return s.forum(n, len(n.kids)-len(n.added(left)))
	})
}

// forum checks that the members starting at index from take the first member's input.
func (s *Session) forum(n *Node, from int) bool {
	first, last := n.kids[0], n.kids[len(n.kids)-1]
	ok := true
	for i := from; i < len(n.kids); i++ {
		k := n.kids[i]
		switch {
		case k.failed || first.failed:
		case generable.Assignable(first.in, k.in) != nil:
			ok = false
			d := s.mistake(diag.ForumInput, n.operand(i), "every member of a forum takes the first one's input",
				fmt.Sprintf("%s takes %s, %s takes %s", first.Label(), first.in, k.Label(), k.in), first, k)
			d.Helpf("declare %s with input = %s: it sees the others' words as the transcript, not as its input", k.Label(), first.in)
		default:
			ok = s.inferOpen(k, first.in) && ok
			s.edge(edgeTo{k, false}, edge{n.operand(i), "the forum", first.in, k.in})
		}
	}
	n.in, n.out = first.in, last.out
	if n.quorum > 0 { // any of them may answer
		return ok && s.agreeing(n)
	}
	return ok
}

// agreeing finds the common output type of the participants of a consensus.
func (s *Session) agreeing(n *Node) bool {
	types := make([]*generable.Type, len(n.kids))
	for i, k := range n.kids {
		if types[i] = k.out; k.failed {
			n.out = generable.ErrorT
			return true
		}
	}
	out, ok := generable.Join(types, s.unions)
	if ok {
		n.out = out
		return true
	}
	other := slices.IndexFunc(n.kids, func(k *Node) bool { return !generable.Same(k.out, types[0]) })
	d := s.mistake(diag.OutputsDiffer, n.site.Arg(other), "what is to agree must be of one type", n.kids[0].outputText()+", "+n.kids[other].outputText(), n.kids[0], n.kids[other])
	d.Helpf("make %s return %s, or let a captain decide", n.kids[other].Label(), types[0])
	return false
}
