package interp_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// A run that is cancelled at any effect reports that, leaves nothing running, and continues from its journal: no
// recorded effect runs again, and the result is that of an undisturbed run.
func TestCancelledRunsResume(t *testing.T) {
	interrupted := 0
	for seed := range uint64(180) {
		synctest.Test(t, func(t *testing.T) { interrupted += resumed(t, seed) })
	}
	if interrupted < 100 {
		t.Errorf("only %d runs were interrupted", interrupted)
	}
}

// resumed interrupts a run up to three times, lets it continue to its end, and returns how often it was interrupted.
func resumed(t *testing.T, seed uint64) (interrupted int) {
	g := newGenerator(seed, false)
	e := g.expr(4)
	c := enginetest.Compose()
	main := e.build(c)
	c.Sound(t)
	want, err := e.eval(5)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 5))
	j := &store.Memory{}
	var mu sync.Mutex
	ran := map[string]int{} // effects with an outcome
	var out generable.Value
	for attempt := 0; ; attempt++ {
		ctx, cancel := context.WithCancel(t.Context())
		left := atomic.Int64{}
		left.Store(int64(1 + rng.IntN(4)))
		h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
			if left.Add(-1) == 0 && attempt < 3 {
				cancel()
			}
			if ctx.Err() != nil { // like a closed connection
				return engine.Failed(engine.Errorf(engine.KindNetwork, diag.ProviderError, "closed: %w", ctx.Err()))
			}
			mu.Lock()
			ran[e.ID()]++
			mu.Unlock()
			return arithmetic(ctx, e, k)
		})
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
	}
	if enginetest.Int(out) != want {
		t.Fatalf("seed %d: got %d, want %d: %s", seed, enginetest.Int(out), want, e.text)
	}
	for id, n := range ran {
		if _, ok := j.Answer(id); !ok || n != 1 {
			t.Errorf("seed %d: %s ran %d times, recorded %v", seed, id, n, ok)
		}
	}
	return interrupted
}

// One graph serves many concurrent runs, and keeps nothing of them.
func TestConcurrentRuns(t *testing.T) {
	for seed := range uint64(5) {
		e := newGenerator(seed, false).expr(5)
		c := enginetest.Compose()
		main := e.build(c)
		c.Sound(t)
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				want, err := e.eval(int64(i))
				if err != nil {
					t.Error(err)
				}
				out, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.IntOf(int64(i)), Handler: arithmetic, Model: "test/model",
					Limits: engine.Limits{ModelCalls: engine.AtMost(100_000)}, Journal: &store.Memory{}})
				if err != nil || enginetest.Int(out) != want {
					t.Errorf("seed %d, run %d: %d, %v; want %d", seed, i, enginetest.Int(out), err, want)
				}
			})
		}
		all.Wait()
	}
}
