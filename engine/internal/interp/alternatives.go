package interp

import (
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/internal/ways"
	"github.com/agentscript/agentscript/generable"
)

// fallback runs the alternatives in order until one succeeds. Each receives the forum transcript from before the
// fallback, as concurrent branches do.
func fallback(b *exec.Branch, s *step, v generable.Value) (out generable.Value, err error) {
	said, before := b.Transcript, b.Thread
	err = b.InTurn(len(s.kids), func(i int) error {
		b.Transcript, b.Thread = said, before
		took(b, s.node, i)
		out, err = Run(b, s.kids[i], v)
		return err
	})
	return out, err
}

// race runs the alternatives concurrently until one succeeds.
func race(b *exec.Branch, s *step, v generable.Value) (generable.Value, error) {
	at := b.At
	out := make([]generable.Value, len(s.kids))
	won, err := b.Compete(b.Choosing(s.word, at.Child("won", "", 0), len(s.kids), v), len(s.kids), func(i int, sched engine.Sched) *exec.Branch {
		return b.Fork(sched, at.Index(i))
	}, func(i int, br *exec.Branch) error {
		return br.Guard(func() (err error) {
			out[i], err = Run(br, s.kids[i], v)
			br.CutOff(err, []*flow.Node{s.kids[i].node})
			return err
		})
	})
	if err != nil {
		return generable.Value{}, err
	}
	took(b, s.node, won)
	return out[won], nil
}

// attempt runs a node and returns its outcome as a value.
func attempt(b *exec.Branch, s *step, v generable.Value) (generable.Value, error) {
	defer b.Apart()()
	before := b.Thread
	out, err := Run(b, s.kids[0], v)
	if err == nil {
		took(b, s.node, ways.AttemptOK)
		return flow.Attempted(s.node.Out(), out, nil), nil
	}
	b.Thread = before // a failure leaves nothing in the thread
	failed, ends := b.Catch(err)
	if ends != nil {
		return out, ends
	}
	took(b, s.node, ways.AttemptFailed)
	return flow.Attempted(s.node.Out(), out, failed), nil
}
