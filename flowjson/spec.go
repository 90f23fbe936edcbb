package flowjson

// Spec is a flow as it is declared.
type Spec struct {
	Agents      []*Agent
	Tools       []*Tool
	Transitions []*Transition
}

// The types of agents.
const (
	Task      = "task"      // a model does params.task
	Verify    = "verify"    // a model judges: it returns success and feedback
	Transform = "transform" // takes a part of what arrives; no model
	Parallel  = "parallel"  // runs agents at once
	React     = "react"     // a model that thinks between its calls of tools
)

// Finish is where a transition leads that ends the flow.
const Finish = "__finish__"

// Agent is one step of a flow.
type Agent struct {
	Name, Type    string
	Tools         []*Value // the names that it may call
	Children      []*Value // of a parallel
	Projection    string   // of a transform: what it takes of a verdict, "" for all
	MaxIterations bool     // it says how often it may go round

	at, name *Value
}

// Tool is a server of tools, or a function.
type Tool struct {
	Name, Type string
	name       *Value
}

// Transition leads from one agent to another, or to [Finish].
type Transition struct {
	Condition *Condition // nil: always

	at, from, to *Value
}

// Condition says when a transition is taken.
type Condition struct {
	Variable, Operation string
	Literal             *Value

	at, variable, operation *Value
}

// models reports whether a model carries the agent out.
func (a *Agent) models() bool { return a.Type != Transform && a.Type != Parallel }
