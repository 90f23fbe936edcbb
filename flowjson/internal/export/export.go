// Package export writes a composed flow as JSON, in the format that package flowjson reads.
//
// The format has agents and conditional transitions, and no types, functions or compositions. [Write] turns
// a composition into the transitions that mean the same, and reports everything that the format cannot say, each
// with its place and a remedy. It never writes a flow that would do something else.
package export

import (
	"cmp"
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/generable"
)

// Options say what the file declares beside the flow itself.
type Options struct {
	ID          string // default: the name of the node, else "flow"
	Version     string // default "1.0"
	Description string // for people
}

// Merge is a function that makes something of a parallel's list and is a condition of the format: the first branch
// of which the condition holds. An [engine.Func] that is the merge of a parallel may implement it.
type Merge interface {
	// MergeCondition returns what is compared, such as results.1.output, how, and with what.
	MergeCondition() (variable, operation string, literal generable.Value)
}

// Selection is a function that returns one item of the list that it gets, the one at taken, and fails where a condition does not
// hold of the item at asked; nil asks nothing. An [engine.Func] that is the merge of a parallel may implement it. Ok is false of
// one that is another function.
type Selection interface {
	Selects() (taken, asked int, when *predicate.Predicate, ok bool)
}

// Identity is a function that returns its input unchanged. A step whose [engine.Func] implements it becomes no
// agent: the transitions lead past it.
type Identity interface {
	IsIdentity() bool
}

// Write returns a node as a flow in JSON. The text is nil when the list has errors: then the flow uses
// something that the format cannot say. The same node yields the same text.
func Write(n *flow.Node, o Options) ([]byte, diag.List) {
	x := &exporter{root: n, names: map[string]*step{}}
	start := &edge{}
	x.node(n, []*edge{start}, nil)
	if len(x.steps) == 0 && len(x.found) == 0 {
		x.cannot(n, n.Site().Span, n.Label(), "a flow without an agent", "a flow begins with an agent")
	}
	x.begins()
	for _, s := range x.steps {
		x.implied(s)
	}
	x.ends()
	x.nameSteps()
	tools := x.tools()
	x.twins()
	if x.found.HasErrors() { // warnings are about a file, and there is none
		x.found = slices.DeleteFunc(x.found, func(d *diag.Diagnostic) bool { return d.Severity != diag.Error })
		x.found.Sort()
		return nil, x.found
	}
	x.oneConversation()
	x.found.Sort()
	file := &fileFlow{ID: cmp.Or(o.ID, n.Name(), "flow"), Version: cmp.Or(o.Version, "1.0"), Description: o.Description, Tools: tools}
	file.DefaultModel = x.defaultModel()
	x.fill(file)
	return file.text(), x.found
}

// exporter turns one node into the agents and transitions of a file.
type exporter struct {
	root  *flow.Node
	steps []*step
	names map[string]*step // of agents, which have their names from the script
	found diag.List
	fresh *flow.Node // the first agent that does not go on with the conversation
}

// step is an agent of the file.
type step struct {
	node  *flow.Node
	spec  *agent.Spec // of one that a model carries out
	out   *generable.Type
	edges []*edge
	open  bool             // where it leads is not known: what follows cannot be expressed
	asked *generable.Value // of one that a parallel runs: what the merge compares its output with
	inner bool             // a parallel runs it
	merge *condition       // of a parallel

	file fileAgent
}

// edge is a transition. A walk hands on those that do not lead anywhere yet.
type edge struct {
	from    *step      // nil: the one that enters the flow
	to      *step      // nil: the end
	cond    *condition // nil: always
	project string     // what of a verdict it carries, "" for all
	like    *edge      // one of the same step that leads to the same place
}

// origin returns the transition by whose place an edge goes.
func (e *edge) origin() *edge {
	if e.like != nil {
		return e.like
	}
	return e
}

// enter lets transitions lead to a step.
func enter(in []*edge, s *step) {
	for _, e := range in {
		e.to = s
	}
}

// leave adds the transition that always leaves a step.
func (s *step) leave() []*edge {
	e := &edge{from: s}
	s.edges = append(s.edges, e)
	return []*edge{e}
}

// add adds an agent to the file, which transitions lead to.
func (x *exporter) add(s *step, in []*edge) *step {
	x.steps = append(x.steps, s)
	enter(in, s)
	return s
}
