package interp_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/testenv"
)

// why converts a failure to the form of the naive interpreter.
func why(err error) failure {
	var e *engine.Error
	if !errors.As(err, &e) {
		return failure{"", fmt.Sprint(err)}
	}
	f := failure{e.Path, string(e.Code)}
	switch {
	case errors.Is(err, errPlanned):
		f.why = "planned"
	case e.Code == diag.LoopLimit:
		f.why = "limit"
	case e.Code == diag.NoQuorum:
		f.why = "quorum"
	case e.Code == diag.NoRoute:
		f.why = "route"
	}
	return f
}

// walk is the trace of a run: the paths of its nodes and of its effects, and the effects' ids.
type walk struct{ nodes, effects, ids []string }

func (w *walk) listener() engine.Listener {
	return engine.Listener{Kinds: engine.EventNode | engine.EventEffect, Emit: func(e engine.Event) {
		switch {
		case e.Phase() != engine.PhaseStart:
		case e.Kind == engine.EventNode:
			w.nodes = append(w.nodes, e.Path)
		default:
			w.effects, w.ids = append(w.effects, e.Path), append(w.ids, e.ID)
		}
	}}
}

func sorted(list []string) string {
	own := slices.Clone(list)
	slices.Sort(own)
	return strings.Join(own, "\n")
}

// Promise 15.20 (algebra): random compositions of every operator give what a naive sequential interpreter gives:
// values, failures with their positions, and the paths of nodes and effects, on every scheduler and in any order of
// completion.
func TestPromise_15_20_RandomPrograms(t *testing.T) {
	ops, failed, compared := map[string]int{}, 0, 0
	most := uint64(600)
	if testenv.RaceDetector {
		most /= 4
	}
	for seed := range most {
		g := &programs{rand.New(rand.NewPCG(seed, 29)), seed%2 == 1}
		p := g.make(1 + int(seed%4))
		count(p, ops)
		c := enginetest.Compose()
		main := composeOne(c, p)
		c.Sound(t)
		head := "main/" + segments(p.head())[0]
		for _, x := range []int64{0, 5, 123_456} {
			var ref naive
			want, fails := ref.run(p, head, x)
			for i, s := range []engine.Sched{sched.NewGoSched(t.Context()), sched.NewCoopSched(seed), sched.NewCoopSched(seed + 1000)} {
				var did walk
				got, err := run.Exec(s, &run.Spec{Node: main, Input: generable.IntOf(x), Handler: answering, Model: "test/model", Listener: did.listener()})
				wrong := ""
				switch {
				case (err == nil) != (fails == nil):
					wrong = fmt.Sprintf("it ends with %v, want %v", err, fails)
				case err == nil && enginetest.Int(got) != want:
					wrong = fmt.Sprintf("it gives %d, want %d", enginetest.Int(got), want)
				case err != nil && !ref.ended && why(err) != *fails:
					wrong = fmt.Sprintf("it fails by %v (%v), want %v", why(err), err, *fails)
				case !ref.ended && sorted(did.effects) != sorted(ref.effects):
					wrong = fmt.Sprintf("its effects are\n%s\nwant\n%s", sorted(did.effects), sorted(ref.effects))
				case !ref.ended && !ref.raced && sorted(did.nodes) != sorted(ref.nodes):
					wrong = fmt.Sprintf("its nodes are\n%s\nwant\n%s", sorted(did.nodes), sorted(ref.nodes))
				}
				if wrong != "" {
					t.Fatalf("seed %d, scheduler %d, input %d: %s\n%s", seed, i, x, wrong, p.text())
				}
				if err != nil {
					failed++
				}
				if !ref.ended {
					compared++
				}
				slices.Sort(did.ids)
				if n := len(slices.Compact(slices.Clone(did.ids))); n != len(did.ids) {
					t.Fatalf("seed %d: %d effects have %d ids\n%s\n%s", seed, len(did.ids), n, sorted(did.ids), p.text())
				}
			}
		}
	}
	for _, op := range append(slices.Clone(treeOps), leafOps...) {
		if ops[op] < int(most)/30 {
			t.Errorf("only %d programs have a %s", ops[op], op)
		}
	}
	if failed < int(most)/2 || compared < 3*int(most) {
		t.Errorf("only %d runs failed, and %d were compared in full", failed, compared)
	}
}

