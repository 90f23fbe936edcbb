package engine

import (
	"cmp"
	"sync/atomic"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/dialect"
)

// config is a [RunSpec] as branches read it: the fields are the same, so that one converts to the
// other.
type config struct {
	ID       string            // part of idempotency keys; "" is "run"
	Node     *Node             // what to run, or
	Main     Func              // a function of the script, called with Args
	Input    generable.Value   // of Node; converted to its input type
	Args     []generable.Value // of Main
	Handler  Handler           // runs the effects
	Journal  Journal           // nil: nothing is remembered
	Session  *RunSession       // that the run takes while it lasts; nil: it is of none
	Keeps    *MemoryBank       // a memory that needs a session: without one nothing is called; nil: none does
	Model    string            // of agents that name none
	Models   map[string]string // by agent name, over all else
	Override string            // of all agents, over what the script says
	Limits   Limits
	OnBudget OnBudget // asked before a budget ends something; nil: nobody is
	Pricer   Pricer   // of model calls; nil: no price is known, and nothing is bought with a bounded sum
	Listener Listener

	OnToolError *Recovery // of tools of agents that have none of their own
	Hooks       []*Hooks  // around the calls of all agents
	Policies    []*Policy // over all calls of tools; a script can only be stricter
}

// run is the shared state of a run's branches.
type run struct {
	spec    *config
	events  emitter // which knows the id
	nodes   interpreter
	handler Handler
	memory  atomic.Pointer[runMemory] // nil until it is needed
	pending pending
	forms   dialect.Compiler // of answers that a provider's schema gave another form
	left    atomic.Int64     // calls that were left behind and have not returned
	resumed *thread          // of the session: what its last run came to
	over    atomic.Bool      // it has ended, or was given up: whoever sets it tells its end
}

// newRun makes the state of a run that has not begun.
func newRun(spec *config, nodes interpreter) run {
	return run{spec: spec, events: emitter{Listener: spec.Listener, run: cmp.Or(spec.ID, "run")}, nodes: nodes, handler: effectSide(spec)}
}

// branch is a branch at the position of the run.
func (r *run) branch(s Sched) *branch {
	return &branch{run: r, sched: s, scope: scope{at: mainFrame()}}
}

// begin is the run's first branch, within its budget.
func (r *run) begin(s Sched) *branch {
	b := r.branch(s)
	b.budget = newBudget(nil, b.at, "the budget of the run", &r.spec.Limits, true)
	if most, set := r.spec.Limits.Depth.Value(); set {
		b.deepest = nestBound(0, most)
	}
	return b
}
