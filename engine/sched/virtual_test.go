package sched_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/clock"
	"github.com/agentscript/agentscript/engine/sched"
)

// virtually runs a test in virtual time, in a bubble of testing/synctest, where sleeping also passes
// instantly.
func virtually(t *testing.T, test func(t *testing.T, s engine.Sched)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, sched.NewVirtual(t.Context())) })
}

var tool, asked = &engine.Effect{Kind: engine.EffectTool, Name: "tool"}, &engine.Effect{Kind: engine.EffectModel}

// does returns a handler that calls f.
func does(f func(ctx context.Context) int) engine.Handler {
	return engine.HandlerFunc(func(ctx context.Context, _ *engine.Effect, _ engine.Sink) engine.Outcome {
		return engine.Outcome{Attempt: f(ctx)}
	})
}

// Branches continue in written order, whatever unblocked them; time that nobody waits for does not pass.
func TestVirtualOrder(t *testing.T) {
	virtually(t, func(t *testing.T, s engine.Sched) {
		var got []string
		say := func(format string, args ...any) { got = append(got, fmt.Sprintf(format, args...)) }
		start := s.Now()
		err := s.Par(3, 0, func(i int, b engine.Sched) error {
			return b.Par(2, 0, func(j int, b engine.Sched) error {
				say("begin %d%d", i, j)
				if err := b.SleepUntil(start.Add(time.Duration(2-j) * time.Hour)); err != nil {
					return err
				}
				say("end %d%d", i, j)
				return nil
			})
		})
		want := "begin 00 begin 01 begin 10 begin 11 begin 20 begin 21 end 01 end 11 end 21 end 00 end 10 end 20"
		if text := strings.Join(got, " "); err != nil || text != want || s.Now().Sub(start) != 2*time.Hour {
			t.Errorf("%v after %s:\n%s\n%s", err, s.Now().Sub(start), text, want)
		}
	})
}

// Models are called in written order, once no other branch can make progress.
func TestVirtualModels(t *testing.T) {
	virtually(t, func(t *testing.T, s engine.Sched) {
		var got []string
		err := s.Par(3, 0, func(i int, b engine.Sched) error {
			got = append(got, fmt.Sprint("begins ", i))
			for turn := range 2 {
				b.Do(does(func(ctx context.Context) int {
					got = append(got, fmt.Sprint(i, " asks ", turn))
					if i == 1 && turn == 0 {
						if err := clock.Sleep(ctx, time.Second); err != nil {
							t.Error(err)
						}
						got = append(got, "1 is answered")
					}
					return 1
				}), asked, nil)
			}
			return nil
		})
		want := "begins 0, begins 1, begins 2, 0 asks 0, 1 asks 0, 2 asks 0, 0 asks 1, 2 asks 1, 1 is answered, 1 asks 1"
		if text := strings.Join(got, ", "); err != nil || text != want {
			t.Errorf("%v\n%s\n%s", err, text, want)
		}
	})
}

// Real effects run concurrently, take no virtual time, and are delivered in written order, including their
// tokens.
func TestVirtualEffects(t *testing.T) {
	virtually(t, func(t *testing.T, s engine.Sched) {
		const n = 10
		begun, real := s.Now(), time.Now()
		var got []string
		err := s.Par(n, 0, func(i int, b engine.Sched) error {
			out := b.Do(engine.HandlerFunc(func(_ context.Context, _ *engine.Effect, sink engine.Sink) engine.Outcome {
				time.Sleep(time.Duration(n-i) * time.Second)
				sink(engine.Token{Text: fmt.Sprint("a", i)})
				sink(engine.Token{Text: fmt.Sprint("b", i)})
				return engine.Outcome{Attempt: i + 1}
			}), tool, func(k engine.Token) { got = append(got, k.Text) })
			got = append(got, fmt.Sprint(out.Attempt-1))
			return nil
		})
		var want []string
		for i := range n {
			want = append(want, fmt.Sprint("a", i), fmt.Sprint("b", i), fmt.Sprint(i))
		}
		if err != nil || !slices.Equal(got, want) || !s.Now().Equal(begun) || time.Since(real) != n*time.Second {
			t.Errorf("%v, %s of the run's time and %s of the machine's:\n%v\n%v", err, s.Now().Sub(begun), time.Since(real), got, want)
		}
	})
}

// The engine's own effects, notes and budgets, are read and written in written order, not concurrently.
func TestVirtualOwnEffects(t *testing.T) {
	virtually(t, func(t *testing.T, s engine.Sched) {
		var got []int
		err := s.Par(5, 0, func(i int, b engine.Sched) error {
			b.Do(does(func(context.Context) int {
				time.Sleep(time.Duration(5-i) * time.Second)
				got = append(got, i)
				return 1
			}), &engine.Effect{Kind: engine.EffectMemory}, nil)
			return nil
		})
		if err != nil || !slices.Equal(got, []int{0, 1, 2, 3, 4}) {
			t.Errorf("%v, in the order %v", err, got)
		}
	})
}

