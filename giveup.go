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

// watch abandons a run that outlives its end. Nothing waits meanwhile: all that it
// costs is one timer, first of the wall time and then of the grace.
type watch struct {
	mu     sync.Mutex
	ended  bool
	timer  *time.Timer
	leave  func() bool // stops listening to the host's context, and the timer of another clock than the machine's
	grace  time.Duration
	target *run.Execution // nil when the run is waited for come what may, or is being given up
}

// begin starts the watch, before the run. Its wall time counts while it works, by the clock; a nil one is the machine's.
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

// bound looks after d whether the run has worked for its wall time: never later than it has. The caller holds the lock.
func (r *Run) bound(wall, d time.Duration) {
	r.timer = time.AfterFunc(d, func() {
		if left := r.leftOf(wall); left > 0 {
			r.again(func() { r.bound(wall, left) })
		}
	})
}

// boundBy is bound by another clock than the machine's.
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

// again has the watch look once more, unless the run has ended or is to end.
func (r *Run) again(look func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended && r.target != nil {
		look()
	}
}

// leftOf ends a run that has worked for its wall time. Of another it returns how long it may go on at least.
func (r *Run) leftOf(wall time.Duration) time.Duration {
	left, works := r.x.TimeLeft(wall)
	switch {
	case left <= 0:
		r.cancel((&engine.Limits{Wall: wall}).Late())
		r.overdue()
	case !works:
		left = max(left, time.Second) // it is not known when it goes on
	}
	return left
}

// overdue allows the run a grace from now, once.
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
	r.timer = time.AfterFunc(r.grace, func() { r.giveUp(x) })
}

// giveUp ends the run for those who wait for it. It notifies its listener, unless that is what
// does not return.
func (r *Run) giveUp(x *run.Execution) {
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

// end publishes a run's outcome, once: a run that was given up may end later.
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
