// Package shape finds the structure of a flow's graph: sequences, branches and where they meet, and loops. What has no
// such structure stays a graph, as small as can be found.
package shape

import (
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/flowjson/internal/plan"
	"github.com/agentscript/agentscript/generable"
)

// Kind is the kind of a shape.
type Kind uint8

// The kinds of shapes.
const (
	Step   Kind = iota // an agent
	Pick               // takes a part of a verdict
	Pass               // passes on its input
	Seq                // shapes one after the other
	Branch             // the first shape, and a continuation for each of its outputs
	Loop               // the first shape repeatedly, with the second in between
	Graph              // agents along their edges
)

// Shape is a part of a flow with one entry and one exit. Each agent of a flow occurs once in its shape.
type Shape struct {
	Kind  Kind
	Agent int    // for a step: its index
	Part  string // for a pick
	// Of is the agent whose output a pass receives, and a branch tests.
	Of    *plan.Agent
	Parts []*Shape
	Ways  []Way                // for a branch
	Until *predicate.Predicate // for a loop

	Nodes []int        // for a graph: its agents, the first one first
	Edges []*plan.Edge // the edges along which a sequence continued, for what the file says about them
	End   int          // for a graph: the agent that its edges lead to when it ends, -1 for the end of the flow
}

// Way is a continuation of a branch: the first whose condition holds is taken.
type Way struct {
	Value *generable.Value     // a value of a bool or an enum, or
	Pred  *predicate.Predicate // a condition; without either, everything that is left
	Then  *Shape
	Edges []*plan.Edge // the edges it consists of
}

// Whole returns a flow as one graph of all its agents.
func Whole(p *plan.Plan) *Shape {
	return &Shape{Kind: Graph, Nodes: newWays(p).order, End: End}
}

// End stands for the end of a flow in place of an agent's index.
const End = -1
