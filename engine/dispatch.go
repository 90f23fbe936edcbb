package engine

import (
	"context"

	"github.com/agentscript/agentscript/diag"
)

// model is the effect of one model call.
func (b *branch) model(req *Request, agent string, turn int, a *ask) Outcome {
	if req.Model == "" && b.run.spec.Handler == nil {
		return Failed(noModel(agent))
	}
	return b.do((&inFlight{effect: Effect{Kind: EffectModel, Name: req.Model, Agent: agent, Run: b.RunID(), At: b.at.child("llm", "", turn),
		Req: req, Class: ClassIdempotent, Stream: b.onlooker != nil || b.Wants(EventToken) || b.Wants(EventPartial) && typed(req) != nil}}).begin(), a)
}

func noModel(agent string) *Error {
	return Errorf(KindConfig, diag.NoModel, "agent %q needs a model, and the run has none", agent).
		WithHelp("name one with model = \"openai/...\" or --model; answer from a file with --scripted FILE")
}

// do is the composition side of an effect: id, answer from the journal, budget, dispatch. One that asks
// nothing of the budgets, a is nil, books nothing either.
func (b *branch) do(e *Effect, a *ask) (out Outcome) {
	if err := b.sched.Err(); err != nil {
		return Failed(asError(err))
	}
	if j := b.run.spec.Journal; j != nil {
		var known bool
		if out, known = j.Answer(e.ID()); known {
			b.replayed(e, a, &out)
			return out
		}
	}
	if m := b.run.spec.Keeps; m != nil && b.run.spec.Session == nil { // before anything is paid for
		return Failed(noSession(m.Name))
	}
	b.tell(e, PhaseStart, nil, false)
	out = b.budgeted(e, a)
	b.tell(e, PhaseEnd, &out, false)
	return out
}

func (b *branch) replayed(e *Effect, a *ask, out *Outcome) {
	b.extended(e)
	if out.Attempt > 0 && a != nil { // else it was refused, and used nothing
		b.charge(a, e, out.Usage)
	}
	b.tell(e, PhaseStart, nil, true)
	b.tell(e, PhaseEnd, out, true)
}

// budgeted dispatches an effect that its budgets allow. A refusal is recorded like an answer,
// so that a replay gives the same.
func (b *branch) budgeted(e *Effect, a *ask) (out Outcome) {
	if req, ok := e.Req.(*Request); ok && b.budget.metered {
		if err := b.forecast(req, a); err != nil {
			return Outcome{Err: err} // not made, and not recorded: a price may be known the next time
		}
	}
	var held hold
	if a != nil {
		var err error
		if held, err = b.begin(e, a); err != nil {
			return b.refused(e, err)
		}
	}
	if e.Timeout > 0 {
		out = b.timely(e, held)
	} else {
		out = b.dispatch(e, held)
	}
	if out.Err != nil {
		if why := b.sched.Err(); why != nil { // the caller or a sibling stopped it
			out.Err = asError(why)
		}
	}
	return out
}

func (b *branch) refused(e *Effect, err error) Outcome {
	if b.sched.Err() != nil { // stopped while it waited
		return Failed(asError(err))
	}
	out := Outcome{Err: asError(err)}
	if b.Wants(EventBudget) {
		b.emit(Event{Kind: EventBudget, Data: &BudgetData{Name: e.Name, Err: out.Err}})
	}
	if j := b.run.spec.Journal; j != nil {
		out = b.sched.Do(HandlerFunc(func(ctx context.Context, e *Effect, _ Sink) Outcome { return commit(ctx, j, e, out) }), e, nil)
	}
	return out
}

// dispatch runs an effect and settles what it held, whatever becomes of it.
func (b *branch) dispatch(e *Effect, held hold) (out Outcome) {
	b.run.pending.add(e)
	defer func() {
		b.run.pending.remove(e)
		if held.of != nil {
			held.settle(e, out.Usage)
		}
	}()
	if b.timed && e.Kind != EffectModel && e.byServer() != EffectMCP { // those end when they are told to
		return b.doOrAbandon(e)
	}
	return b.sched.Do(b.run.handler, e, b.sink(e))
}

// tell emits an effect's event. It stands apart, like all that makes events, so that a run that
// waits for a model does not keep room for them on its stack.
func (b *branch) tell(e *Effect, phase Phase, out *Outcome, replayed bool) {
	if !b.Wants(EventEffect) {
		return
	}
	d := &EffectData{Phase: phase, Name: e.Name, Replayed: replayed}
	ev := Event{Kind: EventEffect, Path: e.At.Path(), ID: e.ID(), Data: d}
	if phase == PhaseStart {
		d.Request = e.Req
	}
	if out != nil {
		ev.Attempt, d.Err, d.Response = out.Attempt, out.Err, out.Response
		if e.Kind != EffectModel && out.Err == nil {
			d.Value = &Datum{out.Value}
		}
		if out.Usage != (Usage{}) {
			u := out.Usage
			d.Usage = &u
		}
	}
	b.emit(ev)
}

