package exec

import (
	"context"
	"sync/atomic"

	"github.com/agentscript/agentscript/engine"
)

// doOrAbandon runs an effect under the wall time of an agent. It is for tools, which are the
// host's: models end when they are told to, and so many may be asked at once that a goroutine more
// for each would count.
func (b *Branch) doOrAbandon(e *engine.Effect) engine.Outcome {
	w := &waited{h: b.Run.handler, left: &b.Run.Left}
	out := b.Sched.DoOrAbandon(w, e)
	if e.Abandoned() {
		out = engine.NotReturned(e)
	}
	if w.leave() {
		if b.Wants(engine.EventLeft) {
			b.Emit(engine.Event{Kind: engine.EventLeft, Path: e.At.Path(), ID: e.ID(), Data: &engine.LeftData{Name: e.Name, Err: out.Err}})
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

// leave counts the call as left behind, unless it has returned.
func (w *waited) leave() bool {
	w.left.Add(1)
	if w.state.CompareAndSwap(0, behind) {
		return true
	}
	w.left.Add(-1)
	return false
}
