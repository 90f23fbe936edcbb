package interp

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/internal/ways"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/generable"
)

// route sends a value to the first route that takes it.
func route(b *exec.Branch, s *step, v generable.Value) (generable.Value, error) {
	v, err := Run(b, s.kids[0], v)
	if err != nil {
		return v, err
	}
	n := s.node
	routes, other := n.Routes()
	for i := range routes {
		takes, err := takes(b, &routes[i], i, v)
		if err != nil {
			return v, err
		}
		if takes {
			chose(b, n, i, s.kids[0].node, v)
			return into(b, s, s.kids[i+1], v)
		}
	}
	if other != nil {
		chose(b, n, len(routes), s.kids[0].node, v)
		return into(b, s, s.kids[len(s.kids)-1], v)
	}
	return v, engine.Errorf(engine.KindType, diag.NoRoute, "no branch handles %s", v.TypeName()).
		WithHelp("add a route for it, or otherwise = handler")
}

// into runs the handler of a route. A handoff is reported, and its target receives only its input.
func into(b *exec.Branch, s, handler *step, v generable.Value) (generable.Value, error) {
	if s.node.Kind() == flow.HandoffNode {
		b.Transcript = exec.Transcript{}
		if b.Wants(engine.EventHandoff) {
			b.Emit(engine.Event{Kind: engine.EventHandoff, Data: &event.Handoff{From: s.kids[0].node.Label(), To: handler.node.Label(), Type: v.TypeName()}})
		}
	}
	return Run(b, handler, v)
}

// took reports which of its ways a structure takes.
//
//go:noinline
func took(b *exec.Branch, n *flow.Node, way int) {
	if b.Wants(engine.EventRoute) {
		b.Emit(engine.Event{Kind: engine.EventRoute, Data: &event.Route{Of: n, From: n.Label(), Way: ways.Name(n, way), Index: way}})
	}
}

// chose is took for a structure that chooses by an output of the node from.
//
//go:noinline
func chose(b *exec.Branch, n *flow.Node, way int, from *flow.Node, v generable.Value) {
	if b.Wants(engine.EventRoute) {
		b.Emit(engine.Event{Kind: engine.EventRoute, Data: &event.Route{Of: n, From: n.Label(), Way: ways.Name(n, way), Index: way, Case: ways.Case(n, from, v)}})
	}
}

// takes reports whether route i takes a value.
func takes(b *exec.Branch, r *flow.Route, i int, v generable.Value) (bool, error) {
	switch {
	case r.Type != nil:
		return exec.IsOf(v, r.Type), nil
	case r.Value != nil:
		return generable.Equal(*r.Value, v), nil
	case r.Pred != nil:
		return r.Pred.Holds(v), nil
	}
	out, err := b.InvokeAs("when", i, r.When, v)
	return truth(out, err, "the predicate of when")
}

// holds evaluates the condition that ends a loop or a retry on an output: a predicate, which was checked before the
// run, or a function. Without a condition any output is accepted.
func holds(b *exec.Branch, data *predicate.Predicate, fn engine.Func, out generable.Value) (bool, error) {
	switch {
	case data != nil:
		return data.Holds(out), nil
	case fn != nil:
		v, err := b.InvokeAs("until", 0, fn, out)
		return truth(v, err, "until")
	}
	return true, nil
}

func truth(v generable.Value, err error, what string) (bool, error) {
	if err != nil {
		return false, err
	}
	yes, ok := v.AsBool()
	if !ok {
		return false, engine.Errorf(engine.KindType, diag.WrongTypeAtBoundary, "%s returned %s, want bool", what, v.TypeName()).
			WithHelp("compare explicitly: lambda x: len(x) > 0, lambda x: x != None")
	}
	return yes, nil
}
