package engine

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/agentscript/agentscript/diag"
)

// abandonAfter is how long an effect may go on after its branch is to stop.
const abandonAfter = time.Second

// doOrAbandon runs an effect under the wall time of an agent. It is for tools, which are the
// host's: models end when they are told to, and so many may be asked at once that a goroutine more
// for each would count.
func (b *branch) doOrAbandon(e *Effect) Outcome {
	w := &waited{h: b.run.handler, left: &b.run.left}
	out := b.sched.DoOrAbandon(w, e)
	if e.abandoned() {
		out = left(e)
	}
	if w.leave() {
		if b.Wants(EventLeft) {
			b.emit(Event{Kind: EventLeft, Path: e.At.Path(), ID: e.ID(), Data: &LeftData{e.Name, out.Err}})
		}
	}
	return out
}

// waited is a handler that is waited for, or else counted until it returns.
type waited struct {
	h     Handler
	left  *atomic.Int64
	state atomic.Int32 // 0 while it runs, then returned or behind
}

const (
	returned = 1
	behind   = 2
)

func (w *waited) Do(ctx context.Context, e *Effect, sink Sink) Outcome {
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

// left is the outcome of an effect that was left behind.
func left(e *Effect) Outcome {
	return Failed(Errorf(KindTimeout, diag.Timeout, "%s %q has not returned since it was to stop", e.Kind, e.Name).
		WithHelp("a handler or tool of the host ends when its context does; until it returns, its goroutine is left behind"))
}

// Left is how many calls of handlers and tools were left behind and have not returned: those that
// ignore that they are to stop. It may be asked at any time, after the run as well.
func (x *Execution) Left() int {
	n := int(x.run.left.Load())
	if x.run.over.Load() { // given up, it may have some in flight
		n += len(x.run.pending.list())
	}
	return n
}
