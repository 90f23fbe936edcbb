package engine

import (
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

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
	NoteDefined(d, teacher)
	d.Helpf("put a template behind it: then(%s, template(\"...\"))", teacher.Label())
	return false
}

// wrap asks the teacher and then, with what it wrote, the student. Both hear what a forum said
// before.
func (b *branch) wrap(s *step, v generable.Value) (generable.Value, error) {
	said, outer := b.heard, b.brief
	b.brief = nil // it is meant for the student
	out, err := b.exec(s.kids[0], v)
	if err != nil {
		return out, err
	}
	text, ok := out.AsStr()
	if !ok {
		return out, Errorf(KindType, diag.WrongTypeAtBoundary, "the teacher of wrap gives %s, want str", out.TypeName())
	}
	b.heard, b.brief = said, outer.taught(text)
	out, err = b.exec(s.kids[1], v)
	b.brief = nil
	return out, err
}

// taught is the system text that a teacher wrote, with what the skill itself says.
func (t *turns) taught(text string) string {
	own := *t.a
	own.Prompt, own.Template = "", nil
	return strings.Trim(text+"\n\n"+own.SystemText(t.sk.Skill), "\n")
}
