package limiter

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine/clock"
)

// hand is a clock that is advanced by hand.
type hand struct {
	mu     sync.Mutex
	now    time.Time
	timers map[*timer]bool
}

type timer struct {
	at time.Time
	f  func()
}

func newHand() *hand {
	return &hand{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), timers: map[*timer]bool{}}
}

func (h *hand) Now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

func (h *hand) AfterFunc(d time.Duration, f func()) func() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := &timer{h.now.Add(d), f}
	h.timers[t] = true
	return func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		was := h.timers[t]
		delete(h.timers, t)
		return was
	}
}

// advance advances the clock and calls due functions in order.
func (h *hand) advance(d time.Duration) {
	h.mu.Lock()
	end := h.now.Add(d)
	for {
		var next *timer
		for t := range h.timers {
			if !t.at.After(end) && (next == nil || t.at.Before(next.at)) {
				next = t
			}
		}
		if next == nil {
			break
		}
		delete(h.timers, next)
		if next.at.After(h.now) {
			h.now = next.at
		}
		h.mu.Unlock()
		next.f()
		h.mu.Lock()
	}
	h.now = end
	h.mu.Unlock()
}

func limiterOf(h *hand, s Settings) *Limiter {
	all := &Limiters{}
	return all.Get(h, "p", "http://p", "key", func() Settings { return s })
}

// waits joins a call that must wait; done is closed when it is admitted.
func waits(t *testing.T, track *Track, urgent bool) *waiter {
	t.Helper()
	w := track.join(urgent, 0)
	if w.ready == nil {
		t.Fatal("the call did not have to wait")
	}
	return w
}

func admitted(w *waiter) bool {
	select {
	case <-w.ready:
		return true
	default:
		return false
	}
}

func goes(t *testing.T, track *Track) Permit {
	t.Helper()
	w := track.join(false, 0)
	if w.ready != nil {
		t.Fatal("the call has to wait")
	}
	return w.permit
}

func TestCallsGoInTheirOrder(t *testing.T) {
	l := limiterOf(newHand(), Settings{InFlight: 1})
	a, b := l.Track("a"), l.Track("b")
	held := goes(t, a)
	var all []*waiter
	for i := range 6 {
		all = append(all, waits(t, []*Track{a, b}[i%2], false))
	}
	urgent := waits(t, b, true)
	a.leave(all[2])
	want := append([]*waiter{urgent}, slices.Delete(slices.Clone(all), 2, 3)...)
	for i, w := range want {
		held.Release(0)
		if !admitted(w) {
			t.Fatalf("call %d is not let go in its turn", i)
		}
		if i+1 < len(want) && admitted(want[i+1]) {
			t.Fatalf("call %d goes too early", i+1)
		}
		held = w.permit
	}
	held.Release(0)
	if load := l.Load(); load != (Load{Allowed: 1}) {
		t.Errorf("what is left: %+v", load)
	}
}

func TestWindow(t *testing.T) {
	h := newHand()
	l := limiterOf(h, Settings{InFlight: 8})
	m := l.Track("m")
	var held []Permit
	for range 8 {
		held = append(held, goes(t, m))
	}
	waiting := waits(t, m, false)
	for _, p := range held { // all in flight at the same time: one refusal
		p.Limited(0)
	}
	if got := l.Load().Allowed; got != 4 {
		t.Errorf("after refusals at once: %d allowed, want 4", got)
	}
	for i, p := range held {
		p.Release(0)
		if admitted(waiting) != (i >= 4) {
			t.Errorf("after %d releases: admitted %v", i+1, admitted(waiting))
		}
	}
	waiting.permit.Limited(0) // fewer concurrent calls did not help
	waiting.permit.Release(0)
	if got := l.Load().Allowed; got != 4 {
		t.Errorf("where nothing is served: %d allowed, want 4", got)
	}
	for range 10 {
		p := goes(t, m)
		p.Served()
		p.Limited(0)
		p.Release(0)
		goes(t, m).Release(0)
	}
	if got := l.Load().Allowed; got != 1 {
		t.Errorf("%d allowed, want 1 at the least", got)
	}
	served := 0
	for l.Load().Allowed < 8 {
		p := goes(t, m)
		p.Served()
		p.Release(0)
		if served++; served > 1000 {
			t.Fatal("the window does not grow back")
		}
	}
	if served < 50 {
		t.Errorf("the window is back after %d calls, which is fast", served)
	}
	p := goes(t, m)
	for range 1000 {
		p.Served()
	}
	if got := l.Load().Allowed; got != 8 {
		t.Errorf("%d allowed, want 8 at the most", got)
	}
}

