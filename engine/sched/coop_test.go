package sched_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/clock"
	"github.com/agentscript/agentscript/engine/sched"
)

func TestCooperativeDeadlockIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		err := sched.NewCoopSched(7).Par(3, 0, func(i int, b engine.Sched) error {
			return b.Par(2, 0, func(j int, b engine.Sched) error { return b.Wait(func() bool { return false }) })
		})
		var e *engine.Error
		if !errors.As(err, &e) || e.Kind != engine.KindPanic {
			t.Errorf("got %#v", err)
		}
	})
}

func TestCooperativeTimeIsVirtual(t *testing.T) {
	s := sched.NewCoopSched(3)
	start := s.Now()
	var woken []int
	err := s.Par(50, 0, func(i int, b engine.Sched) error {
		err := b.SleepUntil(start.Add(time.Duration(50-i) * time.Hour))
		woken = append(woken, i)
		return err
	})
	if err != nil || s.Now().Sub(start) != 50*time.Hour {
		t.Errorf("%v after %v", err, s.Now().Sub(start))
	}
	for i, n := range woken {
		if n != 49-i {
			t.Fatalf("woken in the order %v", woken)
		}
	}
	// A cancelled sleeper wakes at once.
	start = s.Now()
	boom := errors.New("boom")
	err = s.Par(2, 0, func(i int, b engine.Sched) error {
		if i == 0 {
			return b.SleepUntil(start.Add(time.Hour))
		}
		b.SleepUntil(start.Add(time.Minute))
		return boom
	})
	if err != boom || s.Now().Sub(start) != time.Minute {
		t.Errorf("%v after %v", err, s.Now().Sub(start))
	}
}

func TestEachSeedIsOneInterleaving(t *testing.T) {
	trace := func(seed uint64) string {
		var seen []int
		if err := sched.NewCoopSched(seed).Par(8, 0, func(i int, b engine.Sched) error {
			for range 4 {
				seen = append(seen, i)
				if err := b.Yield(); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(seen)
	}
	different := map[string]bool{}
	for seed := range uint64(20) {
		one := trace(seed)
		if again := trace(seed); again != one {
			t.Fatalf("seed %d: %s, then %s", seed, one, again)
		}
		different[one] = true
	}
	if len(different) < 15 {
		t.Errorf("20 seeds give %d interleavings", len(different))
	}
}

// Every effect and yield costs the same, however many branches there are.
func TestManyCooperativeBranches(t *testing.T) {
	n := 0
	err := sched.NewCoopSched(1).Par(10_000, 0, func(i int, b engine.Sched) error {
		for range 10 {
			if err := b.Yield(); err != nil {
				return err
			}
		}
		n++
		return nil
	})
	if err != nil || n != 10_000 {
		t.Errorf("%v after %d", err, n)
	}
}

func TestCooperativeBranchesAreNotAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			sched.NewCoopSched(5).Par(20, 0, func(i int, b engine.Sched) error {
				b.Yield()
				if i == 10 {
					runtime.Goexit() // also ends the caller, like t.FailNow in a handler
				}
				return b.SleepUntil(b.Now().Add(time.Hour))
			})
			t.Error("the caller went on")
		}()
		<-done
	})
}

// What is over leaves nothing behind for which time would pass: a bound, a timer, a stopped sleeper. If all wait for
// each other afterwards, the clock has not moved.
func TestWhatIsOverDoesNotMoveTheClock(t *testing.T) {
	for seed := range uint64(5) {
		s := sched.NewCoopSched(seed)
		start := s.Now()
		if err := s.Within(time.Hour, errors.New("late"), func(engine.Sched) error { return nil }); err != nil {
			t.Error(err)
		}
		s.Do(engine.HandlerFunc(func(ctx context.Context, _ *engine.Effect, _ engine.Sink) engine.Outcome {
			if stop := clock.Of(ctx).AfterFunc(time.Hour, func() { t.Error("a timer rings that was stopped") }); !stop() || stop() {
				t.Error("a timer is stopped once")
			}
			return engine.Outcome{}
		}), &engine.Effect{}, nil)
		boom := errors.New("boom")
		if err := s.Par(2, 0, func(i int, b engine.Sched) error {
			if i == 0 {
				return b.SleepUntil(start.Add(time.Hour))
			}
			return boom
		}); err != boom {
			t.Error(err)
		}
		err := s.Par(2, 0, func(_ int, b engine.Sched) error { return b.Wait(func() bool { return false }) })
		if !errors.Is(err, &engine.Error{Kind: engine.KindPanic}) || !s.Now().Equal(start) {
			t.Errorf("seed %d: %v after %s", seed, err, s.Now().Sub(start))
		}
	}
}

// A branch that sleeps after a wait wakes by the clock, not by what it waited for.
func TestASleepAfterAWait(t *testing.T) {
	for seed := range uint64(10) {
		s, ready := sched.NewCoopSched(seed), false
		start := s.Now()
		err := s.Par(2, 0, func(i int, b engine.Sched) error {
			if i == 1 {
				if err := b.SleepUntil(start.Add(time.Minute)); err != nil {
					return err
				}
				ready = true
				b.Wake()
				return nil
			}
			if err := b.Wait(func() bool { return ready }); err != nil {
				return err
			}
			return b.SleepUntil(start.Add(time.Hour))
		})
		if err != nil || s.Now().Sub(start) != time.Hour {
			t.Errorf("seed %d: %v after %s", seed, err, s.Now().Sub(start))
		}
	}
}

// A handler that waits on a goroutine other than its own gets an error: nothing else could continue in the meantime.
func TestAWaitOnAnotherGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, wait := range map[string]func(context.Context) error{
			"sleep": func(ctx context.Context) error { return clock.Sleep(ctx, time.Hour) },
			"await": func(ctx context.Context) error { return clock.Await(ctx, make(chan struct{})) },
		} {
			s := sched.NewCoopSched(1)
			start := s.Now()
			err := s.Par(2, 0, func(_ int, b engine.Sched) error {
				b.Do(engine.HandlerFunc(func(ctx context.Context, _ *engine.Effect, _ engine.Sink) engine.Outcome {
					said := make(chan error)
					go func() { said <- wait(ctx) }()
					if err := <-said; !errors.Is(err, &engine.Error{Kind: engine.KindPanic}) {
						t.Errorf("%s: %v", name, err)
					}
					if err := clock.Sleep(ctx, time.Minute); err != nil {
						t.Errorf("%s: on its own goroutine it is %v", name, err)
					}
					return engine.Outcome{}
				}), &engine.Effect{}, nil)
				return nil
			})
			if err != nil || s.Now().Sub(start) != time.Minute {
				t.Errorf("%s: %v after %s", name, err, s.Now().Sub(start))
			}
		}
	})
}

// A handler that waits for something that never comes continues when its own context ends.
func TestAWaitEndsWithItsContext(t *testing.T) {
	err := sched.NewCoopSched(1).Par(1, 0, func(_ int, b engine.Sched) error {
		b.Do(engine.HandlerFunc(func(ctx context.Context, _ *engine.Effect, _ engine.Sink) engine.Outcome {
			own, cancel := context.WithCancel(ctx)
			clock.Of(ctx).AfterFunc(time.Minute, cancel)
			if err := clock.Await(own, make(chan struct{})); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			return engine.Outcome{}
		}), &engine.Effect{}, nil)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
