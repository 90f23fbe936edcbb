package exec

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/generable"
)

// Transcript is what a member of a forum hears beside its input. A forum that is a member of
// another one has its members hear what was said there, too.
type Transcript struct {
	Last    *Utterance
	Outside *Utterance // where the innermost forum began
	Inside  bool       // of a forum, though nobody may have spoken yet
}

// Utterance is what was said in a forum so far, the last first. It grows by linking, since
// the branches of a round share what was said before.
type Utterance struct {
	Up   *Utterance
	Name string
	Said generable.Value
	Typ  *generable.Type
}

// inOrder lists what was said since from, nil for all of it, in the order in which it was said.
func (h Transcript) inOrder(from *Utterance) []*Utterance {
	var all []*Utterance
	for at := h.Last; at != from; at = at.Up {
		all = append(all, at)
	}
	slices.Reverse(all)
	return all
}

// Value gives a callback what was said in its own forum: a list of {name, output}.
func (h Transcript) Value() generable.Value {
	all := h.inOrder(h.Outside)
	items := make([]generable.Value, len(all))
	for i, at := range all {
		m := generable.NewMap(2)
		m.Set("name", generable.StrOf(at.Name))
		m.Set("output", at.Said)
		items[i] = m.Value()
	}
	return generable.NewList(items).Value()
}

// Text shows a model all that was said.
func (h Transcript) Text() string {
	var b strings.Builder
	for i, at := range h.inOrder(nil) {
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString("### " + at.Name + "\n" + agent.InputText(at.Said, at.Typ))
	}
	return b.String()
}