// A limited model only delays its own calls, and only until its time.
func TestClosedTrack(t *testing.T) {
	h := newHand()
	l := limiterOf(h, Settings{InFlight: 4})
	a, b := l.Track("a"), l.Track("b")
	p := goes(t, a)
	p.Limited(50 * time.Millisecond)
	p.Release(0)
	first, second := waits(t, a, false), waits(t, a, false)
	goes(t, b).Release(0)
	h.advance(49 * time.Millisecond)
	if admitted(first) {
		t.Error("a call goes before its time")
	}
	h.advance(time.Millisecond)
	if !admitted(first) || !admitted(second) {
		t.Error("calls do not go when it is time")
	}
}

func TestRates(t *testing.T) {
	h := newHand()
	m := limiterOf(h, Settings{Requests: 60}).Track("m") // one per second, six at once
	for range 6 {
		goes(t, m).Release(0)
	}
	w := waits(t, m, false)
	h.advance(time.Second - time.Millisecond)
	if admitted(w) {
		t.Error("the seventh goes before a second has passed")
	}
	h.advance(time.Millisecond)
	if !admitted(w) {
		t.Error("the seventh does not go after a second")
	}

	m = limiterOf(h, Settings{Tokens: 6000}).Track("m") // 100 per second, 600 at once
	p := m.join(false, 500).permit
	p.Release(100) // 400 are returned
	if m.join(false, 500).ready != nil {
		t.Error("tokens that were not used are not given back")
	}
	large := m.join(false, 100_000) // more than there can ever be
	if large.ready == nil {
		t.Fatal("goes at once")
	}
	h.advance(6 * time.Second)
	if !admitted(large) {
		t.Error("a call that is larger than all goes when nothing is owed")
	}
	large.permit.Release(1200)
	after := m.join(false, 1)
	h.advance(6 * time.Second)
	if after.ready == nil || admitted(after) {
		t.Error("what was used beyond is not owed")
	}
	h.advance(time.Second)
	if !admitted(after) {
		t.Error("what was owed is never paid")
	}
}

func TestBreaker(t *testing.T) {
	h := newHand()
	l := limiterOf(h, Settings{InFlight: 2})
	m := l.Track("m")
	asked := func(want bool) {
		t.Helper()
		if open, _, _ := m.Open(); open == want {
			t.Errorf("asked is %v, want %v", !open, want)
		}
	}
	for range tolerated - 1 {
		m.Failed()
	}
	asked(true)
	m.Answered()
	for range tolerated {
		asked(true)
		m.Failed()
	}
	asked(false)
	if wait := m.Shut(); wait != openFor {
		t.Errorf("shut for %s", wait)
	}
	h.advance(openFor)
	if m.Shut() != 0 {
		t.Error("still shut")
	}
	asked(true) // the probe
	asked(false)
	m.Unknown()
	asked(true)
	m.Failed()
	asked(false)
	h.advance(openFor)
	asked(true)
	m.Answered()
	asked(true)
	asked(true)
	if open, _, _ := l.Track("other").Open(); open {
		t.Error("another model is not asked")
	}
}

// Calls that wait for a track to open are notified at once when their model is no longer asked.
func TestBreakerFreesThoseWhoWait(t *testing.T) {
	l := limiterOf(newHand(), Settings{InFlight: 2})
	m := l.Track("m")
	p := goes(t, m)
	p.Limited(time.Minute)
	p.Release(0)
	w := waits(t, m, false)
	for range tolerated {
		m.Failed()
	}
	if !admitted(w) {
		t.Error("the call waits on")
	}
}

