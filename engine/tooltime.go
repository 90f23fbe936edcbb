package engine

import (
	"context"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

func tooSlow(tool string, d time.Duration) *Error {
	return Errorf(KindTimeout, diag.Timeout, "tool %q did not end within %s", tool, d).
		WithHelp("allow it more with tool(timeout = ...), or see why it is slow")
}

// timely dispatches an effect that has a time of its own. That it took longer is what it came to, and
// is recorded like any other outcome: a replay does not depend on the clock.
func (b *branch) timely(e *Effect, held hold) (out Outcome) {
	late := tooSlow(e.Name, e.Timeout)
	of := *held.of // so that what other effects ask for need not outlive their frames
	own := hold{b, b.budget, &of}
	timed := b.timed
	b.timed = true // it is left behind when it does not stop
	err := b.within(e.Timeout, late, func() error {
		if out = b.dispatch(e, own); out.Err == nil {
			return nil
		}
		return out.Err
	})
	b.timed = timed
	if err == nil {
		return out
	}
	out.Err = asError(err)
	j := b.run.spec.Journal
	if j == nil || out.Err.Message != late.Message || b.sched.Err() != nil {
		return out
	}
	out = Outcome{Err: out.Err, Usage: out.Usage, Attempt: max(out.Attempt, 1)}
	return b.sched.Do(HandlerFunc(func(ctx context.Context, e *Effect, _ Sink) Outcome { return commit(ctx, j, e, out) }), e, nil)
}

// inTime runs a tool of the script within its time. Whether it ended in time is recorded, as a race is:
// it runs anew on a replay, faster or slower, and must come to the same.
func (b *branch) inTime(t *Tool, args generable.Value) (out generable.Value, err error) {
	const inTime, late = 0, 1
	slow := tooSlow(t.Name, t.Timeout)
	var e *Effect
	if b.run.spec.Journal != nil {
		e = (&inFlight{effect: Effect{Kind: EffectChoice, Name: "timeout", Run: b.RunID(), At: b.at.child("timeout", "", 0), Req: &Choice{2, args}, Class: ClassRead}}).begin()
	}
	switch won, used, known := b.chosen(e, 2); {
	case known && won == late:
		b.tellBudget(b.budget.settle(estimate{}, used, b.Wants(EventBudget)), true)
		return out, b.locate(slow, nil)
	case known:
		return b.invoke(t.Run, args)
	}
	outer := b.budget
	b.countApart()
	own := b.budget
	err = b.within(t.Timeout, slow, func() error {
		out, err = b.invoke(t.Run, args)
		return err
	})
	b.budget = outer
	won := inTime
	if err != nil && asError(err).Message == slow.Message {
		won = late
	}
	if b.sched.Err() != nil { // it came to nothing
		return out, err
	}
	if failed := b.choose(e, won, []*budget{inTime: own, late: own}); failed != nil {
		return out, failed
	}
	return out, err
}
