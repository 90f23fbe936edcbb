package flow

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/callback"
	"github.com/agentscript/agentscript/engine/internal/node"
	"github.com/agentscript/agentscript/engine/internal/typing"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Edge leads from one node of a graph to another. A node's output follows the first edge that takes it.
type Edge struct {
	From, To *Node // To: nil finishes the graph
	Guard    Route // without Handler: the values that the edge takes; the zero Route takes all
	Map      *Node // changes the value on the way; may be nil

	Span diag.Span
}

// Key returns the guard as the script wrote it, "" for an edge that takes everything.
func (e *Edge) Key() string {
	if !e.Guarded() {
		return ""
	}
	return e.Guard.Key()
}

// Guarded reports whether the edge takes only some values.
func (e *Edge) Guarded() bool {
	return e.Guard.Type != nil || e.Guard.Value != nil || e.Guard.Pred != nil || e.Guard.When != nil
}

// NoMatch says what happens to a value that no edge of its node takes.
type NoMatch uint8

// What happens to a value that no edge takes.
const (
	NoMatchUnsaid NoMatch = iota // a graph in which such a value is possible is a mistake
	NoMatchError                 // the run fails
	NoMatchFinish                // the graph ends with the value
	NoMatchNode                  // GraphOptions.Otherwise gets it
)

// GraphOptions are the options of a graph.
type GraphOptions struct {
	OnNoMatch NoMatch
	Otherwise *Node
	MaxSteps  int             // nodes executed at most, default 1000
	Output    *generable.Type // declared output, nil to infer it
}

// DefaultMaxSteps bounds a graph unless it says otherwise.
const DefaultMaxSteps = 1000

// Graph runs nodes along edges, beginning with start. Unlike other compositions it can have cycles and joins. A node
// without edges finishes the graph with its output.
func (s *Session) Graph(site Site, start *Node, edges []Edge, o GraphOptions) *Node {
	g := &node.Graph{Other: -1, Finishes: o.OnNoMatch == NoMatchFinish, MaxSteps: cmp.Or(o.MaxSteps, DefaultMaxSteps)}
	kids := []*Node{start}
	spans := []diag.Span{site.Arg(0)}
	index := map[*Node]int{}
	if start != nil {
		index[start] = 0
	}
	add := func(n *Node, at diag.Span) int { // -1 for nil
		if n == nil {
			return -1
		}
		if _, ok := index[n]; !ok {
			index[n] = len(kids)
			kids, spans = append(kids, n), append(spans, at)
		}
		return index[n]
	}
	from := make([]int, len(edges))
	for i := range edges {
		from[i] = add(edges[i].From, edges[i].Span)
		g.To = append(g.To, add(edges[i].To, edges[i].Span))
	}
	if o.OnNoMatch == NoMatchNode {
		g.Other = add(o.Otherwise, site.Span)
	}
	g.Nodes, g.At = len(kids), slices.Clone(spans)
	g.Out = make([][]int, g.Nodes)
	for i, k := range from {
		if k >= 0 {
			g.Out[k] = append(g.Out[k], i)
		}
	}
	for i := range edges {
		if m := edges[i].Map; m != nil { // a map shared with another edge is placed twice
			kids, spans = append(kids, m), append(spans, edges[i].Span)
		}
	}
	site.Args = spans
	n := &Node{kind: GraphNode, site: site, edges: slices.Clone(edges), noMatch: o.OnNoMatch, declared: o.Output, types: (*Session).graph, spec: node.Spec{Graph: g}}
	return s.structure(n, kids, func(*Node) bool {
		ok := s.bounds(site, "max_steps", g.MaxSteps, DefaultMaxSteps)
		maps := n.kids[g.Nodes:] // maps that were left out are replaced by failed nodes
		for i := range n.edges {
			e := &n.edges[i]
			if e.Map != nil {
				e.Map, maps = maps[0], maps[1:]
			}
			ok = callback.CheckArity(&s.Reporter, e.Guard.Span.Or(e.Span), e.Guard.When, 1, "when") && ok
		}
		return s.graph(n) && ok
	})
}