func count(p *program, ops map[string]int) {
	ops[p.op]++
	for _, k := range p.kids {
		count(k, ops)
	}
	for _, e := range p.edges {
		if e.mapped != nil {
			count(e.mapped, ops)
		}
	}
}

// runList runs a composition that returns a list.
func runList(t *testing.T, seed uint64, build func(c *enginetest.Composer) *flow.Node, in generable.Value) []generable.Value {
	t.Helper()
	c := enginetest.Compose()
	main := build(c)
	c.Sound(t)
	out, err := run.Exec(sched.NewCoopSched(seed), &run.Spec{Node: main, Input: in, Handler: answering, Model: "test/model"})
	if err != nil {
		t.Fatal(err)
	}
	list, _ := out.AsList()
	return list.Items()
}

// Promise 15.22 (algebra): outputs are in the order of the branches and of the items, whichever is ready first:
// reordered branches or items give the same outputs in the new order, an each equals the parallel of its items, and an
// each of a sequence equals the sequence of its eaches.
func TestPromise_15_22_Order(t *testing.T) {
	for seed := range uint64(120) {
		g := &programs{rand.New(rand.NewPCG(seed, 31)), false}
		var kids []*program
		for range 2 + g.IntN(5) {
			kids = append(kids, &program{op: "attempt", kids: []*program{g.make(g.IntN(3))}})
		}
		mixed := g.Perm(len(kids))
		par := func(order []int) func(c *enginetest.Composer) *flow.Node {
			return func(c *enginetest.Composer) *flow.Node {
				var own []*program
				for _, i := range order {
					own = append(own, kids[i])
				}
				return c.Par(c.Site("par", ""), flow.ParOptions{Limit: g.IntN(3)}, composeAll(c, own)...)
			}
		}
		straight := make([]int, len(kids))
		items := make([]generable.Value, len(kids))
		for i := range straight {
			straight[i], items[i] = i, generable.IntOf(int64(g.IntN(1000)))
		}
		same := func(what string, a, b []generable.Value) {
			t.Helper()
			if !generable.Equal(generable.ListOf(a...), generable.ListOf(b...)) {
				t.Fatalf("seed %d, %s: %s and %s", seed, what, generable.JSON(generable.ListOf(a...), nil), generable.JSON(generable.ListOf(b...), nil))
			}
		}
		reorder := func(all []generable.Value) []generable.Value {
			out := make([]generable.Value, len(all))
			for i, j := range mixed {
				out[i] = all[j]
			}
			return out
		}
		x := generable.IntOf(int64(seed))
		same("par", runList(t, seed, par(mixed), x), reorder(runList(t, seed+1, par(straight), x)))

		f, h := kids[0], kids[1]
		each := func(p ...*program) func(c *enginetest.Composer) *flow.Node {
			return func(c *enginetest.Composer) *flow.Node {
				return c.Each(c.Site("each", ""), flow.EachOptions{Limit: g.IntN(3)}, c.Then(c.Site("then", ""), composeAll(c, p)...))
			}
		}
		all := runList(t, seed, each(f), generable.ListOf(items...))
		same("each", runList(t, seed, each(f), generable.ListOf(reorder(items)...)), reorder(all))
		same("each of a sequence", runList(t, seed, each(f, h), generable.ListOf(items...)), runList(t, seed, func(c *enginetest.Composer) *flow.Node {
			return c.Then(c.Site("then", ""), each(f)(c), each(h)(c))
		}, generable.ListOf(items...)))
		same("par of one input", runList(t, seed, func(c *enginetest.Composer) *flow.Node {
			return c.Par(c.Site("par", ""), flow.ParOptions{}, composeAll(c, slices.Repeat([]*program{f}, 3))...)
		}, x), runList(t, seed, each(f), generable.ListOf(x, x, x)))
	}
}

