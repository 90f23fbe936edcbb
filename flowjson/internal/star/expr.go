package star

import (
	"slices"
	"strconv"

	"github.com/agentscript/agentscript/flowjson/internal/plan"
	"github.com/agentscript/agentscript/flowjson/internal/shape"
	"github.com/agentscript/agentscript/generable"
)

// expr is an expression that composes agents, with its output type.
type expr struct {
	doc *doc
	out *generable.Type
}

// ranks finds the agents of a shape, in the order of the flow, and which of them are in a graph.
func (w *writer) ranks(s *shape.Shape) {
	w.graphed = map[int]bool{}
	in := map[int]bool{}
	for todo := []*shape.Shape{s}; len(todo) > 0; todo = todo[1:] {
		s := todo[0]
		if s.Kind == shape.Step {
			in[s.Agent] = true
		}
		for _, i := range s.Nodes {
			in[i], w.graphed[i] = true, true
		}
		todo = append(todo, s.Parts...)
		for _, way := range s.Ways {
			todo = append(todo, way.Then)
		}
	}
	for i := range w.p.Agents { // in the order of the file
		if in[i] {
			w.order = append(w.order, i)
		}
	}
}

// expr writes a shape.
func (w *writer) expr(s *shape.Shape) expr {
	switch s.Kind {
	case shape.Step:
		a := w.p.Agents[s.Agent]
		return expr{w.step(s.Agent), a.Out}
	case shape.Pick:
		return expr{pick(s.Part), partOf(s.Part)}
	case shape.Pass:
		t := plain(s.Of.Out)
		return expr{w.same(t), t}
	case shape.Seq:
		return w.seq(s.Parts)
	case shape.Branch:
		return w.branch(s)
	case shape.Loop:
		return w.loop(s)
	}
	return w.graph(s)
}

// step writes an agent: as its variable, or a transform as an expression.
func (w *writer) step(i int) *doc {
	a := w.p.Agents[i]
	if w.vars[a] == "" {
		return transform(a)
	}
	return atom(w.vars[a])
}

// seq writes a sequence. What the file says about the path from one part to the next is written above the next part.
func (w *writer) seq(parts []*shape.Shape) expr {
	var docs []*doc
	var out *generable.Type
	var above []string
	for _, s := range parts {
		e := w.expr(s)
		out = e.out
		flat := []*doc{e.doc}
		if e.doc.chain && len(e.doc.notes) == 0 {
			flat = e.doc.parts
		}
		flat[0].notes = append(above, flat[0].notes...)
		docs = append(docs, flat...)
		above = said(s.Edges)
		if s.Kind == shape.Loop {
			above = nil
		}
	}
	if n := len(docs) - 1; n >= 0 && len(above) > 0 { // the last edge leads elsewhere
		docs[n].notes = append(docs[n].notes, above...)
	}
	return expr{chained(docs), out}
}

// said returns what the file says about edges.
func said(edges []*plan.Edge) []string {
	var out []string
	for _, e := range edges {
		out = append(out, notes(e.Spec.Extras())...)
	}
	return out
}

// branch writes a test of a shape's output: a dict of values, or a list of conditions.
func (w *writer) branch(s *shape.Shape) expr {
	ways := s.Ways
	var rest *shape.Way
	if last := &ways[len(ways)-1]; last.Value == nil && last.Pred == nil {
		rest, ways = last, ways[:len(ways)-1]
	}
	byValue := !slices.ContainsFunc(ways, func(way shape.Way) bool { return way.Value == nil })
	routes := list()
	if byValue {
		routes = &doc{open: "{", close: "}"}
	}
	source := w.expr(s.Parts[0])
	var outs []*generable.Type
	for _, way := range ways {
		then := w.expr(way.Then)
		outs = append(outs, then.out)
		above := append(said(way.Edges), then.doc.notes...)
		then.doc.notes = nil
		route := then.doc
		switch {
		case byValue:
			route = keyed(value(way.Value), route)
		case way.Value != nil:
			route = call("when", atom("eq("+value(way.Value)+")"), route)
		default:
			route = call("when", atom(way.Pred.String()), route)
		}
		route.notes = above
		routes.parts = append(routes.parts, route)
	}
	d := call("branch", source.doc, routes)
	if rest != nil {
		then := w.expr(rest.Then)
		outs = append(outs, then.out)
		then.doc.notes = append(said(rest.Edges), then.doc.notes...)
		d.parts = append(d.parts, named("otherwise", then.doc))
	}
	out, say := common(outs)
	if say {
		d.parts = append(d.parts, named("output", atom(typeText(out))))
	}
	return expr{d, out}
}

// common returns the type of values of several types, and whether it must be declared.
func common(types []*generable.Type) (out *generable.Type, say bool) {
	out = types[0]
	for _, t := range types[1:] {
		switch {
		case generable.Same(out, t):
		case generable.Same(plain(out), plain(t)):
			out, say = plain(out), true
		default:
			return generable.AnyT, !slices.ContainsFunc(types, func(t *generable.Type) bool { return t.Kind == generable.AnyType })
		}
	}
	return out, say
}

// loop writes a loop that ends when its check is satisfied.
func (w *writer) loop(s *shape.Shape) expr {
	body, repair := w.expr(s.Parts[0]), w.expr(s.Parts[1])
	repair.doc.notes = append(said(s.Edges), repair.doc.notes...)
	d := call("loop", body.doc, named("until", atom(s.Until.String())), named("repair", repair.doc))
	if w.o.MaxSteps > 0 {
		d.parts = append(d.parts, named("max", atom(strconv.Itoa(w.o.MaxSteps))))
	}
	return expr{d, body.out}
}

// graph writes agents along their edges.
func (w *writer) graph(s *shape.Shape) expr {
	edges := list()
	var ends []*generable.Type
	for _, i := range s.Nodes {
		a := w.p.Agents[i]
		if len(a.Edges) == 0 {
			ends = append(ends, a.Out)
		}
		for _, e := range a.Edges {
			d := call("edge", w.step(i), atom("FINISH"))
			switch {
			case e.Target != s.End:
				d.parts[1] = w.step(e.Target)
			case e.Part != "":
				ends = append(ends, partOf(e.Part))
			default:
				ends = append(ends, a.Out)
			}
			switch {
			case e.Value != nil:
				d.parts = append(d.parts, named("when", atom(value(e.Value))))
			case e.Pred != nil:
				d.parts = append(d.parts, named("when", atom(e.Pred.String())))
			}
			if e.Part != "" {
				d.parts = append(d.parts, named("map", pick(e.Part)))
			}
			d.notes = said([]*plan.Edge{e})
			edges.parts = append(edges.parts, d)
		}
	}
	d := call("graph", w.step(s.Nodes[0]), edges)
	if slices.ContainsFunc(s.Nodes, func(i int) bool { return w.p.Agents[i].Stuck }) {
		d.parts = append(d.parts, named("on_no_match", atom(`"error"`)))
	}
	if w.o.MaxSteps > 0 {
		d.parts = append(d.parts, named("max_steps", atom(strconv.Itoa(w.o.MaxSteps))))
	}
	out, say := common(ends)
	if say {
		d.parts = append(d.parts, named("output", atom(typeText(out))))
	}
	return expr{d, out}
}

func pick(part string) *doc { return call("pick", atom(quoted(part))) }

// partOf returns the type of a part of a verdict.
func partOf(part string) *generable.Type {
	if part == "success" {
		return generable.BoolT
	}
	return generable.StrT
}
