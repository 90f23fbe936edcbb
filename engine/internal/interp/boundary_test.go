package interp_test

import (
	"errors"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/generable"
)

// What cannot be proven while composing is checked in the run: no node receives or returns a value that does not have
// its declared type.
func TestUnprovenEdgesAreChecked(t *testing.T) {
	lie := func(c *enginetest.Composer, v generable.Value) *flow.Node { // declares any
		return c.Step(c.Fresh(), generable.StrT, generable.AnyT, func(generable.Value) generable.Value { return v })
	}
	one := generable.IntOf(1)
	strict := func(c *enginetest.Composer) *flow.Node {
		return c.Step(c.Fresh(), generable.StrT, generable.StrT, func(v generable.Value) generable.Value {
			if _, ok := v.AsStr(); !ok {
				panic("a str node got " + v.TypeName())
			}
			return v
		})
	}
	for name, build := range map[string]func(c *enginetest.Composer) *flow.Node{
		"then": func(c *enginetest.Composer) *flow.Node { return c.Then(c.Site("then", ""), lie(c, one), strict(c)) },
		"par": func(c *enginetest.Composer) *flow.Node {
			return c.Then(c.Site("then", ""), lie(c, one), c.Par(c.Site("par", ""), flow.ParOptions{}, strict(c)))
		},
		"each": func(c *enginetest.Composer) *flow.Node {
			return c.Then(c.Site("then", ""), lie(c, generable.ListOf(one)), c.Each(c.Site("each", ""), flow.EachOptions{Limit: 0}, strict(c)))
		},
		"each of any": func(c *enginetest.Composer) *flow.Node {
			return c.Then(c.Site("then", ""), c.Step("l", generable.StrT, generable.ListOfType(generable.AnyT), func(generable.Value) generable.Value { return generable.ListOf(one) }), c.Each(c.Site("each", ""), flow.EachOptions{Limit: 0}, strict(c)))
		},
		"branch": func(c *enginetest.Composer) *flow.Node {
			return c.Then(c.Site("then", ""), lie(c, one), c.Branch(c.Site("branch", ""), strict(c), []flow.Route{enginetest.On(generable.StrT, strict(c))}, flow.BranchOptions{}))
		},
		"otherwise": func(c *enginetest.Composer) *flow.Node {
			return c.Branch(c.Site("branch", ""), lie(c, one), []flow.Route{enginetest.On(generable.BoolT, c.Step("b", generable.BoolT, generable.StrT, enginetest.Identity))}, flow.BranchOptions{Otherwise: strict(c)})
		},
		"when": func(c *enginetest.Composer) *flow.Node {
			yes := engine.GoFunc("yes", 1, func(engine.Branch, []generable.Value) (generable.Value, error) { return generable.BoolOf(true), nil })
			return c.Branch(c.Site("branch", ""), lie(c, one), []flow.Route{enginetest.On(engine.Func(yes), strict(c))}, flow.BranchOptions{Otherwise: c.Step("rest", generable.AnyT, generable.StrT, enginetest.Identity)})
		},
		"loop": func(c *enginetest.Composer) *flow.Node {
			return c.Then(c.Site("then", ""), lie(c, one), c.Loop(c.Site("loop", ""), strict(c), flow.LoopOptions{Next: enginetest.Stop}))
		},
		"next": func(c *enginetest.Composer) *flow.Node {
			return c.Loop(c.Site("loop", ""), strict(c), flow.LoopOptions{Next: engine.GoFunc("next", 1, func(engine.Branch, []generable.Value) (generable.Value, error) { return one, nil })})
		},
		"feedback": func(c *enginetest.Composer) *flow.Node {
			return c.Loop(c.Site("loop", ""), strict(c), flow.LoopOptions{NextNode: lie(c, one)})
		},
		"forum": func(c *enginetest.Composer) *flow.Node {
			return c.Then(c.Site("then", ""), lie(c, one), c.Forum(c.Site("forum", ""), flow.ForumOptions{}, strict(c), strict(c)))
		},
		"captain": func(c *enginetest.Composer) *flow.Node {
			first := c.Step("first", generable.AnyT, generable.StrT, func(generable.Value) generable.Value { return generable.StrOf("x") })
			return c.Then(c.Site("then", ""), c.Step("one", generable.StrT, generable.IntT, func(generable.Value) generable.Value { return one }), c.Forum(c.Site("forum", ""), flow.ForumOptions{}, first, strict(c)))
		},
		"an edge that changes the value": func(c *enginetest.Composer) *flow.Node {
			first, last := c.Text(), strict(c)
			return c.Graph(c.Site("graph", "g"), first, []flow.Edge{{From: first, To: last, Map: lie(c, one), Span: c.Site("edge", "").Span}}, flow.GraphOptions{})
		},
		"declared output of a parallel": func(c *enginetest.Composer) *flow.Node {
			p := c.Par(c.Site("par", ""), flow.ParOptions{Output: generable.StrT}, lie(c, one))
			return c.Then(c.Site("then", ""), p, c.Each(c.Site("each", ""), flow.EachOptions{Limit: 0}, strict(c)))
		},
		"declared output of a branch": func(c *enginetest.Composer) *flow.Node {
			b := c.Branch(c.Site("branch", ""), c.Text(), []flow.Route{enginetest.On(generable.StrT, lie(c, one))}, flow.BranchOptions{Output: generable.StrT})
			return c.Then(c.Site("then", ""), b, strict(c))
		},
		"output of a skill": func(c *enginetest.Composer) *flow.Node {
			a := c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", Skills: []*agent.Skill{{Name: "s", Out: generable.AnyT, Run: engine.GoFunc("s", 1, func(engine.Branch, []generable.Value) (generable.Value, error) { return one, nil })}}})
			return c.Then(c.Site("then", ""), a, strict(c))
		},
		"input of a skill": func(c *enginetest.Composer) *flow.Node {
			return c.Then(c.Site("then", ""), lie(c, one), c.Agent(c.Site("agent", "a"), &agent.Spec{Name: "a", In: generable.AnyT, Skills: []*agent.Skill{{Name: "s", In: generable.StrT, Run: engine.GoFunc("s", 1, func(_ engine.Branch, a []generable.Value) (generable.Value, error) {
				if _, ok := a[0].AsStr(); !ok {
					panic("the skill got " + a[0].TypeName())
				}
				return a[0], nil
			})}}}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := enginetest.Compose()
			main := build(c)
			c.Sound(t)
			_, err := enginetest.Everywhere(t, run.Spec{Node: main, Input: generable.StrOf("x")})
			var e *engine.Error
			if !errors.As(err, &e) || e.Kind != engine.KindType || e.Code != diag.WrongTypeAtBoundary || e.Path == "" || !e.Pos.IsValid() {
				t.Errorf("got %v", err)
			}
		})
	}
}

// If several joints lead to a step and none is proven, the error is reported at the first of them.
func TestAnUnprovenStepIsReportedAtItsFirstJoint(t *testing.T) {
	c := enginetest.Compose()
	lie := func() *flow.Node { // declares any
		return c.Step(c.Fresh(), generable.AnyT, generable.AnyT, func(generable.Value) generable.Value { return generable.IntOf(1) })
	}
	loop := c.Loop(c.Site("loop", ""), c.Step("body", generable.StrT, generable.StrT, enginetest.Identity), flow.LoopOptions{NextNode: lie()})
	at := c.Site("then", "")
	main := c.Then(at, lie(), loop)
	c.Sound(t)
	_, err := enginetest.RunNode(t, main, nil, "x")
	var e *engine.Error
	if !errors.As(err, &e) || e.Code != diag.WrongTypeAtBoundary || e.Pos != at.Span.Pos {
		t.Errorf("%v at %v, want it at %v", err, e.Pos, at.Span.Pos)
	}
}
