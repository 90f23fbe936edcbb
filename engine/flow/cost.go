package flow

import (
	"cmp"
	"math"
	"slices"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/internal/units"
)

// Bound is the most that a node can ask of one model with one input, by what the script says:
// loops and retries to their limit, every turn of an agent taken, the dearest route.
type Bound struct {
	Model    string     // "provider/model", "" for the run's default
	Agent    string     // whose calls these are
	Instead  []string   // models that answer when Model cannot
	Calls    int64      // answers of the model; math.MaxInt64 is without bound
	PerItem  bool       // some of them are for each item of a list whose length only a run knows
	MaxOut   int        // tokens of one answer, 0 where the script sets no bound
	MaxTotal int64      // tokens of all calls in and out, 0 where no budget bounds them
	MaxUSD   engine.Cap // what all calls may cost, where a budget bounds it
}

// Bounds returns the bound of every agent that a model carries out in n, by model and agent. Lists
// whose length only a run knows are taken to have items items, of which there is at least one.
// Models that stand in for others, and requests that are tried again, add no calls: they come
// instead of an answer. Nor is what a step's own code calls.
func Bounds(n *Node, items int) []Bound {
	if n == nil {
		return nil
	}
	w := &bounding{items: int64(max(items, 1))}
	total := w.load(n)
	out := make([]Bound, 0, len(total))
	for a, c := range total {
		if a.Budget.Name != "" { // one budget for all its calls
			c = c.atMost(&a.Budget, true)
		}
		b := Bound{Model: named(a).Model, Instead: named(a).Fallbacks, Agent: a.Name, Calls: c.calls, PerItem: c.perItem}
		if most := a.Params.MaxTokens; most != nil {
			b.MaxOut = *most
		}
		if c.tokens != math.MaxInt64 {
			b.MaxTotal = c.tokens
		}
		if c.usd != math.MaxInt64 {
			b.MaxUSD = engine.AtMost(c.usd)
		}
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b Bound) int {
		return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Calls, b.Calls))
	})
	return out
}

// share is what a run asks of one agent.
type share struct {
	calls, tokens, usd int64 // math.MaxInt64 is without bound
	perItem            bool
}

// atMost is a share within a budget. Routers take no turns.
func (s share) atMost(l *engine.Limits, turns bool) share {
	s.calls, s.tokens, s.usd = min(s.calls, l.ModelCalls.Or(math.MaxInt64)), min(s.tokens, l.Tokens.Or(math.MaxInt64)), min(s.usd, l.USD.Or(math.MaxInt64))
	if turns {
		s.calls = min(s.calls, l.Turns.Or(math.MaxInt64))
	}
	return s
}

// load is what is asked of each agent: two nodes of one name are two agents.
type load map[*agent.Spec]share

type bounding struct {
	items int64
}

func (w *bounding) load(n *Node) load {
	switch n.kind {
	case AgentNode:
		return w.mended(n, agentLoad(n.agent))
	case BoundedNode:
		total := w.sum(n.kids)
		for a, s := range total {
			total[a] = s.atMost(n.bound, a.Of == nil)
		}
		return total
	case EachNode:
		return w.sum(n.kids).scaled(w.items, true)
	case LoopNode:
		return w.sum(n.kids).scaled(int64(n.loop.Max), false)
	case RetryNode:
		return w.sum(n.kids).scaled(int64(n.retry.Max), false)
	case BranchNode, HandoffNode:
		routes := load{}
		for _, kid := range n.kids[1:] {
			routes.atLeast(w.load(kid))
		}
		routes.add(w.load(n.kids[0]))
		return routes
	case ForumNode:
		total := load{}
		for _, p := range n.participants() {
			total.add(w.load(p).scaled(int64(max(n.spec.Rounds, 1)), false))
		}
		if d := n.Decides(); d != nil {
			total.add(w.load(d))
		}
		return total
	case GraphNode:
		return w.graph(n)
	}
	return w.sum(n.kids)
}

func (w *bounding) sum(nodes []*Node) load {
	total := load{}
	for _, n := range nodes {
		total.add(w.load(n))
	}
	return total
}

// graph: without a cycle every node runs once at most; with one, any node may take all steps.
func (w *bounding) graph(n *Node) load {
	if !n.spec.Graph.Cyclic() {
		return w.sum(n.kids)
	}
	most := load{}
	for _, kid := range n.kids {
		most.atLeast(w.load(kid))
	}
	return most.scaled(int64(n.spec.Graph.MaxSteps), false)
}

func agentLoad(a *agent.Spec) load {
	out := load{}
	for _, asks := range a.Asks() {
		out[asks] = share{calls: asked(a, asks), tokens: a.Budget.Tokens.Or(math.MaxInt64), usd: a.Budget.USD.Or(math.MaxInt64)}
	}
	return out
}

// named is the agent that names the model: a router may leave it to the agent that it chooses for.
func named(a *agent.Spec) *agent.Spec {
	if a.Model == "" && a.Of != nil {
		return a.Of
	}
	return a
}

// asked is how often the model of an agent, or of its router, is asked in one call of the agent.
func asked(a *agent.Spec, asks *agent.Spec) int64 {
	if asks != a {
		calls := int64(1 + asks.Repairs)
		return min(calls, a.Budget.ModelCalls.Or(calls))
	}
	// An agent without tools answers, and is asked again for an answer that fits.
	calls := int64(1 + a.Repairs)
	if len(a.Tools)+len(a.Servers) > 0 || slices.ContainsFunc(a.Skills, func(s *agent.Skill) bool { return len(s.Tools)+len(s.Servers)+len(s.Knowledge) > 0 }) {
		calls = a.Budget.Turns.Or(agent.DefaultTurns)
	}
	return min(calls, a.Budget.Turns.Or(agent.DefaultTurns), a.Budget.ModelCalls.Or(calls))
}

func (s share) and(t share) share {
	return share{units.Add(s.calls, t.calls), units.Add(s.tokens, t.tokens), units.Add(s.usd, t.usd), s.perItem || t.perItem}
}

func (l load) add(other load) {
	for a, s := range other {
		l[a] = l[a].and(s)
	}
}

func (l load) atLeast(other load) {
	for a, s := range other {
		own := l[a]
		l[a] = share{max(own.calls, s.calls), max(own.tokens, s.tokens), max(own.usd, s.usd), own.perItem || s.perItem}
	}
}

func (l load) scaled(by int64, items bool) load {
	out := make(load, len(l))
	for a, s := range l {
		out[a] = share{product(s.calls, by), product(s.tokens, by), product(s.usd, by), s.perItem || items}
	}
	return out
}

func product(a, b int64) int64 {
	if a != 0 && b > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * b
}

// mended adds to what an agent asks for what the nodes among its tools may, and what its fixers: each
// call of a tool can be mended in so many steps. A budget over what the agent calls bounds them, too.
func (w *bounding) mended(n *Node, own load) load {
	if len(n.kids) == 0 {
		return own
	}
	calls := n.agent.Budget.ToolCalls.Or(agent.DefaultToolCalls)
	inside := load{}
	for _, k := range n.kids {
		times := product(calls, agent.MaxRecoverySteps)
		if t := ToolOf(n.agent, k); t != nil {
			if times = calls; t.OnError != nil || n.agent.OnToolError != nil { // it may be called again
				times = product(calls, 1+agent.MaxRecoverySteps)
			}
		}
		inside.add(w.load(k).scaled(times, false))
	}
	for a, s := range inside {
		own[a] = own[a].and(s.atMost(&n.agent.Budget, false))
	}
	return own
}
