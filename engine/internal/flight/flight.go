// Package flight keeps what the process that runs an effect knows of it beside its data: its id once that was
// asked for, who decides its outcome, and its place among the effects that have not returned.
package flight

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/agentscript/agentscript/engine/model"
)

// Record is what the process that runs an effect keeps of it. A nil Record is of an effect that another
// process began: nobody here abandons it.
type Record struct {
	Of any // the effect

	once    sync.Once    // hedged handlers may ask for the id at the same time
	decided atomic.Int32 // who decides the outcome: handled or abandoned, 0 while nobody has
	id      string

	before, after *Record // in the list of pending
}

const (
	handled   = 1 // the handler, which has returned
	abandoned = 2 // the scheduler, which does not wait for the handler any longer
)

// ID returns the effect's id, which compute makes of it when it is first asked for.
func (r *Record) ID(compute func(of any) string) string {
	r.once.Do(func() { r.id = compute(r.Of) })
	return r.id
}

// Abandon has the scheduler decide the outcome. It reports false when the handler has returned.
func (r *Record) Abandon() bool { return r == nil || r.decided.CompareAndSwap(0, abandoned) }

// Handled has the handler decide the outcome. It reports false when the effect was abandoned.
func (r *Record) Handled() bool { return r == nil || r.decided.CompareAndSwap(0, handled) }

// Abandoned reports whether nobody waits for the effect's handler any longer.
func (r *Record) Abandoned() bool { return r.decided.Load() == abandoned }

// Pending are the effects of a run that were dispatched and have not returned, oldest first. They
// link themselves, so that keeping the list allocates nothing.
type Pending struct {
	mu          sync.Mutex
	first, last *Record
}

// Add puts an effect at the end.
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

// Remove takes an effect out.
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

// Again asks for another attempt at a model call, after attempts that used so much: see Effect.Again of package engine.
type Again interface {
	Again(used model.Usage) (maxOut int32, ok bool)
}

type againKey struct{}

// WithAgain returns the context of a call whose budgets are in this process.
func WithAgain(ctx context.Context, again Again) context.Context {
	return context.WithValue(ctx, againKey{}, again)
}

// AgainOf returns what [WithAgain] put into a context, nil when nothing did.
func AgainOf(ctx context.Context) Again {
	again, _ := ctx.Value(againKey{}).(Again)
	return again
}
