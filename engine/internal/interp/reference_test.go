package interp_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/generable"
)

// program is a random composition int→int as data. It is built as nodes, and run by the naive interpreter, which knows
// the rules of the algebra and of positions, and nothing of the engine.
type program struct {
	op, name string
	kids     []*program
	k, m     int64 // numbers of the op: what a leaf adds, how often, how many
	fails    bool  // a leaf fails on every fourth input
	policy   int   // of failures: raise, keep, drop
	way      int   // a variant of the op
	edges    []arrow
}

// arrow is an edge of a graph.
type arrow struct {
	from, to int // to: -1 is FINISH
	way      int // of the guard: none, at least, by remainder
	k        int64
	mapped   *program // on the way, or nil
}

const (
	raises = iota
	keeps
	drops
)

// lost is the number for an outcome without a value.
const lost = 1_000_004

// programs makes random programs. Ops are drawn from all; without failures no leaf fails.
type programs struct {
	*rand.Rand
	failures bool
}

var leafOps = []string{"fn", "run", "model", "model"}

var treeOps = []string{"then", "then", "par", "each", "loop", "until", "branch", "handoff", "forum", "consensus", "graph", "graph", "fallback",
	"race", "retry", "attempt", "vote", "wrap", "verify", "calls"}

func (g *programs) make(depth int) *program {
	p := &program{name: []string{"", "a", "b"}[g.IntN(3)], k: int64(g.IntN(97)), m: int64(1 + g.IntN(3)), way: g.IntN(4), policy: g.IntN(3)}
	if depth == 0 {
		p.op = leafOps[g.IntN(len(leafOps))]
		p.fails = g.failures && g.IntN(5) == 0
		return p
	}
	p.op = treeOps[g.IntN(len(treeOps))]
	kids := 1 + g.IntN(3)
	switch p.op {
	case "each", "loop", "retry", "attempt", "verify":
		kids = 1
	case "until", "branch", "handoff", "wrap":
		kids = 2
	case "race":
		kids = 3
	case "consensus":
		kids = 2 + g.IntN(2)
	}
	for range kids {
		p.kids = append(p.kids, g.make(g.IntN(depth)))
	}
	switch p.op {
	case "wrap": // a model student; the teacher may be anything
		p.kids[1] = &program{op: "model", name: "student", k: 1}
	case "verify":
		p.kids[0] = &program{op: "judge", name: "judge", k: p.m + 1}
	case "graph":
		g.arrows(p, depth)
	}
	return p
}

// arrows gives a graph edges such that it is sound: each node is reachable, no edge is hidden by an earlier one, and
// the end is reachable.
func (g *programs) arrows(p *program, depth int) {
	n := len(p.kids)
	mapped := func() *program {
		if g.IntN(3) == 0 {
			return g.make(g.IntN(depth))
		}
		return nil
	}
	for i := range p.kids {
		if g.IntN(2) == 0 { // conditions as data first, so that nothing hides them
			p.edges = append(p.edges, arrow{i, g.IntN(n+1) - 1, 1, int64(g.IntN(900_000)), mapped()})
		}
		if i+1 < n {
			p.edges = append(p.edges, arrow{i, i + 1, 2, int64(g.IntN(3)), mapped()})
		}
		p.edges = append(p.edges, arrow{i, -1, 2, int64(g.IntN(3)), mapped()})
		if g.IntN(3) == 0 {
			p.edges = append(p.edges, arrow{i, g.IntN(n), 0, 0, mapped()})
		}
	}
	p.m = int64(2 + g.IntN(7)) // maximum number of steps
}

// text writes a program for people.
func (p *program) text() string {
	s := fmt.Sprintf("%s:%s(k=%d m=%d way=%d policy=%d fails=%v", p.op, p.name, p.k, p.m, p.way, p.policy, p.fails)
	for _, k := range p.kids {
		s += " " + k.text()
	}
	for _, e := range p.edges {
		s += fmt.Sprintf(" %d→%d/%d,%d", e.from, e.to, e.way, e.k)
		if e.mapped != nil {
			s += e.mapped.text()
		}
	}
	return s + ")"
}

// answering answers the models of programs: those that count, and judges.
var answering = engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
	req := e.Req.(*model.Request)
	var of, x int64
	if n, _ := fmt.Sscanf(req.System, "verdict=%d", &of); n == 0 {
		return arithmetic(ctx, e, k)
	}
	fmt.Sscanf(req.Messages[0].Parts[0].Text, "%d", &x)
	r := enginetest.Says(fmt.Sprintf(`{"success": %v, "feedback": ""}`, x%of == 0))
	return engine.Outcome{Response: &r, Usage: r.Usage, Attempt: 1}
})

// ints makes a callback from a function of numbers.
func ints(f func(x int64) (generable.Value, error)) engine.Func {
	return engine.GoFunc("f", 1, func(_ engine.Branch, a []generable.Value) (generable.Value, error) { return f(enginetest.Int(a[0])) })
}

func holds(f func(x int64) bool) engine.Func {
	return ints(func(x int64) (generable.Value, error) { return generable.BoolOf(f(x)), nil })
}

