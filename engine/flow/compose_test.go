package flow_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/generable"
)

// Each kind of node, str→str, with its one place still free.
var makers = map[string]func(c *enginetest.Composer) *flow.Node{
	"agent":    func(c *enginetest.Composer) *flow.Node { return c.Prompted(c.Fresh(), strT, strT) },
	"pipeline": func(c *enginetest.Composer) *flow.Node { return c.Then(c.Op("`>>`"), c.Text(), c.Text()) },
	"parallel": func(c *enginetest.Composer) *flow.Node {
		// A parallel returns a list: joining it makes it fit everywhere.
		return c.Then(c.Site("then", c.Fresh()), c.Par(c.Op("`/`"), flow.ParOptions{}, c.Text(), c.Text()), joined(c))
	},
	"forum": func(c *enginetest.Composer) *flow.Node {
		return c.Forum(c.Op("`*`"), flow.ForumOptions{}, c.Text(), c.Text())
	},
	"loop": func(c *enginetest.Composer) *flow.Node {
		return c.Loop(c.Site("loop", ""), c.Text(), flow.LoopOptions{Next: enginetest.Stop})
	},
	"branch": func(c *enginetest.Composer) *flow.Node {
		return c.Branch(c.Site("branch", ""), c.Text(), []flow.Route{{Type: strT, Handler: c.Text()}}, flow.BranchOptions{})
	},
	"each": func(c *enginetest.Composer) *flow.Node {
		return c.Then(c.Site("then", c.Fresh()), c.Step("split", strT, generable.ListOfType(strT), func(v generable.Value) generable.Value { return generable.ListOf(v, v) }), c.Each(c.Site("each", ""), flow.EachOptions{Limit: 0}, c.Text()), joined(c))
	},
}

func joined(c *enginetest.Composer) *flow.Node {
	return c.Step("joined", generable.ListOfType(strT), strT, func(v generable.Value) generable.Value {
		l, _ := v.AsList()
		var parts []string
		for _, s := range l.Items() {
			parts = append(parts, enginetest.Str(s))
		}
		return generable.StrOf(strings.Join(parts, "+"))
	})
}

func kinds() []string {
	var ks []string
	for k := range makers {
		ks = append(ks, k)
	}
	slices.Sort(ks)
	return ks
}