// If branches settle at the same time, the first in written order wins, whether by an effect, an answer or
// computation. An earlier time wins over all later ones.
func TestVirtualFirst(t *testing.T) {
	effect := func(b engine.Sched) {
		b.Do(does(func(context.Context) int { time.Sleep(time.Second); return 1 }), tool, nil)
	}
	answer := func(b engine.Sched) { b.Do(does(func(context.Context) int { return 1 }), asked, nil) }
	late := func(b engine.Sched) {
		b.Do(does(func(ctx context.Context) int { clock.Sleep(ctx, time.Second); return 1 }), asked, nil)
	}
	inner := func(bodies ...func(engine.Sched)) func(engine.Sched) {
		return func(b engine.Sched) {
			b.First(len(bodies), func(i int, b engine.Sched) (bool, error) { bodies[i](b); return b.Err() == nil, b.Err() })
		}
	}
	chain := func(bodies ...func(engine.Sched)) func(engine.Sched) {
		return func(b engine.Sched) {
			for _, body := range bodies {
				body(b)
			}
		}
	}
	for _, tt := range []struct {
		name   string
		bodies []func(engine.Sched)
		wins   int
	}{
		{"computing, answer", []func(engine.Sched){func(engine.Sched) {}, answer}, 0},
		{"answer, computing", []func(engine.Sched){answer, func(engine.Sched) {}}, 0},
		{"effect, answer, computing", []func(engine.Sched){effect, answer, func(engine.Sched) {}}, 0},
		{"late, effect, answer", []func(engine.Sched){late, effect, answer}, 1},
		{"late, late", []func(engine.Sched){late, late}, 0},
		{"later, late", []func(engine.Sched){chain(late, late), late}, 1},
		{"three answers, one", []func(engine.Sched){chain(answer, answer, answer), answer}, 0},
		{"one of late and effect, answer", []func(engine.Sched){inner(late, effect), answer}, 0},
		{"one of late and late, effect", []func(engine.Sched){inner(late, late), effect}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			virtually(t, func(t *testing.T, s engine.Sched) {
				for range 20 {
					wins, err := s.First(len(tt.bodies), func(i int, b engine.Sched) (bool, error) { tt.bodies[i](b); return b.Err() == nil, b.Err() })
					if wins != tt.wins || err != nil {
						t.Fatalf("%d wins, %v", wins, err)
					}
				}
			})
		})
	}
}

// An effect whose branch is cancelled is cancelled, and its outcome is dropped even if it was fast enough,
// which would be chance. An effect that is not done is waited for.
func TestVirtualCancelled(t *testing.T) {
	virtually(t, func(t *testing.T, s engine.Sched) {
		var stopped atomic.Int32
		boom := errors.New("boom")
		begun := time.Now()
		err := s.Par(3, 0, func(i int, b engine.Sched) error {
			if i == 2 {
				b.Do(does(func(context.Context) int { return 1 }), asked, nil)
				return boom
			}
			out := b.Do(does(func(ctx context.Context) int {
				if i == 0 {
					return 1 // long before its branch is cancelled
				}
				select {
				case <-ctx.Done():
					stopped.Add(1)
				case <-time.After(time.Hour):
				}
				time.Sleep(time.Second)
				return 1
			}), tool, nil)
			if !engine.IsControl(b.Err()) || out.Err == nil {
				t.Errorf("branch %d gets %+v and is to stop by %v", i, out, b.Err())
			}
			return b.Err()
		})
		if err != boom || stopped.Load() != 1 || time.Since(begun) != time.Second {
			t.Errorf("%v, %d were told, after %s", err, stopped.Load(), time.Since(begun))
		}
	})
}

