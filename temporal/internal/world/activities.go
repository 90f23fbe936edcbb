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

// Limits bound what a run has under way.
type Limits struct {
	AtOnce int `json:"atOnce"` // activities; the server takes 2,000
	Bytes  int `json:"bytes"`  // of what is sent for them in one task; the server takes 4 MB
	Events int `json:"events"` // of the history, after which the run goes on in a new one
	Size   int `json:"size"`   // of the history in bytes, likewise
	Pauses int `json:"pauses"` // in computing, of all tasks of a history, likewise: a replay computes all in one task; 0 is any number
}

// activities are those of a run that are under way, and the branches that wait until one more may be.
type activities struct {
	limits   Limits
	underway int
	pending  int // of those under way, what the server has not answered yet
	queue    []*waiting
	bytes    int // sent in this task
	task     int // the length of the history at its beginning
	ending   bool
}

// waiting is a branch that waits for the turn of its activity.
type waiting struct {
	size int
	turn chan struct{} // closed when it has come: from then on the activity counts
}

// ErrAgain ends a run that goes on in a new history.
var ErrAgain error = &engine.Control{Why: "the run goes on in a new history"}

// Activity is one that a run has carried out.
type Activity struct {
	Name    string
	Options workflow.ActivityOptions
	Size    int              // bytes that are sent for it
	On      workflow.Context // of the worker that it stays on; nil: any
	Begins  func()           // is called when its turn has come
}

// Do carries out an activity and waits for its result, on the branch whose handler has ctx. It is cancelled when the branch
// is to stop.
func (w *World) Do(ctx context.Context, a Activity, in, out any) (failed error) {
	if err := w.turn(ctx, a.Size); err != nil {
		return err
	}
	a.Begins()
	defer w.ended()
	defer func() {
		if p := recover(); p != nil { // handlers of runs must not panic, and the library does
			failed = w.Break(ctx, p)
		}
	}()
	if a.On == nil {
		a.On = w.free
	}
	own, cancel := workflow.WithCancel(workflow.WithActivityOptions(a.On, a.Options))
	future := workflow.ExecuteActivity(own, a.Name, in)
	w.pending++
	done := w.Beside("activity", func(free workflow.Context, _ func()) {
		failed = future.Get(free, out)
		w.pending--
	})
	if err := clock.Await(ctx, done); err != nil {
		cancel()
		return err
	}
	return failed
}

// turn waits until one more activity may be under way. Those that wait go on in the order in which they came: a small one does not
// overtake a large one that has no room in this task.
func (w *World) turn(ctx context.Context, size int) error {
	mine := &waiting{size, make(chan struct{})}
	w.queue = append(w.queue, mine)
	w.admit()
	if slices.Contains(w.queue, mine) {
		if err := clock.Await(ctx, mine.turn); err != nil {
			w.leave(mine)
			return err
		}
	}
	if w.why != nil { // its turn came as the run was to stop: nothing begins any more
		w.ended()
		return clock.Await(ctx, nil)
	}
	return nil
}

// leave takes back what waits for its turn, or has had it as its branch was to stop.
func (w *World) leave(mine *waiting) {
	at := slices.Index(w.queue, mine)
	if at < 0 {
		w.ended()
		return
	}
	w.queue = slices.Delete(w.queue, at, at+1)
	w.admit()
}

// admit has the first of those that wait begin, as many as there is room for.
func (w *World) admit() {
	for len(w.queue) > 0 && !w.ending && w.underway < w.limits.AtOnce {
		first := w.queue[0]
		if w.bytes > 0 && w.bytes+first.size > w.limits.Bytes {
			w.arm(w.Now().Add(time.Millisecond)) // for another task
			return
		}
		w.queue = w.queue[1:]
		w.underway++
		w.bytes += first.size
		close(first.turn)
	}
}

func (w *World) ended() {
	w.underway--
	w.admit()
	if w.ending {
		w.End()
	}
}

// rested looks how far the history is.
func (w *World) rested() {
	info := workflow.GetInfo(w.ctx)
	length := info.GetCurrentHistoryLength()
	if length != w.task {
		w.task, w.bytes = length, 0
		w.admit()
	}
	if length >= w.limits.Events || info.GetCurrentHistorySize() >= w.limits.Size {
		w.End()
	}
}

// End has the run go on in a new history, once what is under way has ended. Nothing new begins until then.
func (w *World) End() {
	w.ending = true
	if w.underway == 0 {
		w.Stop(ErrAgain)
	}
}

// Lost reports whether nobody knows what came of an activity: its worker was lost, or it took too long.
func Lost(err error) bool {
	var timeout *temporal.TimeoutError
	return errors.As(err, &timeout)
}
