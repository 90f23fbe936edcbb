package plan

import (
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/flowjson/internal/spec"
	"github.com/agentscript/agentscript/flowjson/internal/tree"
	"github.com/agentscript/agentscript/generable"
)

// Merge says which result a parallel returns.
type Merge struct {
	Index int                  // of the result
	Input bool                 // the condition asks what entered the parallel, not what the branch returned
	Pred  *predicate.Predicate // what it must be like; nil: anything
	Never bool                 // the condition holds of nothing
}

// Holds reports whether a result is returned.
func (m *Merge) Holds(v generable.Value) bool { return !m.Never && (m.Pred == nil || m.Pred.Holds(v)) }

// Unmet is how the failure of a parallel begins whose merge does not hold of a result, which stands behind it.
func (a *Agent) Unmet() string {
	c := a.Agent.Merge
	return "no result of " + a.Name + " is taken: " + c.Variable + " " + c.Operation + " " + c.Literal.Shown() + " does not hold of "
}

// merge settles which result a parallel returns: the one that its condition asks about, where that holds. The origin
// of the format looks at the index alone.
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
