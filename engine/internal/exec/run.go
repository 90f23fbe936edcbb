package exec

import (
	"cmp"
	"sync/atomic"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/flight"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/dialect"
)

// Config is a [run.Spec] as branches read it: the fields are the same, so that one converts to the
// other.
type Config struct {
	ID       string            // part of idempotency keys; "" is "run"
	Node     *flow.Node        // what to run, or
	Main     engine.Func       // a function of the script, called with Args
	Input    generable.Value   // of Node; converted to its input type
	Args     []generable.Value // of Main
	Handler  engine.Handler    // runs the effects
	Journal  engine.Journal    // nil: nothing is remembered
	Session  *session.Ref      // that the run takes while it lasts; nil: it is of none
	Keeps    *agent.MemoryBank // a memory that needs a session: without one nothing is called; nil: none does
	Model    string            // of agents that name none
	Models   map[string]string // by agent name, over all else
	Override string            // of all agents, over what the script says
	Limits   engine.Limits
	OnBudget engine.OnBudget // asked before a budget ends something; nil: nobody is
	Pricer   engine.Pricer   // of model calls; nil: no price is known, and nothing is bought with a bounded sum
	Listener engine.Listener

	OnToolError *agent.Recovery  // of tools of agents that have none of their own
	Hooks       []*agent.Hooks   // around the calls of all agents
	Policies    []*policy.Policy // over all calls of tools; a script can only be stricter
}

// Run is the shared state of a run's branches.
type Run struct {
	Spec    *Config
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
func NewRun(spec *Config, nodes interpreter) Run {
	return Run{Spec: spec, Events: emitter{Listener: spec.Listener, run: cmp.Or(spec.ID, "run")}, nodes: nodes, handler: effectSide(spec)}
}

// Branch is a branch at the position of the run.
func (r *Run) Branch(s engine.Sched) *Branch {
	return &Branch{Run: r, Sched: s, scope: scope{At: engine.MainFrame()}}
}

// Begin is the run's first branch, within its budget.
func (r *Run) Begin(s engine.Sched) *Branch {
	b := r.Branch(s)
	b.Budget = NewBudget(nil, b.At, "the budget of the run", &r.Spec.Limits, true)
	if most, set := r.Spec.Limits.Depth.Value(); set {
		b.Deepest = NestBound(0, most)
	}
	return b
}
