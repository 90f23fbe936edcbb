// Package sched provides the schedulers of the engine: on goroutines, in virtual time for deterministic runs, and a
// seeded cooperative one for tests.
package sched

import (
	"context"
	"iter"
	"runtime"
	"strings"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/clock"
)

// NewCoopSched returns a scheduler for tests. Branches are coroutines of one goroutine; one runs at a time, and a
// seeded generator decides at every effect and yield which one continues. Every seed is one reproducible
// interleaving. Effects run inline; time is virtual and passes only when no branch can continue. If all branches wait
// for each other, they are cancelled with an error of kind panic.
func NewCoopSched(seed uint64) engine.Sched {
	c := &coop{rng: seed, now: time.Unix(0, 0).UTC()}
	return &coopSched{c: c, scope: &coopScope{}}
}

// coopTask is one branch's coroutine. It is running, runnable, parked, or waiting for its own branches.
type coopTask struct {
	resume func() (struct{}, bool)
	yield  func(struct{}) bool
	scope  *coopScope  // its cancellation ends the wait
	ready  func() bool // of a task parked in Wait; nil if it sleeps
	place  int         // index among the parked tasks, -1 if it is not parked
	naps   int         // how often it has slept: distinguishes its alarms

	up    *coopTask // the task that waits for it; nil for the caller outside
	index int       // position among its siblings, in written order
	depth int
}

// coopScope is one Par, First or Within: its cancellation reaches all branches below it.
type coopScope struct {
	up   *coopScope
	why  error
	late error // of a Within: the reason when its time has passed
}

func (s *coopScope) err() error {
	for ; s != nil; s = s.up {
		if s.why != nil {
			return s.why
		}
	}
	return nil
}

// coopSched is a branch's handle.
type coopSched struct {
	c     *coop
	task  *coopTask // nil for the caller outside all branches, which drives them
	scope *coopScope
}

// coopJoin is a Par or First that waits until all its bodies have ended, whatever happens.
type coopJoin struct {
	left int
	task *coopTask // parked until nothing is left; nil for the caller outside
}

// spawn starts a branch. The driver calls end when the branch is over, however it ended.
func (s *coopSched) spawn(scope *coopScope, i int, body func(s engine.Sched), end func(failed error)) {
	c := s.c
	t := &coopTask{scope: scope, place: -1, up: s.task, index: i}
	if t.up != nil {
		t.depth = t.up.depth + 1
	}
	t.resume, _ = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		returned := false
		defer func() {
			c.alive--
			if returned {
				end(nil)
			} else {
				end(Ended(recover())) // after this, a Goexit continues on the driver's goroutine
			}
		}()
		body(&coopSched{c: c, task: t, scope: scope})
		returned = true
	})
	c.alive++
	c.goOn(t)
}

// park returns control to the driver until the branch is chosen again.
func (s *coopSched) park() { s.task.yield(struct{}{}) }

func (s *coopSched) join(j *coopJoin) {
	if s.task != nil {
		for j.left > 0 {
			j.task = s.task
			s.park()
		}
		return
	}
	s.c.drive(s.scope, func() bool { return j.left == 0 })
}

// end records that one body of a join is over.
func (c *coop) end(j *coopJoin) {
	if j.left--; j.left == 0 && j.task != nil {
		c.goOn(j.task)
	}
}

func (s *coopSched) Par(n, limit int, body func(i int, s engine.Sched) error) error {
	if limit <= 0 || limit > n {
		limit = n
	}
	scope := &coopScope{up: s.scope}
	errs := newFirstError(n)
	j := &coopJoin{left: n}
	next := 0
	var start func()
	start = func() {
		i := next
		next++
		var err error
		s.spawn(scope, i, func(b engine.Sched) { err = body(i, b) }, func(failed error) {
			if failed != nil {
				err = failed
			}
			if err != nil {
				errs.add(i, err)
				s.c.cancel(scope, ErrSibling)
			}
			for next < n && scope.err() != nil { // the remaining bodies are never started
				next++
				j.left--
			}
			if next < n {
				start()
			}
			s.c.end(j)
		})
	}
	for range limit {
		start()
	}
	s.join(j)
	if err := errs.lowest(); err != nil {
		return err
	}
	return s.Err()
}

func (s *coopSched) First(n int, body func(i int, s engine.Sched) (bool, error)) (int, error) {
	scope := &coopScope{up: s.scope}
	r := newRace(n)
	ended := r.end
	if s.c.real != nil {
		var leave func()
		ended, leave = s.contest(r, n, scope)
		defer leave()
	}
	j := &coopJoin{left: n}
	for i := range n {
		settled, err := false, error(nil)
		s.spawn(scope, i, func(b engine.Sched) { settled, err = body(i, b) }, func(failed error) {
			if failed != nil {
				settled, err = true, failed
			}
			if ended(i, settled, err) {
				s.c.cancel(scope, ErrSibling)
			}
			s.c.end(j)
		})
	}
	s.join(j)
	return r.result(s)
}

