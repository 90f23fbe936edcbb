package engine_test

import (
	"context"
	"fmt"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/generable"
)

// answering answers the models of programs: those that count, and judges.
var answering = engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, k engine.Sink) engine.Outcome {
	req := e.Req.(*model.Request)
	var of, x int64
	if n, _ := fmt.Sscanf(req.System, "verdict=%d", &of); n == 0 {
		return arithmetic(ctx, e, k)
	}
	fmt.Sscanf(req.Messages[0].Parts[0].Text, "%d", &x)
	r := says(fmt.Sprintf(`{"success": %v, "feedback": ""}`, x%of == 0))
	return engine.Outcome{Response: &r, Usage: r.Usage, Attempt: 1}
})

// ints makes a callback of a function of numbers.
func ints(f func(x int64) (generable.Value, error)) engine.Func {
	return engine.GoFunc("f", 1, func(_ engine.Branch, a []generable.Value) (generable.Value, error) { return f(integer(a[0])) })
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

func (c *composer) programs(all []*program) []*flow.Node {
	nodes := make([]*flow.Node, len(all))
	for i, p := range all {
		nodes[i] = c.program(p)
	}
	return nodes
}

// program makes the nodes of a program.
func (c *composer) program(p *program) *flow.Node {
	site := func(what string) flow.Site { return c.site(what, p.name) }
	leaf := ints(func(x int64) (generable.Value, error) {
		if p.fails && x%4 == 0 {
			return generable.Value{}, errPlanned
		}
		return generable.IntOf(wrap(3*x + p.k)), nil
	})
	policy := []flow.OnError{flow.OnErrorRaise, flow.OnErrorKeep, flow.OnErrorDrop}[p.policy]
	switch p.op {
	case "fn":
		return c.Fn(site("fn"), leaf, intT, intT)
	case "run":
		return c.Agent(site("agent"), &agent.AgentSpec{Name: p.name, In: intT, Out: intT, Run: leaf})
	case "model":
		return c.Agent(site("agent"), &agent.AgentSpec{Name: p.name, In: intT, Out: intT, Prompt: fmt.Sprintf("k=%d fails=%v\n", p.k, p.fails)})
	case "judge":
		return c.Agent(site("agent"), &agent.AgentSpec{Name: p.name, In: intT, Out: flow.VerdictType, Prompt: fmt.Sprintf("verdict=%d", p.k)})
	case "then":
		return c.Then(site("then"), c.programs(p.kids)...)
	case "calls":
		nodes := c.programs(p.kids)
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
		}), intT, intT)
	case "par":
		return c.Par(site("par"), flow.ParOptions{Limit: p.way, OnError: policy, Merge: c.folding("", p.policy)}, c.programs(p.kids)...)
	case "each":
		split := c.step("split", intT, list(intT), func(v generable.Value) generable.Value { return spread(integer(v), p.m-1) })
		return c.Then(c.site("then", ""), split, c.Each(site("each"), flow.EachOptions{Limit: p.way, OnError: policy}, c.program(p.kids[0])), c.folding("fold", p.policy))
	case "loop":
		return c.Loop(site("loop"), c.program(p.kids[0]), flow.LoopOptions{Max: int(p.m), LastWins: p.way%2 == 0, Next: ints(func(y int64) (generable.Value, error) {
			if y%(p.m+1) == 0 {
				return generable.Value{}, nil
			}
			return generable.IntOf(wrap(y + 1)), nil
		})})
	case "until":
		return c.Loop(site("loop"), c.program(p.kids[0]), flow.LoopOptions{Max: int(p.m), LastWins: p.way%2 == 0,
			UntilFunc: holds(func(y int64) bool { return y%3 == 0 }), Repair: c.program(p.kids[1])})
	case "branch", "handoff":
		route := flow.Route{Handler: c.program(p.kids[0]), When: holds(func(x int64) bool { return x%3 == 0 })}
		if p.way%2 == 0 {
			route.When, route.Pred = nil, atLeast(p.k*10_000)
		}
		make := c.Branch
		if p.op == "handoff" {
			make = c.Handoff
		}
		return make(site(p.op), c.step("", intT, intT, identity), []flow.Route{route}, flow.BranchOptions{Otherwise: c.program(p.kids[1])})
	case "graph":
		return c.graph(p)
	case "fallback":
		return c.Fallback(site("fallback"), flow.FirstOptions{}, c.programs(p.kids)...)
	case "race":
		racers := []*flow.Node{c.failing(), c.failing(), c.failing()}
		racers[p.way%3] = c.program(p.kids[p.way%3])
		return c.Race(site("race"), flow.FirstOptions{}, racers...)
	case "retry":
		return c.Retry(site("retry"), c.program(p.kids[0]), flow.RetryOptions{Max: int(p.m), LastWins: p.way%2 == 0, UntilFunc: holds(func(y int64) bool { return y%2 == 1 })})
	case "attempt":
		return c.Then(c.site("then", ""), c.Attempt(site("attempt"), c.program(p.kids[0])), c.step("", flow.AttemptOf(intT), intT, outcome))
	case "wrap":
		tells := c.step("tells", intT, strT, func(v generable.Value) generable.Value {
			return generable.StrOf(fmt.Sprintf("k=%d fails=false\n", integer(v)%97))
		})
		return c.Wrap(site("wrap"), c.Then(c.site("then", ""), c.program(p.kids[0]), tells), c.program(p.kids[1]))
	case "verify":
		return c.Then(c.site("then", ""), c.Verify(c.site("verify", ""), c.program(p.kids[0])), c.step("", flow.CritiqueOf(intT), intT, func(v generable.Value) generable.Value {
			r, _ := v.AsRecord()
			if ok, _ := r.At(0).AsBool(); ok {
				return r.At(2)
			}
			return generable.IntOf(wrap(integer(r.At(2)) + 1))
		}))
	}
	return c.deciding(p)
}

