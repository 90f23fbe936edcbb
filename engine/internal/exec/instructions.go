package exec

import (
	"slices"
	"strings"

	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Instructions is what a structure passes to the agent inside it in addition to the input. The agent that
// [flow.Node.speaker] finds receives it, before any other agent runs.
type Instructions struct {
	System       *string       // a system text that replaces its prompt
	Continuation *Continuation // a conversation to continue
}

// Taught adds a teacher's text to the instructions.
func (b *Instructions) Taught(text string) *Instructions {
	if b == nil {
		return &Instructions{System: &text}
	}
	return &Instructions{&text, b.Continuation}
}

// Continuing adds a conversation to the instructions.
func (b *Instructions) Continuing(t *Continuation) *Instructions {
	if b == nil {
		return &Instructions{Continuation: t}
	}
	return &Instructions{b.System, t}
}

// Continuation is a conversation that outlives the call that held it. A call that fails before the model answered
// leaves it unchanged.
type Continuation struct {
	Request *model.Request // that the next call begins with, initially nil
	Plan    any            // of the skill that the conversation uses, initially nil
	Own     int            // the index of the input in its messages
}

// Keep stores the request extended by an answer, and by what followed it.
func (t *Continuation) Keep(sk any, req *model.Request, parts []model.Part, next *model.Request) {
	t.Plan = sk
	switch {
	case next != nil:
		t.Request = next
	case len(model.CallsIn(parts)) == 0:
		t.Request = req.Extend(model.Message{Role: model.RoleAssistant, Parts: parts})
	}
}

// Answered reports whether the conversation can be continued: the last message is not from the user.
func (t *Continuation) Answered() bool {
	return t.Request != nil && t.Request.Messages[len(t.Request.Messages)-1].Role != model.RoleUser
}

// Transcript is what a member of a forum receives in addition to its input. The members of a forum inside another one
// also receive what was said there.
type Transcript struct {
	Last    *Utterance
	Outside *Utterance // the last utterance before the innermost forum began
	Inside  bool       // inside a forum, though nobody may have spoken yet
}

// Utterance is what was said in a forum so far, as a list linked from the last to the first. Branches of a round share
// its earlier part.
type Utterance struct {
	Up   *Utterance
	Name string
	Said generable.Value
	Typ  *generable.Type
}

// inOrder lists the utterances after from, or all if it is nil, in the order in which they were said.
func (h Transcript) inOrder(from *Utterance) []*Utterance {
	var all []*Utterance
	for at := h.Last; at != from; at = at.Up {
		all = append(all, at)
	}
	slices.Reverse(all)
	return all
}

// Value returns, for a callback, what was said in its own forum: a list of {name, output}.
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

// Text returns the whole transcript as a model sees it.
func (h Transcript) Text() string {
	said := text.Each(h.inOrder(nil), func(u *Utterance) string { return "### " + u.Name + "\n" + model.InputText(u.Said, u.Typ) })
	return strings.Join(said, "\n\n")
}
