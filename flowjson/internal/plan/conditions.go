package plan

import (
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/flowjson/internal/operation"
	"github.com/agentscript/agentscript/flowjson/internal/spec"
	"github.com/agentscript/agentscript/flowjson/internal/tree"
	"github.com/agentscript/agentscript/generable"
)

// answer is what a condition comes down to.
type answer struct {
	value  *generable.Value     // this one of a bool or an enum
	pred   *predicate.Predicate // or what holds of it
	always bool
	never  bool
}

// edges settles the conditions of an agent's transitions. What is never taken is left out.
func (p *Plan) edges(a *Agent, leaves []*spec.Edge) {
	kind := spec.Domain(a.Agent, leaves)
	out := answered(a.Agent, leaves, p.Compat)
	whole := false
	for _, l := range leaves {
		if l.Dead || whole {
			continue
		}
		e := &Edge{Spec: l, Target: l.Target}
		if l.Projection != nil {
			e.Part = *l.Projection
		}
		whole = l.Condition == nil
		if c := l.Condition; c != nil {
			got := p.condition(c, a.Type == spec.Verify, kind, out)
			if got.never {
				continue
			}
			whole, e.Value, e.Pred = got.always, got.value, got.pred
		}
		a.Edges = append(a.Edges, e)
	}
	if !whole && len(a.Edges) > 0 {
		a.Stuck = p.Compat || vague(a.Edges)
		p.Stuck = p.Stuck || a.Stuck
	}
}

// vague reports whether some condition orders texts: which of them it takes, a run alone knows.
func vague(edges []*Edge) bool {
	for _, e := range edges {
		if e.Pred == nil {
			continue
		}
		if v, _ := e.Pred.Value(); e.Pred.Op() != predicate.Eq && e.Pred.Op() != predicate.Ne {
			if _, text := v.AsStr(); text {
				return true
			}
		}
	}
	return false
}

// condition settles one condition on values of a kind, of a type.
func (p *Plan) condition(c *spec.Condition, verdict bool, kind tree.Kind, out *generable.Type) answer {
	field := ""
	if verdict {
		field, kind = c.Part(), tree.Bool
		if field == "feedback" {
			kind = tree.String
		}
	}
	v := c.Value(kind)
	if p.Compat {
		v = c.Typed()
	}
	got := p.operation(c.Operation, field, v)
	if got.pred != nil && got.pred.Op() == predicate.Eq && field == "" && (out.Kind == generable.BoolType || out.Kind == generable.EnumType) {
		v, _ := got.pred.Value()
		return answer{value: &v}
	}
	return got
}

// operation returns what an operation asks, of a value or of a field of it.
func (p *Plan) operation(name, field string, v generable.Value) answer {
	is, truth := v.AsBool()
	switch name {
	case operation.Not: // holds of the other truth value alone
		if truth {
			return answer{pred: test(predicate.Eq, field, generable.BoolOf(!is))}
		}
		return answer{never: true}
	case operation.And:
		if truth && is {
			return answer{pred: test(predicate.Eq, field, v)}
		}
		return answer{never: true}
	case operation.Or:
		switch {
		case !truth:
			return answer{never: true}
		case !is:
			return answer{pred: test(predicate.Eq, field, generable.BoolOf(true))}
		case p.Compat: // of true and of false, and of nothing else
			return answer{pred: test(predicate.Eq, field, v).Or(test(predicate.Eq, field, generable.BoolOf(false)))}
		}
		return answer{always: true}
	}
	op := operation.Tests[name]
	pred := test(op, field, v)
	_, text := v.AsStr()
	_, number := v.AsNumber()
	switch order := op != predicate.Eq && op != predicate.Ne; {
	case order && truth:
		return answer{never: true}
	case order && text:
		pred = pred.Folded()
	case !order && number && p.Compat:
		pred = pred.Exact()
	}
	return answer{pred: pred}
}

// test returns a test that needs no check: what it compares with is a literal of the format.
func test(op predicate.Op, field string, v generable.Value) *predicate.Predicate {
	p, err := predicate.New(op, field, &v)
	if err != nil {
		panic(err) // of regular expressions alone
	}
	return p
}