// graph checks every edge of a graph and infers its output type.
func (s *Session) graph(n *Node) bool {
	g, ok := n.spec.Graph, true
	n.in = n.kids[0].in
	n.spec.Sent, n.spec.Rest = make([]*generable.Type, len(n.edges)), nil
	var ends []ending
	leads := make([][]int, g.Nodes) // the nodes that a node may lead to; -1 is the end
	end := func(k int, t *generable.Type) {
		ends, leads[k] = append(ends, ending{k, t}), append(leads[k], -1)
	}
	for _, k := range g.Order() {
		from := n.kids[k]
		if from.failed { // its edges may take any type
			end(k, generable.ErrorT)
			for _, i := range g.Out[k] {
				leads[k] = append(leads[k], g.To[i])
			}
			if n.noMatch == NoMatchNode {
				leads[k] = append(leads[k], g.Other)
			}
			continue
		}
		if len(g.Out[k]) == 0 {
			end(k, from.out)
			continue
		}
		var routes []Route
		var alive []int // the edges that can be followed: one for each route, then the one for the rest
		whole := -1
		for _, i := range g.Out[k] {
			e := &n.edges[i]
			switch {
			case whole >= 0:
				ok = false
				d := s.Errorf(diag.DeadEdge, e.Span, "this edge of %s is never followed", from.Label())
				d.Notef(n.edges[whole].Span.Pos, "this one takes everything before it")
				d.Helpf("edges are tried in order: put those with when = first")
			case e.Guarded():
				routes, alive = append(routes, e.Guard), append(alive, i)
			default:
				whole, alive = i, append(alive, i)
			}
		}
		w := ways(from.out, routes)
		if !s.edgesMakeSense(n, from, routes, alive, w) {
			ok = false
			end(k, generable.ErrorT)
			continue
		}
		for r, i := range alive {
			e := &n.edges[i]
			sent := w.rest
			if r < len(routes) {
				sent = w.Routes[r].sent
			}
			to := g.To[i]
			if len(sent) == 0 { // no values are left for it
				leads[k] = append(leads[k], to)
				continue
			}
			n.spec.Sent[i] = generable.OneOf(sent...)
			t, good := s.carried(e, from, n.spec.Sent[i])
			ok = ok && good
			if to < 0 {
				end(k, t)
			} else {
				leads[k] = append(leads[k], to)
			}
		}
		if whole < 0 && (len(w.rest) > 0 || w.open) {
			if n.noMatch == NoMatchNode {
				leads[k] = append(leads[k], g.Other)
			}
			good := s.unmatched(n, k, w, end)
			ok = ok && good
		}
	}
	reached, exits := connected(leads)
	ok = ok && s.allReached(n, reached, exits)
	out, good := s.ending(n, slices.DeleteFunc(ends, func(e ending) bool { return !reached[e.node] }))
	n.out = out
	return ok && good
}

// edgesMakeSense checks the guards of the edges that leave a node: each must apply to the output and take something
// that no earlier edge takes.
func (s *Session) edgesMakeSense(n, from *Node, routes []Route, edges []int, w *routing) bool {
	ok := true
	for i := range routes {
		r := &routes[i]
		at := r.Span.Or(n.edges[edges[i]].Span)
		switch {
		case r.Pred != nil && !s.asks(at, r.Pred, from):
			ok = false
		case r.When != nil || w.Routes[i].Fresh:
		case w.Routes[i].fits:
			ok = false
			d := s.Errorf(diag.DeadEdge, at, "this edge of %s is never followed", from.Label())
			d.Label = "earlier edges take all that " + r.Key() + " does"
			d.Helpf("edges are tried in order: put this one first, or remove it")
		case r.Pred != nil:
			ok = false
			d := s.mistake(diag.DeadEdge, at, "this edge of "+from.Label()+" is never followed", settled(r.Pred, false, from.out), from)
			d.Helpf("remove it, or test something else")
		default:
			ok = false
			d := s.mistake(diag.DeadEdge, at, "this edge of "+from.Label()+" is never followed", fmt.Sprintf("%s never holds for %s", r.Key(), from.out), from)
			s.keyHelp(d, r, from.out)
		}
	}
	return ok
}

// carried checks what an edge carries and returns the type that arrives.
func (s *Session) carried(e *Edge, from *Node, t *generable.Type) (*generable.Type, bool) {
	giver, at := from.Label(), e.Span
	if m := e.Map; m != nil {
		if m.failed {
			return generable.ErrorT, true
		}
		if why, ok := s.hand(e.Span, giver, t, m); !ok {
			s.cannotCarry(e, giver, t, why, from, m)
			return generable.ErrorT, false
		}
		giver, t = m.Label(), m.out
		if m.kind == FnNode && m.site.What == "map" { // a function written in the edge itself
			giver, at = "map", m.site.Span.Or(e.Span)
		}
	}
	to := e.To
	if to == nil || to.failed {
		return t, true
	}
	why, ok := s.hand(at, giver, t, to)
	if !ok {
		s.cannotCarry(e, giver, t, why, from, to)
	}
	return t, ok
}

// cannotCarry reports that an edge's target does not take the output of giver, and why.
func (s *Session) cannotCarry(e *Edge, giver string, t *generable.Type, why []generable.Reason, from, taker *Node) {
	if why == nil { // already reported
		return
	}
	at, in := e.Span, taker.in
	if e.Map != nil {
		at = e.Map.site.Span.Or(at)
	}
	d := s.cannotJoin(at, "this edge cannot carry its value", fmt.Sprintf("%s returns %s, %s wants %s", giver, t, taker.Label(), in), why, t, from, taker)
	if e.Map == nil {
		d.Helpf("change the value on the way: edge(a, b, map = pick(\"field\")), or map = fn(f, output = %s)", in)
		return
	}
	if taker == e.Map { // the map's input
		d.Helpf("let map take %s: map = fn(f, input = %s, output = ...)", t, t)
		return
	}
	if f := fieldFor(t, in); f != "" {
		d.Helpf("make map return %s: map = then(..., pick(%q))", in, f)
		return
	}
	d.Helpf("make map return %s: map = fn(f, output = %s)", in, in)
}

