// Package quiet counts the active branches of a run. It detects when the whole run waits for answers from outside, so
// that its process may end. It also stops the clock of the time limits of a run, or of a part of it, while all of it
// waits.
package quiet

import (
	"sync"
	"time"

	"github.com/agentscript/agentscript/engine"
)

// Watch counts the active branches of one run: those that compute, sleep or are in an effect. When none is active and
// some branch is parked, the run is over for now: every branch that is parked then, or parks later, returns without its
// answer.
type Watch struct {
	mu     sync.Mutex
	active int // active branches, including those that a scheduler may still begin
	parked int
	over   bool
	stays  bool // its process does not end while it waits for answers

	whole part // the time of the run
	begun time.Time
}

// Around returns a scheduler for a run whose branches are counted. All branches must use it. A run that stays waits for
// answers in its process.
func Around(s engine.Sched, stays bool) engine.Sched {
	w := &Watch{active: 1, stays: stays, begun: s.Now()} // the branch that starts the run
	w.whole.working = 1
	return &counted{s, w, &w.whole}
}

// Of returns the watch of the run that uses a scheduler, nil for a run without one.
func Of(s engine.Sched) *Watch {
	if c, ok := s.(*counted); ok {
		return c.w
	}
	return nil
}

// Park parks a branch of the run until ready reports true, or the whole run waits. It returns the last result of ready.
func (w *Watch) Park(s engine.Sched, ready func() bool) (bool, error) {
	own := s.(*counted)
	w.mu.Lock()
	w.parked++
	w.mu.Unlock()
	own.leave()
	answered := false
	err := own.Sched.Wait(func() bool {
		answered = ready()
		return answered || w.isOver()
	})
	w.mu.Lock()
	w.parked--
	own.goes(1)
	w.mu.Unlock()
	return answered, err
}

func (w *Watch) isOver() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over
}

// goes adds n to the active branches, here and in all surrounding parts. The caller holds the lock.
func (c *counted) goes(n int) {
	c.w.active += n
	c.works(n)
}

func (c *counted) enter() {
	c.w.mu.Lock()
	c.goes(1)
	c.w.mu.Unlock()
}

// leave marks a branch as inactive for now.
func (c *counted) leave() {
	w := c.w
	w.mu.Lock()
	c.goes(-1)
	over := w.active == 0 && w.parked > 0 && !w.over && !w.stays
	w.over = w.over || over
	w.mu.Unlock()
	if over {
		c.Sched.Wake()
	}
}

// counted is a scheduler whose branches are counted.
type counted struct {
	engine.Sched
	w  *Watch
	in *part // the innermost part whose time is limited
}

// Par implements [engine.Sched].
func (c *counted) Par(n, limit int, body func(i int, s engine.Sched) error) error {
	g := c.fan(n, limit)
	defer g.joined()
	return c.Sched.Par(n, limit, func(i int, s engine.Sched) error {
		g.begin()
		own := &counted{s, c.w, c.in}
		defer g.end(own)
		return body(i, own)
	})
}

// First implements [engine.Sched].
func (c *counted) First(n int, body func(i int, s engine.Sched) (bool, error)) (int, error) {
	g := c.fan(n, 0)
	defer g.joined()
	return c.Sched.First(n, func(i int, s engine.Sched) (bool, error) {
		g.begin()
		own := &counted{s, c.w, c.in}
		defer g.end(own)
		return body(i, own)
	})
}

// Within implements [engine.Sched].
func (c *counted) Within(d time.Duration, late error, body func(s engine.Sched) error) error {
	return c.Sched.Within(d, late, func(s engine.Sched) error { return body(&counted{s, c.w, c.in}) })
}

// Wait implements [engine.Sched]. What a branch waits for here comes from other branches.
func (c *counted) Wait(ready func() bool) error {
	c.leave()
	defer c.enter()
	return c.Sched.Wait(ready)
}

// fan is a number of bodies that run concurrently or, beyond a limit, one after the other. The branch that runs them
// counts as active until as many have begun as may run concurrently. When a body ends, its count is kept for a body
// that has not begun, and the count of the last one for the branch that runs them. So nothing counts as waiting while a
// scheduler can still continue.
type fan struct {
	of        *counted
	all       int
	atOnce    int // bodies that the scheduler begins without waiting for one to end
	begun     int
	ended     int
	kept      int  // counts of bodies that have ended
	uncounted bool // the branch that runs the bodies
}

func (c *counted) fan(n, limit int) *fan {
	if limit <= 0 || limit > n {
		limit = n
	}
	return &fan{of: c, all: n, atOnce: limit}
}

func (f *fan) begin() {
	w := f.of.w
	w.mu.Lock()
	if f.kept > 0 {
		f.kept--
	} else {
		f.of.goes(1)
	}
	f.begun++
	release := f.begun == f.atOnce && !f.uncounted
	f.uncounted = f.uncounted || release
	w.mu.Unlock()
	if release {
		f.of.leave()
	}
}

func (f *fan) end(s *counted) {
	w := f.of.w
	w.mu.Lock()
	f.ended++
	keep := f.ended == f.begun || f.begun+f.kept < f.all && s.Err() == nil
	if keep {
		f.kept++
	}
	w.mu.Unlock()
	if !keep {
		s.leave()
	}
}

// joined makes the branch that ran the bodies active again.
func (f *fan) joined() {
	w := f.of.w
	w.mu.Lock()
	defer w.mu.Unlock()
	n := -f.kept
	if f.uncounted {
		n++
	}
	f.of.goes(n)
}
