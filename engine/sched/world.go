package sched

import (
	"container/heap"
	"time"

	"github.com/agentscript/agentscript/engine"
)

// World is what a run on [NewIn] happens in, as a durable workflow: it has the time, and all that branches wait for
// comes from there. Its methods are called on the goroutine that drives the run, one at a time.
type World interface {
	// Now returns the time.
	Now() time.Time

	// Rest is called when no branch can go on. It returns when something has happened that one may wait for, or when the
	// time due has come; zero is none.
	Rest(due time.Time)

	// Pause is called between stretches of computing, so that the goroutine is not taken for one that hangs.
	Pause()

	// Err returns why the run is to stop, nil while it is not.
	Err() error
}

// NewIn returns a scheduler for a run that happens in a world. Branches are coroutines of the goroutine that drives
// the run: one runs at a time, in an order that follows from what the world says alone, the first in written order where
// several can go on. Handlers run inline and wait with package clock only.
func NewIn(w World) engine.Sched {
	root := &coopScope{}
	return &coopSched{c: &coop{now: w.Now(), in: &inWorld{World: w, root: root}}, scope: root}
}

// inWorld is the connection of a run to its world.
type inWorld struct {
	World
	root  *coopScope
	tired bool // a branch has computed for some time
	over  bool // nothing is waited for any more
}

// look takes in what the world says.
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

// rest has happen what is due, or waits for something to happen. It reports false if nothing is waited for any more.
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

// next is when the next alarm rings, zero if none is set.
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
