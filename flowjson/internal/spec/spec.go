// Package spec represents a flow as its file declares it: what each member of the format means, and what is wrong with
// it.
package spec

import (
	"github.com/agentscript/agentscript/flowjson/internal/tree"
)

// Options set how a flow is read.
type Options struct {
	// Runtimes are the runtimes that a host registered in addition to [Koog].
	Runtimes []string
	// Compat evaluates conditions as the format's origin does: values of any kind match any literal, and a value that
	// no transition takes is a warning.
	Compat bool
	// Bounded means that the program which runs the flow bounds repetitions.
	Bounded bool
}

// Spec is a flow as declared.
type Spec struct {
	Options

	ID, Version, Description string

	Agents      []*Agent
	Tools       []*Tool
	Transitions []*Transition

	Start  int       // the agent with which the flow begins
	Leaves [][]*Edge // by agent, in the order of the file; an agent without edges ends the flow
	Order  []int     // the reachable agents, each after one that leads to it, except those that a parallel runs

	Root *tree.Value

	named map[string]int // the agents by name
}

// The types of agents.
const (
	Task      = "task"      // a model performs params.task
	Verify    = "verify"    // a model judges: it returns success and feedback
	Transform = "transform" // takes a part of its input; no model
	Parallel  = "parallel"  // runs agents concurrently
	React     = "react"     // a model that thinks between its tool calls
)

// Finish is the target of a transition that ends the flow.
const Finish = "__finish__"

// Koog is the runtime of an agent that names none.
const Koog = "koog"

// Agent is one step of a flow.
type Agent struct {
	Name, Type       string
	Runtime          string // [Koog], or a runtime that the host registered
	Model            string // the flow's default if the agent names none; "" leaves it to the run
	System, User, Do string // the prompts, and the task
	Output           *tree.Value

	AllTools bool          // it names no tools, and so may call all
	Tools    []*tree.Value // the names of tools that it may call
	Every    int           // for a react: the rounds of tools after which it thinks

	Children []*tree.Value // for a parallel
	Merge    *Condition    // for a parallel: which result it returns; nil for all of them

	Projection string // for a transform: the part of a verdict it takes, "" for all

	Config Config

	At, NameAt *tree.Value
}

// Config holds the parameters of an agent's model. Nil or empty ones are left to the provider.
type Config struct {
	Temperature, TopP *float64
	MaxTokens         *int
	Turns             int    // maxIterations: how often its model is called in one execution; 0 is the default
	ToolChoice        string // "auto", "required", "none" or the name of a tool; "" is auto
	Speculation       string // a text that the answer is likely to repeat
	At                *tree.Value
}

// Tool is a server of tools, or a function of the host.
type Tool struct {
	Name, Type string
	Transport  string // for an mcp: stdio, sse or http
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
	Condition  *Condition // nil for always
	Projection *string    // the part of a verdict it carries, "" for all; nil if it takes no part

	At, From, To *tree.Value
}

// Edge is a transition whose agents are resolved. The transitions between agents that run one after the other are not
// in the file.
type Edge struct {
	*Transition
	Target int  // -1 for the end
	Dead   bool // it is never taken
}

// Condition determines when a transition is taken.
type Condition struct {
	Variable, Operation string
	Literal             *tree.Value
	Kind                string // type of the literal if the file declares it next to the value: "int", "double"; otherwise ""

	at, variable, operation *tree.Value
}

// Part returns the part of a verdict that a condition tests: the last part of its variable.
func (c *Condition) Part() string { return lastPart(c.Variable) }

// At returns the condition's value in the file.
func (c *Condition) At() *tree.Value { return c.at }

// Models reports whether a model executes the agent.
func (a *Agent) Models() bool { return a.Type != Transform && a.Type != Parallel }
