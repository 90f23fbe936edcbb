package value

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"go.starlark.net/starlark"
)

// Plain is embedded in values that are true and need no freezing.
type Plain struct{}

func (Plain) Freeze() {}

func (Plain) Truth() starlark.Bool { return true }

// Unkeyed is embedded in plain values that cannot be keys of dicts.
type Unkeyed struct{ Plain }

func (Unkeyed) Hash() (uint32, error) {
	return 0, script.Errorf(diag.ScriptError, "what agents, flows and schemas are made of cannot be a key of a dict")
}

// Part is embedded in the opaque values that only agents take.
type Part struct{ Unkeyed }

// Opaque marks a value that has neither attributes nor items.
func (Part) Opaque() {}

// Opaque is a part that one builtin makes and others read.
type Opaque[T any] struct {
	Part
	Kind, Text string // its type, and its text
	Of         T
}

func (v *Opaque[T]) String() string { return v.Text }

func (v *Opaque[T]) Type() string { return v.Kind }

// Sampled is a value whose attributes the check knows: a sample of what the host passes to a function.
type Sampled interface {
	starlark.HasAttrs
	// Of returns what the rows of its methods belong to.
	Of() string
}

// Holder is a part that contains nodes.
type Holder interface{ Nodes() []*flow.Node }

// nodesOf returns the nodes among flows.
func nodesOf(flows ...agent.Flow) []*flow.Node {
	var out []*flow.Node
	for _, f := range flows {
		if n, ok := f.(*flow.Node); ok {
			out = append(out, n)
		}
	}
	return out
}

// Nodes returns the node that the tool runs and the nodes that handle its failed calls.
func (v *Tool) Nodes() []*flow.Node {
	return append(nodesOf(v.Tool.Node), RecoveryNodes(v.Tool.OnError)...)
}

// Nodes returns the nodes of the skill's tools.
func (v *Skill) Nodes() []*flow.Node {
	var out []*flow.Node
	for _, t := range v.Skill.Tools {
		out = append(out, (&Tool{Tool: t}).Nodes()...)
	}
	return out
}

// RecoveryNodes returns the nodes that handle failed calls; r may be nil.
func RecoveryNodes(r *agent.Recovery) []*flow.Node {
	var out []*flow.Node
	if r != nil {
		for _, one := range slices.Concat(r.BadArgs, r.Failure) {
			out = append(out, nodesOf(one.Fixer)...)
		}
	}
	return out
}

// Skill is the result of skill(...).
type Skill struct {
	Part
	Skill *agent.Skill
	Run   starlark.Value // its function, or nil
	State *script.State
	Of    *agent.Spec // the first agent that has it, nil before
}

// Describe returns the description of the skill for a model, with the types of the agent that it belongs to.
func (v *Skill) Describe() string {
	own := *v.Skill
	if v.Of != nil {
		own.In, own.Out = cmp.Or(own.In, v.Of.In), cmp.Or(own.Out, v.Of.Out)
	}
	return own.Describe()
}

// Tool is the result of tool(...).
type Tool struct {
	Part
	Tool *agent.Tool
}

// Knowledge is the result of knowledge(...).
type Knowledge = Opaque[agent.Knowledge]

// Budget is the result of budget(...).
type Budget struct {
	Part
	Limits engine.Limits
	First  diag.Span // the place where it was used first
	Noted  bool      // reported: a second user does not share it
}

func (v *Skill) String() string { return fmt.Sprintf("skill(%q)", v.Skill.Name) }

func (v *Skill) Type() string { return "skill" }

func (v *Skill) Attr(name string) (starlark.Value, error) {
	return Method(v.State, "skill", "the result of "+v.String(), name, v)
}

func (v *Skill) AttrNames() []string { return v.State.Methods.MethodNames("skill") }

func (v *Tool) String() string { return fmt.Sprintf("tool(%s)", v.Tool.Name) }

func (v *Tool) Type() string { return "tool" }

func (v *Budget) String() string { return "budget(...)" }

func (v *Budget) Type() string { return "budget" }

// Attr returns an error that says how to read what is left of the budget.
func (v *Budget) Attr(name string) (starlark.Value, error) { return nil, NoBudgetAttribute(name) }

// NoBudgetAttribute returns the error for an attribute of a budget.
func NoBudgetAttribute(name string) error {
	e := script.Errorf(diag.UnknownAttribute, "the result of budget(...) has no .%s", name)
	e.Help = "in a running function, budget.remaining() returns what all budgets around it leave"
	return e
}

func (v *Budget) AttrNames() []string { return nil }

// Finish is the end of a graph.
type Finish struct{ Plain }

func (Finish) String() string { return "FINISH" }

func (Finish) Type() string { return "finish" }

func (Finish) Hash() (uint32, error) {
	return 0, script.Errorf(diag.ScriptError, "FINISH cannot be a key")
}

// Memory is the result of memory(...).
type Memory struct {
	Part
	Bank  *agent.MemoryBank
	State *script.State
}

func (v *Memory) String() string { return fmt.Sprintf("memory(%q)", v.Bank.Name) }

func (v *Memory) Type() string { return "memory" }

func (v *Memory) Attr(name string) (starlark.Value, error) {
	return Method(v.State, "memory", "a memory", name, v)
}

func (v *Memory) AttrNames() []string { return v.State.Methods.MethodNames("memory") }

// Maker is a builtin with members: budget(...) and budget.remaining().
type Maker struct {
	*starlark.Builtin
	Members starlark.HasAttrs
}

func (m *Maker) AttrNames() []string { return m.Members.AttrNames() }

func (m *Maker) Attr(name string) (starlark.Value, error) { return m.Members.Attr(name) }

// Server is an MCP server whose tools an agent may have. It is not contacted while loading.
type Server = Opaque[*remote.Server]

// Secret names a secret. The script never gets its value.
type Secret struct {
	Part
	Name, Prefix string
}

func (v *Secret) String() string { return fmt.Sprintf("secret(%q)", v.Name) }

func (v *Secret) Type() string { return "secret" }
