package sched

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/clock"
)

// abandonAfter is how long an effect may continue after its branch must stop.
const abandonAfter = time.Second

// NewGoSched returns the scheduler for real runs: one goroutine per branch. Cancelling ctx
// cancels the run and every effect in flight.
func NewGoSched(ctx context.Context) engine.Sched {
	return &goSched{ctx: clock.OnMachineTime(ctx), waiters: &waiters{}}
}

// NewClocked is [NewGoSched] with a clock other than the machine's: sleeps and time limits use that clock, and
// handlers find it in their contexts. Deadlines of contexts still use the machine's clock.
func NewClocked(ctx context.Context, c clock.Clock) engine.Sched {
	await := func(ctx context.Context, done <-chan struct{}) error {
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return &goSched{ctx: clock.With(ctx, c, await), waiters: &waiters{}}
}

// goSched is shared by all branches under one context: it holds no state of a branch.
type goSched struct {
	ctx     context.Context
	waiters *waiters
}

// waiters are the branches of a run parked in Wait.
type waiters struct {
	mu      sync.Mutex
	changed chan struct{} // closed by Wake; nil if nobody waits
}

// clock returns the host's clock, or nil if it is the machine's. A parked run holds no field for it.
func (s *goSched) clock() clock.Clock {
	if c := clock.Of(s.ctx); c != (clock.Machine{}) {
		return c
	}
	return nil
}

func (s *goSched) under(ctx context.Context) *goSched { return &goSched{ctx, s.waiters} }

func (s *goSched) Par(n, limit int, body func(i int, s engine.Sched) error) error {
	if n == 0 {
		return s.Err()
	}
	if n == 1 { // nothing to cancel and nobody to wait for
		return body(0, s)
	}
	return s.several(n, limit, body)
}

// several is Par for more than one body. It is not inlined, so that a parked run does not hold its frame.
//
//go:noinline
func (s *goSched) several(n, limit int, body func(i int, s engine.Sched) error) error {
	if limit <= 0 || limit > n {
		limit = n
	}
	ctx, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	c := &crew{n: n, limit: int64(limit), body: body, sched: s.under(ctx), errs: newFirstError(n), cancel: cancel}
	c.hire()
	c.done.Wait()
	if err := c.errs.lowest(); err != nil {
		return err
	}
	return s.Err() // branches that were never started because the run was cancelled
}

// crew are the goroutines of one Par. A goroutine that takes an index hires another one, unless one is already on its
// way or the crew is complete. So the next index is taken however long a body blocks, and bodies that do not block
// share few goroutines.
type crew struct {
	n      int
	limit  int64
	body   func(i int, s engine.Sched) error
	sched  *goSched
	errs   *firstError
	cancel context.CancelCauseFunc

	next  atomic.Int64 // the index that is taken next
	hired atomic.Int64
	spare atomic.Bool // one was hired and has not taken its first index
	done  sync.WaitGroup
}

func (c *crew) hire() {
	if c.hired.Load() >= c.limit || !c.spare.CompareAndSwap(false, true) {
		return
	}
	if c.hired.Load() >= c.limit { // the crew was completed since the first check
		c.spare.Store(false)
		return
	}
	c.hired.Add(1)
	c.done.Add(1)
	go c.work()
}

func (c *crew) work() {
	running := -1
	defer c.done.Done()
	defer func() {
		if running >= 0 { // set only if the body did not return
			c.errs.add(running, Ended(recover()))
			c.cancel(ErrSibling)
		}
	}()
	for first := true; ; first = false {
		i := int(c.next.Add(1)) - 1
		if first {
			c.spare.Store(false)
		}
		if i >= c.n || c.sched.ctx.Err() != nil {
			return
		}
		if i+1 < c.n {
			c.hire()
		}
		running = i
		if err := c.body(i, c.sched); err != nil {
			c.errs.add(i, err)
			c.cancel(ErrSibling)
		}
		running = -1
	}
}

func (s *goSched) First(n int, body func(i int, s engine.Sched) (bool, error)) (int, error) {
	ctx, cancel := context.WithCancelCause(s.ctx)
	defer cancel(nil)
	child := s.under(ctx)
	r := newRace(n)
	var done sync.WaitGroup
	for i := range n {
		done.Go(func() {
			settled, err, returned := false, error(nil), false
			defer func() {
				if !returned {
					settled, err = true, Ended(recover())
				}
				if r.end(i, settled, err) {
					cancel(ErrSibling)
				}
			}()
			settled, err = body(i, child)
			returned = true
		})
	}
	done.Wait()
	return r.result(s)
}

func (s *goSched) Within(d time.Duration, late error, body func(s engine.Sched) error) error {
	if s.clock() != nil {
		return s.Timed(late, func(own engine.Sched, set func(time.Duration)) error {
			set(d)
			return body(own)
		})
	}
	ctx, cancel := context.WithTimeoutCause(s.ctx, d, late)
	defer cancel()
	return body(s.under(ctx))
}

func (s *goSched) Timed(late error, body func(s engine.Sched, set func(d time.Duration)) error) error {
	ctx, cancel := context.WithCancelCause(s.ctx)
	t := &timed{Context: ctx, clock: s.clock(), end: func() { cancel(late) }}
	defer func() {
		t.close()
		cancel(nil)
	}()
	return body(s.under(t), t.set)
}

func (s *goSched) Do(h engine.Handler, e *engine.Effect, sink engine.Sink) engine.Outcome {
	return h.Do(s.ctx, e, sink)
}

// DoOrAbandon needs a goroutine for each effect; Do does not.
func (s *goSched) DoOrAbandon(h engine.Handler, e *engine.Effect) engine.Outcome {
	done := make(chan engine.Outcome, 1)
	go func() {
		out := engine.Failed(engine.AsError(Ended(nil)))
		defer func() { done <- out }()
		out = h.Do(s.ctx, e, nil)
	}()
	select {
	case out := <-done:
		return out
	case <-s.ctx.Done():
	}
	late := time.NewTimer(abandonAfter)
	defer late.Stop()
	select {
	case out := <-done:
		return out
	case <-late.C:
		if e.Abandon() {
			return engine.Outcome{}
		}
		return <-done // the handler has returned by now, and its outcome is being recorded
	}
}

func (s *goSched) Wait(ready func() bool) error {
	for {
		s.waiters.mu.Lock()
		if s.waiters.changed == nil {
			s.waiters.changed = make(chan struct{})
		}
		changed := s.waiters.changed
		s.waiters.mu.Unlock()
		// Asked after the channel is in place: a Wake in between closes it.
		if ready() {
			return nil
		}
		select {
		case <-changed:
		case <-s.ctx.Done():
			return s.Err()
		}
	}
}

func (s *goSched) Wake() {
	s.waiters.mu.Lock()
	defer s.waiters.mu.Unlock()
	if s.waiters.changed != nil {
		close(s.waiters.changed)
		s.waiters.changed = nil
	}
}

// SleepUntil also checks the time of day now and then: timers stand still while a machine is suspended, and t may
// have been recorded by another process.
func (s *goSched) SleepUntil(t time.Time) error {
	if c := s.clock(); c != nil {
		return s.sleepBy(c, t)
	}
	const look = 30 * time.Second
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		now := time.Now()
		left := min(t.Sub(now), t.Round(0).Sub(now.Round(0))) // Round(0) strips the monotonic clock reading
		if left <= 0 || s.ctx.Err() != nil {
			return s.Err()
		}
		timer.Reset(min(left, look))
		select {
		case <-timer.C:
		case <-s.ctx.Done():
		}
	}
}