func (s *coopSched) Within(d time.Duration, late error, body func(s engine.Sched) error) error {
	scope := &coopScope{up: s.scope, late: late}
	a := s.c.alarm(s.c.now.Add(d))
	a.scope = scope
	defer func() { a.over = true }()
	return body(&coopSched{c: s.c, task: s.task, scope: scope})
}

func (s *coopSched) Timed(late error, body func(s engine.Sched, set func(d time.Duration)) error) error {
	scope := &coopScope{up: s.scope, late: late}
	var a *alarm
	ended := false
	set := func(d time.Duration) {
		if a != nil {
			a.over = true
		}
		if a = nil; d >= 0 && !ended {
			a = s.c.alarm(s.c.now.Add(d))
			a.scope = scope
		}
	}
	defer func() {
		set(-1)
		ended = true
	}()
	return body(&coopSched{c: s.c, task: s.task, scope: scope}, set)
}

func (s *coopSched) Do(h engine.Handler, e *engine.Effect, sink engine.Sink) engine.Outcome {
	if s.c.real != nil && s.task != nil {
		return s.inOrder(h, e, sink, false)
	}
	if err := s.turns(); err != nil {
		return engine.Failed(engine.AsError(err))
	}
	return s.inline(context.Background(), h, e, sink)
}

// turns yields before an effect if a seed decides the order of effects.
func (s *coopSched) turns() error {
	if s.c.in != nil {
		return s.Err()
	}
	return s.Yield()
}

// inline runs a handler on the goroutine of the branch.
func (s *coopSched) inline(ctx context.Context, h engine.Handler, e *engine.Effect, sink engine.Sink) engine.Outcome {
	ctx, cancel := context.WithCancelCause(clock.With(ctx, s.c, s.await))
	stop := s.c.onCancel(&coopWatch{scope: s.scope, inside: true, f: func() { cancel(s.Err()) }})
	defer func() {
		stop()
		cancel(nil)
		s.c.ask() // the handler may have unblocked others
	}()
	return h.Do(ctx, e, sink)
}

// await parks a branch inside a handler.
func (s *coopSched) await(ctx context.Context, done <-chan struct{}) error {
	s.c.ask()
	s.c.awaiting++
	defer func() { s.c.awaiting-- }()
	err := s.Wait(func() bool { return closed(done) || ctx.Err() != nil })
	if err == nil && !closed(done) {
		err = ctx.Err()
	}
	return err
}

// Usable makes package clock reject waits on a goroutine that is not the run's: parking it would block the
// handler.
func (c *coop) Usable() error {
	var pcs [64]uintptr
	for skip := 1; ; skip += len(pcs) {
		n := runtime.Callers(skip, pcs[:])
		frames := runtime.CallersFrames(pcs[:n])
		for more := n > 0; more; {
			var f runtime.Frame
			if f, more = frames.Next(); strings.HasSuffix(f.Function, ".(*coopSched).inline") {
				return nil
			}
		}
		if n < len(pcs) {
			return engine.Errorf(engine.KindPanic, diag.Panic, "a handler waits on another goroutine than its own, and time is virtual").
				WithHelp("call clock.Sleep and clock.Await on the goroutine that the handler was called on")
		}
	}
}

// DoOrAbandon waits for a handler that runs inline.
func (s *coopSched) DoOrAbandon(h engine.Handler, e *engine.Effect) engine.Outcome {
	if s.c.real != nil && s.task != nil {
		return s.inOrder(h, e, nil, true)
	}
	return s.Do(h, e, nil)
}

func (s *coopSched) Wait(ready func() bool) error {
	if s.task == nil {
		s.c.drive(s.scope, func() bool { return ready() || s.Err() != nil })
	}
	for !ready() {
		if err := s.Err(); err != nil {
			return err
		}
		s.task.ready = ready
		s.c.wait(s.task, s.scope)
		s.park()
	}
	return nil
}

// Wake makes the driver check the waiting branches before it chooses the next one.
func (s *coopSched) Wake() { s.c.woken = true }

func (s *coopSched) SleepUntil(t time.Time) error {
	if s.task == nil {
		s.c.alarm(t) // so that time can pass
		s.c.drive(s.scope, func() bool { return !t.After(s.c.now) || s.Err() != nil })
	}
	for t.After(s.c.now) && s.Err() == nil {
		s.task.naps++
		a := s.c.alarm(t)
		a.task, a.nap = s.task, s.task.naps
		s.task.ready = nil
		s.c.wait(s.task, s.scope)
		s.park()
	}
	return s.Err()
}

func (s *coopSched) Now() time.Time { return s.c.Now() }

func (s *coopSched) Yield() error {
	if s.c.in != nil {
		s.c.in.tired = true
	}
	if s.task != nil {
		s.c.goOn(s.task)
		s.park()
	}
	return s.Err()
}

func (s *coopSched) Err() error {
	if s.c.real == nil {
		return s.scope.err()
	}
	return s.c.real.err(s)
}

func (s *coopSched) OnCancel(f func()) (stop func() bool) {
	return s.c.onCancel(&coopWatch{scope: s.scope, f: f})
}

func errDeadlock() error {
	return engine.Errorf(engine.KindPanic, diag.Panic, "all branches wait for each other").
		WithHelp("this is a bug in the host's code or in the engine, not in the script")
}
