package world

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/clock"
)

// Limits bound the activities of a run and the length of its histories.
type Limits struct {
	AtOnce int `json:"atOnce"` // activities under way; the server accepts 2,000
	Bytes  int `json:"bytes"`  // sent for activities in one task; the server accepts 4 MB
	Events int `json:"events"` // of the history, after which the run continues as new
	Size   int `json:"size"`   // bytes of the history, likewise
	Pauses int `json:"pauses"` // while computing, in all tasks of a history, likewise: a replay computes all of it in one task; 0 is any number
}

// activities are the activities of a run that are under way, and the branches that wait to begin one.
type activities struct {
	limits    Limits
	underway  int
	pending   int // those under way that the server has not completed yet
	queue     []*waiter
	bytes     int // sent in this task
	taskStart int // the length of the history when it began
	draining  bool
}

// waiter is a branch that waits to begin its activity.
type waiter struct {
	size int
	turn chan struct{} // closed when its turn has come: from then on, the activity counts as under way
}

// ErrContinueAsNew is the error that ends a run to continue it as new.
var ErrContinueAsNew error = &engine.Control{Why: "the run continues in a new history"}

// Activity is an activity of a run.
type Activity struct {
	Name    string
	Options workflow.ActivityOptions
	Size    int              // bytes sent for it
	On      workflow.Context // for the worker that it stays on; nil: any worker
	Begins  func()           // called when its turn has come
}

// Do runs an activity and waits for its result, on the branch whose handler has ctx. It cancels the activity when the
// branch must stop.
func (w *World) Do(ctx context.Context, a Activity, in, out any) (failed error) {
	if err := w.turn(ctx, a.Size); err != nil {
		return err
	}
	a.Begins()
	defer w.activityEnded()
	defer func() {
		if p := recover(); p != nil { // handlers of runs must not panic, but the library does
			failed = w.FailTask(ctx, p)
		}
	}()
	if a.On == nil {
		a.On = w.detached
	}
	own, cancel := workflow.WithCancel(workflow.WithActivityOptions(a.On, a.Options))
	future := workflow.ExecuteActivity(own, a.Name, in)
	w.pending++
	done := w.Go("activity", func(detached workflow.Context, _ func()) {
		failed = future.Get(detached, out)
		w.pending--
	})
	if err := clock.Await(ctx, done); err != nil {
		cancel()
		return err
	}
	return failed
}

// turn waits until one more activity may begin. Branches continue in the order in which they came: a small activity
// does not overtake a large one that does not fit into this task.
func (w *World) turn(ctx context.Context, size int) error {
	mine := &waiter{size, make(chan struct{})}
	w.queue = append(w.queue, mine)
	w.admit()
	if slices.Contains(w.queue, mine) {
		if err := clock.Await(ctx, mine.turn); err != nil {
			w.withdraw(mine)
			return err
		}
	}
	if w.stopReason != nil { // the run stopped before its turn came: nothing begins any more
		w.activityEnded()
		return clock.Await(ctx, nil)
	}
	return nil
}

// withdraw withdraws a branch that waits for its turn, or whose turn came while it was stopping.
func (w *World) withdraw(mine *waiter) {
	at := slices.Index(w.queue, mine)
	if at < 0 {
		w.activityEnded()
		return
	}
	w.queue = slices.Delete(w.queue, at, at+1)
	w.admit()
}

// admit lets the first waiting branches begin, as many as there is room for.
func (w *World) admit() {
	for len(w.queue) > 0 && !w.draining && w.underway < w.limits.AtOnce {
		first := w.queue[0]
		if w.bytes > 0 && w.bytes+first.size > w.limits.Bytes {
			w.setTimer(w.Now().Add(time.Millisecond)) // begins another task
			return
		}
		w.queue = w.queue[1:]
		w.underway++
		w.bytes += first.size
		close(first.turn)
	}
}

func (w *World) activityEnded() {
	w.underway--
	w.admit()
	if w.draining {
		w.ContinueAsNew()
	}
}

// checkHistory checks the length of the history.
func (w *World) checkHistory() {
	info := workflow.GetInfo(w.ctx)
	length := info.GetCurrentHistoryLength()
	if length != w.taskStart {
		w.taskStart, w.bytes = length, 0
		w.admit()
	}
	if length >= w.limits.Events || info.GetCurrentHistorySize() >= w.limits.Size {
		w.ContinueAsNew()
	}
}

// ContinueAsNew continues the run as new, once everything under way has ended. Nothing begins until then.
func (w *World) ContinueAsNew() {
	w.draining = true
	if w.underway == 0 {
		w.Stop(ErrContinueAsNew)
	}
}

// Lost reports whether the result of an activity is unknown: its worker was lost, or it timed out.
func Lost(err error) bool {
	var timeout *temporal.TimeoutError
	return errors.As(err, &timeout)
}
