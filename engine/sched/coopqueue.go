package sched

import (
	"container/heap"
	"time"
)

// coop is the state of one run on the cooperative scheduler: which branches can go on, which
// are parked, and when the clock has something to do. Each step costs the same however many
// branches there are.
type coop struct {
	rng      uint64
	now      time.Time
	runnable []*coopTask
	parked   []*coopTask // waiting or sleeping; a cancellation ends either
	alarms   alarms
	seq      int // of alarms: those of one time ring in the order they were set
	alive    int
	woken    bool
	awaiting int // branches inside handlers that await something
	watches  []*coopWatch
}

// coopWatch is told of the cancellation of a scope.
type coopWatch struct {
	scope *coopScope
	f     func()
	place int // among the watches, -1 once it was told or ended
}

func (c *coop) onCancel(scope *coopScope, f func()) (stop func() bool) {
	w := &coopWatch{scope: scope, f: f, place: -1}
	if scope.err() != nil {
		f()
	} else {
		w.place = len(c.watches)
		c.watches = append(c.watches, w)
	}
	return func() bool { return c.unwatch(w) }
}

// unwatch reports whether w was still waiting.
func (c *coop) unwatch(w *coopWatch) bool {
	if w.place < 0 {
		return false
	}
	last := len(c.watches) - 1
	c.watches[w.place] = c.watches[last]
	c.watches[w.place].place = w.place
	c.watches[last] = nil
	c.watches = c.watches[:last]
	w.place = -1
	return true
}

// Now implements [clock.Clock].
func (c *coop) Now() time.Time { return c.now }

// AfterFunc implements [clock.Clock]. The driver calls f.
func (c *coop) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	a := c.alarm(c.now.Add(d))
	a.f = f
	return func() bool {
		was := a.f != nil
		a.f, a.over = nil, true
		return was
	}
}

// ask has the driver ask again what branches inside handlers await.
func (c *coop) ask() {
	if c.awaiting > 0 {
		c.woken = true
	}
}

func (c *coop) random(n int) int {
	// splitmix64: tiny, seedable and good enough to choose among branches.
	c.rng += 0x9e3779b97f4a7c15
	z := c.rng
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) % uint64(n))
}

// wait parks a branch until it is ready, its alarm rings, or scope is cancelled.
func (c *coop) wait(t *coopTask, scope *coopScope) {
	t.scope, t.place = scope, len(c.parked)
	c.parked = append(c.parked, t)
}

// release makes a parked branch runnable.
func (c *coop) release(t *coopTask) {
	last := len(c.parked) - 1
	c.parked[t.place] = c.parked[last]
	c.parked[t.place].place = t.place
	c.parked = c.parked[:last]
	t.place = -1
	c.runnable = append(c.runnable, t)
}

// cancel ends a scope, and the waits of all branches below it.
func (c *coop) cancel(scope *coopScope, why error) {
	if scope.why != nil {
		return
	}
	scope.why = why
	for i := 0; i < len(c.parked); {
		if t := c.parked[i]; t.scope.err() != nil {
			c.release(t) // another takes its place
		} else {
			i++
		}
	}
	var told []func()
	for i := 0; i < len(c.watches); {
		if w := c.watches[i]; w.scope.err() != nil {
			c.unwatch(w) // another takes its place
			told = append(told, w.f)
		} else {
			i++
		}
	}
	for _, f := range told {
		f()
	}
}

// step lets one branch go on or, when none can, the clock. It reports false when there is
// nothing to wait for.
func (c *coop) step() bool {
	if c.woken {
		c.woken = false
		for i := 0; i < len(c.parked); {
			if t := c.parked[i]; t.ready != nil && t.ready() {
				c.release(t)
			} else {
				i++
			}
		}
	}
	if len(c.runnable) == 0 {
		return c.ring()
	}
	i, last := c.random(len(c.runnable)), len(c.runnable)-1
	t := c.runnable[i]
	c.runnable[i] = c.runnable[last]
	c.runnable = c.runnable[:last]
	t.resume()
	return true
}

// drive runs branches until done. When they all wait for each other it cancels them. However
// it ends, by a panic or because a handler left the goroutine, no branch is left behind.
func (c *coop) drive(scope *coopScope, done func() bool) {
	finished := false
	defer func() {
		if !finished {
			c.cancel(scope, errDeadlock())
			c.drain()
		}
	}()
	for !done() {
		if !c.step() {
			if scope.why != nil {
				break // what still waits ignores that it is cancelled
			}
			c.cancel(scope, errDeadlock())
		}
	}
	finished = true
}

// drain lets all branches come to their end, also when others of them leave the goroutine.
func (c *coop) drain() {
	left := true
	defer func() {
		if left {
			c.drain()
		}
	}()
	for c.alive > 0 && c.step() {
	}
	left = false
}

// alarm is a time at which a branch wakes up, a scope ends, or the clock just has to be.
type alarm struct {
	at    time.Time
	seq   int
	task  *coopTask
	nap   int
	scope *coopScope
	late  error
	f     func() // of a timer, nil once it was called
	over  bool   // the timer was stopped
}

func (c *coop) alarm(at time.Time) *alarm {
	c.seq++
	a := &alarm{at: at, seq: c.seq}
	heap.Push(&c.alarms, a)
	return a
}

// ring moves the clock to the next alarm that still matters. It reports false when there is
// none.
func (c *coop) ring() bool {
	for len(c.alarms) > 0 {
		a := heap.Pop(&c.alarms).(*alarm)
		switch {
		case a.task != nil:
			if a.task.place < 0 || a.task.naps != a.nap || a.task.ready != nil {
				continue // it was cancelled, and does something else by now
			}
		case a.late != nil && a.scope == nil || a.over: // what it bounded is over
			continue
		}
		if a.at.After(c.now) {
			c.now = a.at
		}
		switch {
		case a.task != nil:
			c.release(a.task)
		case a.scope != nil:
			c.cancel(a.scope, a.late)
		case a.f != nil:
			f := a.f
			a.f = nil
			f()
			c.ask()
		}
		return true
	}
	return false
}

// alarms is a heap, the earliest on top.
type alarms []*alarm

func (a alarms) Len() int { return len(a) }

func (a alarms) Less(i, j int) bool {
	if a[i].at.Equal(a[j].at) {
		return a[i].seq < a[j].seq
	}
	return a[i].at.Before(a[j].at)
}

func (a alarms) Swap(i, j int) { a[i], a[j] = a[j], a[i] }

func (a *alarms) Push(x any) { *a = append(*a, x.(*alarm)) }

func (a *alarms) Pop() any {
	old := *a
	last := old[len(old)-1]
	*a = old[:len(old)-1]
	return last
}