func atLeast(k int64) *predicate.Predicate {
	p, err := predicate.New(predicate.Ge, "", new(generable.IntOf(k)))
	if err != nil {
		panic(err)
	}
	return p
}

func composeAll(c *enginetest.Composer, all []*program) []*flow.Node {
	nodes := make([]*flow.Node, len(all))
	for i, p := range all {
		nodes[i] = composeOne(c, p)
	}
	return nodes
}

// composeOne makes the nodes of a program.
func composeOne(c *enginetest.Composer, p *program) *flow.Node {
	site := func(what string) flow.Site { return c.Site(what, p.name) }
	leaf := ints(func(x int64) (generable.Value, error) {
		if p.fails && x%4 == 0 {
			return generable.Value{}, errPlanned
		}
		return generable.IntOf(wrap(3*x + p.k)), nil
	})
	policy := []flow.OnError{flow.OnErrorRaise, flow.OnErrorKeep, flow.OnErrorDrop}[p.policy]
	switch p.op {
	case "fn":
		return c.Fn(site("fn"), leaf, generable.IntT, generable.IntT)
	case "run":
		return c.Agent(site("agent"), &agent.Spec{Name: p.name, In: generable.IntT, Out: generable.IntT, Run: leaf})
	case "model":
		return c.Agent(site("agent"), &agent.Spec{Name: p.name, In: generable.IntT, Out: generable.IntT, Prompt: fmt.Sprintf("k=%d fails=%v\n", p.k, p.fails)})
	case "judge":
		return c.Agent(site("agent"), &agent.Spec{Name: p.name, In: generable.IntT, Out: flow.VerdictType, Prompt: fmt.Sprintf("verdict=%d", p.k)})
	case "then":
		return c.Then(site("then"), composeAll(c, p.kids)...)
	case "calls":
		nodes := composeAll(c, p.kids)
		return c.Fn(site("fn"), engine.GoFunc("calls", 1, func(b engine.Branch, a []generable.Value) (x generable.Value, err error) {
			x = a[0]
			for range 2 {
				for _, n := range nodes {
					if x, err = run.Call(b, n, x); err != nil {
						return x, err
					}
				}
			}
			return x, nil
		}), generable.IntT, generable.IntT)
	case "par":
		return c.Par(site("par"), flow.ParOptions{Limit: p.way, OnError: policy, Merge: folding(c, "", p.policy)}, composeAll(c, p.kids)...)
	case "each":
		split := c.Step("split", generable.IntT, generable.ListOfType(generable.IntT), func(v generable.Value) generable.Value { return spread(enginetest.Int(v), p.m-1) })
		return c.Then(c.Site("then", ""), split, c.Each(site("each"), flow.EachOptions{Limit: p.way, OnError: policy}, composeOne(c, p.kids[0])), folding(c, "fold", p.policy))
	case "loop":
		return c.Loop(site("loop"), composeOne(c, p.kids[0]), flow.LoopOptions{Max: int(p.m), LastWins: p.way%2 == 0, Next: ints(func(y int64) (generable.Value, error) {
			if y%(p.m+1) == 0 {
				return generable.Value{}, nil
			}
			return generable.IntOf(wrap(y + 1)), nil
		})})
	case "until":
		return c.Loop(site("loop"), composeOne(c, p.kids[0]), flow.LoopOptions{Max: int(p.m), LastWins: p.way%2 == 0,
			UntilFunc: holds(func(y int64) bool { return y%3 == 0 }), Repair: composeOne(c, p.kids[1])})
	case "branch", "handoff":
		route := flow.Route{Handler: composeOne(c, p.kids[0]), When: holds(func(x int64) bool { return x%3 == 0 })}
		if p.way%2 == 0 {
			route.When, route.Pred = nil, atLeast(p.k*10_000)
		}
		make := c.Branch
		if p.op == "handoff" {
			make = c.Handoff
		}
		return make(site(p.op), c.Step("", generable.IntT, generable.IntT, enginetest.Identity), []flow.Route{route}, flow.BranchOptions{Otherwise: composeOne(c, p.kids[1])})
	case "graph":
		return graph(c, p)
	case "fallback":
		return c.Fallback(site("fallback"), flow.FirstOptions{}, composeAll(c, p.kids)...)
	case "race":
		racers := []*flow.Node{failing(c), failing(c), failing(c)}
		racers[p.way%3] = composeOne(c, p.kids[p.way%3])
		return c.Race(site("race"), flow.FirstOptions{}, racers...)
	case "retry":
		return c.Retry(site("retry"), composeOne(c, p.kids[0]), flow.RetryOptions{Max: int(p.m), LastWins: p.way%2 == 0, UntilFunc: holds(func(y int64) bool { return y%2 == 1 })})
	case "attempt":
		return c.Then(c.Site("then", ""), c.Attempt(site("attempt"), composeOne(c, p.kids[0])), c.Step("", flow.AttemptOf(generable.IntT), generable.IntT, outcome))
	case "wrap":
		tells := c.Step("tells", generable.IntT, generable.StrT, func(v generable.Value) generable.Value {
			return generable.StrOf(fmt.Sprintf("k=%d fails=false\n", enginetest.Int(v)%97))
		})
		return c.Wrap(site("wrap"), c.Then(c.Site("then", ""), composeOne(c, p.kids[0]), tells), composeOne(c, p.kids[1]))
	case "verify":
		return c.Then(c.Site("then", ""), c.Verify(c.Site("verify", ""), composeOne(c, p.kids[0])), c.Step("", flow.CritiqueOf(generable.IntT), generable.IntT, func(v generable.Value) generable.Value {
			r, _ := v.AsRecord()
			if ok, _ := r.At(0).AsBool(); ok {
				return r.At(2)
			}
			return generable.IntOf(wrap(enginetest.Int(r.At(2)) + 1))
		}))
	}
	return deciding(c, p)
}

