package sched

import (
	"container/heap"
	"time"

	"github.com/agentscript/agentscript/engine"
)

// World is the environment of a run on [NewIn], such as a durable workflow. It provides the time, and everything that
// branches wait for comes from it. Its methods are called on the goroutine that drives the run, one at a time.
type World interface {
	// Now returns the time.
	Now() time.Time

	// Rest is called when no branch can continue. It returns when something has happened for which a branch may be
	// waiting, or at the time due; a zero due means no such time.
	Rest(due time.Time)

	// Pause is called between stretches of computing, so that the goroutine does not appear to hang.
	Pause()

	// Err returns why the run must stop, or nil.
	Err() error
}

// NewIn returns a scheduler for a run in a world. Branches are coroutines of the goroutine that drives the run. One
// runs at a time, in an order that depends only on the world; if several can continue, the first in written order
// does. Handlers run inline and wait only with package clock.
func NewIn(w World) engine.Sched {
	root := &coopScope{}
	return &coopSched{c: &coop{now: w.Now(), in: &inWorld{World: w, root: root}}, scope: root}
}

// inWorld is the connection of a run to its world.
type inWorld struct {
	World
	root  *coopScope
	tired bool // a branch has been computing for some time
	over  bool // nothing is waited for any more
}

// look takes note of what the world reports.
func (w *inWorld) look(c *coop) {
	if w.tired {
		w.tired = false
		w.Pause()
	}
	if w.root.why == nil {
		if why := w.Err(); why != nil {
			c.cancel(w.root, why)
		}
	}
}

// rest executes what is due, or waits for something to happen. It reports false if nothing is waited for any more.
func (w *inWorld) rest(c *coop) bool {
	c.show(w.Now())
	a, f := c.due(false)
	if a == nil {
		if w.over {
			return false
		}
		w.Rest(c.next())
		c.show(w.Now())
		c.woken = true
		return true
	}
	for ; a != nil; a, f = c.due(false) {
		c.ring(a, f)
	}
	return true
}

// show sets the clock.
func (c *coop) show(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// next returns when the next alarm rings, or zero if none is set.
func (c *coop) next() (at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.alarms) > 0 {
		if a := c.alarms[0]; a.pending() {
			return a.at
		}
		heap.Pop(&c.alarms)
	}
	return at
}
