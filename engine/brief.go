package engine

import (
	"slices"

	"github.com/agentscript/agentscript/diag"
)

// brief is what a structure says to the agent inside it, beside the input. It reaches the one that
// [Node.speaker] finds, before any other agent runs.
type brief struct {
	system *string // the system text in the place of its prompt
	talk   *talk   // a conversation to go on with
}

// taught adds a teacher's text to what is said already.
func (b *brief) taught(text string) *brief {
	if b == nil {
		return &brief{system: &text}
	}
	return &brief{&text, b.talk}
}

// talking adds a conversation to what is said already.
func (b *brief) talking(t *talk) *brief {
	if b == nil {
		return &brief{talk: t}
	}
	return &brief{b.system, t}
}

// speaker finds the one agent of a node that a model carries out, where what is said to the node
// can only be meant for it: steps that are no agents may stand around it, and what tries it again,
// judges by it or makes its failure a value. A conversation is not handed through a retry that
// holds one of its own.
func (n *Node) speaker(talks bool) *Node {
	switch n.kind {
	case AgentNode:
		if !slices.ContainsFunc(n.agent.candidates(), func(sk *Skill) bool { return sk.Run != nil }) {
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
	NoteDefined(d, n)
	d.Helpf("%s", remedy)
	return false
}
