package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/generable"
)

// expr is a random composition int→int, built twice: as nodes, and as a Go function that says
// what they must give. The function knows nothing of branches, positions or budgets: it walks
// the same expression one step after the other.
type expr struct {
	build func(c *composer) *engine.Node
	eval  func(x int64) (int64, error)
	text  string
}

var errPlanned = errors.New("planned failure")

// wrap keeps numbers small enough to stay exact.
func wrap(x int64) int64 { return ((x % 1_000_003) + 1_000_003) % 1_000_003 }

// generator makes random expressions. With failures some steps fail for some inputs.
type generator struct {
	*rand.Rand
	failures bool
	names    []string // few, so that nodes share them
}

func newGenerator(seed uint64, failures bool) *generator {
	return &generator{rand.New(rand.NewPCG(seed, 7)), failures, []string{"a", "b", "x/y#0", ""}}
}

func (g *generator) name() string { return g.names[g.IntN(len(g.names))] }

// leaf is a step, a deterministic agent, or an agent that a model carries out.
func (g *generator) leaf() expr {
	k, name := int64(g.IntN(97)), g.name()
	fails := func(x int64) bool { return g.failures && k%5 == 0 && x%4 == 0 }
	eval := func(x int64) (int64, error) {
		if fails(x) {
			return 0, errPlanned
		}
		return wrap(3*x + k), nil
	}
	f := engine.GoFunc("step", 1, func(_ *engine.Branch, a []generable.Value) (generable.Value, error) {
		y, err := eval(integer(a[0]))
		return generable.IntOf(y), err
	})
	switch g.IntN(4) {
	case 0:
		return expr{func(c *composer) *engine.Node { return c.Fn(c.site("fn", name), f, intT, intT) }, eval, fmt.Sprintf("fn(%d)", k)}
	case 1:
		return expr{func(c *composer) *engine.Node {
			return c.Agent(c.site("agent", name), &engine.AgentSpec{Name: name, In: intT, Out: intT, Run: f})
		}, eval, fmt.Sprintf("run(%d)", k)}
	}
	// The model finds its number in the prompt.
	return expr{func(c *composer) *engine.Node {
		return c.Agent(c.site("agent", name), &engine.AgentSpec{Name: name, In: intT, Out: intT, Prompt: fmt.Sprintf("k=%d fails=%v\n", k, g.failures && k%5 == 0)})
	}, eval, fmt.Sprintf("model(%d)", k)}
}

// arithmetic answers the models of a generator.
var arithmetic = engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
	req := e.Req.(*engine.Request)
	var k, x int64
	var fails bool
	fmt.Sscanf(req.System, "k=%d fails=%t", &k, &fails)
	fmt.Sscanf(req.Messages[0].Parts[0].Text, "%d", &x) // a transcript may follow
	if fails && x%4 == 0 {
		return engine.Failed(engine.Errorf(engine.KindServer, diag.ProviderError, "%w", errPlanned))
	}
	r := says(strconv.FormatInt(wrap(3*x+k), 10))
	return engine.Outcome{Response: &r, Usage: r.Usage, Attempt: 1}
})

