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
	ctx         workflow.Context // of the workflow
	detached    workflow.Context // is never cancelled
	pause       workflow.Channel
	woken       bool
	stopReason  error // set when the run must stop
	onRest      func()
	taskFailure any // set when the task must fail
	pauses      int

	due         time.Time // when the timer fires; zero: no timer is set
	cancelTimer func()    // cancels the timer

	activities
}

// New returns the world of a run in the workflow of ctx. When the workflow is cancelled, why returns the reason.
func New(ctx workflow.Context, l Limits, why func() error) *World {
	detached, _ := workflow.NewDisconnectedContext(ctx)
	w := &World{ctx: ctx, detached: detached, pause: workflow.NewChannel(ctx)}
	w.activities.limits = l
	workflow.GoNamed(detached, "pause", func(ctx workflow.Context) {
		for w.pause.Receive(ctx, nil) {
		}
	})
	workflow.GoNamed(detached, "cancel", func(detached workflow.Context) {
		ctx.Done().Receive(detached, nil)
		w.Stop(why())
	})
	return w
}

// OnRest sets the function that is called each time that no branch can continue.
func (w *World) OnRest(f func()) { w.onRest = f }

// Idle reports whether no activity is under way.
func (w *World) Idle() bool { return w.underway == 0 }

// Stop ends the run with a reason. The first reason stays.
func (w *World) Stop(why error) {
	if w.stopReason == nil {
		w.stopReason = why
	}
	w.Wake()
}

// Go runs f on a coroutine that is never cancelled. The channel is closed when f calls done, or at the latest when
// f returns.
func (w *World) Go(name string, f func(detached workflow.Context, done func())) (ended <-chan struct{}) {
	closed := make(chan struct{})
	done := sync.OnceFunc(func() {
		close(closed)
		w.Wake()
	})
	workflow.GoNamed(w.detached, name, func(detached workflow.Context) {
		f(detached, done)
		done()
	})
	return closed
}

// Await waits, on the coroutine of the workflow itself, until f reports true. Nothing of the run may be under way.
func (w *World) Await(f func() bool) {
	_ = workflow.Await(w.detached, f) // never cancelled
}

// Wake makes the branches of the run check whether they can continue.
func (w *World) Wake() { w.woken = true }

// Now implements [sched.World].
func (w *World) Now() time.Time { return workflow.Now(w.detached) }

// Err implements [sched.World].
func (w *World) Err() error { return w.stopReason }

// Rest implements [sched.World].
func (w *World) Rest(due time.Time) {
	if w.onRest != nil {
		w.onRest()
	}
	w.setTimer(due)
	_ = workflow.Await(w.detached, func() bool { return w.woken }) // never cancelled
	w.woken = false
	if w.taskFailure != nil {
		panic(w.taskFailure)
	}
	w.checkHistory()
}

// FailTask fails the workflow task, so that the server retries it. It is for what may be reachable later, and for a
// panic of the client library when the history does not match. The branch waits until the task has failed.
func (w *World) FailTask(ctx context.Context, why any) error {
	if w.taskFailure == nil {
		w.taskFailure = why
	}
	w.Wake()
	return clock.Await(ctx, nil)
}

// Pause implements [sched.World]. The dispatcher of workflows takes a coroutine that computes for a second for a
// deadlock; a pause prevents that, and adds no event. A run that has computed for too long continues as new, in a
// history whose tasks may take longer. The number of pauses depends only on the script and the history, unlike the time
// that the computation takes on a machine.
func (w *World) Pause() {
	w.pauses++
	if !w.PausesExhausted() {
		w.pause.Send(w.detached, nil)
		return
	}
	w.draining = true
	_ = workflow.Await(w.detached, func() bool { return w.pending == 0 || w.stopReason != nil || w.taskFailure != nil }) // never cancelled
	if w.taskFailure != nil {
		panic(w.taskFailure)
	}
	w.Stop(ErrContinueAsNew)
}

// PausesExhausted reports whether the run has computed for as long as it may in one history.
func (w *World) PausesExhausted() bool { return w.limits.Pauses > 0 && w.pauses > w.limits.Pauses }

// setTimer sets a timer that fires when something is due, or earlier. One timer serves everything that is due: one that
// fires too early costs less than one that is cancelled.
func (w *World) setTimer(due time.Time) {
	if due.IsZero() || !w.due.IsZero() && !due.Before(w.due) {
		return
	}
	if w.cancelTimer != nil {
		w.cancelTimer()
	}
	ctx, cancel := workflow.WithCancel(w.detached)
	w.due, w.cancelTimer = due, cancel
	timer := workflow.NewTimer(ctx, max(due.Sub(w.Now()), 0))
	workflow.GoNamed(w.detached, "timer", func(detached workflow.Context) {
		if timer.Get(detached, nil) != nil {
			return // another timer is set
		}
		w.due, w.cancelTimer = time.Time{}, nil
		w.Wake()
	})
}
