package flow

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/internal/units"
	"github.com/agentscript/agentscript/internal/sorting"
)

// Bound is the most that a node can ask of one model for one input, as far as the script shows: loops and retries run
// to their limit, agents take every turn, branches take the most expensive route.
type Bound struct {
	Model    string     // "provider/model", "" for the run's default
	Agent    string     // the agent that makes these calls
	Instead  []string   // models that answer when Model cannot
	Calls    int64      // answers of the model; math.MaxInt64 is without bound
	PerItem  bool       // some of them are made for each item of a list whose length is known only at run time
	MaxOut   int        // tokens of one answer, 0 where the script sets no bound
	MaxTotal int64      // tokens of all calls in and out, 0 where no budget bounds them
	MaxUSD   engine.Cap // what all calls may cost, where a budget bounds it

	Extra json.RawMessage // members that the script adds to each request
}

// Shared is the joint limit that a budget sets for the calls of several bounds. Calls, MaxTotal and MaxUSD are as in
// [Bound].
type Shared struct {
	Budget   string // the budget's name in messages
	Of       []int  // indices of the bounds
	Calls    int64  // math.MaxInt64 is without bound
	MaxTotal int64
	MaxUSD   engine.Cap
}

// Bounds returns the bound of every agent in n that calls a model, sorted by model and agent. Lists whose length is
// known only at run time count as items items, at least one. Fallback models and repeated requests add no calls: they
// replace an answer. Calls made by code are not included, see [Called].
func Bounds(n *Node, items int) []Bound {
	bounds, _ := SharedBounds(items, n)
	return bounds
}

// SharedBounds returns the bounds of several nodes, each run once, and the budgets that several of them share, those
// with the fewest first.
func SharedBounds(items int, nodes ...*Node) ([]Bound, []Shared) {
	w := &bounding{items: int64(max(items, 1))}
	total := load{}
	for _, n := range nodes {
		if n != nil {
			total.add(w.load(n))
		}
	}
	if len(total.of) == 0 {
		return nil, nil
	}
	agents := slices.SortedFunc(maps.Keys(total.of), func(a, b *agent.Spec) int {
		return cmp.Or(cmp.Compare(named(a).Model, named(b).Model), cmp.Compare(a.Name, b.Name), cmp.Compare(total.of[a].calls, total.of[b].calls))
	})
	out := make([]Bound, len(agents))
	for i, a := range agents {
		c := total.of[a]
		for key, p := range total.pools {
			if _, one := key.(string); one && p.agents[a] { // one budget for all its calls
				c = c.atMost(p.share)
			}
		}
		out[i] = Bound{Model: named(a).Model, Instead: named(a).Fallbacks, Agent: a.Name, Calls: c.calls, PerItem: c.perItem, Extra: a.Params.Extra}
		if most := a.Params.MaxTokens; most != nil {
			out[i].MaxOut = *most
		}
		out[i].MaxTotal, out[i].MaxUSD = c.caps()
	}
	var shared []Shared
	for _, p := range total.pools {
		s := Shared{Budget: p.label, Calls: p.calls}
		s.MaxTotal, s.MaxUSD = p.caps()
		for i, a := range agents {
			if p.agents[a] {
				s.Of = append(s.Of, i)
			}
		}
		if len(s.Of) > 1 {
			shared = append(shared, s)
		}
	}
	sorting.By(shared, func(a, b Shared) int {
		return cmp.Or(cmp.Compare(len(a.Of), len(b.Of)), slices.Compare(a.Of, b.Of), cmp.Compare(a.Budget, b.Budget))
	})
	return out, shared
}

// share is what a run asks of one agent.
type share struct {
	calls, tokens, usd int64 // math.MaxInt64 is without bound
	perItem            bool
}

// unbounded is a share without any bound.
var unbounded = share{math.MaxInt64, math.MaxInt64, math.MaxInt64, false} // never written

// budgeted returns the share that a budget allows. Routers and summaries take no turns.
func budgeted(l *engine.Limits, turns bool) share {
	s := share{l.ModelCalls.Or(math.MaxInt64), l.Tokens.Or(math.MaxInt64), l.USD.Or(math.MaxInt64), false}
	if turns {
		s.calls = min(s.calls, l.Turns.Or(math.MaxInt64))
	}
	return s
}

