package engine_test

import (
	"errors"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/generable"
)

// What cannot be proven while composing is checked in the run: no node gets or gives a value
// that is not of its declared type.
func TestUnprovenEdgesAreChecked(t *testing.T) {
	lie := func(c *composer, v generable.Value) *flow.Node { // says any
		return c.step(c.fresh(), strT, anyT, func(generable.Value) generable.Value { return v })
	}
	one := generable.IntOf(1)
	strict := func(c *composer) *flow.Node {
		return c.step(c.fresh(), strT, strT, func(v generable.Value) generable.Value {
			if _, ok := v.AsStr(); !ok {
				panic("a str node got " + v.TypeName())
			}
			return v
		})
	}
	for name, build := range map[string]func(c *composer) *flow.Node{
		"then": func(c *composer) *flow.Node { return c.Then(c.site("then", ""), lie(c, one), strict(c)) },
		"par": func(c *composer) *flow.Node {
			return c.Then(c.site("then", ""), lie(c, one), c.Par(c.site("par", ""), flow.ParOptions{}, strict(c)))
		},
		"each": func(c *composer) *flow.Node {
			return c.Then(c.site("then", ""), lie(c, generable.ListOf(one)), c.Each(c.site("each", ""), flow.EachOptions{Limit: 0}, strict(c)))
		},
		"each of any": func(c *composer) *flow.Node {
			return c.Then(c.site("then", ""), c.step("l", strT, list(anyT), func(generable.Value) generable.Value { return generable.ListOf(one) }), c.Each(c.site("each", ""), flow.EachOptions{Limit: 0}, strict(c)))
		},
		"branch": func(c *composer) *flow.Node {
			return c.Then(c.site("then", ""), lie(c, one), c.Branch(c.site("branch", ""), strict(c), []flow.Route{on(strT, strict(c))}, flow.BranchOptions{}))
		},
		"otherwise": func(c *composer) *flow.Node {
			return c.Branch(c.site("branch", ""), lie(c, one), []flow.Route{on(boolT, c.step("b", boolT, strT, identity))}, flow.BranchOptions{Otherwise: strict(c)})
		},
		"when": func(c *composer) *flow.Node {
			yes := engine.GoFunc("yes", 1, func(engine.Branch, []generable.Value) (generable.Value, error) { return generable.BoolOf(true), nil })
			return c.Branch(c.site("branch", ""), lie(c, one), []flow.Route{on(engine.Func(yes), strict(c))}, flow.BranchOptions{Otherwise: c.step("rest", anyT, strT, identity)})
		},
		"loop": func(c *composer) *flow.Node {
			return c.Then(c.site("then", ""), lie(c, one), c.Loop(c.site("loop", ""), strict(c), flow.LoopOptions{Next: stop}))
		},
		"next": func(c *composer) *flow.Node {
			return c.Loop(c.site("loop", ""), strict(c), flow.LoopOptions{Next: engine.GoFunc("next", 1, func(engine.Branch, []generable.Value) (generable.Value, error) { return one, nil })})
		},
		"feedback": func(c *composer) *flow.Node {
			return c.Loop(c.site("loop", ""), strict(c), flow.LoopOptions{NextNode: lie(c, one)})
		},
		"forum": func(c *composer) *flow.Node {
			return c.Then(c.site("then", ""), lie(c, one), c.Forum(c.site("forum", ""), flow.ForumOptions{}, strict(c), strict(c)))
		},
		"captain": func(c *composer) *flow.Node {
			first := c.step("first", anyT, strT, func(generable.Value) generable.Value { return generable.StrOf("x") })
			return c.Then(c.site("then", ""), c.step("one", strT, intT, func(generable.Value) generable.Value { return one }), c.Forum(c.site("forum", ""), flow.ForumOptions{}, first, strict(c)))
		},
		"declared output of a parallel": func(c *composer) *flow.Node {
			p := c.Par(c.site("par", ""), flow.ParOptions{Output: strT}, lie(c, one))
			return c.Then(c.site("then", ""), p, c.Each(c.site("each", ""), flow.EachOptions{Limit: 0}, strict(c)))
		},
		"declared output of a branch": func(c *composer) *flow.Node {
			b := c.Branch(c.site("branch", ""), c.str(), []flow.Route{on(strT, lie(c, one))}, flow.BranchOptions{Output: strT})
			return c.Then(c.site("then", ""), b, strict(c))
		},
		"output of a skill": func(c *composer) *flow.Node {
			a := c.Agent(c.site("agent", "a"), &agent.AgentSpec{Name: "a", Skills: []*agent.Skill{{Name: "s", Out: anyT, Run: engine.GoFunc("s", 1, func(engine.Branch, []generable.Value) (generable.Value, error) { return one, nil })}}})
			return c.Then(c.site("then", ""), a, strict(c))
		},
		"input of a skill": func(c *composer) *flow.Node {
			return c.Then(c.site("then", ""), lie(c, one), c.Agent(c.site("agent", "a"), &agent.AgentSpec{Name: "a", In: anyT, Skills: []*agent.Skill{{Name: "s", In: strT, Run: engine.GoFunc("s", 1, func(_ engine.Branch, a []generable.Value) (generable.Value, error) {
				if _, ok := a[0].AsStr(); !ok {
					panic("the skill got " + a[0].TypeName())
				}
				return a[0], nil
			})}}}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := compose()
			main := build(c)
			c.sound(t)
			_, err := everywhere(t, run.Spec{Node: main, Input: generable.StrOf("x")})
			var e *engine.Error
			if !errors.As(err, &e) || e.Kind != engine.KindType || e.Code != diag.WrongTypeAtBoundary || e.Path == "" || !e.Pos.IsValid() {
				t.Errorf("got %v", err)
			}
		})
	}
}