// The algebra is closed: every kind of node can be used in every kind of composition.
func TestAlgebraIsClosed(t *testing.T) {
	wrap := map[string]func(c *enginetest.Composer, n *flow.Node) *flow.Node{
		"then first":  func(c *enginetest.Composer, n *flow.Node) *flow.Node { return c.Then(c.Site("then", ""), n, c.Text()) },
		"then last":   func(c *enginetest.Composer, n *flow.Node) *flow.Node { return c.Then(c.Site("then", ""), c.Text(), n) },
		"operator >>": func(c *enginetest.Composer, n *flow.Node) *flow.Node { return c.Then(c.Op("`>>`"), n, c.Text()) },
		"par": func(c *enginetest.Composer, n *flow.Node) *flow.Node {
			return c.Par(c.Op("`/`"), flow.ParOptions{}, n, c.Text())
		},
		"forum member": func(c *enginetest.Composer, n *flow.Node) *flow.Node {
			return c.Forum(c.Op("`*`"), flow.ForumOptions{}, n, c.Text())
		},
		"forum captain": func(c *enginetest.Composer, n *flow.Node) *flow.Node {
			return c.Forum(c.Op("`*`"), flow.ForumOptions{}, c.Text(), n)
		},
		"loop": func(c *enginetest.Composer, n *flow.Node) *flow.Node {
			return c.Loop(c.Site("loop", ""), n, flow.LoopOptions{Next: enginetest.Stop})
		},
		"branch source": func(c *enginetest.Composer, n *flow.Node) *flow.Node {
			return c.Branch(c.Site("branch", ""), n, []flow.Route{{Type: strT, Handler: c.Text()}}, flow.BranchOptions{})
		},
		"branch handler": func(c *enginetest.Composer, n *flow.Node) *flow.Node {
			return c.Branch(c.Site("branch", ""), c.Text(), []flow.Route{{Type: strT, Handler: n}}, flow.BranchOptions{})
		},
		"otherwise": func(c *enginetest.Composer, n *flow.Node) *flow.Node {
			return c.Branch(c.Site("branch", ""), c.Text(), nil, flow.BranchOptions{Otherwise: n})
		},
		"each": func(c *enginetest.Composer, n *flow.Node) *flow.Node {
			return c.Then(c.Site("then", ""), c.Step("list", strT, generable.ListOfType(strT), func(v generable.Value) generable.Value { return generable.ListOf(v) }), c.Each(c.Site("each", ""), flow.EachOptions{Limit: 0}, n))
		},
	}
	for _, kind := range kinds() {
		for where, build := range wrap {
			t.Run(kind+" as "+where, func(t *testing.T) {
				c := enginetest.Compose()
				main := build(c, makers[kind](c))
				c.Sound(t)
				if _, err := enginetest.Everywhere(t, run.Spec{Node: main, Input: generable.StrOf("x")}); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// Every node has one place: a node placed in a structure of any kind cannot be placed in another.
func TestSecondPlacementIsRefused(t *testing.T) {
	place := map[string]func(c *enginetest.Composer, n *flow.Node){
		"pipeline": func(c *enginetest.Composer, n *flow.Node) { c.Then(c.Op("`>>`"), n, c.Text()) },
		"parallel": func(c *enginetest.Composer, n *flow.Node) { c.Par(c.Op("`/`"), flow.ParOptions{}, n, c.Text()) },
		"forum":    func(c *enginetest.Composer, n *flow.Node) { c.Forum(c.Op("`*`"), flow.ForumOptions{}, n, c.Text()) },
		"loop": func(c *enginetest.Composer, n *flow.Node) {
			c.Loop(c.Site("loop", ""), n, flow.LoopOptions{Next: enginetest.Stop})
		},
		"branch": func(c *enginetest.Composer, n *flow.Node) {
			c.Branch(c.Site("branch", ""), n, []flow.Route{{Type: strT, Handler: c.Text()}}, flow.BranchOptions{})
		},
	}
	for first, a := range place {
		for second, b := range place {
			for _, kind := range kinds() {
				c := enginetest.Compose()
				n := makers[kind](c)
				a(c, n)
				b(c, n)
				l := c.Diagnostics()
				if len(l) != 1 || l[0].Code != diag.AlreadyPlaced {
					t.Errorf("%s in %s, then in %s: %v", kind, first, second, l)
					continue
				}
				parts := []string{" is part of a " + first + ",", " cannot be part of this " + second}
				if first == second {
					parts = []string{" is part of another " + first + " already"}
				}
				for _, part := range parts {
					if !strings.Contains(l[0].Message, part) {
						t.Errorf("%s in %s, then in %s: %q lacks %q", kind, first, second, l[0].Message, part)
					}
				}
				if len(l[0].Notes) == 0 || !l[0].Notes[0].Pos.IsValid() {
					t.Errorf("%s in %s, then in %s: no note with the first place", kind, first, second)
				}
			}
		}
	}
}

func TestPlacingIsAtomic(t *testing.T) {
	c := enginetest.Compose()
	free, taken := c.Text(), c.Text()
	c.Then(c.Site("then", ""), taken, c.Text())
	c.Then(c.Site("then", ""), free, taken) // fails because of taken
	main := c.Then(c.Site("then", "main"), free, c.Text())
	if got := c.Codes(); len(got) != 1 {
		t.Fatalf("reported %v, want one AS401", got)
	}
	if main.Failed() {
		t.Error("free was claimed by the composition that failed")
	}
}

func TestOneNodeTwiceInOneComposition(t *testing.T) {
	c := enginetest.Compose()
	n := c.Text()
	c.Par(c.Site("par", ""), flow.ParOptions{}, n, n)
	if got := c.Codes(); len(got) != 1 || got[0] != "AS401" {
		t.Errorf("reported %v", got)
	}
}

func TestOperatorsFlattenTheirLeftOperand(t *testing.T) {
	c := enginetest.Compose()
	named := c.Par(func() flow.Site { s := c.Op("`/`"); s.Name = "pair"; return s }(), flow.ParOptions{}, c.Text(), c.Text())
	three := c.Par(c.Op("`/`"), flow.ParOptions{}, c.Par(c.Op("`/`"), flow.ParOptions{}, c.Text(), c.Text()), c.Text())
	right := c.Then(c.Op("`>>`"), c.Text(), c.Then(c.Op("`>>`"), c.Text(), c.Text()))
	byFunc := c.Then(c.Site("then", ""), c.Then(c.Site("then", ""), c.Text(), c.Text()), c.Text())
	for name, got := range map[string][2]int{"a / b / c": {len(three.Children()), 3}, "a >> (b >> c)": {len(right.Children()), 2}, "then(then(a, b), c)": {len(byFunc.Children()), 2}} {
		if got[0] != got[1] {
			t.Errorf("%s has %d children, want %d", name, got[0], got[1])
		}
	}
	list := generable.ListOfType(strT)
	wide := c.Par(c.Op("`/`"), flow.ParOptions{}, named, c.Text())
	if wide.Leads() != named || len(wide.Children()) != 2 || wide.Out().String() != "list[str]" {
		t.Errorf("pair / x holds %v and is %s, want pair to be its first child and list[str]", wide.Children(), wide.Out())
	}
	whole := c.Op("`/`")
	whole.Whole = true
	fromFunction := c.Par(whole, flow.ParOptions{}, c.Par(c.Op("`/`"), flow.ParOptions{}, c.Text(), c.Text()),
		c.Step("l", strT, list, func(v generable.Value) generable.Value { return generable.ListOf(v) }))
	if len(fromFunction.Children()) != 2 || fromFunction.Leads() != nil {
		t.Errorf("what came out of a function was opened: %v", fromFunction.Children())
	}
	if got := c.Codes(); !slices.Equal(got, []string{"AS328", "AS328"}) {
		t.Errorf("said\n%s", enginetest.Said(c.Diagnostics()))
	}
}

func TestAnAbsorbedOperandIsUsedUp(t *testing.T) {
	c := enginetest.Compose()
	pair := c.Then(c.Op("`>>`"), c.Text(), c.Text())
	c.Then(c.Op("`>>`"), pair, c.Text())
	c.Then(c.Op("`>>`"), pair, c.Text())
	if got := c.Codes(); !slices.Equal(got, []string{"AS401"}) {
		t.Errorf("reported %v, want one AS401", got)
	}
}

// Wrong joints that are independent of each other are all reported, even if the first one made the chain fail.
func TestEachWrongJointIsReported(t *testing.T) {
	c := enginetest.Compose()
	step := func(in, out *generable.Type) *flow.Node { return c.Step("s", in, out, enginetest.Identity) }
	op := func(a, b *flow.Node) *flow.Node { return c.Then(c.Op("`>>`"), a, b) }
	chain := op(op(op(step(strT, intT), step(strT, intT)), step(intT, strT)), step(intT, intT)) // wrong, right, wrong
	op(op(step(strT, strT), op(step(intT, intT), step(strT, strT))), chain)                     // wrong in front, wrong inside, right behind
	if got := c.Codes(); !slices.Equal(got, []string{"AS301", "AS301", "AS301", "AS301"}) {
		t.Errorf("reported %v, want four times AS301", got)
	}
}

func TestSealedSessionRefusesComposition(t *testing.T) {
	c := enginetest.Compose()
	a, b := c.Text(), c.Text()
	c.Seal()
	if n := c.Then(c.Op("`>>`"), a, b); !n.Failed() {
		t.Error("composed after the seal")
	}
	if got := c.Codes(); !slices.Equal(got, []string{"AS402"}) {
		t.Errorf("reported %v", got)
	}
}

// One mistake yields one message: a failed node fits everywhere.
func TestOneMistakeOneMessage(t *testing.T) {
	c := enginetest.Compose()
	bad := c.Then(c.Site("then", "bad"), c.Text(), c.Step("n", intT, intT, enginetest.Identity))
	c.Par(c.Site("par", ""), flow.ParOptions{}, c.Then(c.Site("then", ""), bad, c.Step("m", intT, strT, enginetest.Identity)), c.Step("x", intT, intT, enginetest.Identity))
	if got := c.Codes(); !slices.Equal(got, []string{"AS301"}) {
		t.Errorf("reported %v, want AS301 alone", got)
	}
}

// Promise 15.21 (algebra): the types of `then` are associative, even if they follow from the preceding node and if a
// join is wrong: either every way of writing the sequence is sound, or none is.
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
			all := []*generable.Type{generable.StrT, generable.IntT, generable.AnyT, w.draft, generable.ListOfType(w.draft), generable.OneOf(generable.StrT, generable.NoneT)}
			switch kinds[i] {
			case 0:
				return w.pick("lines")
			case 1:
				text, _ := agent.ParseTemplate("{{code}}")
				return w.Template(w.Site("template", ""), text, nil)
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
				t.Fatalf("form %d: %s, form 0: %s; kinds %v, types %v\n%s", form, text, first, kinds, types, enginetest.Said(w.Diagnostics()))
			}
		}
	}
	if sound < 300 {
		t.Errorf("only %d compositions are sound", sound)
	}
}
