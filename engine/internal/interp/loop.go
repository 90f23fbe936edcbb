package interp

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/internal/ways"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/text"
)

// loop runs a body until there is no next input. Its memory does not grow with the turns.
func loop(b *exec.Branch, s *step, v generable.Value) (generable.Value, error) {
	o, at := s.node.Loop(), b.At
	defer func() { b.At = at }()
	args := make([]generable.Value, 1) // of the callback, reused in all turns
	var out generable.Value
	for turn := range o.Max {
		b.At = at.Index(turn)
		var err error
		if out, err = Run(b, s.kids[0], v); err != nil {
			return out, err
		}
		args[0] = out
		again, next, err := next(b, s, o, args, turn+1 == o.Max)
		if err != nil {
			return out, b.Locate(err, s.node) // in this turn
		}
		if !again {
			took(b, s.node, min(turn, ways.LoopOn))
			return out, nil
		}
		v = next
	}
	took(b, s.node, ways.LoopLimit)
	if o.LastWins {
		return out, nil
	}
	end := "make next return None earlier"
	if o.Next == nil && o.NextNode == nil {
		end = "make until return True earlier"
	}
	return out, engine.Errorf(engine.KindScript, diag.LoopLimit, "the loop did not end within %s", text.CountInWords(o.Max, "turn")).
		WithHelp("%s, raise max, or take the last output with on_limit = \"last\"", end)
}

// next returns the input of the following turn, or false to stop. After the last turn nothing is repaired, since nobody
// would use it.
func next(b *exec.Branch, s *step, o *flow.LoopOptions, args []generable.Value, last bool) (bool, generable.Value, error) {
	out := args[0]
	if o.Next == nil && o.NextNode == nil {
		if done, err := holds(b, o.Until, o.UntilFunc, out); err != nil || done {
			return false, out, err
		}
		if last {
			return true, out, nil
		}
	}
	if o.Next == nil {
		v, err := Run(b, s.kids[1], out)
		return !(o.NextNode != nil && v.IsNull()), v, err
	}
	v, err := b.InvokeAs("next", 0, o.Next, args...)
	if err != nil || v.IsNull() {
		return false, v, err
	}
	v, err = exec.Converted(v, s.node.In(), "next")
	return true, v, err
}
