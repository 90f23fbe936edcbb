package engine

import (
	"fmt"

	"github.com/agentscript/agentscript/diag"
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
	NoteDefined(d, judge)
	return false
}

// verify asks for the verdict and adds the input to it.
func (b *branch) verify(s *step, v generable.Value) (generable.Value, error) {
	out, err := b.exec(s.kids[0], v)
	if err != nil {
		return out, err
	}
	r, ok := out.AsRecord()
	if !ok {
		return out, Errorf(KindType, diag.WrongTypeAtBoundary, "%s gives %s, want %s", s.kids[0].node.Label(), out.TypeName(), VerdictType)
	}
	fields := make([]generable.Value, 0, len(s.node.Out().Fields))
	for i := range VerdictType.Fields {
		f, _ := r.Get(VerdictType.Fields[i].Name)
		fields = append(fields, f)
	}
	return generable.NewRecord(s.node.Out(), append(fields, v)).Value(), nil
}