// deciding makes the structures in which several decide.
func (c *composer) deciding(p *program) *flow.Node {
	captain := func() *flow.Node {
		return c.Agent(c.site("agent", "captain"), &agent.AgentSpec{Name: "captain", In: intT, Out: intT,
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
	switch p.op {
	case "forum":
		return c.Forum(c.site("forum", p.name), flow.ForumOptions{Rounds: int(p.m)}, append(c.programs(p.kids), captain())...)
	case "consensus":
		var members []*flow.Node
		for _, n := range c.programs(p.kids) {
			members = append(members, c.Then(c.site("then", ""), n, c.step("rest", intT, intT, func(v generable.Value) generable.Value { return generable.IntOf(integer(v) % 2) })))
		}
		o := flow.ForumOptions{Rounds: int(p.m), Consensus: p.way%len(p.kids) + 1}
		if p.policy == drops {
			o.Otherwise = captain()
		}
		return c.Forum(c.site("forum", p.name), o, members...)
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
			o.By, o.Judge = flow.VoteJudge, c.step("judge", list(intT), intT, folded)
		case 3:
			for i := range p.kids {
				if o.Quorum == 0 {
					o.Weights = append(o.Weights, float64(i))
				}
			}
		}
		return c.Vote(c.site("vote", p.name), o, c.Par(c.site("par", ""), voters, c.programs(p.kids)...))
	}
	panic("nothing builds " + p.op)
}

func (c *composer) graph(p *program) *flow.Node {
	nodes := c.programs(p.kids)
	var edges []flow.Edge
	for _, e := range p.edges {
		edge := flow.Edge{From: nodes[e.from], Span: c.site("edge", "").Span}
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
			edge.Map = c.program(e.mapped)
		}
		edges = append(edges, edge)
	}
	o := flow.GraphOptions{MaxSteps: int(p.m), OnNoMatch: []flow.NoMatch{flow.NoMatchError, flow.NoMatchFinish, flow.NoMatchNode}[p.policy]}
	if p.policy == drops {
		o.Otherwise = nodes[len(nodes)-1]
	}
	return c.Graph(c.site("graph", p.name), nodes[0], edges, o)
}

// folding makes one number of the list that branches give, by what becomes of their failures.
func (c *composer) folding(name string, policy int) *flow.Node {
	if policy != keeps {
		return c.step(name, list(intT), intT, folded)
	}
	return c.step(name, list(flow.AttemptOf(intT)), intT, func(v generable.Value) generable.Value {
		l, _ := v.AsList()
		var out []generable.Value
		for _, item := range l.Items() {
			out = append(out, outcome(item))
		}
		return folded(generable.ListOf(out...))
	})
}
