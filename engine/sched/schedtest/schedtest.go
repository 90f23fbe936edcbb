// Package schedtest checks a scheduler against the contract of engine.Sched, so that other modules can test their
// own.
package schedtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/clock"
)

// Run checks the schedulers that start returns, a new one for each part of the contract. Each part runs in a bubble
// of testing/synctest: if it waits in vain or leaves a goroutine behind, the test ends at once, and the machine's
// clock does not affect the result.
func Run(t *testing.T, start func(t *testing.T) engine.Sched) {
	for _, part := range parts {
		t.Run(part.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { part.test(t, start(t)) })
		})
	}
}

var parts = []struct {
	name string
	test func(t *testing.T, s engine.Sched)
}{
	{"waits, sleeps and yields outside all branches", atTheRoot},
	{"Par reports the lowest index", lowestIndex},
	{"Par is limited", limited},
	{"no branch starts after a failure", notStarted},
	{"a nested Par is cancelled", nestedPar},
	{"First", first},
	{"Wait is woken", woken},
	{"a body that panics", panicking},
	{"many branches wait for one resource", manyWaiters},
	{"OnCancel", onCancel},
	{"Within", within},
	{"a time that stands still", timed},
	{"Do and DoOrAbandon", effects},
	{"handlers wait on the clock", handlersSleep},
	{"a handler ends with its branch", interruptedHandler},
}

func atTheRoot(t *testing.T, s engine.Sched) {
	if err := s.Wait(func() bool { return true }); err != nil {
		t.Errorf("Wait: %v", err)
	}
	before := s.Now()
	if err := s.SleepUntil(before.Add(time.Millisecond)); err != nil || s.Now().Before(before.Add(time.Millisecond)) {
		t.Errorf("SleepUntil: %v at %v", err, s.Now().Sub(before))
	}
	if err := s.Yield(); err != nil {
		t.Errorf("Yield: %v", err)
	}
}

func lowestIndex(t *testing.T, s engine.Sched) {
	var n atomic.Int32
	err := s.Par(8, 0, func(i int, b engine.Sched) error {
		n.Add(1)
		if err := b.Wait(func() bool { return n.Load() == 8 }); err != nil {
			return err
		}
		b.Wake()
		if i < 3 {
			return b.SleepUntil(b.Now().Add(time.Hour)) // ends when a sibling fails
		}
		return fmt.Errorf("branch %d", i)
	})
	// Any of 3 to 7 may have failed before it was stopped; a branch that was stopped did not fail.
	if err == nil || engine.IsControl(err) {
		t.Errorf("got %v", err)
	}
}

func limited(t *testing.T, s engine.Sched) {
	var now, most atomic.Int32
	order := make([]bool, 40)
	err := s.Par(40, 3, func(i int, b engine.Sched) error {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		err := b.Yield()
		now.Add(-1)
		order[i] = true
		return err
	})
	if err != nil || most.Load() > 3 || slices.Contains(order, false) {
		t.Errorf("error %v, %d at once, ran %v", err, most.Load(), order)
	}
}

func notStarted(t *testing.T, s engine.Sched) {
	started := atomic.Int32{}
	boom := errors.New("boom")
	err := s.Par(1000, 1, func(i int, b engine.Sched) error {
		started.Add(1)
		return boom
	})
	if err != boom || started.Load() != 1 {
		t.Errorf("got %v after %d branches", err, started.Load())
	}
}

func nestedPar(t *testing.T, s engine.Sched) {
	boom := errors.New("boom")
	stopped := atomic.Int32{}
	err := s.Par(2, 0, func(i int, b engine.Sched) error {
		if i == 1 {
			b.Yield()
			return boom
		}
		err := b.Par(5, 2, func(_ int, b engine.Sched) error {
			err := b.SleepUntil(b.Now().Add(time.Hour))
			if engine.IsControl(err) {
				stopped.Add(1)
			}
			return err
		})
		if !engine.IsControl(err) {
			t.Errorf("the inner par gives %v, want a control outcome", err)
		}
		return err
	})
	if err != boom {
		t.Errorf("got %v", err)
	}
	if n := stopped.Load(); n > 2 {
		t.Errorf("%d branches ran, at most 2 at once", n)
	}
}

func first(t *testing.T, s engine.Sched) {
	boom := errors.New("boom")
	i, err := s.First(3, func(i int, b engine.Sched) (bool, error) {
		if i == 1 {
			return true, nil
		}
		err := b.SleepUntil(b.Now().Add(time.Hour))
		if !engine.IsControl(err) {
			t.Errorf("the loser %d is stopped by %v", i, err)
		}
		return true, err
	})
	if i != 1 || err != nil {
		t.Errorf("winner %d, %v", i, err)
	}
	i, err = s.First(3, func(i int, b engine.Sched) (bool, error) { return false, fmt.Errorf("no %d", i) })
	if i != -1 || err == nil || err.Error() != "no 0" {
		t.Errorf("nobody settles: %d, %v; want the error of the lowest index", i, err)
	}
	i, err = s.First(2, func(i int, b engine.Sched) (bool, error) { return i == 0, boom })
	if i != 0 || err != boom {
		t.Errorf("settled by an error: %d, %v", i, err)
	}
	if i, err = s.First(0, nil); i != -1 || err != nil {
		t.Errorf("nothing to do: %d, %v", i, err)
	}
}

