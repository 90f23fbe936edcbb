package shape

import (
	"slices"

	"github.com/agentscript/agentscript/flowjson/internal/plan"
)

// deepest bounds how deeply branches and loops are nested: deeper ones are easier to read as a graph.
const deepest = 8

// Structure finds the structure of a flow. lost is an agent from which no path leads to the end, in which case there is
// no structure, or -1.
//
// All paths through a part of the flow begin at a node, and meet again at its immediate post-dominator. The parts in
// between are structured in the same way. If that fails, all of them become one graph, provided that nothing else leads
// into it; otherwise the surrounding part fails.
func Structure(p *plan.Plan) (s *Shape, lost int) {
	b := &builder{p: p, ways: newWays(p), taken: make([]bool, len(p.Agents)), heads: map[int]bool{}}
	if b.lost >= 0 {
		return nil, b.lost
	}
	if s, ok := b.seq(p.Start, b.end, 0); ok {
		return s, -1
	}
	return &Shape{Kind: Graph, Nodes: b.order, End: End}, -1
}

type builder struct {
	*ways
	p     *plan.Plan
	taken []bool       // nodes that have a place
	done  []int        // the same in order, so that they can be taken back
	heads map[int]bool // the loops being built
}

// take gives a node its place. It returns false if the node already has one.
func (b *builder) take(i int) bool {
	if b.taken[i] {
		return false
	}
	b.taken[i] = true
	b.done = append(b.done, i)
	return true
}

// back takes back all places after the first to ones.
func (b *builder) back(to int) {
	for _, i := range b.done[to:] {
		b.taken[i] = false
	}
	b.done = b.done[:to]
}

// target returns where an edge leads.
func (b *builder) target(e *plan.Edge) int {
	if e.Target < 0 {
		return b.end
	}
	return e.Target
}

// place is the beginning of a part of a sequence.
type place struct {
	node  int
	parts int // parts before it
	done  int // places taken before it
}

// seq structures what runs from a node to another one. What cannot be structured becomes a graph, which includes as few
// of the preceding parts as possible.
func (b *builder) seq(from, until, deep int) (*Shape, bool) {
	s := &Shape{Kind: Seq}
	var places []place
	for i := from; i != until; {
		if i == b.end {
			return nil, false
		}
		places = append(places, place{i, len(s.Parts), len(b.done)})
		parts, next, ok := b.item(i, until, deep)
		for back := 0; !ok; back++ {
			if back == tried || len(places) == 0 {
				return nil, false
			}
			at := places[len(places)-1]
			b.back(at.done)
			s.Parts = s.Parts[:at.parts]
			if parts, next, ok = b.graph(at.node, until, i); !ok {
				places = places[:len(places)-1]
			}
		}
		s.Parts = append(s.Parts, parts...)
		i = next
	}
	if len(s.Parts) == 1 {
		return s.Parts[0], true
	}
	return s, true
}

// item structures what begins with a node, and returns the node that follows.
func (b *builder) item(i, until, deep int) (parts []*Shape, next int, ok bool) {
	if b.taken[i] {
		return nil, 0, false
	}
	if in := b.loop(i); in != nil && !b.heads[i] {
		return b.round(i, until, in, deep)
	}
	if b.p.Agents[i].Stuck { // only a graph can express what happens to values that no edge takes
		return nil, 0, false
	}
	b.take(i)
	return b.leave(&Shape{Kind: Step, Agent: i}, i, b.p.Agents[i].Edges, until, deep, false)
}

// leave continues from a shape that returns the output of agent i along some of its edges. all means that they take
// everything that arrives, whatever their conditions say.
func (b *builder) leave(s *Shape, i int, edges []*plan.Edge, until, deep int, all bool) (parts []*Shape, next int, ok bool) {
	of := b.p.Agents[i]
	if len(edges) == 0 {
		return []*Shape{s}, b.end, until == b.end
	}
	groups := b.grouped(edges)
	if len(groups) == 1 {
		s.Edges = append(s.Edges, edges...)
		parts = []*Shape{s}
		if part := edges[0].Part; part != "" {
			parts = append(parts, &Shape{Kind: Pick, Part: part, Of: of})
		}
		return parts, b.target(edges[0]), true
	}
	meet := b.post[i]
	branch, ok := b.branch(s, of, groups, meet, deep, all)
	return []*Shape{branch}, meet, ok
}

// branch structures the paths from a shape to where they meet.
func (b *builder) branch(s *Shape, of *plan.Agent, groups [][]*plan.Edge, meet, deep int, all bool) (*Shape, bool) {
	if deep == deepest {
		return nil, false
	}
	out := &Shape{Kind: Branch, Of: of, Parts: []*Shape{s}}
	for k, edges := range groups {
		then, ok := b.along(edges[0], of, meet, deep+1)
		if !ok {
			return nil, false
		}
		w := Way{Then: then, Edges: edges}
		if !all || k < len(groups)-1 {
			w.Value, w.Pred = guard(edges)
		}
		out.Ways = append(out.Ways, w)
	}
	return out, true
}

// along structures what follows an edge.
func (b *builder) along(e *plan.Edge, of *plan.Agent, until, deep int) (*Shape, bool) {
	rest, ok := b.seq(b.target(e), until, deep)
	if !ok {
		return nil, false
	}
	empty := rest.Kind == Seq && len(rest.Parts) == 0
	switch {
	case e.Part == "" && empty:
		return &Shape{Kind: Pass, Of: of}, true
	case e.Part == "":
		return rest, true
	}
	pick := &Shape{Kind: Pick, Part: e.Part, Of: of}
	if empty {
		return pick, true
	}
	if rest.Kind == Seq {
		return &Shape{Kind: Seq, Parts: append([]*Shape{pick}, rest.Parts...)}, true
	}
	return &Shape{Kind: Seq, Parts: []*Shape{pick, rest}}, true
}

// grouped combines consecutive edges that do the same.
func (b *builder) grouped(edges []*plan.Edge) [][]*plan.Edge {
	var out [][]*plan.Edge
	for _, e := range edges {
		if n := len(out) - 1; n >= 0 && out[n][0].Target == e.Target && out[n][0].Part == e.Part {
			out[n] = append(out[n], e)
			continue
		}
		out = append(out, []*plan.Edge{e})
	}
	return out
}

// tried bounds the parts of a flow that are examined to find one that is a graph. If none is found soon, the whole flow
// becomes a graph.
const tried = 8

// graph makes one graph of what begins with a node and contains another one: the smallest part of the flow that nothing
// else leads into.
func (b *builder) graph(i, until, holds int) ([]*Shape, int, bool) {
	meet := i
	for range tried {
		if meet = b.post[meet]; meet < 0 {
			return nil, 0, false
		}
		nodes, ok := b.region(i, meet, b.taken, b.heads[i])
		if ok && !slices.Contains(nodes, until) && slices.Contains(nodes, holds) {
			for _, k := range nodes {
				b.take(k)
			}
			end := meet
			if meet == b.end {
				end = End
			}
			return []*Shape{{Kind: Graph, Nodes: nodes, End: end}}, meet, true
		}
		if meet == until || meet == b.end {
			return nil, 0, false
		}
	}
	return nil, 0, false
}
