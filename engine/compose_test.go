package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/generable"
)

// The shapes that a node can take, each str→str, with its one place still free.
var makers = map[string]func(c *composer) *flow.Node{
	"agent":    func(c *composer) *flow.Node { return c.prompted(c.fresh(), strT, strT) },
	"pipeline": func(c *composer) *flow.Node { return c.Then(c.op("`>>`"), c.str(), c.str()) },
	"parallel": func(c *composer) *flow.Node {
		// a parallel gives a list: join it back, so that it fits everywhere
		return c.Then(c.site("then", c.fresh()), c.Par(c.op("`/`"), flow.ParOptions{}, c.str(), c.str()), c.joined())
	},
	"forum": func(c *composer) *flow.Node {
		return c.Forum(c.op("`*`"), flow.ForumOptions{}, c.str(), c.str())
	},
	"loop": func(c *composer) *flow.Node {
		return c.Loop(c.site("loop", ""), c.str(), flow.LoopOptions{Next: stop})
	},
	"branch": func(c *composer) *flow.Node {
		return c.Branch(c.site("branch", ""), c.str(), []flow.Route{{Type: strT, Handler: c.str()}}, flow.BranchOptions{})
	},
	"each": func(c *composer) *flow.Node {
		return c.Then(c.site("then", c.fresh()), c.step("split", strT, generable.ListOfType(strT), func(v generable.Value) generable.Value { return generable.ListOf(v, v) }), c.Each(c.site("each", ""), flow.EachOptions{Limit: 0}, c.str()), c.joined())
	},
}

var stop = engine.GoFunc("stop", 1, func(engine.Branch, []generable.Value) (generable.Value, error) { return generable.Value{}, nil })

func (c *composer) fresh() string { c.line++; return fmt.Sprint("n", c.line) }

func (c *composer) str() *flow.Node { return c.agent(c.fresh(), strT, strT, identity) }