func woken(t *testing.T, s engine.Sched) {
	var mu sync.Mutex
	tickets := 0
	err := s.Par(64, 0, func(i int, b engine.Sched) error {
		for range 50 {
			if i%2 == 0 {
				mu.Lock()
				tickets++
				mu.Unlock()
				b.Wake()
				if err := b.Yield(); err != nil {
					return err
				}
				continue
			}
			for taken := false; !taken; {
				if err := b.Wait(func() bool { mu.Lock(); defer mu.Unlock(); return tickets > 0 }); err != nil {
					return err
				}
				mu.Lock()
				if taken = tickets > 0; taken {
					tickets--
				}
				mu.Unlock()
			}
		}
		return nil
	})
	if err != nil || tickets != 0 {
		t.Errorf("%v, %d tickets left", err, tickets)
	}
}

// A body that panics fails; it affects neither the process nor its siblings' results.
func panicking(t *testing.T, s engine.Sched) {
	boom := errors.New("boom")
	err := s.Par(3, 0, func(i int, b engine.Sched) error {
		if i == 1 {
			panic(boom)
		}
		return b.SleepUntil(b.Now().Add(time.Hour))
	})
	if !errors.Is(err, boom) || !errors.Is(err, &engine.Error{Kind: engine.KindPanic}) {
		t.Errorf("Par: got %v", err)
	}
	i, err := s.First(3, func(i int, b engine.Sched) (bool, error) {
		if i == 1 {
			panic(boom)
		}
		return true, b.SleepUntil(b.Now().Add(time.Hour))
	})
	if i != 1 || !errors.Is(err, boom) {
		t.Errorf("First: got %d, %v", i, err)
	}
}

// Many branches that wait for one resource all get their turn.
func manyWaiters(t *testing.T, s engine.Sched) {
	var mu sync.Mutex
	free, most := 3, 0
	err := s.Par(500, 0, func(i int, b engine.Sched) error {
		for taken := false; !taken; {
			if err := b.Wait(func() bool { mu.Lock(); defer mu.Unlock(); return free > 0 }); err != nil {
				return err
			}
			mu.Lock()
			if taken = free > 0; taken {
				free--
				most = max(most, 3-free)
			}
			mu.Unlock()
		}
		err := b.Yield()
		mu.Lock()
		free++
		mu.Unlock()
		b.Wake()
		return err
	})
	if err != nil || free != 3 || most > 3 {
		t.Errorf("%v; %d free, %d at once", err, free, most)
	}
}

// A branch with a watch is notified once that it must stop; a branch whose watch has ended is not.
func onCancel(t *testing.T, s engine.Sched) {
	boom := errors.New("boom")
	var told, ended atomic.Int32
	ready := make(chan struct{}, 1) // the watch runs concurrently with the branch
	err := s.Par(2, 0, func(i int, b engine.Sched) error {
		if i == 1 {
			return boom
		}
		stopped := b.OnCancel(func() { ended.Add(1) })()
		stop := b.OnCancel(func() { told.Add(1); ready <- struct{}{} })
		err := b.SleepUntil(b.Now().Add(time.Hour))
		<-ready
		if err == nil || stop() || b.OnCancel(func() { ready <- struct{}{} }) == nil {
			t.Errorf("err %v, or the watch ended though it was told", err)
		}
		<-ready
		if !stopped && ended.Load() == 0 { // the sibling may have been faster
			t.Error("the watch did not end, and was not told")
		}
		return err
	})
	if !errors.Is(err, boom) || told.Load() != 1 {
		t.Errorf("got %v, told %d times", err, told.Load())
	}
}

func within(t *testing.T, s engine.Sched) {
	late := errors.New("too late")
	err := s.Within(5*time.Millisecond, late, func(b engine.Sched) error { return b.SleepUntil(b.Now().Add(time.Hour)) })
	if !errors.Is(err, late) {
		t.Errorf("too late: got %v", err)
	}
	if err := s.Err(); err != nil {
		t.Errorf("outside: %v", err)
	}
	if err := s.Within(time.Hour, late, func(b engine.Sched) error { return b.SleepUntil(b.Now().Add(time.Millisecond)) }); err != nil {
		t.Errorf("in time: got %v", err)
	}
	if err := s.Within(time.Millisecond, late, func(b engine.Sched) error {
		b.SleepUntil(b.Now().Add(time.Minute))
		return nil // succeeded, though late
	}); err != nil {
		t.Errorf("ended well: got %v", err)
	}
	// The nearest bound ends the body, on all its branches.
	outer := errors.New("outer")
	err = s.Within(5*time.Millisecond, outer, func(b engine.Sched) error {
		return b.Within(time.Hour, late, func(b engine.Sched) error {
			return b.Par(3, 0, func(_ int, b engine.Sched) error { return b.Wait(func() bool { return false }) })
		})
	})
	if !errors.Is(err, outer) {
		t.Errorf("nested: got %v", err)
	}
}

