// Package spec is a flow as its file declares it: what each member of the format means, and what is wrong with it.
package spec

import (
	"github.com/agentscript/agentscript/flowjson/internal/tree"
)

// Options say how a flow is read.
type Options struct {
	// Runtimes are those that a host registered besides [Koog].
	Runtimes []string
	// Compat takes conditions as the format's origin evaluates them: values of any kind meet any literal, and a value
	// that no transition takes is a warning.
	Compat bool
	// Bounded says that the one who runs the flow bounds how often it goes round.
	Bounded bool
}

// Spec is a flow as it is declared.
type Spec struct {
	Options

	ID, Version, Description string

	Agents      []*Agent
	Tools       []*Tool
	Transitions []*Transition

	Start  int       // the agent that the flow begins with
	Leaves [][]*Edge // by agent, in the order of the file; an agent without one ends the flow
	Order  []int     // the agents that are reached, each behind one that leads to it; those that a parallel runs are not among them

	Root *tree.Value

	named map[string]int // the agents by name
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

// Koog is the runtime of an agent that names none.
const Koog = "koog"

// Agent is one step of a flow.
type Agent struct {
	Name, Type       string
	Runtime          string // [Koog], or one that the host registered
	Model            string // the flow's default where the agent names none; "" leaves it to the run
	System, User, Do string // the prompts, and the task
	Output           *tree.Value

	AllTools bool          // it names none, and so may call all
	Tools    []*tree.Value // the names that it may call
	Every    int           // of a react: it thinks after so many rounds of tools

	Children []*tree.Value // of a parallel
	Merge    *Condition    // of a parallel: which result it returns; nil: all of them

	Projection string // of a transform: what it takes of a verdict, "" for all

	Config Config

	At, NameAt *tree.Value
}

// Config holds the parameters of an agent's model. What is nil or empty is left to the provider.
type Config struct {
	Temperature, TopP *float64
	MaxTokens         *int
	Turns             int    // maxIterations: how often its model is asked in one execution; 0 is the default
	ToolChoice        string // "auto", "required", "none" or the name of a tool; "" is auto
	Speculation       string // a text that the answer is likely to repeat
	At                *tree.Value
}

// Tool is a server of tools, or a function of the host.
type Tool struct {
	Name, Type string
	Transport  string // of an mcp: stdio, sse or http
	Command    string
	Args       []string
	Env        []Setting
	URL        string
	Headers    []Setting

	At, NameAt *tree.Value
}

// Setting is a variable or a header.
type Setting struct{ Name, Value string }

// Transition leads from one agent to another, or to [Finish].
type Transition struct {
	Condition  *Condition // nil: always
	Projection *string    // what it takes of a verdict on the way, "" for all; nil: it takes nothing

	At, From, To *tree.Value
}

// Edge is a transition whose agents are known. The transitions between agents that run one after the other
// are not in the file.
type Edge struct {
	*Transition
	Target int  // -1 for the end
	Dead   bool // it is never taken
}

// Condition says when a transition is taken.
type Condition struct {
	Variable, Operation string
	Literal             *tree.Value
	Kind                string // of the literal where the file writes it beside the value: "int", "double"; else ""

	at, variable, operation *tree.Value
}

// Part returns what a condition asks of a verdict: the last part of its variable.
func (c *Condition) Part() string { return lastPart(c.Variable) }

// At returns the place of the condition.
func (c *Condition) At() *tree.Value { return c.at }

// Models reports whether a model carries the agent out.
func (a *Agent) Models() bool { return a.Type != Transform && a.Type != Parallel }
