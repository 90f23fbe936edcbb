package interp_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/generable"
)

// expr is a random composition int→int, built twice: as nodes, and as a Go function that returns the expected result.
// The function knows nothing of branches, positions or budgets: it evaluates the same expression one step after the
// other.
type expr struct {
	build func(c *enginetest.Composer) *flow.Node
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
	noise    bool     // sequences have steps between theirs that do nothing
	told     bool     // every event must arrive on every scheduler: no cancellation is handled
}

func newGenerator(seed uint64, failures bool) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(seed, 7)), failures: failures, names: []string{"a", "b", "x/y#0", ""}}
}

func (g *generator) name() string { return g.names[g.IntN(len(g.names))] }

// leaf returns a step, a deterministic agent, or an agent that calls a model.
func (g *generator) leaf() expr {
	k, name := int64(g.IntN(97)), g.name()
	fails := func(x int64) bool { return g.failures && k%5 == 0 && x%4 == 0 }
	eval := func(x int64) (int64, error) {
		if fails(x) {
			return 0, errPlanned
		}
		return wrap(3*x + k), nil
	}
	f := engine.GoFunc("step", 1, func(_ engine.Branch, a []generable.Value) (generable.Value, error) {
		y, err := eval(enginetest.Int(a[0]))
		return generable.IntOf(y), err
	})
	switch g.IntN(4) {
	case 0:
		return expr{func(c *enginetest.Composer) *flow.Node {
			return c.Fn(c.Site("fn", name), f, generable.IntT, generable.IntT)
		}, eval, fmt.Sprintf("fn(%d)", k)}
	case 1:
		return expr{func(c *enginetest.Composer) *flow.Node {
			return c.Agent(c.Site("agent", name), &agent.Spec{Name: name, In: generable.IntT, Out: generable.IntT, Run: f})
		}, eval, fmt.Sprintf("run(%d)", k)}
	}
	// The model finds its number in the prompt.
	return expr{func(c *enginetest.Composer) *flow.Node {
		return c.Agent(c.Site("agent", name), &agent.Spec{Name: name, In: generable.IntT, Out: generable.IntT, Prompt: fmt.Sprintf("k=%d fails=%v\n", k, g.failures && k%5 == 0)})
	}, eval, fmt.Sprintf("model(%d)", k)}
}

// arithmetic answers the models of a generator.
var arithmetic = engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
	req := e.Req.(*model.Request)
	var k, x int64
	var fails bool
	fmt.Sscanf(req.System, "k=%d fails=%t", &k, &fails)
	fmt.Sscanf(req.Messages[0].Parts[0].Text, "%d", &x) // a transcript may follow
	if fails && x%4 == 0 {
		return engine.Failed(engine.Errorf(engine.KindServer, diag.ProviderError, "%w", errPlanned))
	}
	r := enginetest.Says(strconv.FormatInt(wrap(3*x+k), 10))
	return engine.Outcome{Response: &r, Usage: r.Usage, Attempt: 1}
})

