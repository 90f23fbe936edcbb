package sched

import (
	"context"
	"sync"
	"time"

	"github.com/agentscript/agentscript/engine/clock"
)

// timed is the context of a part of a run whose time may stand still. Its deadline is the one that applies now: code
// that runs under it knows how much time it has, provided that it keeps working.
type timed struct {
	context.Context             // ends with the part
	clock           clock.Clock // nil: the machine's clock
	end             func()      // ends the part because its time has passed

	mu   sync.Mutex
	stop func() bool // stops the timer; nil if there is none
	at   time.Time   // when the timer fires; zero if there is none
	over bool
}

// set makes the part end when d has passed from now, replacing the previous setting; a negative d means never.
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