// atMost limits a share by another one.
func (s share) atMost(t share) share {
	return share{min(s.calls, t.calls), min(s.tokens, t.tokens), min(s.usd, t.usd), s.perItem}
}

// caps returns the limits of tokens and money in the form that a [Bound] has.
func (s share) caps() (tokens int64, usd engine.Cap) {
	if s.tokens != math.MaxInt64 {
		tokens = s.tokens
	}
	if s.usd != math.MaxInt64 {
		usd = engine.AtMost(s.usd)
	}
	return tokens, usd
}

// load is what is asked of each agent. Two nodes with the same name are two agents.
type load struct {
	of    map[*agent.Spec]share
	pools map[any]pool // keyed by the node that has the budget, or by the budget's name: a named budget is the same one wherever it is used
}

// pool is the limit that a budget sets for all agents inside it together.
type pool struct {
	share
	label  string
	agents map[*agent.Spec]bool
}

// bounded applies a budget to everything in the load.
func (l *load) bounded(of any, label string, b *engine.Limits) {
	if b.Name != "" {
		of, label = b.Name, "the budget "+strconv.Quote(b.Name)
	}
	turns, agents := true, map[*agent.Spec]bool{}
	for a := range l.of {
		agents[a], turns = true, turns && takesTurns(a)
	}
	for a, s := range l.of {
		l.of[a] = s.atMost(budgeted(b, takesTurns(a)))
	}
	if p := (pool{budgeted(b, turns), label, agents}); p.share != unbounded {
		l.put(of, p, share.atMost)
	}
}

// put adds a pool, or joins it with an existing pool of the same budget.
func (l *load) put(of any, p pool, join func(a, b share) share) {
	if l.pools == nil {
		l.pools = map[any]pool{}
	}
	if known, ok := l.pools[of]; ok {
		if _, named := of.(string); named {
			join = share.atMost
		}
		p.share = join(known.share, p.share)
		p.agents = maps.Clone(p.agents)
		maps.Copy(p.agents, known.agents)
	}
	l.pools[of] = p
}

// takesTurns reports whether an agent's calls are turns: those of routers and summaries are not.
func takesTurns(a *agent.Spec) bool { return a.Of == nil }

type bounding struct {
	items     int64
	history   *agent.History              // of the agents inside, nil for none
	summaries map[*agent.Spec]*agent.Spec // the agents that write summaries, by the agent that they summarize
}