// expr returns an expression of a depth.
func (g *generator) expr(depth int) expr {
	if depth == 0 {
		return g.leaf()
	}
	name := g.name()
	kids := make([]expr, 1+g.IntN(3))
	for i := range kids {
		kids[i] = g.expr(g.IntN(depth))
	}
	nodes := func(c *enginetest.Composer) []*flow.Node {
		out := make([]*flow.Node, len(kids))
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
	switch g.IntN(14) {
	case 0, 1:
		return expr{func(c *enginetest.Composer) *flow.Node {
			steps := nodes(c)
			if g.noise {
				for i := len(steps); i >= 0; i-- {
					steps = slices.Insert(steps, i, c.Step("noise", generable.IntT, generable.IntT, enginetest.Identity))
				}
			}
			return c.Then(c.Site("then", name), steps...)
		}, func(x int64) (int64, error) {
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
		return expr{func(c *enginetest.Composer) *flow.Node {
			return c.Then(c.Site("then", name), c.Par(c.Site("par", name), flow.ParOptions{Limit: limit}, nodes(c)...), c.Step("", generable.ListOfType(generable.IntT), generable.IntT, folded))
		}, func(x int64) (int64, error) {
			var out []generable.Value
			for _, k := range kids {
				y, err := k.eval(x)
				if err != nil {
					return 0, err
				}
				out = append(out, generable.IntOf(y))
			}
			return enginetest.Int(folded(generable.ListOf(out...))), nil
		}, "par(" + inside + ")"}
	case 3:
		n := int64(g.IntN(4)) // may be 0
		return expr{func(c *enginetest.Composer) *flow.Node {
			split := c.Step("split", generable.IntT, generable.ListOfType(generable.IntT), func(v generable.Value) generable.Value { return spread(enginetest.Int(v), n) })
			return c.Then(c.Site("then", ""), split, c.Each(c.Site("each", name), flow.EachOptions{Limit: g.Rand.IntN(3)}, first.build(c)), c.Step("fold", generable.ListOfType(generable.IntT), generable.IntT, folded))
		}, func(x int64) (int64, error) {
			var out []generable.Value
			l, _ := spread(x, n).AsList()
			for _, item := range l.Items() {
				y, err := first.eval(enginetest.Int(item))
				if err != nil {
					return 0, err
				}
				out = append(out, generable.IntOf(y))
			}
			return enginetest.Int(folded(generable.ListOf(out...))), nil
		}, fmt.Sprintf("each(%d × %s)", n, first.text)}
	case 4:
		turns := int64(1 + g.IntN(4))
		again := func(y int64) bool { return y%(turns+1) != 0 }
		var next engine.Func = engine.GoFunc("next", 1, func(_ engine.Branch, a []generable.Value) (generable.Value, error) {
			if !again(enginetest.Int(a[0])) {
				return generable.Value{}, nil
			}
			return generable.IntOf(wrap(enginetest.Int(a[0]) + 1)), nil
		})
		return expr{func(c *enginetest.Composer) *flow.Node {
			return c.Loop(c.Site("loop", name), first.build(c), flow.LoopOptions{Next: next, Max: int(turns), LastWins: true})
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
		return expr{func(c *enginetest.Composer) *flow.Node {
			odd := c.Step("odd", generable.IntT, generable.OneOf(generable.BoolT, generable.IntT), func(v generable.Value) generable.Value {
				if x := enginetest.Int(v); x%3 == 0 {
					return v
				}
				return generable.BoolOf(enginetest.Int(v)%2 == 1)
			})
			carry := func(n *flow.Node, k int64) *flow.Node { // the handlers receive the source's output
				return c.Then(c.Site("then", name), c.Step("", generable.AnyT, generable.IntT, func(v generable.Value) generable.Value {
					if _, ok := v.AsInt(); ok {
						return v
					}
					return generable.IntOf(k)
				}), n)
			}
			return c.Branch(c.Site("branch", name), odd, []flow.Route{enginetest.On(generable.IntT, carry(first.build(c), 0)), enginetest.On(true, carry(other.build(c), 1))},
				flow.BranchOptions{Otherwise: c.Step("even", generable.AnyT, generable.IntT, func(generable.Value) generable.Value { return generable.IntOf(2) })})
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
		return expr{func(c *enginetest.Composer) *flow.Node {
			last := captain(c)
			return c.Forum(c.Site("forum", name), flow.ForumOptions{Rounds: rounds}, append(nodes(c), last)...)
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
			return enginetest.Int(folded(generable.ListOf(out...))), nil
		}, fmt.Sprintf("forum(%s, %d)", inside, rounds)}
	}
	kind := g.IntN(7)
	if g.told && (g.failures || kind == 1) {
		kind = 6
	}
	switch kind {
	case 0:
		return g.alternatives(kids, nodes, name)
	case 1:
		return g.raced(first, name)
	case 2:
		return g.retried(first, name)
	case 3:
		return g.attempted(first, name)
	case 4:
		return g.voted(kids, nodes, name)
	case 5:
		return g.kept(kids, nodes, name)
	}
	// A callback that calls each node twice.
	return expr{func(c *enginetest.Composer) *flow.Node {
		called := nodes(c)
		return c.Fn(c.Site("fn", name), engine.GoFunc("plan", 1, func(b engine.Branch, a []generable.Value) (generable.Value, error) {
			x := a[0]
			for range 2 {
				for _, n := range called {
					var err error
					if x, err = run.Call(b, n, x); err != nil {
						return x, err
					}
				}
			}
			return x, nil
		}), generable.IntT, generable.IntT)
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

// folded combines a list into one number that depends on the order.
func folded(v generable.Value) generable.Value {
	l, _ := v.AsList()
	sum := int64(l.Len())
	for _, item := range l.Items() {
		sum = wrap(31*sum + enginetest.Int(item))
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