// captain returns an agent that folds its input and what the members of its forum said.
func captain(c *enginetest.Composer) *flow.Node {
	return c.Agent(c.Site("agent", "captain"), &agent.Spec{Name: "captain", In: generable.IntT, Out: generable.IntT,
		Run: engine.GoFunc("captain", 2, func(_ engine.Branch, a []generable.Value) (generable.Value, error) {
			said, _ := a[1].AsList()
			out := []generable.Value{a[0]}
			for _, s := range said.Items() {
				m, _ := s.AsMap()
				v, _ := m.Get("output")
				out = append(out, v)
			}
			return folded(generable.ListOf(out...)), nil
		})})
}

// deciding makes the structures in which several nodes decide.
func deciding(c *enginetest.Composer, p *program) *flow.Node {
	switch p.op {
	case "forum":
		return c.Forum(c.Site("forum", p.name), flow.ForumOptions{Rounds: int(p.m)}, append(composeAll(c, p.kids), captain(c))...)
	case "consensus":
		var members []*flow.Node
		for _, n := range composeAll(c, p.kids) {
			members = append(members, c.Then(c.Site("then", ""), n, c.Step("rest", generable.IntT, generable.IntT, func(v generable.Value) generable.Value { return generable.IntOf(enginetest.Int(v) % 2) })))
		}
		o := flow.ForumOptions{Rounds: int(p.m), Consensus: p.way%len(p.kids) + 1}
		if p.policy == drops {
			o.Otherwise = captain(c)
		}
		return c.Forum(c.Site("forum", p.name), o, members...)
	case "vote":
		o := flow.VoteOptions{}
		voters := flow.ParOptions{}
		if p.policy == keeps {
			o.Quorum, voters.OnError = 1, flow.OnErrorKeep
		}
		switch p.way {
		case 0:
			o.Key = ints(func(x int64) (generable.Value, error) { return generable.IntOf(x % 3), nil })
		case 1:
			o.By = flow.VoteMax
		case 2:
			o.By, o.Judge = flow.VoteJudge, c.Step("judge", generable.ListOfType(generable.IntT), generable.IntT, folded)
		case 3:
			for i := range p.kids {
				if o.Quorum == 0 {
					o.Weights = append(o.Weights, float64(i))
				}
			}
		}
		return c.Vote(c.Site("vote", p.name), o, c.Par(c.Site("par", ""), voters, composeAll(c, p.kids)...))
	}
	panic("nothing builds " + p.op)
}

func graph(c *enginetest.Composer, p *program) *flow.Node {
	nodes := composeAll(c, p.kids)
	var edges []flow.Edge
	for _, e := range p.edges {
		edge := flow.Edge{From: nodes[e.from], Span: c.Site("edge", "").Span}
		if e.to >= 0 {
			edge.To = nodes[e.to]
		}
		switch e.way {
		case 1:
			edge.Guard.Pred = atLeast(e.k)
		case 2:
			edge.Guard.When = holds(func(y int64) bool { return y%3 == e.k })
		}
		if e.mapped != nil {
			edge.Map = composeOne(c, e.mapped)
		}
		edges = append(edges, edge)
	}
	o := flow.GraphOptions{MaxSteps: int(p.m), OnNoMatch: []flow.NoMatch{flow.NoMatchError, flow.NoMatchFinish, flow.NoMatchNode}[p.policy]}
	if p.policy == drops {
		o.Otherwise = nodes[len(nodes)-1]
	}
	return c.Graph(c.Site("graph", p.name), nodes[0], edges, o)
}

// folding combines the list that branches return into one number, depending on how failures are handled.
func folding(c *enginetest.Composer, name string, policy int) *flow.Node {
	if policy != keeps {
		return c.Step(name, generable.ListOfType(generable.IntT), generable.IntT, folded)
	}
	return c.Step(name, generable.ListOfType(flow.AttemptOf(generable.IntT)), generable.IntT, func(v generable.Value) generable.Value {
		l, _ := v.AsList()
		var out []generable.Value
		for _, item := range l.Items() {
			out = append(out, outcome(item))
		}
		return folded(generable.ListOf(out...))
	})
}
