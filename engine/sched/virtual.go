package sched

import (
	"context"
	"slices"
	"time"

	"github.com/agentscript/agentscript/engine"
)

// NewVirtual returns a scheduler that makes runs deterministic. Time is virtual: it passes only when every
// branch waits for it and no real effect is in flight; things due at the same time happen in written order.
// Branches are coroutines of one goroutine. Handlers of models, and the effects that the engine handles
// itself, run inline, one at a time, and must wait with package clock only. All other effects run concurrently
// on their own goroutines, take no virtual time, and their outcomes are delivered in written order. If several
// branches of a First settle at the same time, the first in written order wins.
//
// Two bounds on real effects stay real: ctx, whose end cancels the run, and [engine.Effect.Timeout].
func NewVirtual(ctx context.Context) engine.Sched {
	root := &coopScope{}
	c := &coop{now: time.Unix(0, 0).UTC()}
	c.real = &outside{coop: c, ctx: ctx, root: root, signal: make(chan struct{}, 1)}
	context.AfterFunc(ctx, func() {
		c.tell(func(w *coopWatch) bool { return !w.inside })
		c.real.poke()
	})
	return &coopSched{c: c, scope: root}
}

// outside is the connection of a virtual-time run to the real world: its context, and its effects in flight.
type outside struct {
	*coop
	ctx    context.Context
	root   *coopScope
	signal chan struct{} // something happened outside

	asking   []*coopTask // branches about to call a model, waiting until no other branch can make progress
	trips    []*trip     // effects in flight, in written order
	contests []*contest  // with branches that may still win
}

// stopped reports whether the run's context has ended.
func (o *outside) stopped() bool { return o.ctx.Err() != nil }

// err returns why a branch must stop. For the root handle it may be called from any goroutine.
func (o *outside) err(s *coopSched) error {
	if s.scope != o.root {
		if err := s.scope.err(); err != nil {
			return err
		}
	}
	if err := reason(o.ctx); err != nil || s.scope != o.root {
		return err
	}
	return s.scope.err()
}

// notice ends the waits of all branches once the run's context has ended.
func (o *outside) notice() {
	if o.root.why == nil && o.stopped() {
		o.cancel(o.root, reason(o.ctx))
	}
}

// poke makes the driver check again.
func (o *outside) poke() {
	select {
	case o.signal <- struct{}{}:
	default:
	}
}

// settle does the next thing that must happen before time may pass. It reports false if every branch only
// waits for time.
func (o *outside) settle() bool {
	if asking := o.asking; len(asking) > 0 {
		o.asking = nil
		for _, t := range asking {
			if t.place >= 0 { // otherwise it was cancelled
				o.release(t)
			}
		}
		return true
	}
	return o.arrive() || o.decide()
}

// turn parks a branch that is about to call a model until no other branch can make progress.
func (s *coopSched) turn() error {
	if err := s.Err(); err != nil {
		return err
	}
	s.task.naps++ // invalidates earlier alarms
	s.task.ready = nil
	s.c.wait(s.task, s.scope)
	s.c.real.asking = append(s.c.real.asking, s.task)
	s.park()
	err := s.Err()
	if err != nil {
		s.c.real.asking = slices.DeleteFunc(s.c.real.asking, func(t *coopTask) bool { return t == s.task })
	}
	return err
}

// inOrder implements Do and DoOrAbandon in virtual time.
func (s *coopSched) inOrder(h engine.Handler, e *engine.Effect, sink engine.Sink, abandon bool) engine.Outcome {
	if err := s.Err(); err != nil {
		return engine.Failed(engine.AsError(err))
	}
	switch e.Kind {
	case engine.EffectModel:
		if err := s.turn(); err != nil {
			return engine.Failed(engine.AsError(err))
		}
	case engine.EffectMemory, engine.EffectBudget, engine.EffectChoice, engine.EffectSleep, engine.EffectTime: // the engine's own effects, in written order
	default:
		return s.travel(h, e, sink, abandon)
	}
	return s.inline(s.c.real.ctx, h, e, sink)
}

// contest is a First in virtual time: of branches that settle at the same time, the first in written order
// wins.
type contest struct {
	r     *race
	task  *coopTask
	scope *coopScope
	over  []bool
	best  int // the first that settled, -1 for none
	err   error
}

// contest lets a settled branch win at once only if all branches before it have ended, otherwise when nothing more
// happens at that time. It returns functions to call at the end of a body and of the contest.
func (s *coopSched) contest(r *race, n int, scope *coopScope) (end func(i int, settled bool, err error) bool, leave func()) {
	k := &contest{r: r, task: s.task, scope: scope, over: make([]bool, n), best: -1}
	o := s.c.real
	o.contests = append(o.contests, k)
	end = func(i int, settled bool, err error) bool {
		k.over[i] = true
		if !settled {
			r.end(i, false, err)
		} else if k.best < 0 || i < k.best {
			k.best, k.err = i, err
		}
		return k.best >= 0 && !slices.Contains(k.over[:k.best], false) && k.won()
	}
	return end, func() { o.contests = slices.DeleteFunc(o.contests, func(other *contest) bool { return other == k }) }
}

// won makes the best branch win, and reports whether none had won before.
func (k *contest) won() bool { return k.r.end(k.best, true, k.err) }

// decide ends the innermost contest that has a settled branch. If there are several, it ends the first in written
// order. It reports whether there was one.
func (o *outside) decide() bool {
	var next *contest
	for _, k := range o.contests {
		if k.best >= 0 && k.r.winner < 0 && (next == nil || k.depth() > next.depth() || k.depth() == next.depth() && k.task.before(next.task)) {
			next = k
		}
	}
	if next == nil || !next.won() {
		return false
	}
	o.cancel(next.scope, ErrSibling)
	return true
}

func (k *contest) depth() int {
	if k.task == nil {
		return -1
	}
	return k.task.depth
}

// before reports whether a branch comes before another in written order: it contains the other, or below their common
// ancestor its own ancestor comes first. nil is the caller outside.
func (a *coopTask) before(b *coopTask) bool {
	da, db := -1, -1
	for x := a; x != nil && (b == nil || x.depth > b.depth); x = x.up {
		a, da = x.up, x.index
	}
	for x := b; x != nil && (a == nil || x.depth > a.depth); x = x.up {
		b, db = x.up, x.index
	}
	for a != b {
		da, db = a.index, b.index
		a, b = a.up, b.up
	}
	return da < db
}
