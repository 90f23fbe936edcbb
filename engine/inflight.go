package engine

import (
	"sync"
	"sync/atomic"

	"github.com/agentscript/agentscript/diag"
)

// InFlight is what the side that runs an effect keeps of it. It holds the effect itself, so that
// both cost one allocation.
type InFlight struct {
	Effect Effect

	once    sync.Once    // hedged handlers may ask for the id at the same time
	decided atomic.Int32 // who decides the outcome: handled or abandoned, 0 while nobody has
	id      string

	before, after *InFlight // in the list of pending
}

const (
	handled   = 1 // the handler, which has returned
	abandoned = 2 // the scheduler, which does not wait for the handler any longer
)

// Begin returns the effect, which knows its record from now on.
func (f *InFlight) Begin() *Effect {
	f.Effect.flight = f
	return &f.Effect
}

// Abandon has a scheduler decide that it does not wait for the effect's handler any longer. It
// reports false when the handler has returned: its outcome is being recorded, and must be waited for.
func (e *Effect) Abandon() bool {
	return e.flight == nil || e.flight.decided.CompareAndSwap(0, abandoned)
}

// Handled has the handler decide the outcome. It reports false when the effect was abandoned.
func (e *Effect) Handled() bool {
	return e.flight == nil || e.flight.decided.CompareAndSwap(0, handled)
}

// Abandoned reports whether nobody waits for the effect's handler any longer.
func (e *Effect) Abandoned() bool { return e.flight.decided.Load() == abandoned }

// Pending are the effects of a run that were dispatched and have not returned, oldest first. They
// link themselves, so that keeping the list allocates nothing.
type Pending struct {
	mu          sync.Mutex
	first, last *InFlight
}

func (p *Pending) Add(e *Effect) {
	f := e.flight
	p.mu.Lock()
	defer p.mu.Unlock()
	f.before = p.last
	if p.last == nil {
		p.first = f
	} else {
		p.last.after = f
	}
	p.last = f
}

func (p *Pending) Remove(e *Effect) {
	f := e.flight
	p.mu.Lock()
	defer p.mu.Unlock()
	if f.before == nil {
		p.first = f.after
	} else {
		f.before.after = f.after
	}
	if f.after == nil {
		p.last = f.before
	} else {
		f.after.before = f.before
	}
	f.before, f.after = nil, nil
}

func (p *Pending) List() (all []*Effect) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for f := p.first; f != nil; f = f.after {
		all = append(all, &f.Effect)
	}
	return all
}

// NotReturned is the outcome of an effect that was left behind.
func NotReturned(e *Effect) Outcome {
	return Failed(Errorf(KindTimeout, diag.Timeout, "%s %q has not returned since it was to stop", e.Kind, e.Name).
		WithHelp("a handler or tool of the host ends when its context does; until it returns, its goroutine is left behind"))
}
