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

// Upstream is the origin of the format, of [Options].
const Upstream = spec.Koog

// Options say how a flow is read, and what it runs with.
type Options struct {
	// Compat is [Upstream] to have conditions evaluated as the format's origin does, bug for bug: a value of any kind
	// meets any literal, an int never equals a float, and a value that no transition takes ends the run. "" takes
	// conditions as they are meant.
	Compat string

	// Tools are the local tools that agents may call, by the names under which the flow declares them.
	Tools map[string]*agent.Tool

	// Runtimes carry out the agents that name them, instead of a model: each makes the function of an agent.
	Runtimes map[string]func(a *Agent) engine.Func

	// Name is the flow's, instead of the id that its file gives it.
	Name string

	// Call is how a script makes the flow, for messages: load_flow("flow.json").
	Call string

	// MaxSteps bounds how many agents a run executes: [flow.DefaultMaxSteps] when it is 0.
	MaxSteps int
}

// Flow is a flow that was read from JSON. It is immutable.
type Flow struct {
	spec *spec.Spec
	root *tree.Value
	o    Options
}

// Parse reads a flow and reports its errors, in the order of the file. The flow is nil when there are some; the list
// may hold warnings of a sound one.
//
// It goes in three steps: a tree of the text, which keeps order, positions and what is given twice; the flow that the
// tree declares; its graph. What is wrong with the nodes that it becomes is reported by [Flow.Node].
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

// Check reports all that is wrong with a flow: what [Parse] finds and, where that is no error, what is wrong with the
// nodes that it becomes, which are checked as those of a script are. Without Options.Tools a local tool that lacks is
// a warning, since only who runs the flow offers them.
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

// Node composes the flow in a session, where it is a node like any other: it takes a str and returns what its last
// agent does.
func (f *Flow) Node(s *flow.Session) *flow.Node { return f.node(s, plan.New(f.spec)) }

func (f *Flow) node(s *flow.Session, p *plan.Plan) *flow.Node {
	return lower.Node(s, p, lower.Options{Tools: f.o.Tools, Runtimes: f.o.Runtimes, MaxSteps: f.o.MaxSteps, Call: f.o.Call, Name: cmp.Or(f.o.Name, f.spec.ID, "flow")})
}

// Run runs the flow on an input, on goroutines. The spec says what else the run needs: the handler of its effects, the
// model of agents that name none, limits, a journal, a listener. Its Node and Input are the flow's.
func (f *Flow) Run(ctx context.Context, input string, s run.Spec) (generable.Value, error) {
	session := flow.NewSession()
	s.Node, s.Input = f.Node(session), generable.StrOf(input)
	session.Seal()
	return run.Exec(sched.NewGoSched(ctx), &s)
}

// JSON returns the file as JSON: with members that nothing reads, and all in their order.
func (f *Flow) JSON() []byte { return f.root.JSON() }