func (c *composer) joined() *flow.Node {
	return c.step("joined", generable.ListOfType(strT), strT, func(v generable.Value) generable.Value {
		l, _ := v.AsList()
		var parts []string
		for _, s := range l.Items() {
			parts = append(parts, str(s))
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

// The algebra is closed: every kind of node goes into every kind of composition.
func TestAlgebraIsClosed(t *testing.T) {
	wrap := map[string]func(c *composer, n *flow.Node) *flow.Node{
		"then first":  func(c *composer, n *flow.Node) *flow.Node { return c.Then(c.site("then", ""), n, c.str()) },
		"then last":   func(c *composer, n *flow.Node) *flow.Node { return c.Then(c.site("then", ""), c.str(), n) },
		"operator >>": func(c *composer, n *flow.Node) *flow.Node { return c.Then(c.op("`>>`"), n, c.str()) },
		"par": func(c *composer, n *flow.Node) *flow.Node {
			return c.Par(c.op("`/`"), flow.ParOptions{}, n, c.str())
		},
		"forum member": func(c *composer, n *flow.Node) *flow.Node {
			return c.Forum(c.op("`*`"), flow.ForumOptions{}, n, c.str())
		},
		"forum captain": func(c *composer, n *flow.Node) *flow.Node {
			return c.Forum(c.op("`*`"), flow.ForumOptions{}, c.str(), n)
		},
		"loop": func(c *composer, n *flow.Node) *flow.Node {
			return c.Loop(c.site("loop", ""), n, flow.LoopOptions{Next: stop})
		},
		"branch source": func(c *composer, n *flow.Node) *flow.Node {
			return c.Branch(c.site("branch", ""), n, []flow.Route{{Type: strT, Handler: c.str()}}, flow.BranchOptions{})
		},
		"branch handler": func(c *composer, n *flow.Node) *flow.Node {
			return c.Branch(c.site("branch", ""), c.str(), []flow.Route{{Type: strT, Handler: n}}, flow.BranchOptions{})
		},
		"otherwise": func(c *composer, n *flow.Node) *flow.Node {
			return c.Branch(c.site("branch", ""), c.str(), nil, flow.BranchOptions{Otherwise: n})
		},
		"each": func(c *composer, n *flow.Node) *flow.Node {
			return c.Then(c.site("then", ""), c.step("list", strT, generable.ListOfType(strT), func(v generable.Value) generable.Value { return generable.ListOf(v) }), c.Each(c.site("each", ""), flow.EachOptions{Limit: 0}, n))
		},
	}
	for _, kind := range kinds() {
		for where, build := range wrap {
			t.Run(kind+" as "+where, func(t *testing.T) {
				c := compose()
				main := build(c, makers[kind](c))
				c.sound(t)
				if _, err := everywhere(t, run.Spec{Node: main, Input: generable.StrOf("x")}); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
}

// Every node has one place. What is placed in one kind of structure can be placed in no other.
func TestSecondPlacementIsRefused(t *testing.T) {
	place := map[string]func(c *composer, n *flow.Node){
		"pipeline": func(c *composer, n *flow.Node) { c.Then(c.op("`>>`"), n, c.str()) },
		"parallel": func(c *composer, n *flow.Node) { c.Par(c.op("`/`"), flow.ParOptions{}, n, c.str()) },
		"forum":    func(c *composer, n *flow.Node) { c.Forum(c.op("`*`"), flow.ForumOptions{}, n, c.str()) },
		"loop":     func(c *composer, n *flow.Node) { c.Loop(c.site("loop", ""), n, flow.LoopOptions{Next: stop}) },
		"branch": func(c *composer, n *flow.Node) {
			c.Branch(c.site("branch", ""), n, []flow.Route{{Type: strT, Handler: c.str()}}, flow.BranchOptions{})
		},
	}
	for first, a := range place {
		for second, b := range place {
			for _, kind := range kinds() {
				c := compose()
				n := makers[kind](c)
				a(c, n)
				b(c, n)
				l := c.Diagnostics()
				if len(l) != 1 || l[0].Code != diag.AlreadyPlaced {
					t.Errorf("%s in %s, then in %s: %v", kind, first, second, l)
					continue
				}
				for _, part := range []string{"is already placed in " + first + ".", `Create a new instance for "` + second + `".`} {
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
	c := compose()
	free, taken := c.str(), c.str()
	c.Then(c.site("then", ""), taken, c.str())
	c.Then(c.site("then", ""), free, taken) // fails because of taken
	main := c.Then(c.site("then", "main"), free, c.str())
	if got := c.codes(); len(got) != 1 {
		t.Fatalf("reported %v, want one AS401", got)
	}
	if main.Failed() {
		t.Error("free was claimed by the composition that failed")
	}
}

func TestOneNodeTwiceInOneComposition(t *testing.T) {
	c := compose()
	n := c.str()
	c.Par(c.site("par", ""), flow.ParOptions{}, n, n)
	if got := c.codes(); len(got) != 1 || got[0] != "AS401" {
		t.Errorf("reported %v", got)
	}
}

func TestOperatorsFlattenOnlyUnnamedLeftOperands(t *testing.T) {
	c := compose()
	named := c.Par(func() flow.Site { s := c.op("`/`"); s.Name = "pair"; return s }(), flow.ParOptions{}, c.str(), c.str())
	three := c.Par(c.op("`/`"), flow.ParOptions{}, c.Par(c.op("`/`"), flow.ParOptions{}, c.str(), c.str()), c.str())
	right := c.Then(c.op("`>>`"), c.str(), c.Then(c.op("`>>`"), c.str(), c.str()))
	byFunc := c.Then(c.site("then", ""), c.Then(c.site("then", ""), c.str(), c.str()), c.str())
	for name, got := range map[string][2]int{"a / b / c": {len(three.Children()), 3}, "a >> (b >> c)": {len(right.Children()), 2}, "then(then(a, b), c)": {len(byFunc.Children()), 2}} {
		if got[0] != got[1] {
			t.Errorf("%s has %d children, want %d", name, got[0], got[1])
		}
	}
	list := generable.ListOfType(strT)
	outer := c.Par(c.op("`/`"), flow.ParOptions{}, named, c.step("l", strT, list, func(v generable.Value) generable.Value { return generable.ListOf(v) }))
	if len(outer.Children()) != 2 {
		t.Errorf("pair / x has %d children, want 2", len(outer.Children()))
	}
	c.sound(t)
}

func TestAnAbsorbedOperandIsUsedUp(t *testing.T) {
	c := compose()
	pair := c.Then(c.op("`>>`"), c.str(), c.str())
	c.Then(c.op("`>>`"), pair, c.str())
	c.Then(c.op("`>>`"), pair, c.str())
	if got := c.codes(); !slices.Equal(got, []string{"AS401"}) {
		t.Errorf("reported %v, want one AS401", got)
	}
}

// Joints that are wrong independently of each other are each reported, also where the first one made
// the chain fail.
func TestEachWrongJointIsReported(t *testing.T) {
	c := compose()
	step := func(in, out *generable.Type) *flow.Node { return c.step("s", in, out, identity) }
	op := func(a, b *flow.Node) *flow.Node { return c.Then(c.op("`>>`"), a, b) }
	chain := op(op(op(step(strT, intT), step(strT, intT)), step(intT, strT)), step(intT, intT)) // wrong, right, wrong
	op(op(step(strT, strT), op(step(intT, intT), step(strT, strT))), chain)                     // wrong in front, wrong inside, right behind
	if got := c.codes(); !slices.Equal(got, []string{"AS301", "AS301", "AS301", "AS301"}) {
		t.Errorf("reported %v, want four times AS301", got)
	}
}

func TestSealedSessionRefusesComposition(t *testing.T) {
	c := compose()
	a, b := c.str(), c.str()
	c.Seal()
	if n := c.Then(c.op("`>>`"), a, b); !n.Failed() {
		t.Error("composed after the seal")
	}
	if got := c.codes(); !slices.Equal(got, []string{"AS402"}) {
		t.Errorf("reported %v", got)
	}
}

// One mistake yields one message: a failed node fits everywhere.
func TestOneMistakeOneMessage(t *testing.T) {
	c := compose()
	bad := c.Then(c.site("then", "bad"), c.str(), c.step("n", intT, intT, identity))
	c.Par(c.site("par", ""), flow.ParOptions{}, c.Then(c.site("then", ""), bad, c.step("m", intT, strT, identity)), c.step("x", intT, intT, identity))
	if got := c.codes(); !slices.Equal(got, []string{"AS301"}) {
		t.Errorf("reported %v, want AS301 alone", got)
	}
}
