package agentscript

import (
	"context"
	"sync"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/clock"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/generable"
)

// watch abandons a run that outlives its grace period. Nothing waits in the meantime: the watch costs one timer,
// first for the wall time and then for the grace period.
type watch struct {
	mu     sync.Mutex
	ended  bool
	timer  *time.Timer
	leave  func() bool // stops listening to the host's context, and stops the timer of a clock other than the machine's
	grace  time.Duration
	target *run.Execution // nil if the run is waited for in any case, or is already being abandoned
}

// begin starts the watch, before the run. Only time in which the run works counts, by the given clock; nil is the
// machine's.
func (r *Run) begin(ctx context.Context, wall, done, grace time.Duration, by clock.Clock) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.target, r.grace = r.x, grace
	if ctx.Done() != nil {
		r.leave = context.AfterFunc(ctx, r.overdue)
	}
	switch d := max(wall-done, 0); {
	case wall <= 0:
	case by != nil:
		r.boundBy(by, wall, d)
	default:
		r.bound(wall, d)
	}
}

// bound checks after d whether the run has worked for its wall time; d is never longer than what is left. The caller
// holds the lock.
func (r *Run) bound(wall, d time.Duration) {
	r.timer = time.AfterFunc(d, func() {
		if left := r.leftOf(wall); left > 0 {
			r.again(func() { r.bound(wall, left) })
		}
	})
}

// boundBy is bound with a clock other than the machine's.
func (r *Run) boundBy(c clock.Clock, wall, d time.Duration) {
	stop := c.AfterFunc(d, func() {
		if left := r.leftOf(wall); left > 0 {
			r.again(func() { r.boundBy(c, wall, left) })
		}
	})
	if listening := r.leave; listening == nil {
		r.leave = stop
	} else {
		r.leave = func() bool { return stop() && listening() }
	}
}

// again makes the watch check once more, unless the run has ended or must end.
func (r *Run) again(look func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended && r.target != nil {
		look()
	}
}

// leftOf ends a run that has worked for its wall time. Otherwise it returns the least time for which the run may
// continue.
func (r *Run) leftOf(wall time.Duration) time.Duration {
	left, works := r.x.TimeLeft(wall)
	switch {
	case left <= 0:
		r.cancel((&engine.Limits{Wall: wall}).Late())
		r.overdue()
	case !works:
		left = max(left, time.Second) // it is not known when the run continues working
	}
	return left
}

// overdue starts the run's grace period, once.
func (r *Run) overdue() {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.target
	if r.ended || x == nil {
		return
	}
	r.target = nil
	if r.timer != nil {
		r.timer.Stop()
	}
	r.timer = time.AfterFunc(r.grace, func() { r.abandon(x) })
}

// abandon ends the run for callers that wait for it. It notifies the run's listener, unless the listener is what does
// not return.
func (r *Run) abandon(x *run.Execution) {
	failed, tell := x.Abandon()
	if failed == nil {
		return
	}
	told := make(chan struct{})
	go func() {
		defer close(told)
		tell()
	}()
	select {
	case <-told:
	case <-time.After(r.grace):
	}
	r.end(generable.Value{}, failed)
}

// end publishes a run's outcome, once: an abandoned run may end later.
func (r *Run) end(v generable.Value, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	r.ended = true
	if r.timer != nil {
		r.timer.Stop()
	}
	if r.leave != nil {
		r.leave()
	}
	r.result.Value = v
	r.err = r.kept.end(r.result, err)
	r.cancel(nil)
	if r.kept != nil && r.kept.queue != nil {
		r.kept.queue.close()
	}
	close(r.done)
}