// expr makes an expression of a depth.
func (g *generator) expr(depth int) expr {
	if depth == 0 {
		return g.leaf()
	}
	name := g.name()
	kids := make([]expr, 1+g.IntN(3))
	for i := range kids {
		kids[i] = g.expr(g.IntN(depth))
	}
	nodes := func(c *composer) []*engine.Node {
		out := make([]*engine.Node, len(kids))
		for i, k := range kids {
			out[i] = k.build(c)
		}
		return out
	}
	texts := make([]string, len(kids))
	for i, k := range kids {
		texts[i] = k.text
	}
	inside := strings.Join(texts, ", ")
	first := kids[0]
	switch g.IntN(8) {
	case 0, 1:
		return expr{func(c *composer) *engine.Node { return c.Then(c.site("then", name), nodes(c)...) }, func(x int64) (int64, error) {
			var err error
			for _, k := range kids {
				if x, err = k.eval(x); err != nil {
					return 0, err
				}
			}
			return x, nil
		}, "then(" + inside + ")"}
	case 2:
		limit := g.IntN(3)
		return expr{func(c *composer) *engine.Node {
			return c.Then(c.site("then", name), c.Par(c.site("par", name), engine.ParOptions{Limit: limit}, nodes(c)...), c.step("", list(intT), intT, folded))
		}, func(x int64) (int64, error) {
			var out []generable.Value
			for _, k := range kids {
				y, err := k.eval(x)
				if err != nil {
					return 0, err
				}
				out = append(out, generable.IntOf(y))
			}
			return integer(folded(generable.ListOf(out...))), nil
		}, "par(" + inside + ")"}
	case 3:
		n := int64(g.IntN(4)) // also none
		return expr{func(c *composer) *engine.Node {
			split := c.step("split", intT, list(intT), func(v generable.Value) generable.Value { return spread(integer(v), n) })
			return c.Then(c.site("then", ""), split, c.Each(c.site("each", name), g.Rand.IntN(3), first.build(c)), c.step("fold", list(intT), intT, folded))
		}, func(x int64) (int64, error) {
			var out []generable.Value
			l, _ := spread(x, n).AsList()
			for _, item := range l.Items() {
				y, err := first.eval(integer(item))
				if err != nil {
					return 0, err
				}
				out = append(out, generable.IntOf(y))
			}
			return integer(folded(generable.ListOf(out...))), nil
		}, fmt.Sprintf("each(%d × %s)", n, first.text)}
	case 4:
		turns := int64(1 + g.IntN(4))
		again := func(y int64) bool { return y%(turns+1) != 0 }
		var next engine.Func = engine.GoFunc("next", 1, func(_ *engine.Branch, a []generable.Value) (generable.Value, error) {
			if !again(integer(a[0])) {
				return generable.Value{}, nil
			}
			return generable.IntOf(wrap(integer(a[0]) + 1)), nil
		})
		return expr{func(c *composer) *engine.Node {
			return c.Loop(c.site("loop", name), first.build(c), engine.LoopOptions{Next: next, Max: int(turns), LastWins: true})
		}, func(x int64) (int64, error) {
			for turn := int64(1); ; turn++ {
				y, err := first.eval(x)
				if err != nil || turn == turns || !again(y) {
					return y, err
				}
				x = wrap(y + 1)
			}
		}, fmt.Sprintf("loop(%s, %d)", first.text, turns)}
	case 5:
		other := g.expr(g.IntN(depth))
		return expr{func(c *composer) *engine.Node {
			odd := c.step("odd", intT, oneOf(boolT, intT), func(v generable.Value) generable.Value {
				if x := integer(v); x%3 == 0 {
					return v
				}
				return generable.BoolOf(integer(v)%2 == 1)
			})
			carry := func(n *engine.Node, k int64) *engine.Node { // the handlers get what the source gave
				return c.Then(c.site("then", name), c.step("", anyT, intT, func(v generable.Value) generable.Value {
					if _, ok := v.AsInt(); ok {
						return v
					}
					return generable.IntOf(k)
				}), n)
			}
			return c.Branch(c.site("branch", name), odd, []engine.Route{on(intT, carry(first.build(c), 0)), on(true, carry(other.build(c), 1))},
				engine.BranchOptions{Otherwise: c.step("even", anyT, intT, func(generable.Value) generable.Value { return generable.IntOf(2) })})
		}, func(x int64) (int64, error) {
			switch {
			case x%3 == 0:
				return first.eval(x)
			case x%2 == 1:
				return other.eval(1)
			}
			return 2, nil
		}, "branch(" + first.text + " | " + other.text + ")"}
	case 6:
		rounds := 1 + g.IntN(3)
		return expr{func(c *composer) *engine.Node {
			captain := c.Agent(c.site("agent", "captain"), &engine.AgentSpec{Name: "captain", In: intT, Out: intT,
				Run: engine.GoFunc("captain", 2, func(_ *engine.Branch, a []generable.Value) (generable.Value, error) {
					said, _ := a[1].AsList()
					out := []generable.Value{a[0]}
					for _, s := range said.Items() {
						m, _ := s.AsMap()
						v, _ := m.Get("output")
						out = append(out, v)
					}
					return folded(generable.ListOf(out...)), nil
				})})
			return c.Forum(c.site("forum", name), engine.ForumOptions{Rounds: rounds}, append(nodes(c), captain)...)
		}, func(x int64) (int64, error) {
			out := []generable.Value{generable.IntOf(x)}
			for range rounds {
				for _, k := range kids {
					y, err := k.eval(x)
					if err != nil {
						return 0, err
					}
					out = append(out, generable.IntOf(y))
				}
			}
			return integer(folded(generable.ListOf(out...))), nil
		}, fmt.Sprintf("forum(%s, %d)", inside, rounds)}
	}
	// A callback that calls each node twice.
	return expr{func(c *composer) *engine.Node {
		called := nodes(c)
		return c.Fn(c.site("fn", name), engine.GoFunc("plan", 1, func(b *engine.Branch, a []generable.Value) (generable.Value, error) {
			x := a[0]
			for range 2 {
				for _, n := range called {
					var err error
					if x, err = b.Call(n, x); err != nil {
						return x, err
					}
				}
			}
			return x, nil
		}), intT, intT)
	}, func(x int64) (int64, error) {
		for range 2 {
			for _, k := range kids {
				var err error
				if x, err = k.eval(x); err != nil {
					return 0, err
				}
			}
		}
		return x, nil
	}, "calls(" + inside + ")"}
}

