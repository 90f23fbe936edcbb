// Package lower composes nodes from a flow that was read from JSON: agents, and a graph of them. The nodes are the same
// as those of the equivalent script, and run like any other.
package lower

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/flowjson/internal/plan"
	"github.com/agentscript/agentscript/flowjson/internal/spec"
	"github.com/agentscript/agentscript/flowjson/internal/tree"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// Options set what the flow runs with.
type Options struct {
	Tools    map[string]*agent.Tool                  // local tools by name
	Runtimes map[string]func(a *Foreign) engine.Func // what executes agents of other runtimes
	Name     string                                  // name of the graph
	Call     string                                  // the call that makes the flow in a script
	MaxSteps int                                     // bounds the executions of agents; 0 is the default of a graph
}

// Foreign is an agent of another runtime.
type Foreign struct {
	Name, Type, Runtime, Model string
	System, Task               string
	In, Out                    *generable.Type
}

// Node composes the flow in a session, and reports errors there.
func Node(s *flow.Session, p *plan.Plan, o Options) *flow.Node {
	l := &lowering{s: s, p: p, o: o, servers: map[*spec.Tool]*remote.Server{}}
	nodes := make([]*flow.Node, len(p.Agents))
	for _, i := range p.Order {
		nodes[i] = l.agent(p.Agents[i])
	}
	root := nodes[p.Start]
	if len(p.Agents[p.Start].Edges) > 0 {
		root = l.graph(nodes)
	}
	return s.WithHistory(p.Root.Span, root, &agent.History{Shared: true})
}

type lowering struct {
	s       *flow.Session
	p       *plan.Plan
	o       Options
	servers map[*spec.Tool]*remote.Server
}

// graph composes the agents along their edges.
func (l *lowering) graph(nodes []*flow.Node) *flow.Node {
	var edges []flow.Edge
	for _, i := range l.p.Order {
		a := l.p.Agents[i]
		for _, e := range a.Edges {
			edges = append(edges, l.edge(nodes, a, i, e))
		}
	}
	o := flow.GraphOptions{MaxSteps: l.o.MaxSteps}
	if l.p.Stuck {
		o.OnNoMatch = flow.NoMatchError
	}
	if l.p.Out == generable.AnyT {
		o.Output = generable.AnyT
	}
	at := l.p.Root.Span
	if edges := l.p.Root.Get("transitions"); edges != nil {
		at = edges.Span
	}
	site := flow.Site{Span: at, What: "graph", Name: l.o.Name, Made: l.o.Call}
	return l.s.Graph(site, nodes[l.p.Start], edges, o)
}

func (l *lowering) edge(nodes []*flow.Node, a *plan.Agent, from int, e *plan.Edge) flow.Edge {
	at := a.Span()
	if e.Spec.At != nil {
		at = e.Spec.At.Span
	}
	out := flow.Edge{From: nodes[from], Span: at, Guard: flow.Route{Value: e.Value, Pred: e.Pred, Span: at}}
	if e.Target >= 0 {
		out.To = nodes[e.Target]
	}
	if c := e.Spec.Condition; c != nil {
		out.Guard.Span = c.At().Span
	}
	if e.Part != "" {
		out.Map = l.s.Pick(flow.Site{Span: at, What: "pick"}, e.Part, a.Out)
	}
	return out
}

// agent makes the node of an agent.
func (l *lowering) agent(a *plan.Agent) *flow.Node {
	site := flow.Site{Span: a.Span(), What: a.Type, Name: a.Name, Made: l.o.Call}
	switch {
	case a.Type == spec.Transform && a.Projection != "":
		return l.s.Pick(site, a.Projection, a.In)
	case a.Type == spec.Transform:
		return l.s.Fn(site, identity{}, a.In, a.In)
	case a.Type == spec.Parallel:
		return l.parallel(site, a)
	}
	made := l.spec(a)
	if run := l.o.Runtimes[a.Runtime]; run != nil && a.Runtime != spec.Koog {
		made = &agent.Spec{Name: a.Name, In: a.In, Out: made.Out,
			Run: run(&Foreign{Name: a.Name, Type: a.Type, Runtime: a.Runtime, Model: a.Model, System: made.Prompt, Task: made.Task, In: a.In, Out: made.Out})}
	}
	n := l.s.Agent(site, made)
	if a.Type == spec.Verify {
		return l.s.Verify(site, n)
	}
	return n
}

// identity is the function of a step that returns its input. The export recognizes it by IsIdentity.
type identity struct{}

func (identity) Info() engine.FuncInfo { return engine.FuncInfo{Name: "all", Params: 1, Needs: 1} }
func (identity) IsIdentity() bool      { return true }
func (identity) Call(_ engine.Branch, args []generable.Value) (generable.Value, error) {
	return args[0], nil
}

// parallel runs agents concurrently. A condition on its input is tested on an additional branch that returns the input.
func (l *lowering) parallel(site flow.Site, a *plan.Agent) *flow.Node {
	o := flow.ParOptions{}
	nodes := text.Each(a.Children, l.agent)
	if a.Merge != nil && a.Merge.Input {
		nodes = append(nodes, l.s.Fn(flow.Site{Span: site.Span, What: "fn"}, identity{}, a.In, a.In))
	}
	if a.Mixed {
		o.Output = generable.AnyT
	}
	if a.Merge != nil {
		o.Merge = l.s.Fn(flow.Site{Span: site.Span, What: "fn"}, &Merge{a}, generable.ListOfType(a.Result), a.Out)
	}
	return l.s.Par(site, o, nodes...)
}

// Merge is the function of a parallel that returns one result if the file's condition holds.
type Merge struct{ of *plan.Agent }

// MergeCondition returns the condition as the file writes it.
func (m *Merge) MergeCondition() (variable, operation string, literal generable.Value) {
	c := m.of.Agent.Merge
	if c == nil {
		return "", "", generable.Value{}
	}
	return c.Variable, c.Operation, c.Value(tree.Null)
}

// Info implements [engine.Func].
func (m *Merge) Info() engine.FuncInfo { return engine.FuncInfo{Name: "merge", Params: 1, Needs: 1} }

// Call implements [engine.Func].
func (m *Merge) Call(_ engine.Branch, args []generable.Value) (generable.Value, error) {
	results, _ := args[0].AsList()
	merge := m.of.Merge
	asked := results.At(merge.Index)
	if merge.Input {
		asked = results.At(results.Len() - 1)
	}
	if merge.Holds(asked) {
		return results.At(merge.Index), nil
	}
	return args[0], engine.Errorf(engine.KindScript, diag.NoRoute, "%s%s", m.of.Unmet(), generable.JSON(asked, nil)).
		WithHelp("leave merge out to return all results")
}
