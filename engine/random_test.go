package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// Random compositions give what a plain function gives, on every scheduler and on replay, and
// no two of their effects have the same id.
func TestRandomGraphsMatchTheReference(t *testing.T) {
	for seed := range uint64(150) {
		g := newGenerator(seed, false)
		e := g.expr(4)
		c := compose()
		main := e.build(c)
		c.sound(t)
		want, err := e.eval(5)
		if err != nil {
			t.Fatal(err)
		}
		got, err := everywhere(t, run.Spec{Node: main, Input: generable.IntOf(5), Handler: arithmetic, Model: "test/model"})
		if err != nil || integer(got) != want {
			t.Fatalf("seed %d: got %d, %v; want %d of %s", seed, integer(got), err, want, e.text)
		}
		var seen ids
		if _, err := run.Exec(sched.NewCoopSched(seed), &run.Spec{Node: main, Input: generable.IntOf(5), Handler: arithmetic, Model: "test/model", Listener: seen.listener()}); err != nil {
			t.Fatal(err)
		}
		slices.Sort(seen.all)
		if n := len(slices.Compact(slices.Clone(seen.all))); n != len(seen.all) {
			t.Fatalf("seed %d: %d effects have %d ids: %s", seed, len(seen.all), n, e.text)
		}
		if t.Failed() {
			t.Fatalf("seed %d: %s", seed, e.text)
		}
	}
}

// Steps that are put between others do not change the ids of these.
func TestIdsIgnoreUnrelatedNodes(t *testing.T) {
	for seed := range uint64(100) {
		var sets [2]ids
		for i := range sets {
			g := newGenerator(seed, false)
			g.noise = i == 1
			c := compose()
			main := g.expr(4).build(c)
			c.sound(t)
			if _, err := run.Exec(sched.NewCoopSched(seed), &run.Spec{Node: main, Input: generable.IntOf(5), Handler: arithmetic, Model: "test/model", Listener: sets[i].listener()}); err != nil {
				t.Fatal(err)
			}
		}
		if a, b := sets[0].set(), sets[1].set(); a != b {
			t.Fatalf("seed %d: without\n%s\nwith\n%s", seed, a, b)
		}
	}
}

