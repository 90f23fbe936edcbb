package interp_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// Random compositions return what a plain function returns, on every scheduler and on replay, and no two of their
// effects have the same id.
func TestRandomGraphsMatchTheReference(t *testing.T) {
	for seed := range uint64(150) {
		g := newGenerator(seed, false)
		e := g.expr(4)
		c := enginetest.Compose()
		main := e.build(c)
		c.Sound(t)
		want, err := e.eval(5)
		if err != nil {
			t.Fatal(err)
		}
		got, err := enginetest.Everywhere(t, run.Spec{Node: main, Input: generable.IntOf(5), Handler: arithmetic, Model: "test/model"})
		if err != nil || enginetest.Int(got) != want {
			t.Fatalf("seed %d: got %d, %v; want %d of %s", seed, enginetest.Int(got), err, want, e.text)
		}
		var seen enginetest.IDs
		if _, err := run.Exec(sched.NewCoopSched(seed), &run.Spec{Node: main, Input: generable.IntOf(5), Handler: arithmetic, Model: "test/model", Listener: seen.Listener()}); err != nil {
			t.Fatal(err)
		}
		slices.Sort(seen.All)
		if n := len(slices.Compact(slices.Clone(seen.All))); n != len(seen.All) {
			t.Fatalf("seed %d: %d effects have %d ids: %s", seed, len(seen.All), n, e.text)
		}
		if t.Failed() {
			t.Fatalf("seed %d: %s", seed, e.text)
		}
	}
}

// Steps inserted between others do not change the ids of these.
func TestIdsIgnoreUnrelatedNodes(t *testing.T) {
	for seed := range uint64(100) {
		var sets [2]enginetest.IDs
		for i := range sets {
			g := newGenerator(seed, false)
			g.noise = i == 1
			c := enginetest.Compose()
			main := g.expr(4).build(c)
			c.Sound(t)
			if _, err := run.Exec(sched.NewCoopSched(seed), &run.Spec{Node: main, Input: generable.IntOf(5), Handler: arithmetic, Model: "test/model", Listener: sets[i].Listener()}); err != nil {
				t.Fatal(err)
			}
		}
		if a, b := sets[0].Set(), sets[1].Set(); a != b {
			t.Fatalf("seed %d: without\n%s\nwith\n%s", seed, a, b)
		}
	}
}

// With failing steps, a run fails exactly when the reference does, with the failure of a step and not a control
// outcome, located at a leaf.
func TestRandomGraphsFailLikeTheReference(t *testing.T) {
	failed := 0
	for seed := range uint64(200) {
		g := newGenerator(seed, true)
		e := g.expr(4)
		c := enginetest.Compose()
		main := e.build(c)
		c.Sound(t)
		for x := range int64(4) {
			want, wantErr := e.eval(x)
			for i, s := range []engine.Sched{sched.NewGoSched(t.Context()), sched.NewCoopSched(seed), sched.NewCoopSched(seed + 1000)} {
				got, err := run.Exec(s, &run.Spec{Node: main, Input: generable.IntOf(x), Handler: arithmetic, Model: "test/model"})
				switch {
				case (err == nil) != (wantErr == nil):
					t.Fatalf("seed %d, scheduler %d, input %d: %v, want %v: %s", seed, i, x, err, wantErr, e.text)
				case err == nil && enginetest.Int(got) != want:
					t.Fatalf("seed %d, scheduler %d, input %d: %d, want %d: %s", seed, i, x, enginetest.Int(got), want, e.text)
				case err != nil:
					failed++
					var f *engine.Error
					if !errors.Is(err, errPlanned) || engine.IsControl(err) || !errors.As(err, &f) || f.Path == "" || !f.Pos.IsValid() {
						t.Fatalf("seed %d, scheduler %d: %#v", seed, i, err)
					}
				}
			}
		}
	}
	if failed < 100 {
		t.Errorf("only %d runs failed", failed)
	}
}