// Promise 15.23 (algebra): every node of a random composition has one place: composing any of them again is refused,
// claims nothing, and leaves the composition unchanged.
func TestPromise_15_23_Placement(t *testing.T) {
	for seed := range uint64(150) {
		g := &programs{rand.New(rand.NewPCG(seed, 37)), false}
		p := g.make(1 + g.IntN(4))
		run := func(again bool) (string, string) {
			c := enginetest.Compose()
			main := composeOne(c, p)
			before := shape(main)
			if again {
				all := c.Nodes()
				for _, n := range all {
					if n == main || n.Free() {
						continue
					}
					fresh, other := c.Step("", generable.IntT, generable.IntT, enginetest.Identity), c.Step("", generable.IntT, generable.IntT, enginetest.Identity)
					for _, refused := range []*flow.Node{
						c.Par(c.Site("par", ""), flow.ParOptions{}, fresh, n, other), c.Fallback(c.Site("fallback", ""), flow.FirstOptions{}, n),
						c.Attempt(c.Site("attempt", ""), n), c.Then(c.Site("then", ""), fresh, n), c.Retry(c.Site("retry", ""), n, flow.RetryOptions{}),
					} {
						if !refused.Failed() {
							t.Fatalf("seed %d: %s was placed twice in\n%s", seed, n.Label(), before)
						}
					}
					if !fresh.Free() || !other.Free() || n.Free() {
						t.Fatalf("seed %d: what was refused with %s claims something", seed, n.Label())
					}
				}
				for _, d := range c.Diagnostics() {
					if d.Code != "AS401" {
						t.Fatalf("seed %d: %s %s", seed, d.Code, d.Message)
					}
				}
				c.Seal()
			} else {
				c.Sound(t)
			}
			out, err := run.Exec(sched.NewCoopSched(seed), &run.Spec{Node: main, Input: generable.IntOf(7), Handler: answering, Model: "test/model"})
			return shape(main), generable.JSON(out, nil) + " " + why(err).String()
		}
		wantShape, want := run(false)
		if gotShape, got := run(true); got != want || gotShape != wantShape {
			t.Fatalf("seed %d: %s, was %s\n%s\nwas\n%s", seed, got, want, gotShape, wantShape)
		}
	}
}

func (f failure) String() string { return f.path + " " + f.why }

// shape writes the structure of a composition.
func shape(n *flow.Node) string {
	text := n.Kind().String() + ":" + n.Name() + "(" + n.In().String() + ">" + n.Out().String()
	for _, k := range n.Children() {
		text += " " + shape(k)
	}
	return text + ")"
}

// Promise 15.24 (algebra): no two nodes of a run have the same path, and no two effects the same path or id; a random
// composition requests the same effects on every scheduler, and its record answers all of them.
func TestPromise_15_24_Identity(t *testing.T) {
	for seed := range uint64(150) {
		g := &programs{rand.New(rand.NewPCG(seed, 41)), false}
		p := g.make(1 + g.IntN(4))
		c := enginetest.Compose()
		main := composeOne(c, p)
		c.Sound(t)
		spec := run.Spec{Node: main, Input: generable.IntOf(int64(seed)), Handler: answering, Model: "test/model"}
		if _, err := enginetest.Everywhere(t, spec); t.Failed() {
			t.Fatalf("seed %d, %v: %s", seed, err, p.text())
		}
		var did walk
		spec.Listener = did.listener()
		run.Exec(sched.NewCoopSched(seed), &spec)
		for what, all := range map[string][]string{"nodes": did.nodes, "effects": did.effects, "ids": did.ids} {
			if set := slices.Compact(strings.Split(sorted(all), "\n")); len(all) > 0 && len(set) != len(all) {
				t.Fatalf("seed %d: %d %s have %d paths\n%s\n%s", seed, len(all), what, len(set), sorted(all), p.text())
			}
		}
	}
}