// sleepBy is SleepUntil with a clock of the host.
func (s *goSched) sleepBy(c clock.Clock, t time.Time) error {
	for {
		left := t.Sub(c.Now())
		if left <= 0 || s.ctx.Err() != nil {
			return s.Err()
		}
		if err := clock.Sleep(s.ctx, left); err != nil {
			return s.Err()
		}
	}
}

func (s *goSched) Now() time.Time {
	if c := s.clock(); c != nil {
		return c.Now()
	}
	return time.Now()
}

func (s *goSched) Yield() error { return s.Err() }

func (s *goSched) OnCancel(f func()) (stop func() bool) { return context.AfterFunc(s.ctx, f) }

func (s *goSched) Err() error {
	if s.ctx.Err() == nil {
		return nil
	}
	cause := context.Cause(s.ctx)
	if engine.IsControl(cause) {
		return cause
	}
	var e *engine.Error
	if errors.As(cause, &e) {
		return e
	}
	if errors.Is(cause, context.DeadlineExceeded) {
		return &engine.Error{Kind: engine.KindTimeout, Code: diag.Timeout, Message: "the run's deadline passed", Cause: cause,
			Help: "allow more time with --timeout, or find the slow step in the events"}
	}
	return &engine.Error{Kind: engine.KindCancelled, Code: diag.Cancelled, Message: "the run was cancelled", Cause: cause,
		Help: "what was recorded until then answers the next run"}
}
