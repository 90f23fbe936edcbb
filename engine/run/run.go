package run

import (
	"context"
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/internal/interp"
	"github.com/agentscript/agentscript/engine/internal/redact"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// Spec is everything that a run needs besides its scheduler.
type Spec = flow.RunSpec

// Prepared connects a run with models whose answers were prepared.
type Prepared = flow.Prepared

// Types returns the schemas of the engine's own records, which values of every script may hold.
func Types() []*generable.Type {
	return append(capability.Results(), engine.ApprovalType, engine.FailureType, flow.AttemptType, flow.VerdictType, agent.RemainingType, agent.ToolFailureType,
		agent.InterceptType, agent.ModelCallType, agent.ModelAnswerType, agent.CitationType, model.ImageType, model.AudioType, exec.MemoryEntryType)
}

// Hiding returns a function that removes from a text the secrets that of returns at that time. It returns nil if of
// is nil.
func Hiding(of func() []string) func(text string) string {
	if of == nil {
		return nil
	}
	return func(text string) string { return redact.New(of()).String(text) }
}

// Exec runs a node or function to its end on a scheduler and returns its value. Failures are *[engine.Error] and say
// where in the run they happened. If the run was cancelled, the error says so, whatever failed because of that.
func Exec(s engine.Sched, spec *Spec) (generable.Value, error) { return New(s, spec).Run() }

// Perform carries out an effect that a run in another process dispatched. Panics of the handler become failures. The
// outcome and the events contain none of the secrets that of returns; of may be nil.
func Perform(ctx context.Context, h engine.Handler, of func() []string, e *engine.Effect, sink engine.Sink) engine.Outcome {
	return exec.Perform(ctx, h, of, e, sink)
}

// ended closes the run's events and returns the error of the run.
func ended(b *exec.Branch, err error) error {
	r := b.Run
	if err != nil {
		if why := b.Sched.Err(); why != nil { // report why everything stopped, not what stopped first
			err = exec.Because(why, err)
		}
		err = r.Secrets.Set().Cause(b.Locate(uncontrolled(err), r.Spec.Node))
	}
	broken := func() {
		if why := r.Events.Err(); err == nil && why != nil {
			err = b.Locate(why, r.Spec.Node)
		}
	}
	broken()
	if !r.Over.CompareAndSwap(false, true) {
		return err // abandoned: its end was reported
	}
	emitRun(b, engine.PhaseEnd, err)
	broken()
	r.Events.Close()
	return err
}

func emitRun(b *exec.Branch, phase engine.Phase, err error) {
	if !b.Wants(engine.EventRun) {
		return
	}
	d := &event.Run{Phase: phase}
	if phase == engine.PhaseEnd && b.Budget != nil {
		d.Spent = b.Budget.Report()
	}
	if err != nil {
		d.Err = engine.AsError(err)
	}
	b.Emit(engine.Event{Kind: engine.EventRun, Data: d})
}

// uncontrolled replaces a control outcome that reached the top of its run with a failure: what stopped the run is
// outside of it, in a run with a handler in which this one runs.
func uncontrolled(err error) error {
	if !engine.IsControl(err) {
		return err
	}
	return exec.Because(&engine.Error{Kind: engine.KindCancelled, Code: diag.Cancelled, Message: "the run was cancelled", Cause: context.Canceled,
		Help: "see why the run around it ended"}, err)
}

func root(b *exec.Branch, spec *Spec) (out generable.Value, err error) {
	if spec.Limits.Wall <= 0 {
		return main(b, spec)
	}
	err = b.AtWork(spec.Limits.Wall, spec.Limits.Late(), func() error {
		out, err = main(b, spec)
		return err
	})
	return out, err
}

func main(b *exec.Branch, spec *Spec) (generable.Value, error) {
	set := b.Run.Secrets.Set()
	if spec.Main != nil {
		args := spec.Args
		if set != nil {
			args = slices.Clone(args)
			for i, v := range args {
				args[i], _ = set.Value(v)
			}
		}
		return b.Invoke(spec.Main, args...)
	}
	n := spec.Node
	if n == nil {
		return generable.Value{}, engine.Errorf(engine.KindInput, diag.NoMain, "there is nothing to run").
			WithHelp("pass the run a node or a main function")
	}
	if n.Failed() {
		return generable.Value{}, interp.Uncomposed(n)
	}
	in, _ := set.Value(spec.Input)
	v, errs := n.In().Convert(in)
	if errs != nil {
		return v, engine.Errorf(engine.KindInput, diag.BadInput, "the input does not fit %s: %w", n.In(), errs).
			WithHelp("main takes %s", n.In())
	}
	return interp.Run(b, interp.Compiled(n), v)
}
