package engine_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// runList runs what gives a list.
func runList(t *testing.T, seed uint64, build func(c *composer) *flow.Node, in generable.Value) []generable.Value {
	t.Helper()
	c := compose()
	main := build(c)
	c.sound(t)
	out, err := run.Exec(sched.NewCoopSched(seed), &run.Spec{Node: main, Input: in, Handler: answering, Model: "test/model"})
	if err != nil {
		t.Fatal(err)
	}
	list, _ := out.AsList()
	return list.Items()
}

// Promise 15.22 (algebra): outputs stand in the order of the branches and of the items, whoever is
// ready first: the same ones in another order give the same in that order, an each is the parallel
// of its items, and an each of a sequence the sequence of its each.
func TestPromise_15_22_Order(t *testing.T) {
	for seed := range uint64(120) {
		g := &programs{rand.New(rand.NewPCG(seed, 31)), false}
		var kids []*program
		for range 2 + g.IntN(5) {
			kids = append(kids, &program{op: "attempt", kids: []*program{g.make(g.IntN(3))}})
		}
		mixed := g.Perm(len(kids))
		par := func(order []int) func(c *composer) *flow.Node {
			return func(c *composer) *flow.Node {
				var own []*program
				for _, i := range order {
					own = append(own, kids[i])
				}
				return c.Par(c.site("par", ""), flow.ParOptions{Limit: g.IntN(3)}, c.programs(own)...)
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
		each := func(p ...*program) func(c *composer) *flow.Node {
			return func(c *composer) *flow.Node {
				return c.Each(c.site("each", ""), flow.EachOptions{Limit: g.IntN(3)}, c.Then(c.site("then", ""), c.programs(p)...))
			}
		}
		all := runList(t, seed, each(f), generable.ListOf(items...))
		same("each", runList(t, seed, each(f), generable.ListOf(reorder(items)...)), reorder(all))
		same("each of a sequence", runList(t, seed, each(f, h), generable.ListOf(items...)), runList(t, seed, func(c *composer) *flow.Node {
			return c.Then(c.site("then", ""), each(f)(c), each(h)(c))
		}, generable.ListOf(items...)))
		same("par of one input", runList(t, seed, func(c *composer) *flow.Node {
			return c.Par(c.site("par", ""), flow.ParOptions{}, c.programs(slices.Repeat([]*program{f}, 3))...)
		}, x), runList(t, seed, each(f), generable.ListOf(x, x, x)))
	}
}

// Promise 15.23 (algebra): every node of a random composition has one place: composing any of them
// again is refused, claims nothing, and leaves the composition as it was.
func TestPromise_15_23_Placement(t *testing.T) {
	for seed := range uint64(150) {
		g := &programs{rand.New(rand.NewPCG(seed, 37)), false}
		p := g.make(1 + g.IntN(4))
		run := func(again bool) (string, string) {
			c := compose()
			main := c.program(p)
			before := shape(main)
			if again {
				all := c.Nodes()
				for _, n := range all {
					if n == main || n.Free() {
						continue
					}
					fresh, other := c.step("", intT, intT, identity), c.step("", intT, intT, identity)
					for _, refused := range []*flow.Node{
						c.Par(c.site("par", ""), flow.ParOptions{}, fresh, n, other), c.Fallback(c.site("fallback", ""), flow.FirstOptions{}, n),
						c.Attempt(c.site("attempt", ""), n), c.Then(c.site("then", ""), fresh, n), c.Retry(c.site("retry", ""), n, flow.RetryOptions{}),
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
				c.sound(t)
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

// shape writes what a composition is made of.
func shape(n *flow.Node) string {
	text := n.Kind().String() + ":" + n.Name() + "(" + n.In().String() + ">" + n.Out().String()
	for _, k := range n.Children() {
		text += " " + shape(k)
	}
	return text + ")"
}

// Promise 15.24 (algebra): no two nodes or effects of a run have one path or id, and a random
// composition asks for the same effects on every scheduler and is answered wholly from its record.
func TestPromise_15_24_Identity(t *testing.T) {
	for seed := range uint64(150) {
		g := &programs{rand.New(rand.NewPCG(seed, 41)), false}
		p := g.make(1 + g.IntN(4))
		c := compose()
		main := c.program(p)
		c.sound(t)
		spec := run.Spec{Node: main, Input: generable.IntOf(int64(seed)), Handler: answering, Model: "test/model"}
		if _, err := everywhere(t, spec); t.Failed() {
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
