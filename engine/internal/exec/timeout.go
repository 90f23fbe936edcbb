package exec

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/internal/quiet"
	"github.com/agentscript/agentscript/generable"
)

func tooSlow(tool string, d time.Duration) *engine.Error {
	return engine.Errorf(engine.KindTimeout, diag.Timeout, "tool %q did not end within %s", tool, d).
		WithHelp("allow it more with tool(timeout = ...), or see why it is slow")
}

// timely dispatches an effect with its own time limit. Exceeding it is an outcome and recorded like any other: a replay
// does not depend on the clock.
func (b *Branch) timely(e *engine.Effect, held hold) (out engine.Outcome) {
	late := tooSlow(e.Name, e.Timeout)
	of := *held.of // a copy, so that the asks of other effects need not outlive their frames
	own := hold{b, b.Budget, &of}
	timed := b.timed
	b.timed = true // the call is abandoned if it does not stop
	err := b.Within(e.Timeout, late, func() error {
		if out = b.dispatch(e, own); out.Err == nil {
			return nil
		}
		return out.Err
	})
	b.timed = timed
	if err == nil {
		return out
	}
	out.Err = engine.AsError(err)
	if out.Err.Message != late.Message || b.Sched.Err() != nil {
		return out
	}
	return b.record(e, engine.Outcome{Err: out.Err, Usage: out.Usage, Attempt: max(out.Attempt, 1)})
}

// InTime runs a tool of the script within its time limit. Whether it ended in time is recorded, as for a race: a replay
// runs it again, faster or slower, and must have the same result.
func (b *Branch) InTime(t *agent.Tool, args generable.Value) (out generable.Value, err error) {
	const inTime, late = 0, 1
	slow := tooSlow(t.Name, t.Timeout)
	e := b.Choosing("timeout", b.At.Child("timeout", "", 0), 2, args)
	won, used, known, err := b.chosen(e, 2)
	switch {
	case err != nil:
		return out, err
	case known && won == late:
		b.settle(b.Budget, nil, spent{of: used})
		return out, b.Locate(slow, nil)
	case known:
		return b.Invoke(t.Run, args)
	}
	outer := b.Budget
	b.countApart()
	own := b.Budget
	err = b.Within(t.Timeout, slow, func() error {
		out, err = b.Invoke(t.Run, args)
		return err
	})
	b.Budget = outer
	won = inTime
	if err != nil && engine.AsError(err).Message == slow.Message {
		won = late
	}
	if b.Sched.Err() != nil { // it has no result
		return out, err
	}
	if failed := b.choose(e, won, []*budget{inTime: own, late: own}); failed != nil {
		return out, failed
	}
	return out, err
}

// doOrAbandon runs an effect under the wall time of an agent. It is for the host's tools. Models end when they are told
// to, and there may be so many concurrent calls that another goroutine for each would matter.
func (b *Branch) doOrAbandon(e *engine.Effect) engine.Outcome {
	w := &waited{h: b.Run.handler, left: &b.Run.Left}
	out := b.Sched.DoOrAbandon(w, e)
	if e.Flight().Abandoned() {
		out = notReturned(e)
	}
	if w.leave() {
		if b.Wants(engine.EventLeft) {
			b.Emit(engine.Event{Kind: engine.EventLeft, Path: e.At.Path(), ID: e.ID(), Data: &event.Left{Name: e.Name, Err: out.Err}})
		}
	}
	return out
}

// waited is a handler that is waited for, or else counted until it returns.
type waited struct {
	h     engine.Handler
	left  *atomic.Int64
	state atomic.Int32 // 0 while it runs, then returned or behind
}

const (
	returned = 1
	behind   = 2
)

func (w *waited) Do(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
	defer func() {
		if !w.state.CompareAndSwap(0, returned) {
			w.left.Add(-1)
		}
	}()
	return w.h.Do(ctx, e, sink)
}

// leave counts the call as abandoned, unless it has returned.
func (w *waited) leave() bool {
	w.left.Add(1)
	if w.state.CompareAndSwap(0, behind) {
		return true
	}
	w.left.Add(-1)
	return false
}

// notReturned returns the outcome of an abandoned effect.
func notReturned(e *engine.Effect) engine.Outcome {
	return engine.Failed(engine.Errorf(engine.KindTimeout, diag.Timeout, "%s %q has not returned since it was to stop", e.Kind, e.Name).
		WithHelp("a handler or tool of the host ends when its context does; until it returns, its goroutine is left behind"))
}

// counts adds the duration of a recorded effect to everything around it whose time is limited. For an effect that is
// not recorded it starts the clock.
//
//go:noinline
func (b *Branch) counts(w *quiet.Watch, e *engine.Effect, known bool) {
	if !known {
		w.Live(b.Sched)
		return
	}
	j := b.Run.Durable()
	if j == nil {
		return
	}
	begun, ended := j.Took(e.ID())
	if !ended.After(begun) {
		return
	}
	w.Recorded(b.Sched, begun, ended)
	b.Budget.run.mu.Lock()
	defer b.Budget.run.mu.Unlock()
	for d := b.Dialogue; d != nil; d = d.Outer {
		if d.Agent.Budget.Wall == 0 {
			p := d.paused()
			if p.took == nil {
				p.took = &quiet.Spans{}
			}
			p.sum -= p.took.Add(begun, ended)
		}
	}
}

// timeLeft returns how much time the branch has. It returns false if nothing limits it.
func (b *Branch) timeLeft() (left time.Duration, bounded bool) {
	if bounded = b.deadline != nil; bounded {
		left = b.deadline.Sub(b.Sched.Now())
	}
	if w := quiet.Of(b.Sched); w != nil {
		if d, also := w.Left(b.Sched); also && (!bounded || d < left) {
			return d, true
		}
	}
	return left, bounded
}

// Moved returns by how much the innermost time limit around the branch is moved, later by waits and earlier by recorded
// effects.
func (b *Branch) Moved() time.Duration {
	if w := quiet.Of(b.Sched); w != nil {
		return w.Moved(b.Sched)
	}
	return 0
}
