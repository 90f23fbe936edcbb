package exec

import "github.com/agentscript/agentscript/engine/model"

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
	Own     int            // where in its messages the input stands
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
