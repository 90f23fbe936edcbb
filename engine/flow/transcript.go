package flow

import (
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/internal/callback"
	"github.com/agentscript/agentscript/engine/internal/node"
	"github.com/agentscript/agentscript/generable"
)

// CheckTranscripts reports agents in a tree whose function takes a forum's transcript although none reaches them. The
// tree must be one that something calls: main, or a node that a function calls. Nodes that are placed elsewhere later
// must not be checked.
func (s *Session) CheckTranscripts(root *Node) {
	if !root.failed {
		s.transcripts(root, false)
	}
}

// transcripts walks the nodes in the order in which n runs. It takes whether a transcript arrives at n, and reports
// whether one leaves it: the first agent on the way reads it.
func (s *Session) transcripts(n *Node, arrives bool) (leaves bool) {
	switch n.kind {
	case AgentNode:
		if !arrives {
			s.unread(n)
		}
		for _, k := range n.kids { // its tools receive what the model passes them
			s.transcripts(k, false)
		}
		return false
	case PipelineNode, LoopNode, RetryNode, AttemptNode, VoteNode, VerifyNode, BoundedNode:
		for _, k := range n.kids {
			arrives = s.transcripts(k, arrives)
		}
		return arrives
	case ForumNode:
		for _, k := range n.kids {
			s.transcripts(k, true)
		}
	case FallbackNode, WrapNode: // each receives what arrives
		for _, k := range n.kids {
			leaves = s.transcripts(k, arrives)
		}
		return leaves
	case HandoffNode: // the targets receive only their input
		s.transcripts(n.kids[0], arrives)
		for _, k := range n.kids[1:] {
			s.transcripts(k, false)
		}
		return false
	case BranchNode:
		sent := s.transcripts(n.kids[0], arrives)
		for _, k := range n.kids[1:] {
			leaves = s.transcripts(k, sent) || leaves
		}
		return leaves
	default: // separate branches
		for _, k := range n.kids {
			s.transcripts(k, arrives)
		}
	}
	return arrives
}

// unread reports functions of an agent that take a transcript.
func (s *Session) unread(n *Node) {
	for _, sk := range n.agent.Skills {
		if sk.Run == nil || callback.SkillArity(sk.Run) != 2 {
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

// WithHistory sets the history of the agents in a node that have none. For nested structures the innermost history
// applies. It returns the node.
func (s *Session) WithHistory(at diag.Span, n *Node, h *agent.History) *Node {
	switch {
	case s.Sealed():
		s.Errorf(diag.ComposedWhileRunning, at, "a history is set on %s while it runs", n.Label())
	case n.place != nil && !slices.Contains(n.place.in.kids, n): // its nodes belong to another structure by now
		d := s.mistake(diag.WrongArgument, at, "an operator opened "+n.Label()+" already", "", n)
		d.Notef(n.place.at.Pos, "it was opened")
		d.Helpf("set the history before the operator, or on its result")
	case n.history != nil:
		s.mistake(diag.WrongArgument, at, n.Label()+" has a history already", "", n).Helpf("say it once")
	default:
		n.history = h
	}
	return n
}

// History returns what [Session.WithHistory] set on the node, else nil.
func (n *Node) History() *agent.History { return n.history }

// speaker finds the one agent in a node that calls a model, if a message to the node can only be meant for it. Steps
// that are not agents may surround it, as may a retry, a verify, an attempt and a bounded node. A retry with feedback
// keeps its own conversation, so a conversation does not pass through it.
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
			case FnNode, PickNode, TemplateNode, ApprovalNode:
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

// needsModel checks that an agent that gets a transcript or history calls a model: a function would not read it.
func (s *Session) needsModel(at diag.Span, n *Node, talks bool, what, remedy string) bool {
	if n.failed || n.speaker(talks) != nil {
		return true
	}
	why := "it is a " + n.kind.String() + ", and not of one agent among steps"
	if n.kind == AgentNode {
		why = "it is a function"
	}
	s.mistake(diag.NeedsModel, at, what+" needs an agent that a model carries out", n.Label()+": "+why, n).Helpf("%s", remedy)
	return false
}

// Wrap lets a teacher X→str write the system text of a student X→Y for each call: X→Y. The student is an agent that
// calls a model, or contains one such agent among steps. The student's own prompt applies to calls without a teacher.
func (s *Session) Wrap(site Site, teacher, student *Node) *Node {
	n := &Node{kind: WrapNode, site: site, types: (*Session).wrap}
	return s.structure(n, []*Node{teacher, student}, func(*Node) bool {
		return s.needsModel(n.site.Arg(1), n.kids[1], false, "the student of wrap",
			"the teacher writes a system text: pass an agent(prompt = ...), alone or between steps that are not agents, and put other agents after wrap(teacher, student)") && s.wrap(n)
	})
}

func (s *Session) wrap(n *Node) bool {
	teacher, student := n.kids[0], n.kids[1]
	in, strange := s.commonInput(n.site, n.kids)
	ok := len(strange) == 0 && s.inferAll(sound(n.kids), in)
	n.in, n.out = in, student.out
	if teacher.failed || generable.Assignable(teacher.out, generable.StrT) == nil {
		return ok
	}
	d := s.mistake(diag.CannotJoin, n.site.Arg(0), "the teacher of wrap writes the student's system text", teacher.outputText()+", want str", teacher)
	d.Helpf("put a template after it: then(%s, template(\"...\"))", teacher.Label())
	return false
}