// unmatched handles the values that no edge of node k takes.
func (s *Session) unmatched(n *Node, k int, w *routing, end func(int, *generable.Type)) bool {
	g, from := n.spec.Graph, n.kids[k]
	rest := from.out
	if len(w.rest) > 0 {
		rest = generable.OneOf(w.rest...)
	}
	switch n.noMatch {
	case NoMatchError:
		return true
	case NoMatchFinish:
		end(k, rest)
		return true
	case NoMatchNode:
		if n.spec.Rest != nil {
			n.spec.Rest = generable.OneOf(n.spec.Rest, rest)
		} else {
			n.spec.Rest = rest
		}
		e := &Edge{From: from, To: n.kids[g.Other], Span: n.site.Span}
		_, ok := s.carried(e, from, rest)
		return ok
	}
	var message string
	if len(w.Missing) > 0 && !w.vague && !w.open {
		message = fmt.Sprintf("no edge of %s takes %s", from.Label(), typing.Listed(w.Missing))
	} else if len(w.rest) > 0 {
		message = fmt.Sprintf("the conditions on the edges of %s may all be false", from.Label())
	} else {
		return true
	}
	d := s.mistake(diag.NotExhaustive, n.edges[g.Out[k][0]].Span, message, from.outputText(), from)
	d.Helpf("end with an edge without when, or say on_no_match = \"error\", \"finish\" or a node")
	return false
}

// ending is a node that may end a graph, and the graph's output in that case.
type ending struct {
	node int
	t    *generable.Type
}

// connected finds the nodes that are reachable from the start, and reports whether the end is.
func connected(leads [][]int) (reached []bool, exits bool) {
	reached = make([]bool, len(leads))
	reached[0] = true
	for walk := []int{0}; len(walk) > 0; walk = walk[1:] {
		for _, to := range leads[walk[0]] {
			if to < 0 {
				exits = true
			} else if !reached[to] {
				reached[to] = true
				walk = append(walk, to)
			}
		}
	}
	return reached, exits
}

// allReached checks that every node and the end are reachable from the start.
func (s *Session) allReached(n *Node, reached []bool, exits bool) bool {
	g, ok := n.spec.Graph, true
	for k := range g.Nodes {
		switch {
		case n.kids[k].failed:
		case !reached[k]:
			ok = false
			d := s.mistake(diag.Unreachable, g.At[k], n.kids[k].Label()+" is never reached", "", n.kids[k])
			if k == g.Other {
				d.Helpf("the edges take every value that comes: leave on_no_match out")
			} else {
				d.Helpf("the graph begins with %s: add an edge that leads here, or leave it out", n.kids[0].Label())
			}
		}
	}
	if ok && !exits && n.noMatch != NoMatchError { // one message for a cycle: at the start
		ok = false
		d := s.mistake(diag.NoExit, n.site.Span, "this graph never ends", "no way leads from "+n.kids[0].Label()+" to FINISH")
		d.Helpf("let some edge lead to FINISH: edge(node, FINISH, when = ...)")
	}
	return ok
}

// ending infers the output type of a graph.
func (s *Session) ending(n *Node, ends []ending) (*generable.Type, bool) {
	if slices.ContainsFunc(ends, func(e ending) bool { return e.t.Deref().Kind == generable.ErrorType }) {
		return generable.ErrorT, true
	}
	switch {
	case n.declared != nil:
		ok := true
		for _, e := range ends {
			t := e.t
			if generable.Assignable(t, n.declared) != nil {
				ok = false
				d := s.Errorf(diag.OutputsDiffer, n.site.Span, "graph declares output = %s", n.declared)
				d.Label = fmt.Sprintf("it ends with %s of %s", t, n.kids[e.node].Label())
				d.Helpf("widen it: output = %s", generable.OneOf(n.declared, t))
			}
		}
		return n.declared, ok
	case len(ends) == 0:
		return generable.AnyT, true
	}
	types := text.Each(ends, func(e ending) *generable.Type { return e.t })
	if t, ok := s.joined(types); ok {
		return t, true
	}
	other := slices.IndexFunc(types, func(t *generable.Type) bool { return !generable.Same(types[0], t) })
	label := func(i int) string { return n.kids[ends[i].node].Label() }
	d := s.mistake(diag.OutputsDiffer, n.site.Span, "this graph ends with different types", fmt.Sprintf("%s returns %s, %s returns %s", label(0), types[0], label(other), types[other]))
	d.Helpf("declare it: output = %s", generable.OneOf(types...))
	return generable.ErrorT, false
}
