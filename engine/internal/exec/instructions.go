package exec

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Instructions is what a structure says to the agent inside it, beside the input. It reaches the one that
// [flow.Node.speaker] finds, before any other agent runs.
type Instructions struct {
	System       *string       // the system text in the place of its prompt
	Continuation *Continuation // a conversation to go on with
}

// Taught adds a teacher's text to what is said already.
func (b *Instructions) Taught(text string) *Instructions {
	if b == nil {
		return &Instructions{System: &text}
	}
	return &Instructions{&text, b.Continuation}
}

// Continuing adds a conversation to what is said already.
func (b *Instructions) Continuing(t *Continuation) *Instructions {
	if b == nil {
		return &Instructions{Continuation: t}
	}
	return &Instructions{b.System, t}
}

// Continuation is a conversation that outlives the call that held it. A call that fails before the
// model answered leaves it as it was.
type Continuation struct {
	Request *model.Request // that the next call begins with, nil at first
	Plan    any            // of the skill that it is about, nil at first
	Own     int            // where in its messages the input is
}

// Keep remembers what a request has become by an answer, and by what followed it.
func (t *Continuation) Keep(sk any, req *model.Request, parts []model.Part, next *model.Request) {
	t.Plan = sk
	switch {
	case next != nil:
		t.Request = next
	case len(model.CallsIn(parts)) == 0:
		t.Request = req.Extend(model.Message{Role: model.RoleAssistant, Parts: parts})
	}
}

// Answered reports whether there is something to say more about: the last word is not ours.
func (t *Continuation) Answered() bool {
	return t.Request != nil && t.Request.Messages[len(t.Request.Messages)-1].Role != model.RoleUser
}

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

// Value returns for a callback what was said in its own forum: a list of {name, output}.
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
	said := text.Each(h.inOrder(nil), func(u *Utterance) string { return "### " + u.Name + "\n" + model.InputText(u.Said, u.Typ) })
	return strings.Join(said, "\n\n")
}
