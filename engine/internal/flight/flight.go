// Package flight keeps this process's state of a running effect: its id after the first request for it, who decides its
// outcome, and its place among the effects that have not returned.
package flight

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/agentscript/agentscript/engine/model"
)

// Record is this process's state of a running effect. A nil Record belongs to an effect that another process began:
// nobody here abandons it.
type Record struct {
	Of any // the effect

	once    sync.Once    // hedged handlers may ask for the id concurrently
	decided atomic.Int32 // who decides the outcome: handled or abandoned, 0 while undecided
	id      string

	before, after *Record // in the list of pending
}

const (
	handled   = 1 // the handler, which has returned
	abandoned = 2 // the scheduler, which no longer waits for the handler
)

// ID returns the effect's id, which compute returns on the first call.
func (r *Record) ID(compute func(of any) string) string {
	r.once.Do(func() { r.id = compute(r.Of) })
	return r.id
}

// Abandon lets the scheduler decide the outcome. It returns false if the handler has returned.
func (r *Record) Abandon() bool { return r == nil || r.decided.CompareAndSwap(0, abandoned) }

// Handled lets the handler decide the outcome. It returns false if the effect was abandoned.
func (r *Record) Handled() bool { return r == nil || r.decided.CompareAndSwap(0, handled) }

// Abandoned reports whether nobody waits for the effect's handler any longer.
func (r *Record) Abandoned() bool { return r.decided.Load() == abandoned }

// Pending is the list of a run's effects that were dispatched and have not returned, oldest first. Records link
// themselves, so the list allocates nothing.
type Pending struct {
	mu          sync.Mutex
	first, last *Record
}

// Add appends an effect.
func (p *Pending) Add(r *Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r.before = p.last
	if p.last == nil {
		p.first = r
	} else {
		p.last.after = r
	}
	p.last = r
}

// Remove removes an effect.
func (p *Pending) Remove(r *Record) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.before == nil {
		p.first = r.after
	} else {
		r.before.after = r.after
	}
	if r.after == nil {
		p.last = r.before
	} else {
		r.after.before = r.before
	}
	r.before, r.after = nil, nil
}

// List returns the effects.
func (p *Pending) List() (all []any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for r := p.first; r != nil; r = r.after {
		all = append(all, r.Of)
	}
	return all
}

// Again asks for another attempt at a model call, given the usage of earlier attempts: see Effect.Again of package
// engine.
type Again interface {
	Again(used model.Usage) (maxOut int32, ok bool)
}

type againKey struct{}

// WithAgain returns the context of a call whose budgets are in this process.
func WithAgain(ctx context.Context, again Again) context.Context {
	return context.WithValue(ctx, againKey{}, again)
}

// AgainOf returns the value that [WithAgain] put into a context, nil without one.
func AgainOf(ctx context.Context) Again {
	again, _ := ctx.Value(againKey{}).(Again)
	return again
}
