package interp

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/generable"
)

// bounded runs a node within a budget.
func bounded(b *exec.Branch, s *step, v generable.Value) (out generable.Value, err error) {
	l := s.node.Bound()
	if l.Name == "" || !b.Budget.Within(l.Name) {
		outer := b.Budget
		own := exec.NewBudget(outer, b.At, "the budget of "+s.node.Label(), l, true)
		b.Budget = own
		defer b.EndBudget(own, outer)
	}
	deepest := b.Deepest
	if l.Depth.Set() {
		b.BoundDepth(l.Depth)
		defer func() { b.Deepest = deepest }()
	}
	if l.Wall <= 0 {
		return Run(b, s.kids[0], v)
	}
	late := engine.Errorf(engine.KindBudget, diag.BudgetExceeded, "%s used up its time of %s", s.node.Label(), l.Wall).WithHelp("raise it with budget(wall = ...)")
	err = b.AtWork(l.Wall, late, func() error {
		out, err = Run(b, s.kids[0], v)
		return err
	})
	return out, err
}
