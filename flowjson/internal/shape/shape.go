// Package shape finds the structure of a flow's graph: what runs one after the other, what branches and where the
// branches meet, what goes round. What has no such structure stays a graph, as small a one as is found.
package shape

import (
	"github.com/agentscript/agentscript/engine/predicate"
	"github.com/agentscript/agentscript/flowjson/internal/plan"
	"github.com/agentscript/agentscript/generable"
)

// Kind is what a shape is.
type Kind uint8

// The kinds of shapes.
const (
	Step   Kind = iota // an agent
	Pick               // takes a part of a verdict
	Pass               // hands on what it gets
	Seq                // shapes one after the other
	Branch             // the first shape, and a way on for each of its outputs
	Loop               // the first shape again and again, with the second in between
	Graph              // agents along their edges
)

// Shape is a part of a flow with one way in and one way out. Each agent of a flow is in one place of its shape.
type Shape struct {
	Kind  Kind
	Agent int    // of a step: its index
	Part  string // of a pick
	// Of is the agent whose output a pass gets, and a branch asks about.
	Of    *plan.Agent
	Parts []*Shape
	Ways  []Way                // of a branch
	Until *predicate.Predicate // of a loop

	Nodes []int        // of a graph: its agents, the first one first
	Edges []*plan.Edge // from where to where a sequence went on: what is written about them in the file
	End   int          // of a graph: the agent that its edges lead to when it ends, -1 for the end of the flow
}

// Way is a way on from a branch: the first whose condition holds is taken.
type Way struct {
	Value *generable.Value     // one of a bool or an enum, or
	Pred  *predicate.Predicate // a condition; neither: what is left
	Then  *Shape
	Edges []*plan.Edge // that it is made of
}

// Whole returns a flow as one graph of all its agents.
func Whole(p *plan.Plan) *Shape {
	return &Shape{Kind: Graph, Nodes: newWays(p).order, End: End}
}

// End stands for the end of a flow where an index of an agent stands.
const End = -1
