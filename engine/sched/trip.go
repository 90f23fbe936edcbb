package sched

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/clock"
)

// trip is an effect whose handler runs on its own goroutine. The handler's tokens and outcome reach the branch as
// mail, one letter at a time, while no effect that is earlier in written order is in flight. So the run does not
// depend on which handler is faster.
type trip struct {
	o    *outside
	task *coopTask
	over bool // the outcome was delivered
	gone chan struct{}

	mu    sync.Mutex
	mail  []func()  // to be run on the branch
	waits []*atRest // waits of the handler's goroutines for the clock
}

// atRest is a handler's wait for the run's clock. During the wait, its effect does not keep time from passing.
type atRest struct {
	ctx  context.Context
	done <-chan struct{}
	ends chan struct{}
}

func (w *atRest) ended() bool { return w.ctx.Err() != nil || closed(w.done) }

func closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// abroad is the clock of handlers on their own goroutines. They may wait on any of them.
type abroad struct{ *coop }

// Usable makes package clock accept every wait.
func (abroad) Usable() error { return nil }

// travel runs a handler on its own goroutine and delivers its outcome in turn. A branch that was cancelled by then
// does not get the outcome, however fast the handler was.
func (s *coopSched) travel(h engine.Handler, e *engine.Effect, sink engine.Sink, abandon bool) (out engine.Outcome) {
	o := s.c.real
	t := &trip{o: o, task: s.task, gone: make(chan struct{})}
	ctx, cancel := context.WithCancelCause(clock.With(o.ctx, abroad{o.coop}, t.await))
	defer cancel(nil)
	defer s.c.onCancel(&coopWatch{scope: s.scope, inside: true, f: func() {
		cancel(s.Err())
		t.post(func() {})
	}})()
	if sink != nil {
		inner := sink
		sink = func(k engine.Token) { t.post(func() { inner(k) }) }
	}
	if e.Timeout > 0 && s.scope.late != nil {
		late := time.AfterFunc(e.Timeout, func() { t.post(func() { o.cancel(s.scope, s.scope.late) }) })
		defer late.Stop()
	}
	at, _ := slices.BinarySearchFunc(o.trips, t, func(a, b *trip) int {
		if a.task.before(b.task) {
			return -1
		}
		return 1
	})
	o.trips = slices.Insert(o.trips, at, t)
	defer func() {
		o.trips = slices.DeleteFunc(o.trips, func(other *trip) bool { return other == t })
		close(t.gone)
		s.c.ask()
	}()
	go t.run(ctx, h, e, sink, &out)
	tired, waiting := false, false
	for !t.over {
		if abandon && !waiting && s.Err() != nil {
			waiting = true
			late := time.AfterFunc(abandonAfter, func() { t.post(func() { tired = true }) })
			defer late.Stop()
		}
		s.park()
		t.open()
		if tired && !t.over {
			if e.Abandon() {
				return engine.Outcome{}
			}
			tired = false // the handler has returned by now, and its outcome is being recorded
		}
	}
	if why := s.Err(); why != nil {
		return engine.Outcome{Err: engine.AsError(why), Usage: out.Usage, Attempt: out.Attempt}
	}
	return out
}

// run runs on the goroutine of the handler.
func (t *trip) run(ctx context.Context, h engine.Handler, e *engine.Effect, sink engine.Sink, to *engine.Outcome) {
	returned := false
	var out engine.Outcome
	defer func() {
		if !returned {
			out = engine.Failed(engine.AsError(Ended(recover())))
		}
		t.post(func() { *to, t.over = out, true })
	}()
	out = h.Do(ctx, e, sink)
	returned = true
}

// post adds a letter.
func (t *trip) post(letter func()) {
	t.mu.Lock()
	t.mail = append(t.mail, letter)
	t.mu.Unlock()
	t.o.poke()
}

// open runs the first letter, on the branch.
func (t *trip) open() {
	t.mu.Lock()
	var letter func()
	if len(t.mail) > 0 {
		letter, t.mail = t.mail[0], t.mail[1:]
	}
	t.mu.Unlock()
	if letter != nil {
		letter()
	}
}

// await implements [clock.Await] on a goroutine of the handler.
func (t *trip) await(ctx context.Context, done <-chan struct{}) error {
	w := &atRest{ctx, done, make(chan struct{})}
	t.post(func() {
		t.mu.Lock()
		t.waits = append(t.waits, w)
		t.mu.Unlock()
	})
	select {
	case <-w.ends:
	case <-t.gone:
	case <-done:
	case <-ctx.Done():
	}
	t.o.poke() // done may be closed by something unknown to the driver
	select {
	case <-w.ends:
	case <-t.gone:
	}
	if closed(done) {
		return nil
	}
	return ctx.Err()
}

// mailed reports whether there is a letter, and whether the effect is in flight: it is not while it only waits
// for the clock.
func (t *trip) mailed() (letter, flying bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waits = slices.DeleteFunc(t.waits, func(w *atRest) bool {
		ended := w.ended()
		if ended {
			close(w.ends)
		}
		return ended
	})
	letter = len(t.mail) > 0
	return letter, letter || len(t.waits) == 0
}

// arrive resumes the branch of the first effect in flight, once it has mail. It reports false if no effect is
// in flight.
func (o *outside) arrive() bool {
	for {
		var next *trip
		for _, t := range o.trips {
			letter, flying := t.mailed()
			if letter {
				o.goOn(t.task)
				return true
			}
			if flying {
				next = t
				break
			}
		}
		if next == nil {
			return false
		}
		if o.root.why == nil && o.stopped() {
			return true // the driver notices and returns here
		}
		<-o.signal
	}
}

// reason returns why a context has ended, in the form in which branches report it, or nil if it has not ended.
func reason(ctx context.Context) error { return (&goSched{ctx: ctx}).Err() }
