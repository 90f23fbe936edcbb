package plan

import (
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/flowjson/internal/operation"
	"github.com/agentscript/agentscript/flowjson/internal/spec"
	"github.com/agentscript/agentscript/flowjson/internal/tree"
	"github.com/agentscript/agentscript/generable"
)

// answer is the meaning of a condition.
type answer struct {
	value  *generable.Value     // takes this value of a bool or an enum
	pred   *predicate.Predicate // or takes what the predicate holds for
	always bool
	never  bool
}

// edges resolves the conditions of an agent's transitions. It leaves out those that are never taken.
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

// vague reports whether some condition orders texts: only a run knows which texts it takes.
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

// condition resolves one condition on values of a kind and type.
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

// operation resolves an operation on a value or on a field of it.
func (p *Plan) operation(name, field string, v generable.Value) answer {
	is, truth := v.AsBool()
	switch name {
	case operation.Not: // holds only for the other truth value
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
		case p.Compat: // holds for true and false, and nothing else
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

// test returns a test without an error check, since the literals of the format are always valid.
func test(op predicate.Op, field string, v generable.Value) *predicate.Predicate {
	p, err := predicate.New(op, field, &v)
	if err != nil {
		panic(err) // only for regular expressions
	}
	return p
}