// Promise 15.19 (algebra): `then` is associative: however a sequence is nested and written, its types, values and
// failures are the same.
func TestPromise_15_19_ThenIsAssociative(t *testing.T) {
	for seed := range uint64(150) {
		g := newGenerator(seed, seed%2 == 1)
		a, b, d := g.expr(2), g.expr(2), g.expr(2)
		forms := []func(c *enginetest.Composer) *flow.Node{
			func(c *enginetest.Composer) *flow.Node {
				return c.Then(c.Site("then", ""), a.build(c), b.build(c), d.build(c))
			},
			func(c *enginetest.Composer) *flow.Node {
				return c.Then(c.Site("then", ""), c.Then(c.Site("then", ""), a.build(c), b.build(c)), d.build(c))
			},
			func(c *enginetest.Composer) *flow.Node {
				return c.Then(c.Site("then", ""), a.build(c), c.Then(c.Site("then", ""), b.build(c), d.build(c)))
			},
			func(c *enginetest.Composer) *flow.Node {
				return c.Then(c.Op("`>>`"), c.Then(c.Op("`>>`"), a.build(c), b.build(c)), d.build(c))
			},
			func(c *enginetest.Composer) *flow.Node {
				return c.Then(c.Op("`>>`"), a.build(c), c.Then(c.Op("`>>`"), b.build(c), d.build(c)))
			},
		}
		var first string
		for i, form := range forms {
			c := enginetest.Compose()
			main := form(c)
			c.Sound(t)
			text := main.In().String() + " → " + main.Out().String()
			for x := range int64(4) {
				out, err := run.Exec(sched.NewCoopSched(seed), &run.Spec{Node: main, Input: generable.IntOf(x), Handler: arithmetic, Model: "test/model"})
				text += fmt.Sprintf(", %d→%d", x, enginetest.Int(out))
				var failed *engine.Error
				if errors.As(err, &failed) && errors.Is(err, errPlanned) { // at another path, by the same cause
					text += fmt.Sprintf(" %s %s %q", failed.Kind, failed.Code, failed.Message)
				} else if err != nil {
					t.Fatal(err)
				}
			}
			if i == 0 {
				first = text
			} else if text != first {
				t.Fatalf("seed %d: form %d gives %s, form 0 %s\na %s\nb %s\nc %s", seed, i, text, first, a.text, b.text, d.text)
			}
		}
	}
}

// However branches interleave, no more calls reach the handler than the budgets on all levels allow, and everything
// held is returned, even if calls fail or panic.
func TestRandomBudgets(t *testing.T) {
	refusals := 0
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 11))
		c := enginetest.Compose()
		caps := map[string]int64{}
		var boss []*flow.Node
		for i := range 2 + rng.IntN(4) {
			var workers []*flow.Node
			for range 1 + rng.IntN(6) {
				workers = append(workers, c.Prompted(fmt.Sprint("boss", i, "/worker"), generable.StrT, generable.StrT))
			}
			name := fmt.Sprint("boss", i)
			limits := engine.Limits{}
			if rng.IntN(2) == 0 {
				caps[name] = int64(rng.IntN(5))
				limits.ModelCalls = engine.AtMost(caps[name])
			}
			team := c.Par(c.Site("par", ""), flow.ParOptions{Limit: rng.IntN(3)}, workers...)
			boss = append(boss, c.Agent(c.Site("agent", name), &agent.Spec{Name: name, Budget: limits,
				Run: engine.GoFunc(name, 1, func(b engine.Branch, a []generable.Value) (generable.Value, error) {
					run.Call(b, team, a[0]) // a boss handles the failure of its team
					return a[0], nil
				})}))
		}
		main := c.Par(c.Site("par", "main"), flow.ParOptions{}, boss...)
		c.Sound(t)
		total := int64(rng.IntN(12))
		used := map[string]int64{}
		all := int64(0)
		h := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
			all++
			used[strings.TrimSuffix(e.Agent, "/worker")]++
			switch rng.IntN(6) {
			case 0:
				panic("worker down")
			case 1:
				return engine.Failed(engine.Errorf(engine.KindServer, diag.ProviderError, "no luck"))
			}
			return enginetest.Echo(ctx, e, k)
		})
		spec := run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h, Model: "test/model", Limits: engine.Limits{ModelCalls: engine.AtMost(total)},
			Listener: engine.Listener{Kinds: engine.EventBudget, Emit: func(engine.Event) { refusals++ }}}
		if _, err := run.Exec(sched.NewCoopSched(seed), &spec); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if all > total {
			t.Errorf("seed %d: %d calls with a budget of %d", seed, all, total)
		}
		for name, most := range caps {
			if used[name] > most {
				t.Errorf("seed %d: %s made %d calls with a budget of %d", seed, name, used[name], most)
			}
		}
	}
	if refusals < 50 {
		t.Errorf("only %d refusals", refusals)
	}
}

