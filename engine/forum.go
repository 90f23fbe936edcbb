package engine

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/generable"
)

// forum lets the participants speak, round by round, and then the captain. All get the input
// unchanged; what was said in earlier rounds comes beside it, as the transcript.
func (b *Branch) forum(s *step, v generable.Value) (generable.Value, error) {
	outer := b.transcript
	last := len(s.kids) - 1
	for r := range s.node.rounds {
		said, err := b.fan("round", r, last, 0, func(i int) (*step, generable.Value) { return s.kids[i], v })
		if err != nil {
			return v, err
		}
		for i, words := range said {
			k := s.kids[i].node
			b.transcript = &transcript{b.transcript, k.Label(), words, k.out}
		}
	}
	out, err := b.exec(s.kids[last], v)
	b.transcript = outer
	return out, err
}

// transcript is what was said in a forum so far, the last first. It grows by linking, since
// the branches of a round share what was said before.
type transcript struct {
	up   *transcript
	name string
	said generable.Value
	typ  *generable.Type
}

// inOrder lists a transcript from the beginning.
func (t *transcript) inOrder() []*transcript {
	var all []*transcript
	for at := t; at != nil; at = at.up {
		all = append(all, at)
	}
	slices.Reverse(all)
	return all
}

// value gives the transcript to a callback: a list of {name, output}.
func (t *transcript) value() generable.Value {
	all := t.inOrder()
	items := make([]generable.Value, len(all))
	for i, at := range all {
		m := generable.NewMap(2)
		m.Set("name", generable.StrOf(at.name))
		m.Set("output", at.said)
		items[i] = m.Value()
	}
	return generable.NewList(items).Value()
}

// text shows the transcript to a model.
func (t *transcript) text() string {
	var b strings.Builder
	for i, at := range t.inOrder() {
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString("### " + at.name + "\n" + inputText(at.said, at.typ))
	}
	return b.String()
}
