package flow

import (
	"fmt"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/node"
	"github.com/agentscript/agentscript/generable"
)

// Verify makes of an agent X→Verdict a node that gives the verdict and what it is about:
// X→Critique[X].
func (s *Session) Verify(site Site, judge *Node) *Node {
	n := &Node{kind: VerifyNode, site: site}
	return s.structure(n, []*Node{judge}, func(*Node) bool { return s.verify(n) })
}

func (s *Session) verify(n *Node) bool {
	judge := n.kids[0]
	n.in, n.out = judge.in, CritiqueOf(judge.in)
	if judge.failed || generable.Assignable(judge.out, VerdictType) == nil {
		return true
	}
	d := s.Errorf(diag.CannotJoin, n.site.Arg(0), "verify wants a verdict")
	d.Label = fmt.Sprintf("%s gives %s, want %s", judge.Label(), judge.out, VerdictType)
	node.NoteDefined(d, judge)
	return false
}

// Wrap has a teacher X→str write the system text of a student X→Y for each call: X→Y. The
// student is an agent that a model carries out, or holds one such agent among steps; its own prompt
// is for calls without a teacher.
func (s *Session) Wrap(site Site, teacher, student *Node) *Node {
	n := &Node{kind: WrapNode, site: site}
	return s.structure(n, []*Node{teacher, student}, func(*Node) bool {
		return s.needsModel(n.site.Arg(1), n.kids[1], false, "the student of wrap",
			"the teacher writes a system text: give an agent(prompt = ...), alone or between steps that are no agents, and put other agents behind wrap(teacher, student)") && s.wrap(n)
	})
}

func (s *Session) wrap(n *Node) bool {
	teacher, student := n.kids[0], n.kids[1]
	in, strange := s.commonInput(n.site, n.kids)
	ok := len(strange) == 0 && s.followAll(sound(n.kids), in)
	n.in, n.out = in, student.out
	if teacher.failed || generable.Assignable(teacher.out, generable.StrT) == nil {
		return ok
	}
	d := s.Errorf(diag.CannotJoin, n.site.Arg(0), "the teacher of wrap gives the student's system text")
	d.Label = teacher.Label() + " gives " + teacher.out.String() + ", want str"
	node.NoteDefined(d, teacher)
	d.Helpf("put a template behind it: then(%s, template(\"...\"))", teacher.Label())
	return false
}
