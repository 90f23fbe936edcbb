package sched

import (
	"container/heap"
	"sync"
	"time"
)

// coop is the state of one run on the cooperative scheduler: which branches are runnable or parked, and the
// pending alarms. A step costs the same however many branches there are.
type coop struct {
	rng      uint64
	runnable ordered[*coopTask] // in written order if there is no seed
	parked   []*coopTask        // waiting or sleeping; a cancellation ends either
	alive    int
	woken    bool
	awaiting int      // branches inside handlers that await something
	real     *outside // effects in flight in virtual time; nil if a seed or a world decides
	in       *inWorld // nil if it has none

	mu      sync.Mutex // guards what handlers and cancellation access from other goroutines
	now     time.Time
	alarms  ordered[*alarm]
	seq     int // of alarms: those due at the same time ring in the order they were set
	watches []*coopWatch
	last    []*lastly
}

// lastly is a function that a handler wants called once nothing else in the run can make progress.
type lastly struct {
	f func() // nil once called or stopped
}

// coopWatch is a callback for the cancellation of a scope.
type coopWatch struct {
	scope  *coopScope
	f      func()
	inside bool // only the driver may call it
	place  int  // index among the watches, -1 once called or removed
}

func (c *coop) onCancel(w *coopWatch) (stop func() bool) {
	w.place = -1
	c.mu.Lock()
	stopped := w.scope.err() != nil || c.real != nil && c.real.stopped()
	if !stopped {
		w.place = len(c.watches)
		c.watches = append(c.watches, w)
	}
	c.mu.Unlock()
	if stopped {
		w.f()
	}
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.unwatch(w)
	}
}

// unwatch reports whether w was still waiting. The caller holds the lock.
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
func (c *coop) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// AfterFunc implements [clock.Clock]. The driver calls f.
func (c *coop) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.set(c.now.Add(d))
	a.f = f
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		was := a.f != nil
		a.f, a.over = nil, true
		return was
	}
}

// AfterAll makes the driver call f once nothing else in the run can make progress. stop reports whether it
// prevented that. See [clock.Last].
func (c *coop) AfterAll(f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := &lastly{f}
	c.last = append(c.last, l)
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		was := l.f != nil
		l.f = nil
		return was
	}
}

// ask makes the driver check again whether branches inside handlers can continue.
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
	c.goOn(t)
}

// goOn makes a branch runnable.
func (c *coop) goOn(t *coopTask) {
	if c.seeded() {
		c.runnable = append(c.runnable, t)
		return
	}
	heap.Push(&c.runnable, t)
}

// seeded reports whether a seed decides which branch continues.
func (c *coop) seeded() bool { return c.real == nil && c.in == nil }

// choose removes a runnable branch: the first in written order, or one chosen by the seed.
func (c *coop) choose() *coopTask {
	if !c.seeded() {
		return heap.Pop(&c.runnable).(*coopTask)
	}
	i, last := c.random(len(c.runnable)), len(c.runnable)-1
	t := c.runnable[i]
	c.runnable[i] = c.runnable[last]
	c.runnable = c.runnable[:last]
	return t
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
	c.tell(func(w *coopWatch) bool { return w.scope.err() != nil })
}

// tell calls the watches of ended scopes.
func (c *coop) tell(ended func(*coopWatch) bool) {
	var told []func()
	c.mu.Lock()
	for i := 0; i < len(c.watches); {
		if w := c.watches[i]; ended(w) {
			c.unwatch(w) // another takes its place
			told = append(told, w.f)
		} else {
			i++
		}
	}
	c.mu.Unlock()
	for _, f := range told {
		f()
	}
}

// step lets one branch continue or, if none can, advances the clock. It reports false if there is nothing to wait
// for.
func (c *coop) step() bool {
	if c.real != nil {
		c.real.notice()
	}
	if c.in != nil {
		c.in.look(c)
	}
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
	switch {
	case len(c.runnable) > 0:
		c.choose().resume()
	case c.real != nil:
		return c.real.settle() || c.pass()
	case c.in != nil:
		return c.in.rest(c)
	default:
		return c.pass()
	}
	return true
}

