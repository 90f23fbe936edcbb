package flow

import (
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/internal/node"
)

// speaker finds the one agent of a node that a model carries out, where what is said to the node
// can only be meant for it: steps that are no agents may stand around it, and what tries it again,
// judges by it or makes its failure a value. A conversation is not handed through a retry that
// holds one of its own.
func (n *Node) speaker(talks bool) *Node {
	switch n.kind {
	case AgentNode:
		if !slices.ContainsFunc(n.agent.Candidates(), func(sk *agent.Skill) bool { return sk.Run != nil }) {
			return n
		}
	case RetryNode:
		if talks && n.retry.Feedback != nil {
			return nil
		}
		return n.kids[0].speaker(talks)
	case VerifyNode, AttemptNode, BoundedNode:
		return n.kids[0].speaker(talks)
	case PipelineNode:
		var found *Node
		for _, k := range n.kids {
			switch k.kind {
			case FnNode, PickNode, TemplateNode:
				continue
			}
			s := k.speaker(talks)
			if s == nil || found != nil {
				return nil
			}
			found = s
		}
		return found
	}
	return nil
}

// needsModel checks that a model carries out what an agent does that is told something: a function
// would not read it.
func (s *Session) needsModel(at diag.Span, n *Node, talks bool, what, remedy string) bool {
	if n.failed || n.speaker(talks) != nil {
		return true
	}
	why := "it is a " + n.kind.String() + ", and not of one agent among steps"
	if n.kind == AgentNode {
		why = "it is a function"
	}
	d := s.Errorf(diag.NeedsModel, at, "%s needs an agent that a model carries out", what)
	d.Label = n.Label() + ": " + why
	node.NoteDefined(d, n)
	d.Helpf("%s", remedy)
	return false
}
