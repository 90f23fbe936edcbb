package interp

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/internal/ways"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// retry runs a node until its output is accepted. A turn's position is the attempt's index, so that no attempt is
// answered from the record of another one.
func retry(b *exec.Branch, s *step, v generable.Value) (generable.Value, error) {
	o, at, said, words, before := s.node.Retry(), b.At, b.Transcript, b.Instructions, b.Thread
	defer func() { b.At = at }()
	var failed []*engine.Error
	var last generable.Value
	given := false // last holds an attempt's output
	if o.Feedback != nil {
		words = words.Continuing(&exec.Continuation{})
	}
	for turn := range o.Max {
		if b.At = at.Index(turn); turn > 0 {
			took(b, s.node, ways.RetryAgain)
		}
		b.Transcript, b.Instructions, b.Thread = said, words, before
		out, err := Run(b, s.kids[0], v)
		b.Instructions = nil
		if err == nil {
			last, given = out, true
			done, err := holds(b, o.Until, o.UntilFunc, out)
			if done || err != nil {
				return out, b.Locate(err, s.node)
			}
		} else {
			e, ends := b.Catchable(err)
			if ends != nil {
				return out, ends
			}
			failed = append(failed, e)
			if turn+1 < o.Max || o.LastWins && given {
				b.WentOn(e)
			}
		}
		if o.Feedback != nil && turn+1 < o.Max {
			if err := feedback(b, o, words.Continuation, out, failed, err != nil); err != nil {
				return out, b.Locate(err, s.node)
			}
		}
		if turn+1 == o.Max && err != nil && !(o.LastWins && given) {
			e := failed[len(failed)-1]
			return out, exec.WithNotes(e, failed)
		}
	}
	if o.LastWins {
		return last, nil
	}
	e := engine.Errorf(engine.KindScript, diag.LoopLimit, "until did not hold within %s", text.CountInWords(o.Max, "attempt")).
		WithHelp("raise max, ask for less, or take the last output with on_limit = \"last\"")
	return last, exec.WithNotes(e, failed)
}

// feedback builds the message to the model before its next attempt. A call without an answer is repeated unchanged:
// there is nothing to give feedback on.
func feedback(b *exec.Branch, o *flow.RetryOptions, t *exec.Continuation, out generable.Value, failed []*engine.Error, failing bool) error {
	if !t.Answered() {
		return nil
	}
	about := out
	if failing {
		about = failed[len(failed)-1].Value()
	}
	v, err := b.InvokeAs("feedback", 0, o.Feedback, about)
	if err != nil {
		return err
	}
	text, ok := v.AsStr()
	if !ok {
		return engine.Errorf(engine.KindType, diag.WrongTypeAtBoundary, "feedback returned %s, want str", v.TypeName()).
			WithHelp("say in words what the next answer should do better")
	}
	t.Request = t.Request.Extend(model.TextMessage(model.RoleUser, text))
	return nil
}