// With steps that fail, a run fails exactly when the reference does, with a failure of its own
// and no control outcome, located at a leaf.
func TestRandomGraphsFailLikeTheReference(t *testing.T) {
	failed := 0
	for seed := range uint64(200) {
		g := newGenerator(seed, true)
		e := g.expr(4)
		c := compose()
		main := e.build(c)
		c.sound(t)
		for x := range int64(4) {
			want, wantErr := e.eval(x)
			for i, s := range []engine.Sched{sched.NewGoSched(t.Context()), sched.NewCoopSched(seed), sched.NewCoopSched(seed + 1000)} {
				got, err := run.Exec(s, &run.Spec{Node: main, Input: generable.IntOf(x), Handler: arithmetic, Model: "test/model"})
				switch {
				case (err == nil) != (wantErr == nil):
					t.Fatalf("seed %d, scheduler %d, input %d: %v, want %v: %s", seed, i, x, err, wantErr, e.text)
				case err == nil && integer(got) != want:
					t.Fatalf("seed %d, scheduler %d, input %d: %d, want %d: %s", seed, i, x, integer(got), want, e.text)
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

// Promise 15.19 (algebra): `then` is associative: a sequence is the same however it is nested and
// written, in its types, values and failures.
func TestPromise_15_19_ThenIsAssociative(t *testing.T) {
	for seed := range uint64(150) {
		g := newGenerator(seed, seed%2 == 1)
		a, b, d := g.expr(2), g.expr(2), g.expr(2)
		forms := []func(c *composer) *flow.Node{
			func(c *composer) *flow.Node { return c.Then(c.site("then", ""), a.build(c), b.build(c), d.build(c)) },
			func(c *composer) *flow.Node {
				return c.Then(c.site("then", ""), c.Then(c.site("then", ""), a.build(c), b.build(c)), d.build(c))
			},
			func(c *composer) *flow.Node {
				return c.Then(c.site("then", ""), a.build(c), c.Then(c.site("then", ""), b.build(c), d.build(c)))
			},
			func(c *composer) *flow.Node {
				return c.Then(c.op("`>>`"), c.Then(c.op("`>>`"), a.build(c), b.build(c)), d.build(c))
			},
			func(c *composer) *flow.Node {
				return c.Then(c.op("`>>`"), a.build(c), c.Then(c.op("`>>`"), b.build(c), d.build(c)))
			},
		}
		var first string
		for i, form := range forms {
			c := compose()
			main := form(c)
			c.sound(t)
			text := main.In().String() + " → " + main.Out().String()
			for x := range int64(4) {
				out, err := run.Exec(sched.NewCoopSched(seed), &run.Spec{Node: main, Input: generable.IntOf(x), Handler: arithmetic, Model: "test/model"})
				text += fmt.Sprintf(", %d→%d", x, integer(out))
				var failed *engine.Error
				if errors.As(err, &failed) && errors.Is(err, errPlanned) { // at another path, by the same
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

// Promise 15.21 (algebra): the types of `then` are associative also where they follow what comes
// before, and where a join is wrong: each way of writing it is sound, or none is.
func TestPromise_15_21_AssociativeTypes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	sound := 0
	for range 2000 {
		var kinds [3]int
		var types [3][2]int
		for i := range kinds {
			kinds[i], types[i] = rng.IntN(4), [2]int{rng.IntN(6), rng.IntN(6)}
		}
		make := func(w *world, i int) *flow.Node {
			all := []*generable.Type{strT, intT, anyT, w.draft, list(w.draft), oneOf(strT, noneT)}
			switch kinds[i] {
			case 0:
				return w.pick("lines")
			case 1:
				text, _ := agent.ParseTemplate("{{code}}")
				return w.Template(w.site("template", ""), text, nil)
			}
			return w.node(all[types[i][0]], all[types[i][1]])
		}
		var first string
		for form := range 3 {
			w := newWorld(t)
			a, b, d := make(w, 0), make(w, 1), make(w, 2)
			var n *flow.Node
			switch form {
			case 0:
				n = w.then(a, b, d)
			case 1:
				n = w.then(w.then(a, b), d)
			case 2:
				n = w.then(a, w.then(b, d))
			}
			text := fmt.Sprint("failed ", n.Failed())
			if !n.Failed() {
				text = n.In().String() + " → " + n.Out().String()
				sound++
			}
			if form == 0 {
				first = text
			} else if text != first {
				t.Fatalf("form %d: %s, form 0: %s; kinds %v, types %v\n%s", form, text, first, kinds, types, said(w.Diagnostics()))
			}
		}
	}
	if sound < 300 {
		t.Errorf("only %d compositions are sound", sound)
	}
}

// However branches interleave, no more calls reach the handler than a budget on any level
// allows, and everything that was held is given back, also when calls fail or panic.
func TestRandomBudgets(t *testing.T) {
	refusals := 0
	for seed := range uint64(150) {
		rng := rand.New(rand.NewPCG(seed, 11))
		c := compose()
		caps := map[string]int64{}
		var boss []*flow.Node
		for i := range 2 + rng.IntN(4) {
			var workers []*flow.Node
			for range 1 + rng.IntN(6) {
				workers = append(workers, c.prompted(fmt.Sprint("boss", i, "/worker"), strT, strT))
			}
			name := fmt.Sprint("boss", i)
			limits := engine.Limits{}
			if rng.IntN(2) == 0 {
				caps[name] = int64(rng.IntN(5))
				limits.ModelCalls = engine.AtMost(caps[name])
			}
			team := c.Par(c.site("par", ""), flow.ParOptions{Limit: rng.IntN(3)}, workers...)
			boss = append(boss, c.Agent(c.site("agent", name), &agent.AgentSpec{Name: name, Budget: limits,
				Run: engine.GoFunc(name, 1, func(b engine.Branch, a []generable.Value) (generable.Value, error) {
					run.Call(b, team, a[0]) // a boss copes with what its team cannot do
					return a[0], nil
				})}))
		}
		main := c.Par(c.site("par", "main"), flow.ParOptions{}, boss...)
		c.sound(t)
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
			return echo(ctx, e, k)
		})
		spec := run.Spec{Node: main, Input: generable.StrOf("x"), Handler: h, Model: "test/model", Limits: engine.Limits{ModelCalls: engine.AtMost(total)},
			Listener: engine.Listener{Kinds: engine.EventBudget, Emit: func(engine.Event) { refusals++ }}}
		soon(t, func() {
			if _, err := run.Exec(sched.NewCoopSched(seed), &spec); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		})
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

// effects lists what a journal holds of handlers: which branch won a race is none of that.
func effects(j *store.Memory) []string {
	return slices.DeleteFunc(j.IDs(), func(id string) bool { return strings.Contains(id, "/won0@") })
}

// A random graph that ran once is answered wholly from its journal, also when the journal
// holds more than it needs; with one prompt edited, what does not depend on it still is.
func TestRandomGraphsReplay(t *testing.T) {
	for seed := range uint64(60) {
		e := newGenerator(seed, false).expr(4)
		c := compose()
		main := e.build(c)
		c.sound(t)
		j := &store.Memory{}
		h := &counter{Handler: arithmetic}
		spec := run.Spec{Node: main, Input: generable.IntOf(9), Handler: h, Model: "test/model", Journal: j}
		want, err := run.Exec(sched.NewCoopSched(seed), &spec)
		if err != nil {
			t.Fatal(err)
		}
		if int(h.calls.Load()) != len(effects(j)) {
			t.Fatalf("seed %d: %d calls, %d recorded", seed, h.calls.Load(), len(effects(j)))
		}
		again := spec
		again.Handler = refuse
		again.Input = generable.IntOf(9)
		got, err := run.Exec(sched.NewGoSched(t.Context()), &again)
		if err != nil || !generable.Equal(got, want) {
			t.Fatalf("seed %d: %v, %v", seed, generable.JSON(got, nil), err)
		}
		other := spec
		other.Model = "test/other" // every request is another one
		before := h.calls.Load()
		if _, err := run.Exec(sched.NewGoSched(t.Context()), &other); err != nil {
			t.Fatal(err)
		}
		if made := h.calls.Load() - before; made != before {
			t.Fatalf("seed %d: %d of %d calls were made for edited requests", seed, made, before)
		}
	}
}
