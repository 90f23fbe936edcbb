package flow

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/internal/node"
)

// CheckHeard reports the agents of a tree whose function takes the transcript of a forum where
// none reaches them. The tree is one that something calls: main, or a node that a function
// calls. What only others will place is left alone.
func (s *Session) CheckHeard(root *Node) {
	if !root.failed {
		s.heard(root, false)
	}
}

// heard walks in the order in which n runs. It is told whether a transcript arrives at n, and
// tells whether one leaves it: the first agent on the way reads it.
func (s *Session) heard(n *Node, arrives bool) (leaves bool) {
	switch n.kind {
	case AgentNode:
		if !arrives {
			s.deaf(n)
		}
		for _, k := range n.kids { // its tools get what the model gives them
			s.heard(k, false)
		}
		return false
	case PipelineNode, LoopNode, RetryNode, AttemptNode, VoteNode, VerifyNode, BoundedNode:
		for _, k := range n.kids {
			arrives = s.heard(k, arrives)
		}
		return arrives
	case ForumNode:
		for _, k := range n.kids {
			s.heard(k, true)
		}
	case FallbackNode, WrapNode: // each hears what arrives
		for _, k := range n.kids {
			leaves = s.heard(k, arrives)
		}
		return leaves
	case HandoffNode: // the targets get their input alone
		s.heard(n.kids[0], arrives)
		for _, k := range n.kids[1:] {
			s.heard(k, false)
		}
		return false
	case BranchNode:
		sent := s.heard(n.kids[0], arrives)
		for _, k := range n.kids[1:] {
			leaves = s.heard(k, sent) || leaves
		}
		return leaves
	default: // branches of their own
		for _, k := range n.kids {
			s.heard(k, arrives)
		}
	}
	return arrives
}

// deaf reports functions of an agent that take a transcript.
func (s *Session) deaf(n *Node) {
	for _, sk := range n.agent.Skills {
		if sk.Run == nil || agent.RunArity(sk.Run) != 2 {
			continue
		}
		message, help := node.Unheard(n.agent.Name)
		d := s.Errorf(diag.CallbackArity, sk.Span.Or(n.site.Span), "%s", message)
		d.Label = "run takes two parameters"
		if at := sk.Run.Info().Pos; at.IsValid() && at != d.Span.Pos {
			d.Notef(at, "the function is defined")
		}
		d.Helpf("%s", help)
	}
}
