package flowjson

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/flowjson/internal/lower"
	"github.com/agentscript/agentscript/flowjson/internal/plan"
	"github.com/agentscript/agentscript/flowjson/internal/spec"
	"github.com/agentscript/agentscript/flowjson/internal/tree"
	"github.com/agentscript/agentscript/generable"
)

// Agent is an agent of a runtime that a host registers, see [Options].
type Agent = lower.Foreign

// Upstream is the origin of the format, for [Options].
const Upstream = spec.Koog

// Options set how a flow is read, and what it runs with.
type Options struct {
	// Compat is [Upstream] to evaluate conditions as the format's origin does, bug for bug: a value of any kind matches
	// any literal, an int never equals a float, and a value that no transition accepts ends the run. "" evaluates
	// conditions as intended.
	Compat string

	// Tools are the local tools that agents may call, by the names under which the flow declares them.
	Tools map[string]*agent.Tool

	// Runtimes execute the agents that name them, instead of a model: each returns the function of an agent.
	Runtimes map[string]func(a *Agent) engine.Func

	// Name is the name of the flow; "" takes the id in its file.
	Name string

	// Call is the call that makes the flow in a script, for messages: load_flow("flow.json").
	Call string

	// MaxSteps bounds the agents that a run executes; 0 is [flow.DefaultMaxSteps].
	MaxSteps int
}

// Flow is a flow that was read from JSON. It is immutable.
type Flow struct {
	spec *spec.Spec
	root *tree.Value
	o    Options
}

// Parse reads a flow and reports its errors, in the order of the file. The flow is nil if there are errors; the list
// may hold warnings about a sound flow.
//
// It works in three steps: a tree of the text, which keeps order, positions and duplicates; the flow that the tree
// declares; its graph. [Flow.Node] reports errors in the nodes that the flow becomes.
func Parse(file, text string, o Options) (*Flow, diag.List) {
	root, found := tree.Parse(file, text)
	if root == nil {
		return nil, found
	}
	s, more := spec.Read(root, spec.Options{Runtimes: slices.Sorted(maps.Keys(o.Runtimes)), Compat: o.Compat != "", Bounded: o.MaxSteps > 0})
	found = append(found, more...)
	if s != nil {
		found = append(found, s.Check()...)
	}
	found.Sort()
	if s == nil || found.HasErrors() {
		return nil, found
	}
	return &Flow{spec: s, root: root, o: o}, found
}

// Check reports everything that is wrong with a flow: what [Parse] finds and, if that contains no error, errors in the
// nodes that the flow becomes, which are checked like those of a script. Without Options.Tools a missing local tool is
// a warning, since only the program that runs the flow provides the tools.
func Check(file, text string, o Options) (*Flow, diag.List) {
	f, found := Parse(file, text, o)
	if f == nil {
		return nil, found
	}
	s := flow.NewSession()
	f.Node(s)
	composed := s.Diagnostics()
	for _, d := range composed {
		if d.Code == diag.FlowTool && o.Tools == nil {
			d.Severity = diag.Warning
		}
	}
	found = append(found, composed...)
	if found.Sort(); found.HasErrors() {
		return nil, found
	}
	return f, found
}

// LocalTools returns the names of the local tools that the flow declares.
func (f *Flow) LocalTools() []string {
	var names []string
	for _, t := range f.spec.Tools {
		if t.Type == "local" {
			names = append(names, t.Name)
		}
	}
	return names
}

// Node composes the flow in a session, where it is a node like any other: it takes a str and returns the output of its
// last agent.
func (f *Flow) Node(s *flow.Session) *flow.Node { return f.node(s, plan.New(f.spec)) }

func (f *Flow) node(s *flow.Session, p *plan.Plan) *flow.Node {
	return lower.Node(s, p, lower.Options{Tools: f.o.Tools, Runtimes: f.o.Runtimes, MaxSteps: f.o.MaxSteps, Call: f.o.Call, Name: cmp.Or(f.o.Name, f.spec.ID, "flow")})
}

// Run runs the flow on an input, on goroutines. The spec provides what else the run needs: the handler of its effects,
// the model of agents that name none, limits, a journal, a listener. Its Node and Input are set from the flow.
func (f *Flow) Run(ctx context.Context, input string, s run.Spec) (generable.Value, error) {
	session := flow.NewSession()
	s.Node, s.Input = f.Node(session), generable.StrOf(input)
	session.Seal()
	return run.Exec(sched.NewGoSched(ctx), &s)
}

// JSON returns the file as standard JSON, including members that nothing reads, all in their order.
func (f *Flow) JSON() []byte { return f.root.JSON() }
