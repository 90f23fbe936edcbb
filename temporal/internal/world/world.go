// Package world runs the branches of a run inside a Temporal workflow: they wait for timers, signals and activities of
// the workflow, so that a replay of the history produces the same run.
package world

import (
	"context"
	"sync"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/agentscript/agentscript/engine/clock"
)

// World is the [sched.World] of one run, on the coroutine of its workflow. The branches of the run are coroutines of
// that one goroutine, so that nothing here needs a lock.
type World struct {
	ctx      workflow.Context // of the workflow
	free     workflow.Context // is never cancelled
	pause    workflow.Channel
	happened bool
	why      error // set when the run must stop
	resting  func()
	broken   any // set when the task must fail
	pauses   int

	due    time.Time // when the timer fires; zero: no timer is set
	disarm func()    // cancels the timer

	activities
}

// New returns the world of a run in the workflow of ctx. When the workflow is cancelled, why returns the reason.
func New(ctx workflow.Context, l Limits, why func() error) *World {
	free, _ := workflow.NewDisconnectedContext(ctx)
	w := &World{ctx: ctx, free: free, pause: workflow.NewChannel(ctx)}
	w.activities.limits = l
	workflow.GoNamed(free, "pause", func(ctx workflow.Context) {
		for w.pause.Receive(ctx, nil) {
		}
	})
	workflow.GoNamed(free, "cancel", func(free workflow.Context) {
		ctx.Done().Receive(free, nil)
		w.Stop(why())
	})
	return w
}

// OnRest sets the function that is called each time that no branch can continue.
func (w *World) OnRest(f func()) { w.resting = f }

// Idle reports whether no activity is under way.
func (w *World) Idle() bool { return w.underway == 0 }

// Stop ends the run with a reason. The first reason stays.
func (w *World) Stop(why error) {
	if w.why == nil {
		w.why = why
	}
	w.Happened()
}

// Beside runs f on a coroutine that is never cancelled. The channel is closed when f calls done, or at the latest when
// f returns.
func (w *World) Beside(name string, f func(free workflow.Context, done func())) (ended <-chan struct{}) {
	over := make(chan struct{})
	done := sync.OnceFunc(func() {
		close(over)
		w.Happened()
	})
	workflow.GoNamed(w.free, name, func(free workflow.Context) {
		f(free, done)
		done()
	})
	return over
}

// Await waits, on the coroutine of the workflow itself, until f reports true. Nothing of the run may be under way.
func (w *World) Await(f func() bool) {
	_ = workflow.Await(w.free, f) // never cancelled
}

// Happened makes the branches of the run check whether they can continue.
func (w *World) Happened() { w.happened = true }

// Now implements [sched.World].
func (w *World) Now() time.Time { return workflow.Now(w.free) }

// Err implements [sched.World].
func (w *World) Err() error { return w.why }

// Rest implements [sched.World].
func (w *World) Rest(due time.Time) {
	if w.resting != nil {
		w.resting()
	}
	w.arm(due)
	_ = workflow.Await(w.free, func() bool { return w.happened }) // never cancelled
	w.happened = false
	if w.broken != nil {
		panic(w.broken)
	}
	w.rested()
}

// Break fails the workflow task, so that the server retries it. It is for what may be reachable later, and for a panic
// of the client library when the history does not match. The branch waits until the task has failed.
func (w *World) Break(ctx context.Context, why any) error {
	if w.broken == nil {
		w.broken = why
	}
	w.Happened()
	return clock.Await(ctx, nil)
}

// Pause implements [sched.World]. The dispatcher of workflows takes a coroutine that computes for a second for a
// deadlock; a pause prevents that, and adds no event. A run that has computed for too long continues as new, in a
// history whose tasks may take longer. The number of pauses depends only on the script and the history, unlike the time
// that the computation takes on a machine.
func (w *World) Pause() {
	w.pauses++
	if !w.Tired() {
		w.pause.Send(w.free, nil)
		return
	}
	w.ending = true
	_ = workflow.Await(w.free, func() bool { return w.pending == 0 || w.why != nil || w.broken != nil }) // never cancelled
	if w.broken != nil {
		panic(w.broken)
	}
	w.Stop(ErrAgain)
}

// Tired reports whether the run has computed for as long as it may in one history.
func (w *World) Tired() bool { return w.limits.Pauses > 0 && w.pauses > w.limits.Pauses }

// arm sets a timer that fires when something is due, or earlier. One timer serves everything that is due: one that
// fires too early costs less than one that is cancelled.
func (w *World) arm(due time.Time) {
	if due.IsZero() || !w.due.IsZero() && !due.Before(w.due) {
		return
	}
	if w.disarm != nil {
		w.disarm()
	}
	ctx, cancel := workflow.WithCancel(w.free)
	w.due, w.disarm = due, cancel
	timer := workflow.NewTimer(ctx, max(due.Sub(w.Now()), 0))
	workflow.GoNamed(w.free, "timer", func(free workflow.Context) {
		if timer.Get(free, nil) != nil {
			return // another timer is set
		}
		w.due, w.disarm = time.Time{}, nil
		w.Happened()
	})
}
