// Package export writes a composed flow as JSON, in the format that package flowjson reads.
//
// The format has agents and conditional transitions, but no types, functions or compositions. [Write] turns a
// composition into equivalent transitions, and reports everything that the format cannot express, each with its
// position and a remedy. It never writes a flow that would behave differently.
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

// Options are what the file declares in addition to the flow itself.
type Options struct {
	ID          string // default: the name of the node, or "flow"
	Version     string // default "1.0"
	Description string // for people
}

// Merge is a function that reduces a parallel's list and is a condition of the format: it returns the first branch for
// which the condition holds. An [engine.Func] that is the merge of a parallel may implement it.
type Merge interface {
	// MergeCondition returns what is compared, such as results.1.output, the operation, and the literal.
	MergeCondition() (variable, operation string, literal generable.Value)
}

// Selection is a function that returns one item of the list that it receives, the one at taken, and fails if a
// condition does not hold for the item at asked; a nil condition tests nothing. An [engine.Func] that is the merge of a
// parallel may implement it. ok is false for any other function.
type Selection interface {
	Selects() (taken, asked int, when *predicate.Predicate, ok bool)
}

// Identity is a function that returns its input unchanged. A step whose [engine.Func] implements it does not become an
// agent: the transitions lead past it.
type Identity interface {
	IsIdentity() bool
}

// Write returns a node as a flow in JSON. The text is nil if the list has errors: then the flow uses something that the
// format cannot express. The same node yields the same text.
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
	names map[string]*step // steps of agents, which have their names from the script
	found diag.List
	fresh *flow.Node // the first agent that does not continue the conversation
}

// step is an agent of the file.
type step struct {
	node  *flow.Node
	spec  *agent.Spec // for an agent that a model executes
	out   *generable.Type
	edges []*edge
	open  bool             // its successors are unknown: what follows cannot be expressed
	asked *generable.Value // for a branch of a parallel: what the merge compares its output with
	inner bool             // a parallel runs it
	merge *condition       // for a parallel

	file fileAgent
}

// edge is a transition. A walk returns those whose target is not known yet.
type edge struct {
	from    *step      // nil for the one that enters the flow
	to      *step      // nil for the end
	cond    *condition // nil for always
	project string     // the part of a verdict that it carries, "" for all
	like    *edge      // another edge of the same step with the same target
}

// origin returns the transition that determines the target of an edge.
func (e *edge) origin() *edge {
	if e.like != nil {
		return e.like
	}
	return e
}

// enter sets the target of transitions to a step.
func enter(in []*edge, s *step) {
	for _, e := range in {
		e.to = s
	}
}

// leave adds the unconditional transition out of a step.
func (s *step) leave() []*edge {
	e := &edge{from: s}
	s.edges = append(s.edges, e)
	return []*edge{e}
}

// add adds an agent that is the target of transitions to the file.
func (x *exporter) add(s *step, in []*edge) *step {
	x.steps = append(x.steps, s)
	enter(in, s)
	return s
}
