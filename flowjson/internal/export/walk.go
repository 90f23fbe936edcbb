package export

import (
	"fmt"
	"slices"

	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/generable"
)

// The walk visits a composition in the order in which it runs. Each node receives the transitions that lead to it and
// returns those that leave it, whose target the next node sets. The composition bounds how deeply nodes are nested, see
// package flow.

// node adds the agents of a node. h is the history for those that have none.
func (x *exporter) node(n *flow.Node, in []*edge, h *agent.History) []*edge {
	if own := n.History(); own != nil {
		h = own
	}
	switch n.Kind() {
	case flow.AgentNode:
		return x.agent(n, in, h)
	case flow.VerifyNode:
		return x.verify(n, in, h)
	case flow.PickNode:
		return x.pick(n, in)
	case flow.PipelineNode:
		for _, k := range n.Children() {
			in = x.node(k, in, h)
		}
		return in
	case flow.BranchNode:
		return x.branch(n, in, h)
	case flow.LoopNode:
		if l := n.Loop(); l.Next == nil && l.NextNode == nil {
			return x.loop(n, in, h)
		}
	case flow.GraphNode:
		return x.graph(n, in, h)
	case flow.ParallelNode:
		return x.parallel(n, in, h)
	case flow.FnNode:
		if passes(n) {
			return in
		}
	}
	return x.unsaid(n, in, h)
}

// passes reports whether a step returns its input unchanged.
func passes(n *flow.Node) bool {
	if n.Kind() != flow.FnNode {
		return false
	}
	f, ok := n.Spec().Func.(Identity)
	return ok && f.IsIdentity()
}

// unsaid reports a node that the format cannot express, and what cannot be expressed in the nodes inside it.
func (x *exporter) unsaid(n *flow.Node, in []*edge, h *agent.History) []*edge {
	what, help := kindOf(n)
	x.cannot(n, n.Site().Span, n.Label(), what, help)
	for _, k := range n.Children() {
		x.aside(k, h)
	}
	return x.unknown(in)
}

// unknown stands in for a node that cannot be expressed, so that it causes no further reports about where transitions
// lead.
func (x *exporter) unknown(in []*edge) []*edge {
	for _, e := range in {
		if e.from != nil {
			e.from.open = true
		}
	}
	s := &step{open: true}
	enter(in, s)
	return s.leave()
}

// aside checks a node that is the target of no transition, but not where it leads.
func (x *exporter) aside(n *flow.Node, h *agent.History) {
	before := len(x.steps)
	x.node(n, []*edge{{}}, h)
	for _, s := range x.steps[before:] {
		s.open = true
	}
}

// pick adds an agent that takes a part of a verdict.
func (x *exporter) pick(n *flow.Node, in []*edge) []*edge {
	if !x.ofVerdict(n) {
		return x.unknown(in)
	}
	s := x.add(&step{node: n, out: n.Out()}, in)
	s.file = fileAgent{Type: "transform", Params: &fileParams{Transformations: []fileValue{{"input." + n.Field()}}}}
	return s.leave()
}

// ofVerdict reports whether a pick takes something that the format can take, and reports an error otherwise.
func (x *exporter) ofVerdict(n *flow.Node) bool {
	if n.Field() != "success" && n.Field() != "feedback" || !isCritique(n.In()) {
		x.cannot(n, n.Site().Span, n.Label(), "a field of "+n.In().String(), `only "success" and "feedback" of what verify returns can be taken`)
		return false
	}
	return true
}

// isCritique reports whether a type is the output type of verify.
func isCritique(t *generable.Type) bool {
	t = t.Deref()
	return t.Kind == generable.RecordType && len(t.Fields) == 3 && t.Fields[2].Name == "input" &&
		generable.Same(t, flow.CritiqueOf(t.Fields[2].Type))
}

func (x *exporter) branch(n *flow.Node, in []*edge, h *agent.History) []*edge {
	kids := n.Children()
	out := x.node(kids[0], in, h)
	routes, other := n.Routes()
	ways := make([]way, 0, len(routes)+1)
	for i := range routes {
		ways = append(ways, way{route: &routes[i], span: routes[i].Span.Or(n.Site().Span)})
	}
	if other != nil {
		ways = append(ways, way{span: n.Site().Span})
	}
	to := x.fork(n, kids[0], out, ways)
	var ends []*edge
	for i := range ways {
		ends = append(ends, x.handled(kids[i+1], to[i], h)...)
	}
	return ends
}

// handled adds the handler of a route. A handler for which nothing is left is the target of no transition.
func (x *exporter) handled(n *flow.Node, in []*edge, h *agent.History) []*edge {
	if len(in) == 0 {
		return nil
	}
	return x.node(n, in, h)
}

