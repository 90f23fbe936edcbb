package interp_test

import (
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/generable"
)

// Nodes that choose among several nodes, run one again, or turn failures into values, as random expressions.

func texts(kids []expr) string {
	all := make([]string, len(kids))
	for i, k := range kids {
		all[i] = k.text
	}
	return strings.Join(all, ", ")
}

// alternatives returns a fallback: the first success, else the last failure.
func (g *generator) alternatives(kids []expr, nodes func(*enginetest.Composer) []*flow.Node, name string) expr {
	return expr{func(c *enginetest.Composer) *flow.Node {
		return c.Fallback(c.Site("fallback", name), flow.FirstOptions{}, nodes(c)...)
	}, func(x int64) (y int64, err error) {
		for _, k := range kids {
			if y, err = k.eval(x); err == nil {
				return y, nil
			}
		}
		return 0, err
	}, "fallback(" + texts(kids) + ")"}
}

// raced returns a race that only one can win: speed must not matter.
func (g *generator) raced(first expr, name string) expr {
	at := g.IntN(3)
	return expr{func(c *enginetest.Composer) *flow.Node {
		racers := []*flow.Node{failing(c), failing(c), failing(c)}
		racers[at] = first.build(c)
		return c.Race(c.Site("race", name), flow.FirstOptions{}, racers...)
	}, first.eval, fmt.Sprintf("race(%d: %s)", at, first.text)}
}

// failing returns a step that always fails.
func failing(c *enginetest.Composer) *flow.Node {
	return c.Fn(c.Site("fn", ""), engine.GoFunc("failing", 1, func(engine.Branch, []generable.Value) (generable.Value, error) {
		return generable.Value{}, errPlanned
	}), generable.IntT, generable.IntT)
}

// retried runs a deterministic body: a failure stays one, and an output that is not accepted never will be.
func (g *generator) retried(first expr, name string) expr {
	attempts := 1 + g.IntN(3)
	return expr{func(c *enginetest.Composer) *flow.Node {
		odd := engine.GoFunc("odd", 1, func(_ engine.Branch, a []generable.Value) (generable.Value, error) {
			return generable.BoolOf(enginetest.Int(a[0])%2 == 1), nil
		})
		return c.Retry(c.Site("retry", name), first.build(c), flow.RetryOptions{Max: attempts, UntilFunc: odd, LastWins: true})
	}, first.eval, fmt.Sprintf("retry(%s, %d)", first.text, attempts)}
}

// attempted turns a failure into the number -1.
func (g *generator) attempted(first expr, name string) expr {
	return expr{func(c *enginetest.Composer) *flow.Node {
		tried := c.Attempt(c.Site("attempt", name), first.build(c))
		return c.Then(c.Site("then", ""), tried, c.Step("", flow.AttemptOf(generable.IntT), generable.IntT, outcome))
	}, func(x int64) (int64, error) {
		y, err := first.eval(x)
		if err != nil {
			return 1_000_004, nil
		}
		return y, nil
	}, "attempt(" + first.text + ")"}
}

// outcome returns an attempt's value, or a number that nothing else returns.
func outcome(v generable.Value) generable.Value {
	r, _ := v.AsRecord()
	if y, ok := r.At(1).AsInt(); ok {
		return generable.IntOf(y)
	}
	return generable.IntOf(1_000_004)
}

// voted returns the output that most successful voters return, by its remainder.
func (g *generator) voted(kids []expr, nodes func(*enginetest.Composer) []*flow.Node, name string) expr {
	byRest := engine.GoFunc("key", 1, func(_ engine.Branch, a []generable.Value) (generable.Value, error) {
		return generable.IntOf(enginetest.Int(a[0]) % 3), nil
	})
	return expr{func(c *enginetest.Composer) *flow.Node {
		return c.Vote(c.Site("vote", name), flow.VoteOptions{Key: byRest},
			c.Par(c.Site("par", ""), flow.ParOptions{}, nodes(c)...))
	}, func(x int64) (int64, error) {
		votes, first := map[int64]int{}, map[int64]int64{}
		var order []int64
		for _, k := range kids {
			y, err := k.eval(x)
			if err != nil {
				return 0, err
			}
			if votes[y%3]++; votes[y%3] == 1 {
				first[y%3], order = y, append(order, y%3)
			}
		}
		best := order[0]
		for _, rest := range order {
			if votes[rest] > votes[best] {
				best = rest
			}
		}
		return first[best], nil
	}, "vote(" + texts(kids) + ")"}
}

// kept folds the outcomes of branches of which some may fail; dropped ones leave no trace.
func (g *generator) kept(kids []expr, nodes func(*enginetest.Composer) []*flow.Node, name string) expr {
	drop := g.IntN(2) == 0
	return expr{func(c *enginetest.Composer) *flow.Node {
		o := flow.ParOptions{OnError: flow.OnErrorKeep, Merge: c.Step("", generable.ListOfType(flow.AttemptOf(generable.IntT)), generable.IntT, func(v generable.Value) generable.Value {
			l, _ := v.AsList()
			var out []generable.Value
			for _, item := range l.Items() {
				out = append(out, outcome(item))
			}
			return folded(generable.ListOf(out...))
		})}
		if drop {
			o = flow.ParOptions{OnError: flow.OnErrorDrop, Merge: c.Step("", generable.ListOfType(generable.IntT), generable.IntT, folded)}
		}
		return c.Par(c.Site("par", name), o, nodes(c)...)
	}, func(x int64) (int64, error) {
		var out []generable.Value
		for _, k := range kids {
			y, err := k.eval(x)
			switch {
			case err == nil:
				out = append(out, generable.IntOf(y))
			case !drop:
				out = append(out, generable.IntOf(1_000_004))
			}
		}
		return enginetest.Int(folded(generable.ListOf(out...))), nil
	}, fmt.Sprintf("kept(%s, drop %v)", texts(kids), drop)}
}
