package exec

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// Touch carries out an operation as an effect, at the next place of its kind in the callback
// that runs: main/fs:read#0. The name is what the effect is called by, for people: the command,
// the method of HTTP. It counts as no tool call; what bounds it is the time of the run and its
// own. What it gave is recorded, and a replay touches nothing.
func (b *Branch) Touch(op *engine.Operation, name string, class engine.Class, args *generable.Map) (generable.Value, error) {
	if err := b.Sched.Err(); err != nil {
		return generable.Value{}, b.Locate(err, nil)
	}
	word := string(op.Kind)
	e := (&engine.InFlight{Effect: engine.Effect{Kind: op.Kind, Name: name, Run: b.RunID(), Class: class, Req: &engine.TouchRequest{Op: op.Name, Args: args},
		At: b.InCallback().Child(word, op.Name, b.Ordinal(CallKey{word, op.Name}))}}).Begin()
	if err := b.exceedsClass(e, op); err != nil {
		return generable.Value{}, b.Locate(err, nil)
	}
	out := b.Do(e, &Ask{})
	if out.Err != nil {
		return generable.Value{}, b.Locate(out.Err, nil)
	}
	return engine.Converted(out.Value, op.Returns, word+"."+op.Name)
}

// exceedsClass is what an operation comes to that is more than the call of the tool around it was ruled as.
func (b *Branch) exceedsClass(e *engine.Effect, op *engine.Operation) error {
	if b.EffectRank == 0 || e.Class.Rank() <= b.EffectRank {
		return nil
	}
	if j := b.Run.Spec.Journal; j != nil {
		if _, known := j.Answer(e.ID()); known {
			return nil
		}
	}
	what := string(op.Kind) + "." + op.Name
	if op.Kind == engine.EffectExec {
		what = "sh.run"
	}
	was := [...]engine.Class{"", engine.ClassRead, engine.ClassIdempotent, engine.ClassOnce}[b.EffectRank]
	err := engine.Errorf(engine.KindPolicy, diag.Denied, "%s is of effect %s, and the call of the tool around it was ruled as one of effect %s: it is not made", what, e.Class, was).
		WithHelp("call %s by its name in the function of the tool, so that its effect is known", what)
	b.EmitPolicy(engine.PhaseEnd, what, "denied", err)
	return err
}