// sink hands an effect's tokens and retries to the listener, nil when nobody listens to either.
func (b *branch) sink(e *Effect) Sink {
	if r, ok := e.Req.(*ToolRequest); ok {
		return b.notices(e, r)
	}
	if !e.Stream && !b.Wants(EventRetry) {
		return nil
	}
	path := ""
	if e.Stream { // else retries alone are told, which are few
		path = e.At.Path()
	}
	look := b.looks(e, path)
	parts := b.partials(e, path, look)
	return func(t Token) {
		switch r := t.Retry; {
		case r != nil && b.Wants(EventRetry):
			b.emit(Event{Kind: EventRetry, Path: e.At.Path(), ID: e.ID(), Attempt: t.Attempt, Data: &RetryData{r.From, r.To, r.Wait, r.Err}})
		case r == nil && e.Stream && b.Wants(EventToken):
			b.run.events.token(Event{Path: path, ID: e.ID(), Attempt: t.Attempt, At: b.sched.Now()}, TokenData{e.Name, t.Text, t.Reasoning, t.Call})
		}
		look.token(t)
		parts.add(t)
		look.partial(parts)
	}
}

// effectSide is the handler as the run uses it: its panics are caught, and its outcomes are
// recorded before anybody sees them.
func effectSide(spec *config) Handler {
	h := spec.Handler
	if h == nil {
		h = Handlers{}
	}
	if spec.Journal == nil {
		return &catching{h}
	}
	return &committing{&catching{h}, spec.Journal}
}

// committing records what a handler's effects come to.
type committing struct {
	*catching
	journal Journal
}

func (c *committing) Do(ctx context.Context, e *Effect, sink Sink) Outcome {
	out := c.catching.Do(ctx, e, sink)
	if !e.handled() { // it was abandoned, and that is what is recorded
		return out
	}
	return commit(ctx, c.journal, e, out)
}

// catching runs a handler and makes of whatever it does an outcome.
type catching struct{ h Handler }

func (c *catching) Do(ctx context.Context, e *Effect, sink Sink) (out Outcome) {
	defer func() {
		if p := recover(); p != nil {
			out = Failed(panicked(string(e.Kind)+" "+e.Name, p))
		}
	}()
	out = c.h.Do(ctx, e, sink)
	if e.Kind == EffectModel && out.Err == nil && out.Response == nil {
		out.Err = Errorf(KindBadResponse, diag.ProviderError, "the handler of %s %q gave neither an answer nor an error", e.Kind, e.Name).
			WithHelp("a handler of models returns Outcome.Response or Outcome.Err")
	}
	out.believable(e)
	out.Attempt = max(out.Attempt, 1)
	return out
}

// commit records what an effect came to. A cancelled one came to nothing.
func commit(ctx context.Context, j Journal, e *Effect, out Outcome) (committed Outcome) {
	if out.Err != nil && (ctx.Err() != nil || out.Err.Kind == KindApproval || out.Err.Code == diag.ServerSignIn) {
		return out // nothing was done, and a later run is to ask again
	}
	lost := func(err error) Outcome {
		out.Err = Errorf(KindStore, diag.JournalFailed, "the journal did not take the outcome of %s: %w", e.ID(), err).
			WithHelp("see that the store can be written; a run goes on only with what is recorded")
		return out
	}
	defer func() {
		if p := recover(); p != nil {
			committed = lost(panicked("the journal", p))
		}
	}()
	if err := j.Commit(ctx, e.ID(), e, out); err != nil {
		return lost(err)
	}
	return out
}

// outdoes is what an operation comes to that is more than the call of the tool around it was ruled as.
func (b *branch) outdoes(e *Effect, op *Operation) error {
	if b.acting == 0 || e.Class.rank() <= b.acting {
		return nil
	}
	if j := b.run.spec.Journal; j != nil {
		if _, known := j.Answer(e.ID()); known {
			return nil
		}
	}
	what := string(op.Kind) + "." + op.Name
	if op.Kind == EffectExec {
		what = "sh.run"
	}
	was := [...]Class{"", ClassRead, ClassIdempotent, ClassOnce}[b.acting]
	err := Errorf(KindPolicy, diag.Denied, "%s is of effect %s, and the call of the tool around it was ruled as one of effect %s: it is not made", what, e.Class, was).
		WithHelp("call %s by its name in the function of the tool, so that its effect is known", what)
	b.tellPolicy(PhaseEnd, what, "denied", err)
	return err
}
