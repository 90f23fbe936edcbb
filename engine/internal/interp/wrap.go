package interp

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/generable"
)

// wrap asks the teacher and then, with what it wrote, the student. Both hear what a forum said
// before.
func wrap(b *exec.Branch, s *step, v generable.Value) (generable.Value, error) {
	said, outer := b.Transcript, b.Instructions
	b.Instructions = nil // it is meant for the student
	out, err := Run(b, s.kids[0], v)
	if err != nil {
		return out, err
	}
	text, ok := out.AsStr()
	if !ok {
		return out, engine.Errorf(engine.KindType, diag.WrongTypeAtBoundary, "the teacher of wrap gives %s, want str", out.TypeName())
	}
	b.Transcript, b.Instructions = said, outer.Taught(text)
	out, err = Run(b, s.kids[1], v)
	b.Instructions = nil
	return out, err
}