// A time that may stand still ends what it bounds when it has passed since it was last set.
func timed(t *testing.T, s engine.Sched) {
	late := errors.New("too late")
	long := func(b engine.Sched) error { return b.SleepUntil(b.Now().Add(time.Hour)) }
	short := func(b engine.Sched) error { return b.SleepUntil(b.Now().Add(20 * time.Millisecond)) }
	for _, tt := range []struct {
		name string
		body func(b engine.Sched, set func(time.Duration)) error
		late bool
	}{
		{"never set", func(b engine.Sched, _ func(time.Duration)) error { return short(b) }, false},
		{"set", func(b engine.Sched, set func(time.Duration)) error {
			set(5 * time.Millisecond)
			return long(b)
		}, true},
		{"stands still", func(b engine.Sched, set func(time.Duration)) error {
			set(5 * time.Millisecond)
			set(-1)
			return short(b)
		}, false},
		{"stood still", func(b engine.Sched, set func(time.Duration)) error {
			set(-1)
			err := short(b)
			set(time.Millisecond)
			return errors.Join(err, long(b))
		}, true},
		{"is over at once", func(b engine.Sched, set func(time.Duration)) error {
			set(0)
			return long(b)
		}, true},
		{"set anew", func(b engine.Sched, set func(time.Duration)) error {
			set(time.Millisecond)
			set(time.Hour)
			return short(b)
		}, false},
	} {
		var kept func(time.Duration)
		err := s.Timed(late, func(b engine.Sched, set func(time.Duration)) error {
			kept = set
			return tt.body(b, set)
		})
		if errors.Is(err, late) != tt.late || !tt.late && err != nil {
			t.Errorf("%s: got %v", tt.name, err)
		}
		if kept(0); s.Err() != nil {
			t.Errorf("%s: outside: %v", tt.name, s.Err())
		}
	}
}

// An effect's outcome is the handler's; the handler receives the effect, the sink and a context.
func effects(t *testing.T, s engine.Sched) {
	e := &engine.Effect{Kind: engine.EffectTool, Name: "t"}
	var tokens []string
	h := engine.HandlerFunc(func(ctx context.Context, got *engine.Effect, sink engine.Sink) engine.Outcome {
		if ctx == nil || ctx.Err() != nil || got != e {
			t.Errorf("the handler got %v, %+v", ctx, got)
		}
		if sink != nil {
			sink(engine.Token{Text: "a"})
		}
		return engine.Outcome{Attempt: 7}
	})
	err := s.Par(2, 0, func(i int, b engine.Sched) error {
		if i == 1 {
			if out := b.DoOrAbandon(h, e); out.Attempt != 7 {
				t.Errorf("DoOrAbandon gives %+v", out)
			}
			return nil
		}
		if out := b.Do(h, e, func(k engine.Token) { tokens = append(tokens, k.Text) }); out.Attempt != 7 {
			t.Errorf("Do gives %+v", out)
		}
		return nil
	})
	if err != nil || !slices.Equal(tokens, []string{"a"}) {
		t.Errorf("%v, tokens %v", err, tokens)
	}
}

// A handler that sleeps moves the clock of its run, and a handler can await what another one releases.
func handlersSleep(t *testing.T, s engine.Sched) {
	const d = 20 * time.Millisecond
	released := make(chan struct{})
	begun := s.Now()
	err := s.Par(2, 0, func(i int, b engine.Sched) error {
		b.Do(engine.HandlerFunc(func(ctx context.Context, _ *engine.Effect, _ engine.Sink) engine.Outcome {
			var err error
			if i == 0 {
				err = clock.Await(ctx, released)
			} else {
				err = clock.Sleep(ctx, d)
				close(released)
			}
			if now := clock.Of(ctx).Now(); err != nil || now.Before(begun.Add(d)) {
				t.Errorf("handler %d: %v after %s", i, err, now.Sub(begun))
			}
			return engine.Outcome{Attempt: 1}
		}), &engine.Effect{}, nil)
		return nil
	})
	if err != nil || s.Now().Before(begun.Add(d)) {
		t.Errorf("%v after %s", err, s.Now().Sub(begun))
	}
}

// The context of a handler ends when its branch must stop.
func interruptedHandler(t *testing.T, s engine.Sched) {
	boom := errors.New("boom")
	err := s.Par(2, 0, func(i int, b engine.Sched) error {
		if i == 1 {
			return boom
		}
		b.Do(engine.HandlerFunc(func(ctx context.Context, _ *engine.Effect, _ engine.Sink) engine.Outcome {
			if err := clock.Sleep(ctx, time.Hour); err == nil || ctx.Err() == nil {
				t.Errorf("the handler was not interrupted: %v, %v", err, ctx.Err())
			}
			return engine.Outcome{}
		}), &engine.Effect{}, nil)
		return b.Err()
	})
	if err != boom {
		t.Errorf("got %v", err)
	}
}
