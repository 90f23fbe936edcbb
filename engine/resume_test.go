package engine_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// A run that is cancelled at any effect says so, leaves nothing running, and goes on from its
// journal: no recorded effect is run again, and the result is that of an undisturbed run.
func TestCancelledRunsResume(t *testing.T) {
	interrupted := 0
	for seed := range uint64(180) {
		g := newGenerator(seed, false)
		e := g.expr(4)
		c := compose()
		main := e.build(c)
		c.sound(t)
		want, err := e.eval(5)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(seed, 5))
		before := runtime.NumGoroutine()
		j := &store.Memory{}
		var mu sync.Mutex
		ran := map[string]int{} // effects that came to an outcome
		var out generable.Value
		for attempt := 0; ; attempt++ {
			ctx, cancel := context.WithCancel(t.Context())
			left := atomic.Int64{}
			left.Store(int64(1 + rng.IntN(4)))
			h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
				if left.Add(-1) == 0 && attempt < 3 {
					cancel()
				}
				if ctx.Err() != nil { // as a connection that is closed
					return engine.Failed(engine.Errorf(engine.KindNetwork, diag.ProviderError, "closed: %w", ctx.Err()))
				}
				mu.Lock()
				ran[e.ID()]++
				mu.Unlock()
				return arithmetic(ctx, e, k)
			})
			var err error
			out, err = run.Exec(sched.NewGoSched(ctx), &run.Spec{Node: main, Input: generable.IntOf(5), Handler: h, Model: "test/model", Journal: j})
			cancel()
			if err == nil {
				break
			}
			interrupted++
			var f *engine.Error
			if !errors.As(err, &f) || f.Kind != engine.KindCancelled || engine.IsControl(err) || f.Path == "" || attempt >= 3 {
				t.Fatalf("seed %d, attempt %d: %#v", seed, attempt, err)
			}
			settled(t, before)
		}
		if integer(out) != want {
			t.Fatalf("seed %d: got %d, want %d: %s", seed, integer(out), want, e.text)
		}
		for id, n := range ran {
			if _, ok := j.Answer(id); !ok || n != 1 {
				t.Errorf("seed %d: %s ran %d times, recorded %v", seed, id, n, ok)
			}
		}
	}
	if interrupted < 100 {
		t.Errorf("only %d runs were interrupted", interrupted)
	}
}

// One graph serves many runs at once, and keeps nothing of them.
func TestConcurrentRuns(t *testing.T) {
	for seed := range uint64(5) {
		e := newGenerator(seed, false).expr(5)
		c := compose()
		main := e.build(c)
		c.sound(t)
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				want, err := e.eval(int64(i))
				if err != nil {
					t.Error(err)
				}
				out, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.IntOf(int64(i)), Handler: arithmetic, Model: "test/model",
					Limits: engine.Limits{ModelCalls: engine.AtMost(100_000)}, Journal: &store.Memory{}})
				if err != nil || integer(out) != want {
					t.Errorf("seed %d, run %d: %d, %v; want %d", seed, i, integer(out), err, want)
				}
			})
		}
		all.Wait()
	}
}

// Events come in the order of their numbers; what begins at a path ends there, what is inside
// of it before it does; and the same events come on every scheduler.
func TestEventsOfRandomGraphs(t *testing.T) {
	for seed := range uint64(60) {
		g := newGenerator(seed, seed%3 == 0)
		g.told = true
		e := g.expr(4)
		c := compose()
		main := e.build(c)
		c.sound(t)
		_, wantErr := e.eval(6)
		var first map[string]int
		for i, s := range []engine.Sched{sched.NewCoopSched(seed), sched.NewGoSched(t.Context()), sched.NewCoopSched(seed + 77)} {
			type key struct {
				kind       engine.EventKind
				path, name string
			}
			open, counts := map[key]int{}, map[string]int{}
			var last uint64
			_, err := run.Exec(s, &run.Spec{ID: "r", Node: main, Input: generable.IntOf(6), Handler: arithmetic, Model: "test/model",
				Listener: engine.Listener{Kinds: engine.EventAll, Emit: func(ev engine.Event) {
					if ev.Seq != last+1 || ev.Run != "r" || ev.Path == "" {
						t.Errorf("seed %d: event %+v after %d", seed, ev, last)
					}
					last = ev.Seq
					k := key{ev.Kind, ev.Path, ev.Name()}
					switch ev.Phase() {
					case engine.PhaseStart:
						open[k]++
					case engine.PhaseEnd:
						if open[k]--; open[k] < 0 {
							t.Errorf("seed %d: %v ends before it begins", seed, k)
						}
						if ev.Kind == engine.EventRun && len(open) > 0 {
							for k, n := range open {
								if n != 0 {
									t.Errorf("seed %d: the run ends before %v", seed, k)
								}
							}
						}
					}
					counts[ev.Kind.String()+" "+ev.Path+" "+string(ev.Phase())+" "+ev.ID]++
				}}})
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("seed %d: %v, want %v", seed, err, wantErr)
			}
			if err != nil { // which branches had begun is open
				continue
			}
			if i == 0 {
				first = counts
				continue
			}
			if len(counts) != len(first) {
				t.Fatalf("seed %d: %d different events, %d on the first scheduler: %s", seed, len(counts), len(first), e.text)
			}
			for k, n := range first {
				if counts[k] != n {
					t.Fatalf("seed %d: %s came %d times, %d on the first scheduler", seed, k, counts[k], n)
				}
			}
		}
	}
}