func (w *bounding) load(n *Node) load {
	if n.history != nil {
		outer := w.history
		w.history = n.history
		defer func() { w.history = outer }()
	}
	switch n.kind {
	case AgentNode:
		return w.recovered(n, w.agentLoad(n.agent))
	case BoundedNode:
		total := w.sum(n.kids)
		total.bounded(n, "the budget of "+n.Label(), n.bound)
		return total
	case EachNode:
		return w.sum(n.kids).scaled(w.items, true)
	case LoopNode:
		turns := int64(n.loop.Max)
		total := w.load(n.kids[0]).scaled(turns, false)
		if n.loop.Repair != nil { // not after the last check
			turns--
		}
		if len(n.kids) > 1 && turns > 0 {
			total.add(w.load(n.kids[1]).scaled(turns, false))
		}
		return total
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

// graph counts each node as often as the graph's edges and its step limit allow. The map of an edge runs as often as
// the node that the edge leaves.
func (w *bounding) graph(n *Node) load {
	g := n.spec.Graph
	times := g.Times(func(i int) bool { return n.edges[g.Out[i][len(g.Out[i])-1]].Guarded() })
	total := load{}
	for i, kid := range n.kids[:g.Nodes] {
		total.add(w.load(kid).scaled(int64(times[i]), false))
	}
	for i, out := range g.Out {
		for _, e := range out {
			if m := n.edges[e].Map; m != nil {
				total.add(w.load(m).scaled(int64(times[i]), false))
			}
		}
	}
	return total
}

func (w *bounding) agentLoad(a *agent.Spec) load {
	out := load{of: map[*agent.Spec]share{}}
	for _, asks := range a.Asks() {
		out.of[asks] = share{asked(a, asks), math.MaxInt64, math.MaxInt64, false}
		if h := w.history; asks == a && h.Compresses() && h.Compress.How == agent.CompressSummary {
			out.of[w.summary(a, h.Compress)] = share{asked(a, a), math.MaxInt64, math.MaxInt64, false} // before each turn
		}
	}
	return out
}

// summary returns the agent that stands for the summaries of a's conversation.
func (w *bounding) summary(a *agent.Spec, c *agent.Compression) *agent.Spec {
	if w.summaries == nil {
		w.summaries = map[*agent.Spec]*agent.Spec{}
	}
	if w.summaries[a] == nil {
		w.summaries[a] = &agent.Spec{Name: a.Name + ".summary", Model: cmp.Or(c.Model, a.Model), Fallbacks: a.Fallbacks, Of: a}
	}
	return w.summaries[a]
}

// named returns the agent that names the model: a router may leave that to the agent that it chooses for.
func named(a *agent.Spec) *agent.Spec {
	if a.Model == "" && a.Of != nil {
		return a.Of
	}
	return a
}

// asked returns how many model calls one call of the agent makes, for the agent itself or for its router.
func asked(a *agent.Spec, asks *agent.Spec) int64 {
	if asks != a {
		calls := int64(1 + asks.Repairs)
		return min(calls, a.Budget.ModelCalls.Or(calls))
	}
	// An agent without tools answers, and is asked again for an answer that fits. It states its reasoning once.
	calls := int64(1 + a.Repairs)
	if a.ReasoningEvery > 0 {
		calls++
	}
	if len(a.AllTools())+len(a.AllServers()) > 0 || a.Memory != nil || slices.ContainsFunc(a.Skills, func(s *agent.Skill) bool { return len(s.Knowledge) > 0 }) {
		calls = a.Budget.Turns.Or(agent.DefaultTurns)
	}
	return min(calls, a.Budget.Turns.Or(agent.DefaultTurns), a.Budget.ModelCalls.Or(calls))
}

func (s share) and(t share) share {
	return share{units.Add(s.calls, t.calls), units.Add(s.tokens, t.tokens), units.Add(s.usd, t.usd), s.perItem || t.perItem}
}

func (l *load) add(other load) { l.join(other, share.and) }

func (l *load) atLeast(other load) {
	l.join(other, func(a, b share) share {
		return share{max(a.calls, b.calls), max(a.tokens, b.tokens), max(a.usd, b.usd), a.perItem || b.perItem}
	})
}

func (l *load) join(other load, join func(a, b share) share) {
	if l.of == nil {
		l.of = map[*agent.Spec]share{}
	}
	for a, s := range other.of {
		if own, ok := l.of[a]; ok {
			s = join(own, s)
		}
		l.of[a] = s
	}
	for of, p := range other.pools {
		l.put(of, p, join)
	}
}

func (l load) scaled(by int64, items bool) load {
	out := load{of: make(map[*agent.Spec]share, len(l.of)), pools: make(map[any]pool, len(l.pools))}
	times := func(s share) share {
		return share{product(s.calls, by), product(s.tokens, by), product(s.usd, by), s.perItem || items}
	}
	for a, s := range l.of {
		out.of[a] = times(s)
	}
	for of, p := range l.pools {
		if _, named := of.(string); !named {
			p.share = times(p.share)
		}
		out.pools[of] = p
	}
	return out
}

func product(a, b int64) int64 {
	if a != 0 && b > math.MaxInt64/a {
		return math.MaxInt64
	}
	return a * b
}

// mended adds to an agent's own load the load of its tool nodes and of its fixers: each call of a tool can be fixed in
// a limited number of steps. A budget on the agent bounds what it calls, too.
func (w *bounding) recovered(n *Node, own load) load {
	calls := n.agent.Budget.ToolCalls.Or(agent.DefaultToolCalls)
	inside := load{}
	for _, k := range n.kids {
		times := product(calls, int64(n.agent.RecoverySteps(k)))
		if t := ToolOf(n.agent, k); t != nil {
			if times = calls; t.OnError != nil || n.agent.OnToolError != nil { // it may be called again
				times = product(calls, 1+agent.MaxRecoverySteps)
			}
		}
		inside.add(w.load(k).scaled(times, false))
	}
	own.add(inside)
	budget := n.agent.Budget
	if budget.Name == "" {
		budget.Turns = engine.Cap{} // turns belong to its conversation and are counted there
	}
	own.bounded(n, "the budget of agent "+strconv.Quote(n.agent.Name), &budget)
	return own
}
