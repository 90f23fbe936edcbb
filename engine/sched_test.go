package engine_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/sched"
)

// schedulers runs a test on both schedulers, the cooperative one with several seeds.
func schedulers(t *testing.T, f func(t *testing.T, s engine.Sched)) {
	t.Run("goroutines", func(t *testing.T) { f(t, sched.NewGoSched(t.Context())) })
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { f(t, sched.NewCoopSched(seed)) })
	}
}

// soon fails the test when f does not return: a hang would otherwise take the whole package.
func soon(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("it does not end")
	}
}

// settled waits until no more goroutines than before are left.
func settled(t *testing.T, before int) {
	t.Helper()
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines are left, %d before", runtime.NumGoroutine(), before)
}

func TestSchedulerAtTheRoot(t *testing.T) {
	schedulers(t, func(t *testing.T, s engine.Sched) {
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
	})
}

func TestParReportsTheLowestIndex(t *testing.T) {
	schedulers(t, func(t *testing.T, s engine.Sched) {
		var arrived sync.WaitGroup
		arrived.Add(8)
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
		// Which of 3 to 7 failed before it was stopped is open; a stopped branch is none of them.
		if err == nil || engine.IsControl(err) {
			t.Errorf("got %v", err)
		}
	})
}

func TestParIsLimited(t *testing.T) {
	schedulers(t, func(t *testing.T, s engine.Sched) {
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
	})
}

func TestBranchesAreNotStartedAfterAFailure(t *testing.T) {
	schedulers(t, func(t *testing.T, s engine.Sched) {
		started := atomic.Int32{}
		boom := errors.New("boom")
		err := s.Par(1000, 1, func(i int, b engine.Sched) error {
			started.Add(1)
			return boom
		})
		if err != boom || started.Load() != 1 {
			t.Errorf("got %v after %d branches", err, started.Load())
		}
	})
}

func TestNestedParIsCancelled(t *testing.T) {
	schedulers(t, func(t *testing.T, s engine.Sched) {
		before := runtime.NumGoroutine()
		boom := errors.New("boom")
		stopped := atomic.Int32{}
		soon(t, func() {
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
		})
		if n := stopped.Load(); n > 2 {
			t.Errorf("%d branches ran, at most 2 at once", n)
		}
		settled(t, before)
	})
}

func TestFirst(t *testing.T) {
	schedulers(t, func(t *testing.T, s engine.Sched) {
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
	})
}

func TestWaitIsWoken(t *testing.T) {
	schedulers(t, func(t *testing.T, s engine.Sched) {
		var mu sync.Mutex
		tickets := 0
		soon(t, func() {
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
		})
	})
}

func TestCancelledWhileWaiting(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	s := sched.NewGoSched(ctx)
	time.AfterFunc(5*time.Millisecond, func() { cancel(errors.New("shutting down")) })
	soon(t, func() {
		err := s.Wait(func() bool { return false })
		var e *engine.Error
		if !errors.As(err, &e) || e.Kind != engine.KindCancelled || e.Cause == nil || e.Cause.Error() != "shutting down" {
			t.Errorf("got %#v", err)
		}
	})
}

func TestDeadlineOfTheContextIsATimeout(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	s := sched.NewGoSched(ctx)
	if err := s.SleepUntil(time.Now().Add(time.Minute)); !errors.Is(err, engine.ErrTimeout) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// A host's own reason, an *Error, comes through as it is.
func TestCauseOfTheContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(&engine.Error{Kind: engine.KindQuota, Code: diag.RateLimited, Message: "the tenant's month is over"})
	if err := sched.NewGoSched(ctx).Err(); !errors.Is(err, &engine.Error{Kind: engine.KindQuota}) {
		t.Errorf("got %v", err)
	}
}

// A handler may leave its goroutine, as t.FailNow does. The branch then gave nothing, and
// nothing is not None.
func TestABranchThatLeavesItsGoroutineFailed(t *testing.T) {
	soon(t, func() {
		err := sched.NewGoSched(t.Context()).Par(2, 0, func(i int, b engine.Sched) error {
			if i == 0 {
				runtime.Goexit()
			}
			return b.SleepUntil(b.Now().Add(time.Hour))
		})
		if err == nil || engine.IsControl(err) {
			t.Errorf("got %v", err)
		}
	})
}

// A body that panics fails; it takes neither the process nor its siblings' results with it.
func TestPanickingBody(t *testing.T) {
	boom := errors.New("boom")
	schedulers(t, func(t *testing.T, s engine.Sched) {
		before := runtime.NumGoroutine()
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
		settled(t, before)
	})
}

// Many branches that wait for one resource all get their turn.
func TestManyWaiters(t *testing.T) {
	schedulers(t, func(t *testing.T, s engine.Sched) {
		var mu sync.Mutex
		free, most := 3, 0
		soon(t, func() {
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
		})
	})
}

// A branch that watches is told when it is to stop, once; one that watches no longer is not told.
func TestOnCancel(t *testing.T) {
	schedulers(t, func(t *testing.T, s engine.Sched) {
		boom := errors.New("boom")
		var told, ended atomic.Int32
		ready := make(chan struct{}, 1) // the watch is beside the branch
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
			if !stopped && ended.Load() == 0 { // the sibling may have been quicker
				t.Error("the watch did not end, and was not told")
			}
			return err
		})
		if !errors.Is(err, boom) || told.Load() != 1 {
			t.Errorf("got %v, told %d times", err, told.Load())
		}
	})
}
