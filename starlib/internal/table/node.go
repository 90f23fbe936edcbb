package table

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// Node is the node of an argument, or of the receiver of a method.
func (c *Call) Node(name string) *flow.Node {
	if name == "node" && c.Receiver != nil {
		return c.Receiver.(*value.Node).Node
	}
	switch v := c.Arg(name).(type) {
	case *value.Node:
		return v.Node
	case *value.Failed:
		return c.State.Session.Failed(flow.FnNode, c.Site())
	}
	return nil
}

// ReceiverSpan is the place of the node that a function or method is about.
func (c *Call) ReceiverSpan() diag.Span {
	if c.Receiver == nil {
		return c.ArgSpan("node")
	}
	return c.FuncSpan()
}

// NodeMade makes a single node: in the session while composing, in one of its own in a run,
// where a node may be made and called, though not composed.
func (c *Call) NodeMade(make func(s *flow.Session, site flow.Site) *flow.Node) (starlark.Value, error) {
	if !c.Running() {
		return value.NewNode(c.State, make(c.State.Session, c.Site())), nil
	}
	s := flow.NewSession()
	n := make(s, c.Site())
	if found := s.Diagnostics(); found.HasErrors() {
		return nil, script.Raised(found...)
	}
	s.Seal()
	return value.NewNode(c.State, n), nil
}

// composed says what does between nodes what a call does in a run.
var composed = map[string]string{
	"parallel": "to run nodes at once on one input, compose them: par(a, b), or a / b; on each item of a list, each(a)",
	"stream":   "to take each item through nodes, compose them: each(a >> b)",
}

// running reports whether the call is made in a run; else it says where it belongs.
func (c *Call) running(example string) bool {
	if c.Running() {
		return true
	}
	d := c.Problemf(diag.CalledWhileComposing, c.FuncSpan(), "%s is called while the file loads", c.Row.QualifiedName())
	d.Help = []string{"use it in a function that runs: def main(x): " + example}
	if of := composed[c.Row.Name]; of != "" {
		d.Help = append(d.Help, of)
	}
	switch c.Row.QualifiedName() {
	case "fs.read":
		d.Help = append(d.Help, "what belongs to the script is read while it loads: file(\"notes.md\")")
	case "env.get", "env.secret":
		d.Help = append(d.Help, "for headers and env of mcp(...) a secret is named: secret(\"NAME\")")
	case "approve":
		d.Help = append(d.Help, "between nodes a step asks: a >> approval(\"Ship it?\") >> b")
	}
	return false
}
