// Package quiet counts the branches of a run that go on: it finds out when all of the run waits for answers from
// outside, so that its process may end, and has the time that bounds the run or a part of it stand still while all of it
// waits.
package quiet

import (
	"sync"
	"time"

	"github.com/agentscript/agentscript/engine"
)

// Watch counts the branches of one run that go on without an answer: those that compute, sleep or are in an effect.
// Once there are none, and some branch is parked, the run is over for now: every branch that is parked then, or parks
// later, returns without its answer.
type Watch struct {
	mu     sync.Mutex
	active int // branches that go on, and those of which a scheduler has not said yet whether they begin
	parked int
	over   bool
	stays  bool // its process does not end for want of answers

	whole part // the time of the run
	begun time.Time
}

// Around returns a scheduler for a run whose branches are counted. All of them must be on it. A run that stays waits for
// answers where it is.
func Around(s engine.Sched, stays bool) engine.Sched {
	w := &Watch{active: 1, stays: stays, begun: s.Now()} // whoever starts the run
	w.whole.working = 1
	return &counted{s, w, &w.whole}
}

// Of returns the watch of the run whose scheduler it is, nil of a run that has none.
func Of(s engine.Sched) *Watch {
	if c, ok := s.(*counted); ok {
		return c.w
	}
	return nil
}

// Park parks a branch of the run until ready reports true, or all of the run waits. It reports whether ready did.
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

// goes counts branches more, or fewer, that go on, here and in all that this is a part of. The caller holds the lock.
func (c *counted) goes(n int) {
	c.w.active += n
	c.works(n)
}

func (c *counted) enter() {
	c.w.mu.Lock()
	c.goes(1)
	c.w.mu.Unlock()
}

// leave says that a branch goes on no more, for now.
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
	in *part // the innermost one whose time is bounded
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

// fan is a number of bodies that run at once, or, beyond a limit, one after the other. Whoever runs them is counted until
// as many have begun as may at once. The count of a body that ends is kept for one that is still to begin, and that of
// the last for whoever runs them: so nothing is counted as waiting while a scheduler has something to go on with.
type fan struct {
	of        *counted
	all       int
	atOnce    int // that the scheduler begins without waiting for an end
	begun     int
	ended     int
	kept      int  // counts of bodies that have ended
	uncounted bool // whoever runs them
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

// joined has whoever ran the bodies go on.
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