// effects lists the journal's effects of handlers, without the winners of races.
func effects(j *store.Memory) []string {
	return slices.DeleteFunc(j.IDs(), func(id string) bool { return strings.Contains(id, "/won0@") })
}

// A random graph that ran once is answered completely from its journal, even if the journal contains more than needed.
// With one prompt edited, everything that does not depend on it still is.
func TestRandomGraphsReplay(t *testing.T) {
	for seed := range uint64(60) {
		e := newGenerator(seed, false).expr(4)
		c := enginetest.Compose()
		main := e.build(c)
		c.Sound(t)
		j := &store.Memory{}
		h := &enginetest.CallCounter{Handler: arithmetic}
		spec := run.Spec{Node: main, Input: generable.IntOf(9), Handler: h, Model: "test/model", Journal: j}
		want, err := run.Exec(sched.NewCoopSched(seed), &spec)
		if err != nil {
			t.Fatal(err)
		}
		if int(h.Calls.Load()) != len(effects(j)) {
			t.Fatalf("seed %d: %d calls, %d recorded", seed, h.Calls.Load(), len(effects(j)))
		}
		again := spec
		again.Handler = enginetest.Refuse
		again.Input = generable.IntOf(9)
		got, err := run.Exec(sched.NewGoSched(t.Context()), &again)
		if err != nil || !generable.Equal(got, want) {
			t.Fatalf("seed %d: %v, %v", seed, generable.JSON(got, nil), err)
		}
		other := spec
		other.Model = "test/other" // every request differs
		before := h.Calls.Load()
		if _, err := run.Exec(sched.NewGoSched(t.Context()), &other); err != nil {
			t.Fatal(err)
		}
		if made := h.Calls.Load() - before; made != before {
			t.Fatalf("seed %d: %d of %d calls were made for edited requests", seed, made, before)
		}
	}
}

// No run of a random composition, with or without failures, makes more model calls than its bound.
func TestBoundsHold(t *testing.T) {
	total := int64(0)
	for seed := range uint64(600) {
		g := newGenerator(seed, seed%2 == 1)
		e := g.expr(4)
		if strings.Contains(e.text, "calls(") {
			continue // code that calls agents
		}
		c := enginetest.Compose()
		main := e.build(c)
		c.Sound(t)
		bound := enginetest.TotalCalls(flow.Bounds(main, 100))
		for x := range int64(4) {
			var made atomic.Int64
			counting := engine.HandlerFunc(func(ctx context.Context, ef *engine.Effect, sink engine.Sink) engine.Outcome {
				if ef.Kind == engine.EffectModel {
					made.Add(1)
				}
				return arithmetic.Do(ctx, ef, sink)
			})
			_, _ = run.Exec(sched.NewCoopSched(seed), &run.Spec{Node: main, Input: generable.IntOf(x), Handler: counting, Model: "test/model"}) // a run may fail
			total += made.Load()
			if made.Load() > bound {
				t.Fatalf("seed %d, input %d: %d calls, bound %d: %s", seed, x, made.Load(), bound, e.text)
			}
		}
	}
	if total < 1000 {
		t.Errorf("only %d calls were made", total)
	}
}