// Real time bounds real effects: the context of the run, and the timeout of an effect. The bounds of a branch
// are virtual.
func TestVirtualBounds(t *testing.T) {
	hang := does(func(ctx context.Context) int { <-ctx.Done(); return 1 })
	late := &engine.Error{Kind: engine.KindTimeout, Message: "late"}
	t.Run("the context ends", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			s := sched.NewVirtual(ctx)
			var told atomic.Int32
			err := s.Par(3, 0, func(i int, b engine.Sched) error {
				defer b.OnCancel(func() { told.Add(1) })()
				switch i {
				case 0:
					b.Do(hang, tool, nil)
				case 1:
					return b.Wait(func() bool { return false })
				default:
					for b.Yield() == nil { // a script that computes
						time.Sleep(time.Second)
					}
				}
				return b.Err()
			})
			if !errors.Is(err, engine.ErrTimeout) || told.Load() != 3 || !errors.Is(s.Err(), engine.ErrTimeout) {
				t.Errorf("%v, %d were told", err, told.Load())
			}
		})
	})
	t.Run("an effect is late", func(t *testing.T) {
		virtually(t, func(t *testing.T, s engine.Sched) {
			begun := time.Now()
			err := s.Par(2, 0, func(i int, b engine.Sched) error {
				err := b.Within(time.Minute, late, func(b engine.Sched) error {
					e := *tool
					e.Timeout = time.Minute
					b.Do(hang, &e, nil)
					return b.Err()
				})
				if !errors.Is(err, late) || b.Err() != nil {
					t.Errorf("%v, outside %v", err, b.Err())
				}
				return nil
			})
			if err != nil || time.Since(begun) != time.Minute {
				t.Errorf("%v after %s", err, time.Since(begun))
			}
		})
	})
	t.Run("a branch is late", func(t *testing.T) {
		virtually(t, func(t *testing.T, s engine.Sched) {
			begun := time.Now()
			err := s.Within(time.Minute, late, func(b engine.Sched) error {
				return b.Par(2, 0, func(i int, b engine.Sched) error {
					b.Do(does(func(ctx context.Context) int { clock.Sleep(ctx, time.Hour); return 1 }), []*engine.Effect{asked, tool}[i], nil)
					return b.Err()
				})
			})
			if !errors.Is(err, late) || s.Now() != time.Unix(60, 0).UTC() || time.Since(begun) != 0 {
				t.Errorf("%v after %s", err, time.Since(begun))
			}
		})
	})
	t.Run("one that does not stop is left behind", func(t *testing.T) {
		virtually(t, func(t *testing.T, s engine.Sched) {
			begun := time.Now()
			boom := errors.New("boom")
			err := s.Par(2, 0, func(i int, b engine.Sched) error {
				if i == 1 {
					return boom
				}
				b.DoOrAbandon(does(func(context.Context) int { time.Sleep(time.Hour); return 1 }), new(*tool))
				return b.Err()
			})
			if err != boom || time.Since(begun) != time.Second {
				t.Errorf("%v after %s", err, time.Since(begun))
			}
			time.Sleep(time.Hour) // until it has returned
		})
	})
}

// A handler outside may wait for the run's clock on any of its goroutines, in written order; its panic or
// Goexit does not end the process or the run.
func TestVirtualHandlers(t *testing.T) {
	virtually(t, func(t *testing.T, s engine.Sched) {
		var mu sync.Mutex
		var order []int
		err := s.Par(8, 0, func(i int, b engine.Sched) error {
			b.Do(does(func(ctx context.Context) int {
				time.Sleep(time.Duration(8-i) * time.Millisecond)
				clock.Turn(ctx)
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				slept := make(chan error)
				go func() { slept <- clock.Sleep(ctx, time.Hour) }()
				if err := <-slept; err != nil {
					t.Error(err)
				}
				return 1
			}), tool, nil)
			return nil
		})
		if err != nil || !slices.IsSorted(order) || len(order) != 8 || s.Now() != time.Unix(3600, 0).UTC() {
			t.Errorf("%v, in the order %v, at %s", err, order, s.Now())
		}
		for name, ends := range map[string]func(){"panic": func() { panic("boom") }, "goexit": func() { runtime.Goexit() }} {
			err := s.Par(1, 0, func(_ int, b engine.Sched) error {
				if out := b.Do(does(func(context.Context) int { ends(); return 1 }), tool, nil); out.Err == nil || out.Err.Kind != engine.KindPanic {
					t.Errorf("%s: %+v", name, out)
				}
				return nil
			})
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// What waits for everything else happens when nothing else can make progress, but before a time bound.
func TestVirtualLast(t *testing.T) {
	virtually(t, func(t *testing.T, s engine.Sched) {
		late := errors.New("late")
		var ended []int
		err := s.Within(time.Hour, late, func(b engine.Sched) error {
			return b.Par(4, 0, func(i int, b engine.Sched) error {
				b.Do(does(func(ctx context.Context) int {
					err := error(nil)
					if i%2 == 0 {
						err = clock.Last(ctx)
					} else {
						err = clock.Sleep(ctx, time.Duration(i)*time.Minute)
					}
					if err != nil {
						t.Error(err)
					}
					ended = append(ended, i)
					return 1
				}), asked, nil)
				return nil
			})
		})
		if err != nil || !slices.Equal(ended, []int{1, 3, 0, 2}) || s.Now() != time.Unix(180, 0).UTC() {
			t.Errorf("%v, in the order %v, at %s", err, ended, s.Now())
		}
	})
}

// A step costs the same, however many branches there are.
func TestManyVirtualBranches(t *testing.T) {
	branches := 10_000
	if testing.Short() {
		branches = 1000
	}
	virtually(t, func(t *testing.T, s engine.Sched) {
		n := 0
		err := s.Par(branches, 0, func(i int, b engine.Sched) error {
			b.Do(does(func(context.Context) int { n++; return 1 }), asked, nil)
			b.Do(does(func(context.Context) int { return 1 }), tool, nil)
			return b.SleepUntil(b.Now().Add(time.Hour))
		})
		if err != nil || n != branches {
			t.Errorf("%v after %d", err, n)
		}
	})
}
