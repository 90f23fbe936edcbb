package interp

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/generable"
)

// wrap runs the teacher and then the student with the teacher's text. Both receive the forum transcript from before the
// wrap.
func wrap(b *exec.Branch, s *step, v generable.Value) (generable.Value, error) {
	said, outer := b.Transcript, b.Instructions
	b.Instructions = nil // they are meant for the student
	out, err := Run(b, s.kids[0], v)
	if err != nil {
		return out, err
	}
	text, ok := out.AsStr()
	if !ok {
		return out, engine.Errorf(engine.KindType, diag.WrongTypeAtBoundary, "the teacher of wrap returned %s, want str", out.TypeName())
	}
	b.Transcript, b.Instructions = said, outer.Taught(text)
	out, err = Run(b, s.kids[1], v)
	b.Instructions = nil
	return out, err
}

// verify runs the judge and adds the input to its verdict.
func verify(b *exec.Branch, s *step, v generable.Value) (generable.Value, error) {
	out, err := Run(b, s.kids[0], v)
	if err != nil {
		return out, err
	}
	r, ok := out.AsRecord()
	if !ok {
		return out, engine.Errorf(engine.KindType, diag.WrongTypeAtBoundary, "%s returned %s, want %s", s.kids[0].node.Label(), out.TypeName(), flow.VerdictType)
	}
	fields := make([]generable.Value, 0, len(s.node.Out().Fields))
	for i := range flow.VerdictType.Fields {
		f, _ := r.Get(flow.VerdictType.Fields[i].Name)
		fields = append(fields, f)
	}
	return generable.NewRecord(s.node.Out(), append(fields, v)).Value(), nil
}
