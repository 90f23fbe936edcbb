package engine

import (
	"sync"
	"sync/atomic"
)

// inFlight is what the side that runs an effect keeps of it. It holds the effect itself, so that
// both cost one allocation.
type inFlight struct {
	effect Effect

	once    sync.Once    // hedged handlers may ask for the id at the same time
	decided atomic.Int32 // who decides the outcome: handled or abandoned, 0 while nobody has
	id      string

	before, after *inFlight // in the list of pending
}

const (
	handled   = 1 // the handler, which has returned
	abandoned = 2 // the scheduler, which does not wait for the handler any longer
)

// begin returns the effect, which knows its record from now on.
func (f *inFlight) begin() *Effect {
	f.effect.flight = f
	return &f.effect
}

// Abandon has a scheduler decide that it does not wait for the effect's handler any longer. It
// reports false when the handler has returned: its outcome is being recorded, and must be waited for.
func (e *Effect) Abandon() bool {
	return e.flight == nil || e.flight.decided.CompareAndSwap(0, abandoned)
}

// handled has the handler decide the outcome. It reports false when the effect was abandoned.
func (e *Effect) handled() bool {
	return e.flight == nil || e.flight.decided.CompareAndSwap(0, handled)
}

// abandoned reports whether nobody waits for the effect's handler any longer.
func (e *Effect) abandoned() bool { return e.flight.decided.Load() == abandoned }

// pending are the effects of a run that were dispatched and have not returned, oldest first. They
// link themselves, so that keeping the list allocates nothing.
type pending struct {
	mu          sync.Mutex
	first, last *inFlight
}

func (p *pending) add(e *Effect) {
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

func (p *pending) remove(e *Effect) {
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

func (p *pending) list() (all []*Effect) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for f := p.first; f != nil; f = f.after {
		all = append(all, &f.effect)
	}
	return all
}