// drive runs branches until done reports true. If they all wait for each other, it cancels them. However it ends, by
// a panic or because a handler left the goroutine, no branch is left behind.
func (c *coop) drive(scope *coopScope, done func() bool) {
	finished := false
	defer func() {
		if !finished {
			if c.in != nil {
				c.in.over = true
			}
			c.cancel(scope, errDeadlock())
			c.drain()
		}
	}()
	for !done() {
		if !c.step() {
			if scope.why != nil {
				break // what still waits ignores the cancellation
			}
			c.cancel(scope, errDeadlock())
		}
	}
	finished = true
}

// drain lets all branches end, even if some of them leave the goroutine.
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

// alarm is a time at which a branch wakes up, a scope ends, or the clock must stop.
type alarm struct {
	at    time.Time
	seq   int
	task  *coopTask
	nap   int
	scope *coopScope // for a time bound
	f     func()     // for a timer, nil once called
	over  bool       // the timer was stopped, or the bounded scope has ended
}

func (c *coop) alarm(at time.Time) *alarm {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.set(at)
}

// set is alarm for callers that hold the lock.
func (c *coop) set(at time.Time) *alarm {
	c.seq++
	a := &alarm{at: at, seq: c.seq}
	heap.Push(&c.alarms, a)
	return a
}

// pending reports whether an alarm still matters. The caller holds the lock.
func (a *alarm) pending() bool {
	if a.task != nil { // otherwise it was cancelled and has moved on
		return a.task.place >= 0 && a.task.naps == a.nap && a.task.ready == nil
	}
	return !a.over
}

// due removes and returns the next pending alarm and sets the clock to its time; nil if there is none, or none
// is due yet and pass is false.
func (c *coop) due(pass bool) (a *alarm, f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.alarms) > 0 && (pass || !c.alarms[0].at.After(c.now)) {
		a = heap.Pop(&c.alarms).(*alarm)
		if !a.pending() {
			continue
		}
		if a.at.After(c.now) {
			c.now = a.at
		}
		f, a.f = a.f, nil
		return a, f
	}
	return nil, nil
}

// ring executes an alarm.
func (c *coop) ring(a *alarm, f func()) {
	switch {
	case a.task != nil:
		c.release(a.task)
	case a.scope != nil:
		c.cancel(a.scope, a.scope.late)
	case f != nil:
		f()
		c.ask()
	}
}

// pass moves the clock to the next pending alarm. In written order everything due then happens at once, and
// the branches decide the outcome. It reports false if nothing is left to happen.
func (c *coop) pass() bool {
	if f := c.lastly(); f != nil {
		f()
		c.ask()
		return true
	}
	a, f := c.due(true)
	if a == nil {
		return false
	}
	c.ring(a, f)
	for c.real != nil {
		if a, f = c.due(false); a == nil {
			break
		}
		c.ring(a, f)
	}
	return true
}

// lastly returns the next function to call if only time bounds are left, nil if there is none.
func (c *coop) lastly() func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.last) > 0 && c.last[0].f == nil {
		c.last = c.last[1:]
	}
	if len(c.last) == 0 {
		return nil
	}
	for _, a := range c.alarms {
		if a.scope == nil && a.pending() {
			return nil
		}
	}
	f := c.last[0].f
	c.last[0].f, c.last = nil, c.last[1:]
	return f
}

// before reports whether an alarm rings before another.
func (a *alarm) before(b *alarm) bool {
	if a.at.Equal(b.at) {
		return a.seq < b.seq
	}
	return a.at.Before(b.at)
}

// earlier is the constraint on the items of a heap.
type earlier[T any] interface{ before(T) bool }

var _ earlier[*alarm] = (*alarm)(nil)

// ordered is a heap whose first item comes before all others.
type ordered[T earlier[T]] []T

func (o ordered[T]) Len() int           { return len(o) }
func (o ordered[T]) Less(i, j int) bool { return o[i].before(o[j]) }
func (o ordered[T]) Swap(i, j int)      { o[i], o[j] = o[j], o[i] }
func (o *ordered[T]) Push(x any)        { *o = append(*o, x.(T)) }

func (o *ordered[T]) Pop() any {
	old := *o
	last := len(old) - 1
	x := old[last]
	clear(old[last:])
	*o = old[:last]
	return x
}
