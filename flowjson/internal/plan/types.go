package plan

import (
	"math"
	"slices"

	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/flowjson/internal/operation"
	"github.com/agentscript/agentscript/flowjson/internal/spec"
	"github.com/agentscript/agentscript/flowjson/internal/tree"
	"github.com/agentscript/agentscript/generable"
)

// scalarT is the output type of an agent if values of any kind match any literal.
var scalarT = generable.OneOf(generable.BoolT, generable.IntT, generable.FloatT, generable.StrT)

// types determines the input and output type of each agent. The output type of an agent executed by a model follows
// from what its transitions compare it with. The input type is that of what arrives: one type, or any.
func (p *Plan) types() {
	for _, i := range p.Order {
		a := p.Agents[i]
		a.Out = answered(a.Agent, p.Leaves[i], p.Compat)
		for k, c := range a.Children {
			c.Out = generable.StrT
			if m := a.Merge; m != nil && m.Index == k && !m.Input && m.Pred != nil {
				c.Out = compared(m.Pred)
			}
		}
	}
	arriving := make([]*generable.Type, len(p.Agents))
	arriving[p.Start] = generable.StrT // the input of the run
	todo := slices.Clone(p.Order)
	for len(todo) > 0 {
		a := p.Agents[todo[0]]
		i := todo[0]
		todo = todo[1:]
		if a.In != nil && generable.Same(a.In, arriving[i]) {
			continue
		}
		if arriving[i] == nil {
			continue // an agent that leads to it comes first
		}
		a.takes(arriving[i])
		for _, e := range a.Edges {
			if e.Target < 0 {
				continue
			}
			if t := joined(arriving[e.Target], plain(carried(a, e))); arriving[e.Target] == nil || !generable.Same(t, arriving[e.Target]) {
				arriving[e.Target] = t
				todo = append(todo, e.Target)
			}
		}
	}
	for _, i := range p.Order {
		a := p.Agents[i]
		if len(a.Edges) == 0 {
			p.Out = joined(p.Out, a.Out)
		}
		for _, e := range a.Edges {
			if e.Target < 0 {
				p.Out = joined(p.Out, carried(a, e))
			}
		}
	}
}

// takes sets the input type of an agent, and what follows from it.
func (a *Agent) takes(t *generable.Type) {
	a.In = t
	switch a.Type {
	case spec.Verify:
		a.Out = flow.CritiqueOf(t)
	case spec.Transform:
		a.Out = partOf(t, a.Projection)
	case spec.Parallel:
		a.Result, a.Mixed = nil, false
		branch := func(out *generable.Type) {
			a.Mixed = a.Mixed || a.Result != nil && !generable.Same(a.Result, out)
			a.Result = joined(a.Result, out)
		}
		for _, c := range a.Children {
			c.takes(t)
			branch(c.Out)
		}
		if a.Merge == nil {
			a.Out = generable.ListOfType(a.Result)
			return
		}
		a.Out = a.Children[a.Merge.Index].Out
		if a.Merge.Input {
			branch(t)
		}
	}
}

// compared returns the type of a result that a merge compares with a literal.
func compared(p *predicate.Predicate) *generable.Type {
	if kids := p.Operands(); len(kids) > 0 {
		return compared(kids[0])
	}
	v, _ := p.Value()
	if _, ok := v.AsBool(); ok {
		return generable.BoolT
	}
	if _, ok := v.AsInt(); ok {
		return generable.IntT
	}
	if _, ok := v.AsNumber(); ok {
		return generable.FloatT
	}
	return generable.StrT
}

// carried returns the type of what arrives at the end of an edge.
func carried(a *Agent, e *Edge) *generable.Type { return partOf(a.Out, e.Part) }

// partOf returns the type of a part of a verdict.
func partOf(t *generable.Type, part string) *generable.Type {
	switch part {
	case "":
		return t
	case "success":
		return generable.BoolT
	}
	return generable.StrT
}

// plain returns the type as which the next agent takes an enum: a text.
func plain(t *generable.Type) *generable.Type {
	if t.Kind == generable.EnumType {
		return generable.StrT
	}
	return t
}

// joined returns the type of values of either type.
func joined(a, b *generable.Type) *generable.Type {
	if a == nil || generable.Same(a, b) {
		return b
	}
	return generable.AnyT
}

// answered returns the type of a model's answer, determined by what the transitions compare it with.
func answered(a *spec.Agent, edges []*spec.Edge, compat bool) *generable.Type {
	var asked []*spec.Condition
	closed := true // the possible answers are those that the transitions name
	for _, e := range edges {
		if e.Condition == nil {
			closed = false
			continue
		}
		asked = append(asked, e.Condition)
		closed = closed && e.Condition.Operation == operation.Equals
	}
	switch {
	case !a.Models() || len(asked) == 0:
		return generable.StrT
	case compat:
		return scalarT
	}
	switch kind := spec.Domain(a, edges); kind {
	case tree.Number:
		for _, c := range asked {
			if n, _ := c.Value(kind).AsNumber(); n != math.Trunc(n) || c.Kind == "double" {
				return generable.FloatT
			}
		}
		return generable.IntT
	case tree.Bool:
		return generable.BoolT
	}
	if !closed {
		return generable.StrT
	}
	var words []string
	seen := map[string]bool{}
	for _, c := range asked {
		if word, _ := c.Value(tree.String).AsStr(); !seen[word] {
			seen[word] = true
			words = append(words, word)
		}
	}
	t, wrong := generable.NewEnum("", "", words)
	if wrong != nil {
		return generable.StrT
	}
	return t
}
