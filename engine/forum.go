package engine

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// forum lets the participants speak, round by round, and then the captain. All get the input
// unchanged; what was said in earlier rounds comes beside it, as the transcript.
func (b *branch) forum(s *step, v generable.Value) (generable.Value, error) {
	outer := b.heard
	b.heard.outside, b.heard.inside = outer.last, true
	last := len(s.kids)
	decides := s.node.Decides() != nil
	if decides {
		last--
	}
	var ballots []ballot
	for r := range s.node.Spec().Rounds {
		said, err := b.fan("round", r, last, 0, nil, func(i int) (*step, generable.Value) { return s.kids[i], v })
		if err != nil {
			return v, err
		}
		ballots = ballots[:0]
		for i, words := range said {
			k := s.kids[i].node
			b.heard.last = &transcript{b.heard.last, k.Label(), words, k.Out()}
			ballots = append(ballots, ballot{words, words, 1})
		}
	}
	if need := s.node.Consensus(); need > 0 {
		won, votes := majority(ballots)
		if votes >= need || !decides {
			b.heard = outer
			return won, agreed(votes, need, last)
		}
	}
	out, err := b.exec(s.kids[last], v)
	b.heard = outer
	return out, err
}

// participants are the kids of a forum that discuss.
func (n *Node) participants() []*Node {
	if n.Decides() != nil {
		return n.kids[:len(n.kids)-1]
	}
	return n.kids
}

// agreed is the failure of a forum in which too few gave the same.
func agreed(votes, need, of int) error {
	if votes >= need {
		return nil
	}
	return Errorf(KindScript, diag.NoQuorum, "%d of %d participants agree, and consensus needs %d", votes, of, need).
		WithHelp("let them speak in more rounds, ask for fewer, or say who decides then: otherwise = node")
}

// hearing is what a member of a forum hears beside its input. A forum that is a member of
// another one has its members hear what was said there, too.
type hearing struct {
	last    *transcript
	outside *transcript // where the innermost forum began
	inside  bool        // of a forum, though nobody may have spoken yet
}

// transcript is what was said in a forum so far, the last first. It grows by linking, since
// the branches of a round share what was said before.
type transcript struct {
	up   *transcript
	name string
	said generable.Value
	typ  *generable.Type
}

// inOrder lists what was said since from, nil for all of it, in the order in which it was said.
func (h hearing) inOrder(from *transcript) []*transcript {
	var all []*transcript
	for at := h.last; at != from; at = at.up {
		all = append(all, at)
	}
	slices.Reverse(all)
	return all
}

// value gives a callback what was said in its own forum: a list of {name, output}.
func (h hearing) value() generable.Value {
	all := h.inOrder(h.outside)
	items := make([]generable.Value, len(all))
	for i, at := range all {
		m := generable.NewMap(2)
		m.Set("name", generable.StrOf(at.name))
		m.Set("output", at.said)
		items[i] = m.Value()
	}
	return generable.NewList(items).Value()
}

// text shows a model all that was said.
func (h hearing) text() string {
	var b strings.Builder
	for i, at := range h.inOrder(nil) {
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString("### " + at.name + "\n" + inputText(at.said, at.typ))
	}
	return b.String()
}
