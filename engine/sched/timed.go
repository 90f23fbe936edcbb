package sched

import (
	"context"
	"sync"
	"time"

	"github.com/agentscript/agentscript/engine/clock"
)

// timed is the context of a part of a run whose time may stand still. Its deadline is the one that holds now: what
// works under it knows how much time there is, as long as it works.
type timed struct {
	context.Context             // ends with the part
	clock           clock.Clock // nil: the machine's
	end             func()      // ends it because its time has passed

	mu   sync.Mutex
	stop func() bool // ends the timer; nil: there is none
	at   time.Time   // when the timer fires; zero: there is none
	over bool
}

// set has the part end when d has passed from now on, in place of what was set before; never if d is negative.
func (t *timed) set(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.stop != nil {
		t.stop()
	}
	t.stop, t.at = nil, time.Time{}
	if d < 0 || t.over {
		return
	}
	if t.clock != nil {
		t.stop = t.clock.AfterFunc(d, t.end)
		return
	}
	t.stop, t.at = time.AfterFunc(d, t.end).Stop, time.Now().Add(d)
}

func (t *timed) close() {
	t.set(-1)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
}

// Deadline implements [context.Context].
func (t *timed) Deadline() (time.Time, bool) {
	t.mu.Lock()
	own := t.at
	t.mu.Unlock()
	outer, bounded := t.Context.Deadline()
	if own.IsZero() || bounded && outer.Before(own) {
		return outer, bounded
	}
	return own, true
}
