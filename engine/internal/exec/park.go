package exec

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/quiet"
	"github.com/agentscript/agentscript/generable"
)

// WaitFor waits for a value that is sent to the run under a name.
func (b *Branch) WaitFor(name string, t *generable.Type) (generable.Value, error) {
	if err := b.Sched.Err(); err != nil {
		return generable.Value{}, b.Locate(err, nil)
	}
	e := (&InFlight{Effect: engine.Effect{Kind: engine.EffectWait, Name: name, Run: b.RunID(), At: b.InCallback().Child("wait", name, b.Ordinal(CallKey{"wait", name})),
		Req: &engine.WaitRequest{Name: name, Type: t}, Class: engine.ClassRead}}).Begin()
	v, err := b.awaitApproval(e)
	if err != nil {
		return generable.Value{}, b.Locate(err, nil)
	}
	v, failed := Converted(v, t, "what was sent to "+strconv.Quote(name))
	return v, b.Locate(failed, nil)
}

// answeredBefore settles an effect that an earlier process of the run began: by an answer sent since or, if it is
// unknown whether the effect was executed, by the policy for unknown effects. It returns false if the effect must be
// executed.
//
//go:noinline
func (b *Branch) answeredBefore(e *engine.Effect, out *engine.Outcome) (settled bool) {
	j := b.Run.Durable()
	var why *engine.Error
	unknown := false
	if e.Class == engine.ClassOnce {
		why, unknown = j.Unknown(e.ID())
	}
	if !unknown && e.Kind != engine.EffectApproval && e.Kind != engine.EffectWait {
		return false
	}
	if a, sent := j.Answered(e); sent {
		if *out, settled = b.take(e, a); settled || a.Again {
			return settled
		}
	}
	if !unknown {
		return false
	}
	unsure := engine.Unsure(e, why)
	switch cmp.Or(e.OnUnknown, b.Run.Spec.OnUnknown) {
	case engine.UnknownRetry:
		return false
	case engine.UnknownFail:
		unsure.Kind = engine.KindTool
		*out = b.record(e, engine.Outcome{Err: unsure.OfEffect(e.ID()), Attempt: 1})
		return true
	}
	*out, settled = b.park(e, unsure)
	return settled
}

// IsUnknown reports whether it is unknown if an effect was executed, and nobody has answered that yet. why is what is
// known.
func (b *Branch) IsUnknown(e *engine.Effect) (why *engine.Error, unknown bool) {
	j := b.Run.Durable()
	if j == nil || e.Class != engine.ClassOnce {
		return nil, false
	}
	if why, unknown = j.Unknown(e.ID()); !unknown {
		return nil, false
	}
	_, sent := j.Answered(e)
	return why, !sent
}

// Made reports whether an earlier process of the run recorded that the tool call at this position was executed: it had
// an effect, and the model was called again after it. Rules for new calls do not apply to such a call.
func (b *Branch) Made() bool {
	j := b.Run.Durable()
	if j == nil || b.Dialogue == nil {
		return false
	}
	at := b.At.Path()
	cut := strings.LastIndexByte(at, '/')
	return cut > 0 && j.Acted(at) && j.Recorded(at[:cut]+"/llm"+strconv.Itoa(int(b.Dialogue.Turn)+1))
}

// Settle records the outcome of an unknown effect, as determined by a function of the script.
func (b *Branch) Settle(e *engine.Effect, out engine.Outcome) engine.Outcome {
	out.Attempt = 1
	if out.Err != nil {
		out.Err = out.Err.OfEffect(e.ID())
	}
	return b.record(e, out)
}

// afterwards parks an effect that needs an answer which nobody here has, and adds the effect to the error of one that
// failed.
//
//go:noinline
func (b *Branch) afterwards(e *engine.Effect, out *engine.Outcome) {
	if out.Err == nil {
		return
	}
	if out.Err.Kind == engine.KindApproval && b.Sched.Err() == nil {
		if answered, settled := b.park(e, out.Err); settled {
			*out = answered
			return
		}
	}
	out.Err = out.Err.OfEffect(e.ID())
}

// park waits for the answer to an effect. If the whole run waits, and it does not stay, the outcome is the given
// failure, which ends the run for now. It returns false if the answer is to execute the effect.
func (b *Branch) park(e *engine.Effect, failed *engine.Error) (out engine.Outcome, settled bool) {
	j := b.Run.Durable()
	asks := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		if err := j.Asks(ctx, e, failed); err != nil {
			return engine.Failed(journalFailed("take the question of", e, err))
		}
		return engine.Outcome{}
	})
	for {
		if out = b.Sched.Do(asks, e, nil); out.Err != nil { // asked again if an answer did not fit, so that another one can be sent
			b.leave(e)
			return out, true
		}
		a, err := b.awaitAnswer(e)
		switch {
		case err != nil:
			b.leave(e)
			return engine.Failed(engine.AsError(err)), true
		case a == nil:
			b.Run.parked.Store(true)
			return engine.Outcome{Err: failed}, true
		case a.Again:
			return out, false
		}
		if out, settled = b.take(e, *a); settled {
			return out, true
		}
	}
}

// leave notes that the branch ends without the answer to an effect. If the whole run ends, the resumed run needs the
// answer.
func (b *Branch) leave(e *engine.Effect) {
	if !b.Run.parked.Load() {
		b.Run.Durable().Leave(e)
	}
}

// awaitAnswer parks the branch until there is an answer. It returns nil if the whole run waits.
func (b *Branch) awaitAnswer(e *engine.Effect) (*engine.Answer, error) {
	var a engine.Answer
	answered := false
	ready := func() bool {
		a, answered = b.Run.Durable().Answered(e)
		return answered
	}
	b.stopClocks(1)
	defer b.stopClocks(-1)
	var err error
	if w := quiet.Of(b.Sched); w != nil {
		answered, err = w.Park(b.Sched, ready)
	} else {
		err = b.Sched.Wait(ready)
	}
	if err != nil || !answered {
		return nil, err
	}
	return &a, nil
}

// take records an answer as the outcome of an effect. It skips an answer that does not fit and logs that.
func (b *Branch) take(e *engine.Effect, a engine.Answer) (engine.Outcome, bool) {
	if a.Again {
		return engine.Outcome{}, false
	}
	out, wrong := a.Outcome(e)
	if wrong != nil {
		b.Log("an answer to " + e.ID() + " is left: " + wrong.Message)
		b.Run.Durable().Refuse(e)
		return out, false
	}
	if r, ok := e.Req.(*engine.ApprovalRequest); ok && b.denies != nil && out.Err == nil {
		out.Value = amended(r, b.denies, out.Value)
	}
	if out = b.record(e, out); out.Err != nil && out.Err.Kind != engine.KindStore {
		out.Err = out.Err.OfEffect(e.ID())
	}
	return out, true
}
