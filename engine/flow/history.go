package flow

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/internal/node"
)

// WithHistory gives a history to the agents of a node that have none of their own, the innermost
// structure first. It returns the node.
func (s *Session) WithHistory(at diag.Span, n *Node, h *agent.History) *Node {
	switch {
	case s.Sealed():
		s.Errorf(diag.ComposedWhileRunning, at, "a history is given to %s while it runs", n.Label())
	case n.history != nil:
		d := s.Errorf(diag.WrongArgument, at, "%s has a history already", n.Label())
		node.NoteDefined(d, n)
		d.Helpf("say it once")
	default:
		n.history = h
	}
	return n
}

// History is what [Session.WithHistory] gave the node, nil for none.
func (n *Node) History() *agent.History { return n.history }
