package plan

import (
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/flowjson/internal/spec"
	"github.com/agentscript/agentscript/flowjson/internal/tree"
	"github.com/agentscript/agentscript/generable"
)

// Merge says which result a parallel returns.
type Merge struct {
	Index int                  // index of the result
	Input bool                 // the condition tests the parallel's input, not the branch's output
	Pred  *predicate.Predicate // what the result must match; nil for anything
	Never bool                 // the condition never holds
}

// Holds reports whether a result is returned.
func (m *Merge) Holds(v generable.Value) bool { return !m.Never && (m.Pred == nil || m.Pred.Holds(v)) }

// Unmet is the beginning of the failure message of a parallel whose merge does not hold for a result. The result
// follows it.
func (a *Agent) Unmet() string {
	c := a.Agent.Merge
	return "no result of " + a.Name + " is taken: " + c.Variable + " " + c.Operation + " " + c.Literal.Shown() + " does not hold of "
}

// merge determines which result a parallel returns: the one that its condition names, if the condition holds. The
// origin of the format only uses the index.
func (p *Plan) merge(a *Agent) {
	c := a.Agent.Merge
	if a.Type != spec.Parallel || c == nil && !p.Compat {
		return
	}
	if c == nil {
		a.Merge = &Merge{}
		return
	}
	index, part, ok := c.Result()
	if !ok || index >= len(a.Children) {
		return
	}
	m := &Merge{Index: index, Input: part == "input"}
	a.Merge = m
	v := c.Value(tree.Null)
	if p.Compat {
		v = c.Typed()
	}
	got := p.operation(c.Operation, "", v)
	if m.Pred, m.Never = got.pred, got.never; part == "name" {
		m.Never = m.Never || m.Pred != nil && !m.Pred.Holds(generable.StrOf(a.Children[index].Name))
		m.Pred = nil
	}
}
