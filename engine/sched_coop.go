package engine

import (
	"context"
	"errors"
	"iter"
	"time"
)

// NewCoopSched returns a scheduler for tests: branches are coroutines of one goroutine, one
// runs at a time, and a seeded generator decides at every effect and yield which goes on.
// Every seed is one reproducible interleaving. Effects run inline; time is virtual and
// passes only when all branches sleep.
func NewCoopSched(seed uint64) Sched {
	c := &coop{rng: seed, now: time.Unix(0, 0).UTC()}
	return &coopSched{c: c, scope: &coopScope{}}
}

// coop is the state of one run.
type coop struct {
	rng   uint64
	now   time.Time
	tasks []*coopTask // alive, in order of creation
}

// coopTask is one branch's coroutine.
type coopTask struct {
	next    func() (struct{}, bool)
	stop    func()
	yield   func(struct{}) bool
	ready   func() bool // nil: can go on
	wakeAt  time.Time   // non-zero: asleep
	scope   *coopScope
	aborted bool
}

// coopScope is one Par or First: its cancellation reaches all branches below it.
type coopScope struct {
	up  *coopScope
	why error
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
	task  *coopTask // nil for the caller outside all branches
	scope *coopScope
}

var errDeadlock = errors.New("engine: all branches wait for each other")

func (c *coop) random(n int) int {
	// splitmix64: tiny, seedable and good enough to choose among branches.
	c.rng += 0x9e3779b97f4a7c15
	z := c.rng
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) % uint64(n))
}

func (c *coop) spawn(scope *coopScope, body func(s Sched)) {
	t := &coopTask{scope: scope}
	t.next, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		body(&coopSched{c: c, task: t, scope: scope})
	})
	c.tasks = append(c.tasks, t)
}

// step lets one runnable branch go on. It reports false when none can.
func (c *coop) step() bool {
	runnable := make([]int, 0, len(c.tasks))
	for {
		var soonest time.Time
		for i, t := range c.tasks {
			cancelled := t.scope.err() != nil
			switch {
			case !t.wakeAt.IsZero() && !cancelled && t.wakeAt.After(c.now):
				if soonest.IsZero() || t.wakeAt.Before(soonest) {
					soonest = t.wakeAt
				}
			case t.ready != nil && !cancelledWait(t, cancelled) && !t.ready():
			default:
				runnable = append(runnable, i)
			}
		}
		if len(runnable) > 0 {
			break
		}
		if soonest.IsZero() {
			return false
		}
		c.now = soonest
	}
	i := runnable[c.random(len(runnable))]
	t := c.tasks[i]
	if _, alive := t.next(); !alive {
		for j := range c.tasks { // the slice may have grown meanwhile
			if c.tasks[j] == t {
				c.tasks = append(c.tasks[:j], c.tasks[j+1:]...)
				break
			}
		}
	}
	return true
}

// A branch that joins its own children must wait for them even when it is cancelled.
func cancelledWait(t *coopTask, cancelled bool) bool { return cancelled && !t.aborted }

// park gives control back to the driver until the branch is chosen again.
func (s *coopSched) park() { s.task.yield(struct{}{}) }

// join waits until done, come what may: from inside a branch by parking it, from outside by
// driving the branches.
func (s *coopSched) join(done func() bool) {
	if s.task != nil {
		s.task.ready, s.task.aborted = done, true
		for !done() {
			s.park()
		}
		s.task.ready, s.task.aborted = nil, false
		return
	}
	for !done() {
		if !s.c.step() {
			s.scope.why = errDeadlock // lets every Wait end with the error
			if !s.c.step() {
				panic(errDeadlock)
			}
		}
	}
}

func (s *coopSched) Par(n, limit int, body func(i int, s Sched) error) error {
	if limit <= 0 || limit > n {
		limit = n
	}
	scope := &coopScope{up: s.scope}
	errs := newFirstError(n)
	started, ended := 0, 0
	var start func()
	start = func() {
		i := started
		started++
		s.c.spawn(scope, func(b Sched) {
			if err := body(i, b); err != nil {
				errs.add(i, err)
				if scope.why == nil {
					scope.why = errSibling
				}
			}
			ended++
			switch {
			case started < n && scope.err() == nil:
				start()
			case started < n:
				ended, started = ended+n-started, n
			}
		})
	}
	for range limit {
		start()
	}
	s.join(func() bool { return ended == n })
	if err := errs.lowest(); err != nil {
		return err
	}
	return s.Err()
}

func (s *coopSched) First(n int, body func(i int, s Sched) (bool, error)) (int, error) {
	scope := &coopScope{up: s.scope}
	winner, last, ended := -1, error(nil), 0
	for i := range n {
		s.c.spawn(scope, func(b Sched) {
			settled, err := body(i, b)
			switch {
			case winner >= 0:
			case settled:
				winner, last, scope.why = i, err, errSibling
			default:
				last = err
			}
			ended++
		})
	}
	s.join(func() bool { return ended == n })
	return winner, last
}

func (s *coopSched) Do(h Handler, e *Effect, sink Sink) Outcome {
	if err := s.Yield(); err != nil { // the order of effects is what the seed decides
		return Failed(asError(err))
	}
	return h.Do(context.Background(), e, sink)
}

func (s *coopSched) Wait(ready func() bool) error {
	s.task.ready = ready
	for !ready() && s.Err() == nil {
		s.park()
	}
	s.task.ready = nil
	return s.Err()
}

// Wake has nothing to do: the driver asks every waiting branch at every step.
func (s *coopSched) Wake() {}

func (s *coopSched) SleepUntil(t time.Time) error {
	s.task.wakeAt = t
	for s.Err() == nil && t.After(s.c.now) {
		s.park()
	}
	s.task.wakeAt = time.Time{}
	return s.Err()
}

func (s *coopSched) Now() time.Time { return s.c.now }

func (s *coopSched) Yield() error {
	if s.task != nil {
		s.park()
	}
	return s.Err()
}

func (s *coopSched) Err() error { return s.scope.err() }
