package engine

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// retry runs a node until it gives what will do. A turn's position is the attempt's index, so
// that no attempt is answered from another one's record.
func (b *branch) retry(s *step, v generable.Value) (generable.Value, error) {
	o, at, said, words, before := s.node.Retry(), b.at, b.heard, b.brief, b.talk
	defer func() { b.at = at }()
	var failed []*Error
	var last generable.Value
	given := false // an attempt gave last
	if o.Feedback != nil {
		words = words.talking(&talk{})
	}
	for turn := range o.Max {
		b.at = at.index(turn)
		b.heard, b.brief, b.talk = said, words, before
		out, err := b.exec(s.kids[0], v)
		b.brief = nil
		if err == nil {
			last, given = out, true
			done, err := b.holds(o.Until, o.UntilFunc, out)
			if done || err != nil {
				return out, b.located(err, s.node)
			}
		} else {
			e := b.Catch(err)
			if e == nil {
				return out, err
			}
			failed = append(failed, e)
		}
		if o.Feedback != nil && turn+1 < o.Max {
			if err := b.feedback(o, words.talk, out, failed, err != nil); err != nil {
				return out, b.located(err, s.node)
			}
		}
		if turn+1 == o.Max && err != nil && !(o.LastWins && given) {
			e := failed[len(failed)-1]
			return out, withNotes(e, failed)
		}
	}
	if o.LastWins {
		return last, nil
	}
	e := Errorf(KindScript, diag.LoopLimit, "until did not hold within %s", text.CountInWords(o.Max, "attempt")).
		WithHelp("raise max, ask for less, or take the last output with on_limit = \"last\"")
	return last, withNotes(e, failed)
}

// feedback makes what is said to the model before its next attempt. A call that came to no
// answer is made again as it was: there is nothing to talk about.
func (b *branch) feedback(o *RetryOptions, t *talk, out generable.Value, failed []*Error, failing bool) error {
	if !t.answered() {
		return nil
	}
	about := out
	if failing {
		about = failed[len(failed)-1].Value()
	}
	v, err := b.invokeAs("feedback", 0, o.Feedback, about)
	if err != nil {
		return err
	}
	text, ok := v.AsStr()
	if !ok {
		return Errorf(KindType, diag.WrongTypeAtBoundary, "feedback gives %s, want str", v.TypeName()).
			WithHelp("say in words what the next answer should do better")
	}
	t.request = t.request.Extend(TextMessage(RoleUser, text))
	return nil
}

// located is locate for an error that may be nil.
func (b *branch) located(err error, n *Node) error {
	if err == nil {
		return nil
	}
	return b.locate(err, n)
}

// talk is a conversation that outlives the call that held it. A call that fails before the
// model answered leaves it as it was.
type talk struct {
	request *Request // that the next call begins with, nil at first
	plan    any      // of the skill that it is about, nil at first
	own     int      // where in its messages the input stands
}

// keep remembers what a request has become by an answer, and by what followed it.
func (t *talk) keep(sk any, req *Request, parts []Part, next *Request) {
	t.plan = sk
	switch {
	case next != nil:
		t.request = next
	case len(callsIn(parts)) == 0:
		t.request = req.Extend(Message{Role: RoleAssistant, Parts: parts})
	}
}

// answered reports whether there is something to say more about: the last word is not ours.
func (t *talk) answered() bool {
	return t.request != nil && t.request.Messages[len(t.request.Messages)-1].Role != RoleUser
}
