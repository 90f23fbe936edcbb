package engine

import (
	"context"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// Journal remembers the effects of one run. Answer is asked on the composition side and must
// not block for long; Commit is called on the effect side and returns when the outcome is as
// durable as the store makes it.
type Journal interface {
	Answer(id string) (Outcome, bool)
	Commit(ctx context.Context, id string, e *Effect, out Outcome) error
}

// RunSpec is all that a run needs beside its scheduler.
type RunSpec struct {
	ID       string            // part of idempotency keys; "" is "run"
	Node     *Node             // what to run, or
	Main     Func              // a function of the script, called with Args
	Input    generable.Value   // of Node; converted to its input type
	Args     []generable.Value // of Main
	Handler  Handler           // runs the effects
	Journal  Journal           // nil: nothing is remembered
	Model    string            // of agents that name none
	Models   map[string]string // by agent name, over what the script says
	Limits   Limits
	Listener Listener
}

// run is the shared state of a run's branches.
type run struct {
	spec    *RunSpec
	events  *emitter
	handler Handler
}

// Exec runs a node or function to its end on a scheduler and returns its value. Failures are
// *[Error]; a run that was cancelled says so whatever failed because of it.
func Exec(s Sched, spec *RunSpec) (generable.Value, error) {
	if spec.ID == "" {
		own := *spec
		own.ID = "run"
		spec = &own
	}
	r := &run{spec: spec, events: &emitter{Listener: spec.Listener, run: spec.ID}, handler: committing(spec)}
	var out generable.Value
	err := s.Par(1, 0, func(_ int, s Sched) error {
		b := &Branch{run: r, sched: s, at: &Frame{kind: "main", idx: -1}, budget: newBudget(nil, "the run has its budget", spec.Limits)}
		err := b.guard(func() (err error) {
			if b.Wants(EventRun) {
				b.emit(Event{Kind: EventRun, Phase: PhaseStart})
			}
			out, err = b.root(spec)
			return err
		})
		if err != nil && s.Err() != nil { // say why everything stopped, not what stopped first
			err = b.locate(s.Err(), nil)
		}
		if b.Wants(EventRun) {
			end := Event{Kind: EventRun, Phase: PhaseEnd}
			if err != nil {
				end.Err = asError(err)
			}
			late := b.guard(func() error { b.emit(end); return nil })
			if err == nil {
				err = late
			}
		}
		return err
	})
	if err != nil {
		return generable.Value{}, asError(err)
	}
	return out, nil
}

func (b *Branch) root(spec *RunSpec) (generable.Value, error) {
	if spec.Limits.Wall <= 0 {
		return b.main(spec)
	}
	var out generable.Value
	parent := b
	_, err := b.sched.First(2, func(i int, s Sched) (bool, error) {
		if i == 1 {
			if err := s.SleepUntil(s.Now().Add(spec.Limits.Wall)); err != nil {
				return false, err
			}
			return true, Errorf(KindTimeout, diag.Timeout, "the run did not end within %s", spec.Limits.Wall).
				WithHelp("allow more time with --timeout, or find the slow step in the events")
		}
		br := parent.fork(s, parent.at)
		return true, br.guard(func() (err error) {
			out, err = br.main(spec)
			return err
		})
	})
	return out, err
}

func (b *Branch) main(spec *RunSpec) (generable.Value, error) {
	if spec.Main != nil {
		out, err := b.invoke(spec.Main, spec.Args...)
		if err != nil {
			return out, b.locate(err, nil)
		}
		return out, nil
	}
	n := spec.Node
	if n.failed {
		return generable.Value{}, Errorf(KindScript, diag.CannotJoin, "%s was not composed: see the errors of loading", n.Label())
	}
	v, errs := n.in.Convert(spec.Input)
	if errs != nil {
		return v, Errorf(KindInput, diag.BadInput, "the input is no %s: %w", n.in, errs).
			WithHelp("main takes %s", n.in)
	}
	return b.exec(n.compiled().root, v)
}

// modelFor gives the model of an agent: the caller's override, the script's, the default.
func (r *run) modelFor(a *AgentSpec) string {
	if m, ok := r.spec.Models[a.Name]; ok {
		return m
	}
	if a.Model != "" {
		return a.Model
	}
	return r.spec.Model
}

// model is the effect of one model call.
func (b *Branch) model(req *Request, agent string, turn int) Outcome {
	if req.Model == "" && b.run.handler == nil {
		return Failed(noModel(agent))
	}
	return b.do(&Effect{Kind: EffectModel, Name: req.Model, Agent: agent, Run: b.RunID(), At: b.at.child("llm", "", turn),
		Req: req, Class: ClassIdempotent, Stream: b.Wants(EventToken)}, Estimate{ModelCalls: 1})
}

func noModel(agent string) *Error {
	return Errorf(KindConfig, diag.NoModel, "agent %q needs a model, and the run has none", agent).
		WithHelp("name one with model = \"openai/...\" or --model; answer from a file with --scripted FILE")
}

// do is the composition side of an effect: id, answer from the journal, budget, dispatch.
func (b *Branch) do(e *Effect, est Estimate) Outcome {
	if err := b.sched.Err(); err != nil {
		return Failed(asControl(err))
	}
	watched := b.Wants(EventEffect)
	if j := b.run.spec.Journal; j != nil {
		if out, ok := j.Answer(e.ID()); ok {
			b.charge(est, out.Usage)
			if watched {
				b.emit(effectEvent(e, PhaseEnd, &out, true))
			}
			return out
		}
	}
	if watched {
		b.emit(effectEvent(e, PhaseStart, nil, false))
	}
	hold, err := Reserve(b, est)
	if err != nil {
		out := Failed(asControl(err))
		if !IsControl(err) {
			if b.Wants(EventBudget) {
				b.emit(Event{Kind: EventBudget, Name: e.Name, Err: out.Err})
			}
			out = b.sched.Do(committed(b.run.spec.Journal, refusing(out)), e, nil)
		}
		if watched {
			b.emit(effectEvent(e, PhaseEnd, &out, false))
		}
		return out
	}
	out := b.sched.Do(b.run.handler, e, b.sink(e))
	hold.Settle(out.Usage)
	if out.Err != nil {
		if err := b.sched.Err(); err != nil { // the caller or a sibling stopped it
			out = Failed(asControl(err))
		}
	}
	if watched {
		b.emit(effectEvent(e, PhaseEnd, &out, false))
	}
	return out
}

// asControl keeps a control outcome recognisable inside an *Error.
func asControl(err error) *Error {
	if IsControl(err) {
		return &Error{Kind: KindCancelled, Code: diag.Cancelled, Message: err.Error(), Cause: err}
	}
	return asError(err)
}

func effectEvent(e *Effect, phase Phase, out *Outcome, replayed bool) Event {
	ev := Event{Kind: EventEffect, Phase: phase, Path: e.At.Path(), ID: e.ID(), Name: e.Name, Replayed: replayed}
	if out != nil {
		ev.Attempt, ev.Err = out.Attempt, out.Err
		if out.Usage != (Usage{}) {
			u := out.Usage
			ev.Usage = &u
		}
	}
	return ev
}

// sink hands an effect's tokens to the listener, nil when nobody listens.
func (b *Branch) sink(e *Effect) Sink {
	if !e.Stream {
		return nil
	}
	path, id := e.At.Path(), e.ID()
	return func(t Token) {
		b.emit(Event{Kind: EventToken, Path: path, ID: id, Name: e.Name, Attempt: t.Attempt, Text: t.Text})
	}
}

func refusing(out Outcome) Handler {
	return HandlerFunc(func(context.Context, *Effect, Sink) Outcome { return out })
}

// committing is the effect side as the run uses it: the host's handler, its panics caught,
// its outcomes recorded before they are seen.
func committing(spec *RunSpec) Handler {
	if spec.Handler == nil {
		return committed(spec.Journal, HandlerFunc(func(_ context.Context, e *Effect, _ Sink) Outcome {
			if e.Kind == EffectModel {
				return Failed(noModel(e.Agent))
			}
			return Failed(Errorf(KindConfig, diag.UnknownTool, "nothing here runs %s %q", e.Kind, e.Name))
		}))
	}
	return committed(spec.Journal, catching(spec.Handler))
}

func catching(h Handler) Handler {
	return HandlerFunc(func(ctx context.Context, e *Effect, sink Sink) (out Outcome) {
		defer func() {
			if p := recover(); p != nil {
				out = Failed(panicked(string(e.Kind)+" "+e.Name, p))
			}
		}()
		return h.Do(ctx, e, sink)
	})
}

// committed records what an effect came to. A cancelled one came to nothing.
func committed(j Journal, h Handler) Handler {
	if j == nil {
		return h
	}
	return HandlerFunc(func(ctx context.Context, e *Effect, sink Sink) Outcome {
		out := h.Do(ctx, e, sink)
		if out.Err != nil && ctx.Err() != nil {
			return out
		}
		if err := j.Commit(ctx, e.ID(), e, out); err != nil {
			return Failed(Errorf(KindStore, diag.ReplayMismatch, "the journal did not take the outcome of %s: %w", e.ID(), err))
		}
		return out
	})
}
