package exec

import (
	"cmp"
	"sync/atomic"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/flight"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable/dialect"
)

// Run is the shared state of a run's branches.
type Run struct {
	Spec    *flow.RunSpec
	Events  emitter // which knows the id
	nodes   interpreter
	handler engine.Handler
	memory  atomic.Pointer[runMemory] // nil until it is needed
	Pending flight.Pending
	Forms   dialect.Compiler // of answers that a provider's schema gave another form
	Left    atomic.Int64     // calls that were left behind and have not returned
	Resumed *model.Thread    // of the session: what its last run came to
	Over    atomic.Bool      // it has ended, or was given up: whoever sets it tells its end
}

// NewRun makes the state of a run that has not begun.
func NewRun(spec *flow.RunSpec, nodes interpreter) Run {
	return Run{Spec: spec, Events: emitter{Listener: spec.Listener, run: cmp.Or(spec.ID, "run")}, nodes: nodes, handler: effectSide(spec.Handler, spec.Journal)}
}

// Branch is a branch at the position of the run.
func (r *Run) Branch(s engine.Sched) *Branch {
	return &Branch{Run: r, Sched: s, scope: scope{At: engine.MainFrame()}}
}

// Begin is the run's first branch, within its budget.
func (r *Run) Begin(s engine.Sched) *Branch {
	b := r.Branch(s)
	b.Budget = NewBudget(nil, b.At, "the budget of the run", &r.Spec.Limits, true)
	b.BoundDepth(r.Spec.Limits.Depth)
	return b
}
