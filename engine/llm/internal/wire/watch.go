package wire

import (
	"context"
	"io"
	"time"
)

// afterEnd is how long the end of a stream is awaited after its answer is complete.
const afterEnd = time.Second

// stall is the cause of a call that the watch ended.
type stall struct {
	what  string
	after time.Duration
	help  string
}

func (s *stall) Error() string { return s.what + " within " + s.after.String() }
func (s *stall) Timeout() bool { return true }

// watch ends a call that waits too long. It only runs while the server is waited for, not while received data is
// decoded or passed on. One goroutine uses it; the timers only cancel.
type watch struct {
	cancel context.CancelCauseFunc
	body   io.Reader

	timer   *time.Timer
	idle    time.Duration
	started bool // the first byte has arrived
}

func newWatch(ctx context.Context, p *Plan) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watch{cancel: cancel, idle: p.Idle}
	if p.FirstByte > 0 {
		cause := &stall{"no answer began", p.FirstByte, "try again, or allow more time before an answer begins"}
		w.timer = time.AfterFunc(p.FirstByte, func() { cancel(cause) })
	}
	return ctx, w
}

// Read reads the answer's body under the timers.
func (w *watch) Read(p []byte) (int, error) {
	if w.started {
		w.arm()
	}
	n, err := w.body.Read(p)
	if n > 0 {
		w.started = true
	}
	if w.started {
		w.disarm()
	}
	return n, err
}

func (w *watch) arm() {
	if w.idle <= 0 {
		return
	}
	cause := &stall{"the answer stopped midway and did not continue", w.idle, "try again, or allow more time between the pieces of an answer"}
	w.timer = time.AfterFunc(w.idle, func() { w.cancel(cause) })
}

func (w *watch) disarm() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

// linger shortens the wait for what follows a complete answer.
func (w *watch) linger() {
	if w.idle <= 0 || w.idle > afterEnd {
		w.idle = afterEnd
	}
}

func (w *watch) stop() {
	w.disarm()
	w.cancel(nil)
}
