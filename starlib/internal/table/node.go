package table

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// Node returns the node that is an argument, or the receiver of a method.
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

// NodeMade makes a single node: in the session while composing, and in a separate session in a run, where a node may be
// made and called, but not composed.
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

// secretNamed says what servers need instead of a variable that is read in a run.
const secretNamed = `for headers and env of mcp(...) a secret is named: secret("NAME")`

// composed says what to use while the file loads instead of a call that only a run can make.
var composed = map[string]string{
	"parallel":   "to run nodes at once on one input, compose them: par(a, b), or a / b; on each item of a list, each(a)",
	"stream":     "to take each item through nodes, compose them: each(a >> b)",
	"fs.read":    `what belongs to the script is read while it loads: file("notes.md")`,
	"env.get":    secretNamed,
	"env.secret": secretNamed,
	"approve":    `between nodes a step asks: a >> approval("Ship it?") >> b`,
}

// running reports whether the call is made in a run. If not, it reports where the call belongs.
func (c *Call) running(example string) bool {
	if c.Running() {
		return true
	}
	name := c.Row.QualifiedName()
	c.Problemf(diag.CalledWhileComposing, c.FuncSpan(), "%s is called while the file loads", name).
		Advise("use it in a function that runs: def main(x): " + example).Advise(composed[name])
	return false
}
