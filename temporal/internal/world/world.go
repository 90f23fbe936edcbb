// Package world has a run happen inside of a Temporal workflow: what its branches wait for are the workflow's own timers,
// signals and activities, so that a replay of the history makes the same run.
package world

import (
	"context"
	"sync"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/agentscript/agentscript/engine/clock"
)

// World is that of one run, on the coroutine of its workflow. Branches of the run are coroutines of that one goroutine,
// so that nothing here is locked.
type World struct {
	ctx      workflow.Context // of the workflow
	free     workflow.Context // that nobody cancels
	pause    workflow.Channel
	happened bool
	why      error // the run is to stop
	resting  func()
	broken   any // the task is to fail
	pauses   int

	due    time.Time // when the timer fires; zero: there is none
	disarm func()    // ends the timer

	activities
}

// New returns the world of a run in the workflow of ctx. When the workflow is cancelled, why says for what reason.
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

// OnRest has f called each time that no branch can go on.
func (w *World) OnRest(f func()) { w.resting = f }

// Idle reports whether no activity is under way.
func (w *World) Idle() bool { return w.underway == 0 }

// Stop ends the run for a reason. The first one stays.
func (w *World) Stop(why error) {
	if w.why == nil {
		w.why = why
	}
	w.Happened()
}

// Beside runs f on a coroutine that nobody cancels. Branches can wait until it has called done, at the latest when it ends.
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

// Await waits, on the coroutine of the workflow itself, until f reports true. Nothing of the run may be under way any more.
func (w *World) Await(f func() bool) {
	_ = workflow.Await(w.free, f) // nobody cancels it
}

// Happened has the branches of the run look whether they can go on.
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
	_ = workflow.Await(w.free, func() bool { return w.happened }) // nobody cancels it
	w.happened = false
	if w.broken != nil {
		panic(w.broken)
	}
	w.rested()
}

// Break has the task of the workflow fail, so that the server has it tried again: for what may be reached later, and for
// a panic of the client library, to which the history is another one. The branch waits until then.
func (w *World) Break(ctx context.Context, why any) error {
	if w.broken == nil {
		w.broken = why
	}
	w.Happened()
	return clock.Await(ctx, nil)
}

// Pause implements [sched.World]: the dispatcher of workflows takes a coroutine that computes for a second for one that
// hangs. It makes no event. A run that has computed for long goes on in a new history, in which a task may take longer: how
// often it pauses follows from the script and the history alone, unlike the time that it takes on some machine.
func (w *World) Pause() {
	w.pauses++
	if !w.Tired() {
		w.pause.Send(w.free, nil)
		return
	}
	w.ending = true
	_ = workflow.Await(w.free, func() bool { return w.pending == 0 || w.why != nil || w.broken != nil }) // nobody cancels it
	if w.broken != nil {
		panic(w.broken)
	}
	w.Stop(ErrAgain)
}

// Tired reports whether the run has computed for as long as it may in one history.
func (w *World) Tired() bool { return w.limits.Pauses > 0 && w.pauses > w.limits.Pauses }

// arm has a timer fire when something is due, or before. One timer is kept for all that is due: one that fires too early
// costs less than one that is taken back.
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
			return // another one is set
		}
		w.due, w.disarm = time.Time{}, nil
		w.Happened()
	})
}
