// Package limiter limits model calls for each provider and credential: the number of concurrent calls and of calls per
// minute, fewer while the provider reports too many, and none to a model that fails every call. Waiting calls are
// served in the order of arrival.
package limiter

import (
	"container/list"
	"context"
	"sync"
	"time"

	"github.com/agentscript/agentscript/engine/clock"
)

// Settings are the limits of a limiter. Zero means no limit.
type Settings struct {
	InFlight int     // concurrent calls
	Requests float64 // per minute
	Tokens   float64 // per minute, of input and output
}

// Limiter is the state that the calls of one provider under one credential share.
type Limiter struct {
	clock clock.Clock
	set   Settings

	mu       sync.Mutex
	window   float64 // concurrent calls currently allowed: 1 to InFlight
	busy     int     // calls in flight
	begun    uint64  // calls admitted in total
	shrunk   uint64  // begun when the window was last reduced
	futile   bool    // no call was served since then
	tickets  uint64
	tracks   map[string]*Track
	requests bucket
	tokens   bucket
	stop     func() bool // stops the timer, nil if none runs
	wakes    time.Time   // when the timer fires
}

// Track is one model's part of a limiter: its waiting calls and its state.
type Track struct {
	limiter *Limiter
	urgent  list.List // of *waiter: calls that were refused several times
	waiting list.List // all other calls
	closed  time.Time // nothing is sent before this time
	breaker
}

// waiter is a waiting call.
type waiter struct {
	permit   Permit
	ticket   uint64
	ready    chan struct{} // closed once admitted; nil if the call did not have to wait
	admitted bool
	in       *list.List
	at       *list.Element
}

// Permit is the right to one call. It must be released.
type Permit struct {
	track *Track
	order uint64 // the value of begun at admission
	cost  float64
}

func newLimiter(c clock.Clock, s Settings) *Limiter {
	now := c.Now()
	return &Limiter{clock: c, set: s, window: float64(s.InFlight), tracks: map[string]*Track{},
		requests: newBucket(s.Requests, now), tokens: newBucket(s.Tokens, now)}
}

// Track returns the track of a model.
func (l *Limiter) Track(model string) *Track {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.tracks[model]
	if t == nil {
		t = &Track{limiter: l}
		l.tracks[model] = t
	}
	return t
}

// Acquire waits until the call may be made. If the context ends first, it returns the context's error. Urgent calls go
// before all others. The cost is the number of tokens that the call may use.
func (t *Track) Acquire(ctx context.Context, urgent bool, cost int) (Permit, error) {
	w := t.join(urgent, float64(cost))
	if w.ready == nil {
		return w.permit, nil
	}
	if err := clock.Await(ctx, w.ready); err != nil {
		t.leave(w)
		return Permit{}, err
	}
	return w.permit, nil
}

func (t *Track) join(urgent bool, cost float64) *waiter {
	l := t.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tickets++
	w := &waiter{ticket: l.tickets, permit: Permit{track: t, cost: cost}, in: &t.waiting}
	if urgent {
		w.in = &t.urgent
	}
	w.at = w.in.PushBack(w)
	l.admit()
	if !w.admitted {
		w.ready = make(chan struct{})
	}
	return w
}

// leave removes a call that no longer waits.
func (t *Track) leave(w *waiter) {
	l := t.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.admitted { // at the same moment
		l.busy--
	} else {
		w.in.Remove(w.at)
	}
	l.admit()
}

// Release returns the permit and books the tokens that the call used.
func (p Permit) Release(used int) {
	l := p.track.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy--
	l.tokens.spend(float64(used)-p.cost, l.clock.Now())
	l.admit()
}

// Served records that the provider answered. The window grows slowly, by one after about four windows of calls were
// served.
func (p Permit) Served() {
	l := p.track.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	l.window = min(l.window+0.25/max(l.window, 1), float64(l.set.InFlight))
	l.futile = false
}

// Limited records that the provider wants fewer calls, and none for the model before wait is over. It halves the
// window, once for all calls that were in flight at the same time, and not again before a call is served: if all calls
// are refused, fewer concurrent ones would be refused as well.
func (p Permit) Limited(wait time.Duration) {
	l := p.track.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.order > l.shrunk && !l.futile {
		l.window, l.shrunk, l.futile = max(l.window/2, 1), l.begun, true
	}
	if until := l.clock.Now().Add(wait); until.After(p.track.closed) {
		p.track.closed = until
	}
}

// admit admits calls, in the order of their tickets, as far as the limits allow.
func (l *Limiter) admit() {
	now := l.clock.Now()
	for l.set.InFlight <= 0 || l.busy < int(l.window) {
		w, opens := l.first(now)
		if w == nil {
			l.wakeAt(opens)
			return
		}
		if wait := max(l.requests.wait(1, now), l.tokens.wait(w.permit.cost, now)); wait > 0 {
			l.wakeAt(now.Add(wait))
			return
		}
		l.requests.spend(1, now)
		l.tokens.spend(w.permit.cost, now)
		l.busy++
		l.begun++
		w.permit.order, w.admitted = l.begun, true
		w.in.Remove(w.at)
		if w.ready != nil {
			close(w.ready)
		}
	}
}

// first returns the next call. If there is none, it returns when the first closed track with waiting calls opens.
func (l *Limiter) first(now time.Time) (next *waiter, opens time.Time) {
	for _, t := range l.tracks {
		at, urgent := t.waiting.Front(), false
		if t.urgent.Len() > 0 {
			at, urgent = t.urgent.Front(), true
		}
		if at == nil {
			continue
		}
		if t.closed.After(now) {
			if opens.IsZero() || t.closed.Before(opens) {
				opens = t.closed
			}
			continue
		}
		w := at.Value.(*waiter)
		before := next == nil || w.ticket < next.ticket
		if next != nil && urgent != (next.in == &next.permit.track.urgent) {
			before = urgent
		}
		if before {
			next = w
		}
	}
	return next, opens
}

// wakeAt schedules a call of admit, unless one is scheduled earlier anyway. The zero time means never.
func (l *Limiter) wakeAt(at time.Time) {
	if at.IsZero() || l.stop != nil && !l.wakes.After(at) {
		return
	}
	if l.stop != nil {
		l.stop()
	}
	l.wakes = at
	l.stop = l.clock.AfterFunc(at.Sub(l.clock.Now()), func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.wakes.Equal(at) { // another timer replaced it
			return
		}
		l.stop = nil
		l.admit()
	})
}

// idle reports whether the limiter can be recreated without losing state.
func (l *Limiter) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	for _, t := range l.tracks {
		if t.waiting.Len()+t.urgent.Len() > 0 || t.closed.After(now) || t.failures > 0 {
			return false
		}
	}
	return l.busy == 0 && l.requests.full(now) && l.tokens.full(now)
}

// Load describes a limiter's current load.
type Load struct {
	InFlight int // calls in flight
	Waiting  int // waiting calls
	Allowed  int // concurrent calls currently allowed, 0 for any number
}

// Load returns the limiter's current load.
func (l *Limiter) Load() Load {
	l.mu.Lock()
	defer l.mu.Unlock()
	load := Load{InFlight: l.busy, Allowed: int(l.window)}
	for _, t := range l.tracks {
		load.Waiting += t.waiting.Len() + t.urgent.Len()
	}
	return load
}