func TestContextEndsTheWait(t *testing.T) {
	l := limiterOf(newHand(), Settings{InFlight: 1})
	m := l.Track("m")
	held := goes(t, m)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Acquire(ctx, false, 0); err != context.Canceled {
		t.Errorf("%v", err)
	}
	w := waits(t, m, false)
	held.Release(0)
	m.leave(w) // admitted at the moment at which it left
	if load := l.Load(); load.InFlight != 0 || load.Waiting != 0 {
		t.Errorf("a permit is lost: %+v", load)
	}
}

// However many calls there are, no more are in flight than permitted, and none is left behind.
func TestManyCalls(t *testing.T) {
	all := &Limiters{}
	l := all.Get(clock.Machine{}, "p", "", "", func() Settings { return Settings{InFlight: 3} })
	var mu sync.Mutex
	busy, most, served := 0, 0, 0
	var wg sync.WaitGroup
	for i := range 300 {
		wg.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if i%7 == 0 {
				go cancel()
			}
			p, err := l.Track(fmt.Sprint(i%4)).Acquire(ctx, i%5 == 0, 0)
			if err != nil {
				return
			}
			mu.Lock()
			busy++
			most, served = max(most, busy), served+1
			mu.Unlock()
			mu.Lock()
			busy--
			mu.Unlock()
			if i%11 == 0 {
				p.Limited(time.Microsecond)
			} else {
				p.Served()
			}
			p.Release(0)
		})
	}
	wg.Wait()
	if most > 3 || served < 300-43 {
		t.Errorf("%d at once, %d served", most, served)
	}
	if load := l.Load(); load.InFlight != 0 || load.Waiting != 0 {
		t.Errorf("left: %+v", load)
	}
}

// A store that returns a new key at each lookup does not create limiters without end. A limiter in use is kept, however
// many there are.
func TestBusyLimitersAreKept(t *testing.T) {
	for name, keep := range map[string]func(l *Limiter){
		"a call in flight":       func(l *Limiter) { goes(t, l.Track("m")) },
		"a closed model":         func(l *Limiter) { p := goes(t, l.Track("m")); p.Limited(time.Hour); p.Release(0) },
		"a failed model":         func(l *Limiter) { goes(t, l.Track("m")).Release(0); l.Track("m").Failed() },
		"requests that are owed": func(l *Limiter) { l.requests.spend(1, l.clock.Now()) },
		"tokens that are owed":   func(l *Limiter) { l.tokens.spend(1, l.clock.Now()) },
		"a call that waits for a model": func(l *Limiter) {
			p := goes(t, l.Track("m"))
			p.Limited(time.Hour)
			p.Release(0)
			waits(t, l.Track("m"), false)
			l.Track("m").closed = time.Time{}
		},
		"an urgent one that waits": func(l *Limiter) {
			p := goes(t, l.Track("m"))
			p.Limited(time.Hour)
			p.Release(0)
			waits(t, l.Track("m"), true)
			l.Track("m").closed = time.Time{}
		},
		"": func(*Limiter) {},
	} {
		all, clock := &Limiters{}, newHand()
		get := func(key string) *Limiter {
			return all.Get(clock, "p", "", key, func() Settings { return Settings{InFlight: 1, Requests: 60, Tokens: 60} })
		}
		first := get("first")
		keep(first)
		for i := range 2 * most {
			get(fmt.Sprint(i))
		}
		if kept := get("first") == first; kept != (name != "") {
			t.Errorf("%q: it is kept: %v", name, kept)
		}
	}
}

func TestIdleLimitersAreDropped(t *testing.T) {
	all, clock := &Limiters{}, newHand()
	for i := range 10 * most {
		l := all.Get(clock, "p", "", fmt.Sprint(i), func() Settings { return Settings{InFlight: 1} })
		goes(t, l.Track("m")).Release(0)
	}
	n := 0
	all.Each(func(string, *Limiter) { n++ })
	if n > most {
		t.Errorf("%d limiters are kept", n)
	}
	same := all.Get(clock, "p", "", "x", func() Settings { return Settings{} })
	if same != all.Get(clock, "p", "", "x", func() Settings { return Settings{} }) || same == all.Get(clock, "q", "", "x", func() Settings { return Settings{} }) {
		t.Error("limiters are not told apart by provider and key")
	}
}
