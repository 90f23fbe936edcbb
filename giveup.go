package agentscript

import (
	"context"
	"sync"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/generable"
)

// watch abandons a run that outlives its end. Nothing waits meanwhile: all that it
// costs is one timer, first of the wall time and then of the grace.
type watch struct {
	mu     sync.Mutex
	ended  bool
	timer  *time.Timer
	leave  func() bool // stops listening to the host's context
	grace  time.Duration
	target *run.Execution // nil when the run is waited for come what may, or is being given up
}

// begin starts the watch, before the run.
func (r *Run) begin(ctx context.Context, x *run.Execution, wall, grace time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.target, r.grace = x, grace
	if ctx.Done() != nil {
		r.leave = context.AfterFunc(ctx, r.overdue)
	}
	if wall > 0 {
		r.timer = time.AfterFunc(wall, func() {
			r.cancel((&engine.Limits{Wall: wall}).Late())
			r.overdue()
		})
	}
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