// folded makes one number of a list, minding the order.
func folded(v generable.Value) generable.Value {
	l, _ := v.AsList()
	sum := int64(l.Len())
	for _, item := range l.Items() {
		sum = wrap(31*sum + integer(item))
	}
	return generable.IntOf(sum)
}

func spread(x, n int64) generable.Value {
	items := make([]generable.Value, n)
	for i := range items {
		items[i] = generable.IntOf(wrap(x + int64(i)))
	}
	return generable.ListOf(items...)
}

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
		got, err := everywhere(t, engine.RunSpec{Node: main, Input: generable.IntOf(5), Handler: arithmetic, Model: "test/model"})
		if err != nil || integer(got) != want {
			t.Fatalf("seed %d: got %d, %v; want %d of %s", seed, integer(got), err, want, e.text)
		}
		var seen ids
		if _, err := engine.Exec(engine.NewCoopSched(seed), &engine.RunSpec{Node: main, Input: generable.IntOf(5), Handler: arithmetic, Model: "test/model", Listener: seen.listener()}); err != nil {
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
			for i, s := range []engine.Sched{engine.NewGoSched(t.Context()), engine.NewCoopSched(seed), engine.NewCoopSched(seed + 1000)} {
				got, err := engine.Exec(s, &engine.RunSpec{Node: main, Input: generable.IntOf(x), Handler: arithmetic, Model: "test/model"})
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

// Then is associative: in types, results and failures.
func TestThenIsAssociative(t *testing.T) {
	for seed := range uint64(150) {
		g := newGenerator(seed, seed%2 == 1)
		a, b, d := g.expr(2), g.expr(2), g.expr(2)
		forms := []func(c *composer) *engine.Node{
			func(c *composer) *engine.Node { return c.Then(c.site("then", ""), a.build(c), b.build(c), d.build(c)) },
			func(c *composer) *engine.Node {
				return c.Then(c.site("then", ""), c.Then(c.site("then", ""), a.build(c), b.build(c)), d.build(c))
			},
			func(c *composer) *engine.Node {
				return c.Then(c.site("then", ""), a.build(c), c.Then(c.site("then", ""), b.build(c), d.build(c)))
			},
			func(c *composer) *engine.Node {
				return c.Then(c.op("`>>`"), c.Then(c.op("`>>`"), a.build(c), b.build(c)), d.build(c))
			},
			func(c *composer) *engine.Node {
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
				out, err := engine.Exec(engine.NewCoopSched(seed), &engine.RunSpec{Node: main, Input: generable.IntOf(x), Handler: arithmetic, Model: "test/model"})
				text += fmt.Sprintf(", %d→%d %v", x, integer(out), errors.Is(err, errPlanned))
				if err != nil && !errors.Is(err, errPlanned) {
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

// The types of then are associative also where they follow what comes before, and where a join
// is wrong: each way of writing it is sound, or none is.
func TestThenIsAssociativeInItsTypes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	sound := 0
	for range 2000 {
		var kinds [3]int
		var types [3][2]int
		for i := range kinds {
			kinds[i], types[i] = rng.IntN(4), [2]int{rng.IntN(6), rng.IntN(6)}
		}
		make := func(w *world, i int) *engine.Node {
			all := []*generable.Type{strT, intT, anyT, w.draft, list(w.draft), oneOf(strT, noneT)}
			switch kinds[i] {
			case 0:
				return w.pick("lines")
			case 1:
				text, _ := engine.ParseTemplate("{{code}}")
				return w.Template(w.site("template", ""), text, nil)
			}
			return w.node(all[types[i][0]], all[types[i][1]])
		}
		var first string
		for form := range 3 {
			w := newWorld(t)
			a, b, d := make(w, 0), make(w, 1), make(w, 2)
			var n *engine.Node
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
		var boss []*engine.Node
		for i := range 2 + rng.IntN(4) {
			var workers []*engine.Node
			for range 1 + rng.IntN(6) {
				workers = append(workers, c.prompted(fmt.Sprint("boss", i, "/worker"), strT, strT))
			}
			name := fmt.Sprint("boss", i)
			limits := engine.Limits{}
			if rng.IntN(2) == 0 {
				caps[name] = int64(rng.IntN(5))
				limits.ModelCalls = engine.AtMost(caps[name])
			}
			team := c.Par(c.site("par", ""), engine.ParOptions{Limit: rng.IntN(3)}, workers...)
			boss = append(boss, c.Agent(c.site("agent", name), &engine.AgentSpec{Name: name, Budget: limits,
				Run: engine.GoFunc(name, 1, func(b *engine.Branch, a []generable.Value) (generable.Value, error) {
					b.Call(team, a[0]) // a boss copes with what its team cannot do
					return a[0], nil
				})}))
		}
		main := c.Par(c.site("par", "main"), engine.ParOptions{}, boss...)
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
		spec := engine.RunSpec{Node: main, Input: generable.StrOf("x"), Handler: h, Model: "test/model", Limits: engine.Limits{ModelCalls: engine.AtMost(total)},
			Listener: engine.Listener{Kinds: engine.EventBudget, Emit: func(engine.Event) { refusals++ }}}
		soon(t, func() {
			if _, err := engine.Exec(engine.NewCoopSched(seed), &spec); err != nil {
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

// A random graph that ran once is answered wholly from its journal, also when the journal
// holds more than it needs; with one prompt edited, what does not depend on it still is.
func TestRandomGraphsReplay(t *testing.T) {
	for seed := range uint64(60) {
		e := newGenerator(seed, false).expr(4)
		c := compose()
		main := e.build(c)
		c.sound(t)
		j := &journal.Memory{}
		h := &counter{Handler: arithmetic}
		spec := engine.RunSpec{Node: main, Input: generable.IntOf(9), Handler: h, Model: "test/model", Journal: j}
		want, err := engine.Exec(engine.NewCoopSched(seed), &spec)
		if err != nil {
			t.Fatal(err)
		}
		if int(h.calls.Load()) != len(j.IDs()) {
			t.Fatalf("seed %d: %d calls, %d recorded", seed, h.calls.Load(), len(j.IDs()))
		}
		again := spec
		again.Handler = refuse
		again.Input = generable.IntOf(9)
		got, err := engine.Exec(engine.NewGoSched(t.Context()), &again)
		if err != nil || !generable.Equal(got, want) {
			t.Fatalf("seed %d: %v, %v", seed, generable.JSON(got, nil), err)
		}
		other := spec
		other.Model = "test/other" // every request is another one
		before := h.calls.Load()
		if _, err := engine.Exec(engine.NewGoSched(t.Context()), &other); err != nil {
			t.Fatal(err)
		}
		if made := h.calls.Load() - before; made != before {
			t.Fatalf("seed %d: %d of %d calls were made for edited requests", seed, made, before)
		}
	}
}