// loop leads from its body out if until holds, otherwise to the repair, and from there back.
func (x *exporter) loop(n *flow.Node, in []*edge, h *agent.History) []*edge {
	l, body, repair := n.Loop(), n.Children()[0], n.Children()[1]
	if l.Max != flow.DefaultLoopMax || l.LastWins {
		x.cannot(n, n.Site().Span, n.Label(), "max or on_max of a loop", "leave max and on_max out: config.maxIterations bounds the turns of an agent alone")
	}
	probe := &edge{}
	out := x.node(body, append(slices.Clone(in), probe), h)
	if probe.to == nil {
		x.cannot(n, n.Site().Span, n.Label(), "a body without an agent", "put an agent in it")
		x.aside(repair, h)
		return x.unknown(in)
	}
	until := flow.Route{Pred: l.Until, When: l.UntilFunc, Type: l.UntilType}
	if until.Type != nil {
		until.When = nil // the function only tests for the type
	}
	to := x.fork(n, body, out, []way{{route: &until, span: l.UntilSpan.Or(n.Site().Span)}, {span: n.Site().Span}})
	enter(x.node(repair, to[1], h), probe.to)
	return to[0]
}

// graph adds the nodes of a graph and connects them along its edges.
func (x *exporter) graph(n *flow.Node, in []*edge, h *agent.History) []*edge {
	g, site := n.Spec().Graph, n.Site().Span
	edges, _ := n.Edges()
	switch whole := n == x.root && !slices.ContainsFunc(n.Children()[:g.Nodes], structured); {
	case g.MaxSteps == flow.DefaultMaxSteps:
	case whole: // a run of the file counts the same steps
		x.warn(site, n.Label()+": max_steps is not part of the file", fmt.Sprintf("run it with --max-steps %d, or MaxSteps where a host runs it", g.MaxSteps))
	default:
		x.cannot(n, site, n.Label(), "max_steps", "leave it out: config.maxIterations bounds the turns of an agent alone")
	}
	kids := n.Children()[:g.Nodes]
	begin := make([]*step, len(kids))
	out := make([][]*edge, len(kids))
	for i, k := range kids {
		probe := &edge{}
		lead := []*edge{probe}
		if i == 0 {
			lead = append(slices.Clone(in), probe)
		}
		out[i] = x.node(k, lead, h)
		if begin[i] = probe.to; begin[i] == nil { // it passes on its input, and edges lead to it
			begin[i] = x.add(&step{node: k, out: k.Out(), file: fileAgent{Type: "transform"}}, lead)
			out[i] = begin[i].leave()
		}
	}
	var ends []*edge
	lead := func(along []*edge, to int) {
		if to < 0 {
			ends = append(ends, along...)
			return
		}
		enter(along, begin[to])
	}
	for i, k := range kids {
		if len(g.Out[i]) == 0 {
			ends = append(ends, out[i]...)
			continue
		}
		ways := make([]way, 0, len(g.Out[i])+1)
		targets := make([]int, 0, len(g.Out[i])+1)
		for _, at := range g.Out[i] {
			e := &edges[at]
			w := way{span: e.Guard.Span.Or(e.Span)}
			if e.Guarded() {
				w.route = &e.Guard
			}
			if e.Map != nil {
				w.project = x.carried(n, e)
			}
			ways, targets = append(ways, w), append(targets, g.To[at])
		}
		if ways[len(ways)-1].route != nil {
			switch {
			case g.Finishes:
				ways, targets = append(ways, way{span: site}), append(targets, -1)
			case g.Other >= 0:
				ways, targets = append(ways, way{span: site}), append(targets, g.Other)
			default:
				ways, targets = append(ways, way{span: site, fails: true}), append(targets, -1)
			}
		}
		for w, along := range x.fork(n, k, out[i], ways) {
			lead(along, targets[w])
		}
	}
	return ends
}

// structured reports whether a node becomes more than one agent in the file.
func structured(n *flow.Node) bool {
	switch n.Kind() {
	case flow.AgentNode, flow.VerifyNode, flow.PickNode, flow.FnNode, flow.ParallelNode:
		return false
	}
	return true
}

// carried returns the part of a verdict that an edge of a graph carries.
func (x *exporter) carried(n *flow.Node, e *flow.Edge) string {
	m := e.Map
	if m.Kind() == flow.PickNode {
		if !x.ofVerdict(m) {
			return ""
		}
		return m.Field()
	}
	if passes(m) {
		return ""
	}
	x.cannot(n, e.Span, n.Label(), "an edge that changes the value by "+article(m.Kind()), `write map = pick("feedback") or pick("success") of what verify returns, or let an agent do it`)
	if len(m.Children()) > 0 || m.Agent() != nil {
		x.aside(m, nil)
	}
	return ""
}
