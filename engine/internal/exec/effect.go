package exec

import (
	"context"
	"errors"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/internal/flight"
	"github.com/agentscript/agentscript/engine/internal/quiet"
	"github.com/agentscript/agentscript/engine/internal/redact"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/dialect"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/internal/text"
)

// InFlight is an effect together with this process's state of it, in one allocation.
type InFlight struct {
	Effect engine.Effect
	record flight.Record
}

// Begin returns the effect and attaches its record.
func (f *InFlight) Begin() *engine.Effect {
	f.Effect.Begin(&f.record)
	return &f.Effect
}

// Model runs the effect of one model call.
func (b *Branch) Model(req *model.Request, agent string, turn int, a *Ask) engine.Outcome {
	e := (&InFlight{Effect: engine.Effect{Kind: engine.EffectModel, Name: req.Model, Agent: agent, Run: b.RunID(), At: b.At.Child("llm", "", turn),
		Req: req, Class: engine.ClassIdempotent, Stream: b.Observer != nil || b.Wants(engine.EventToken) || b.Wants(engine.EventPartial) && typed(req) != nil}}).Begin()
	if req.Model == "" && b.Run.Spec.Handler == nil {
		return engine.Unhandled(e)
	}
	return b.Do(e, a)
}

// Do is the composition side of an effect: id, answer from the journal, budget, dispatch. If a is nil, the effect asks
// nothing of the budgets, and nothing is booked.
func (b *Branch) Do(e *engine.Effect, a *Ask) (out engine.Outcome) {
	if err := b.Sched.Err(); err != nil {
		return engine.Failed(engine.AsError(err))
	}
	if b.recalled(e, a, &out) {
		return out
	}
	if b.Run.Durable() != nil && b.answeredBefore(e, &out) {
		return out
	}
	if m := b.Run.Spec.Keeps; m != nil && b.Run.Spec.Session == nil { // checked before anything is paid for
		return engine.Failed(noSession(m.Name))
	}
	b.emitEffect(e, engine.PhaseStart, nil, false)
	out = b.budgeted(e, a)
	if b.Run.Durable() != nil {
		b.afterwards(e, &out)
	}
	b.emitEffect(e, engine.PhaseEnd, &out, false)
	return out
}

// recalled answers an effect from the journal. A parked run does not keep its frame.
func (b *Branch) recalled(e *engine.Effect, a *Ask, out *engine.Outcome) bool {
	had, known := b.Known(e)
	if !known {
		return false
	}
	*out = had
	b.extended(e)
	if out.Attempt > 0 && a != nil { // otherwise it was refused, and used nothing
		b.charge(a, e, out.Usage)
	}
	b.emitEffect(e, engine.PhaseStart, nil, true)
	b.emitEffect(e, engine.PhaseEnd, out, true)
	return true
}

// budgeted dispatches an effect that its budgets allow. A refusal is recorded like an answer, so that a replay returns
// the same.
func (b *Branch) budgeted(e *engine.Effect, a *Ask) (out engine.Outcome) {
	if req, ok := e.Req.(*model.Request); ok && b.Budget.metered {
		if err := b.forecast(req, a); err != nil {
			return engine.Outcome{Err: err} // neither made nor recorded: a price may be known the next time
		}
	}
	var held hold
	if a != nil {
		var err error
		if held, err = b.begin(e, a); err != nil {
			return b.Refused(e, err)
		}
	}
	if a != nil && a.reply != nil {
		a.reply.limit(e)
	}
	if e.Timeout > 0 {
		out = b.timely(e, held)
	} else {
		out = b.dispatch(e, held)
	}
	if out.Err != nil {
		if why := b.Sched.Err(); why != nil { // the caller or a sibling stopped it
			out.Err = engine.AsError(why)
		}
	}
	return out
}

func (b *Branch) Refused(e *engine.Effect, err error) engine.Outcome {
	if b.Sched.Err() != nil { // stopped while it waited
		return engine.Failed(engine.AsError(err))
	}
	out := engine.Outcome{Err: engine.AsError(err)}
	b.Tell(engine.EventBudget, &event.Budget{Name: e.Name, Err: out.Err})
	return b.record(e, out)
}

// Known looks up an effect in the journal. A panic of the journal is an error, which ends the run.
func (b *Branch) Known(e *engine.Effect) (out engine.Outcome, known bool) {
	b.Run.Secrets.Effect(e)
	j := b.Run.Spec.Journal
	if j == nil {
		return out, false
	}
	defer func() {
		if p := recover(); p != nil {
			out, known = engine.Outcome{Err: journalFailed("answer for", e, engine.Panicked("the journal", p))}, true
		}
	}()
	out, known = j.Answer(e.ID())
	if w := quiet.Of(b.Sched); w != nil {
		b.counts(w, e, known)
	}
	if known {
		if set := b.Run.Secrets.Set(); set != nil {
			set.Outcome(&out)
		}
		refuseFlaws(e, &out, "the journal returned for %s %q %s", "Journal.Answer returns what Journal.Commit received")
	}
	return out, known
}

// refuseFlaws turns an outcome with a flaw into an error. It is not inlined, so that a run that is parked in a handler
// does not keep its frame.
//
//go:noinline
func refuseFlaws(e *engine.Effect, out *engine.Outcome, message, help string) {
	if flaw := out.Flaw(e); flaw != "" {
		out.Response, out.Err = nil, engine.Errorf(engine.KindBadResponse, diag.ProviderError, message, e.Kind, e.Name, flaw).WithHelp("%s", help)
	}
}

// record records in the journal an outcome that did not come from the effect's handler.
func (b *Branch) record(e *engine.Effect, out engine.Outcome) engine.Outcome {
	j := b.Run.Spec.Journal
	if j == nil {
		return out
	}
	return b.Sched.Do(engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		return commit(ctx, j, e, out)
	}), e, nil)
}

// dispatch runs an effect and settles its reservation, whatever the outcome.
func (b *Branch) dispatch(e *engine.Effect, held hold) (out engine.Outcome) {
	b.Run.Pending.Add(e.Flight())
	defer func() {
		b.Run.Pending.Remove(e.Flight())
		if held.of != nil {
			held.Settle(e, out.Usage)
		}
	}()
	if b.timed && e.Kind != engine.EffectModel && e.ByServer() != engine.EffectMCP { // those end when they are told to
		return b.doOrAbandon(e)
	}
	if held.of != nil && held.of.reply != nil {
		return b.Sched.Do(held.of.reply, e, b.sink(e))
	}
	if b.denies != nil && e.Kind == engine.EffectApproval {
		return b.Sched.Do(b.amending(), e, b.sink(e))
	}
	return b.Sched.Do(b.Run.handler, e, b.sink(e))
}

// effectSide returns the handler as the run uses it: panics are caught, and outcomes are recorded before anybody sees
// them.
func effectSide(h engine.Handler, j engine.Journal, secrets *redact.Known) engine.Handler {
	if h == nil {
		h = engine.Handlers{}
	}
	if j == nil {
		return &Catching{h, secrets}
	}
	durable, _ := j.(engine.DurableJournal)
	return &committing{Catching: &Catching{h, secrets}, journal: j, durable: durable}
}

// committing records the outcomes of a handler's effects.
type committing struct {
	*Catching
	journal engine.Journal
	durable engine.DurableJournal // the journal if it outlives the process, else nil
	forms   dialect.Compiler      // used for durable journals
}

func (c *committing) Do(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
	if c.durable != nil {
		c.durable.Begins(e)
		if e.Class == engine.ClassOnce {
			if err := intend(ctx, c.durable, e); err != nil {
				return engine.Failed(err)
			}
		}
	}
	out := c.Catching.Do(ctx, e, sink)
	if !e.Flight().Handled() { // it was abandoned, and that is recorded
		return out
	}
	if c.durable == nil || out.Err != nil {
		return commit(ctx, c.journal, e, out)
	}
	kept := out
	kept.Value = c.valueOf(e, &out)
	if kept = commit(ctx, c.journal, e, kept); kept.Err != nil {
		out.Err = kept.Err
	}
	return out
}

// valueOf returns the value that is recorded with an answer's text, so that a resumed run reads it as this version
// does: the value of the requested type, or null if the text does not fit it.
func (c *committing) valueOf(e *engine.Effect, out *engine.Outcome) generable.Value {
	req, ok := e.Req.(*model.Request)
	if !ok || out.Response == nil || req.Output == nil || req.Output.Type == nil || len(out.Response.Calls()) > 0 {
		return out.Value
	}
	res, err := Decode(&c.forms, req.Output.Type, out.Response.Text(), out.Response.Dialect)
	if err != nil || !res.OK {
		return generable.Value{}
	}
	return res.Value
}

// Decode reads a model's text as a value of a type. form is the dialect of the schema that constrained the model, ""
// for none. It accepts the value in the form of the schema and in that of the type itself, since not every route
// honours a schema.
func Decode(forms *dialect.Compiler, t *generable.Type, text, form string) (lenient.Result, error) {
	if form == "" {
		return lenient.Decode(t, text, generable.Options{}), nil
	}
	w, err := forms.Compile(t, form)
	if err != nil { // a model of another version, or its record
		return lenient.Result{}, engine.Errorf(engine.KindBadResponse, diag.ProviderError, "an answer in the form %q cannot be read: %w", form, err).
			WithHelp("the model's handler names the dialect of its schemas: it has to be one that this version knows")
	}
	return w.Decode(text, generable.Options{}), nil
}

// Catching runs a handler and turns its panics and flaws into outcomes.
type Catching struct {
	H       engine.Handler
	secrets *redact.Known // removed from every outcome
}

// Perform executes an effect of another process, as [Catching] does, and keeps secrets out of the outcome.
func Perform(ctx context.Context, h engine.Handler, of func() []string, e *engine.Effect, sink engine.Sink) engine.Outcome {
	secrets := redact.Knows(of)
	secrets.Look()
	secrets.Effect(e)
	return (&Catching{h, secrets}).Do(ctx, e, sink)
}

func (c *Catching) Do(ctx context.Context, e *engine.Effect, sink engine.Sink) (out engine.Outcome) {
	defer func() {
		if p := recover(); p != nil {
			out = engine.Failed(engine.Panicked(string(e.Kind)+" "+e.Name, p))
			c.secrets.Outcome(e, &out)
		}
	}()
	if c.secrets == nil {
		out = c.H.Do(ctx, e, sink)
	} else {
		ctx, sink, end := c.secrets.Into(ctx, e, sink)
		out = c.H.Do(ctx, e, sink)
		if end != nil {
			end()
		}
		c.secrets.Outcome(e, &out)
	}
	out.Response = out.Response.Valid()
	out.Believable(e)
	out.CutOff(e)
	out.Attempt = max(out.Attempt, 1)
	refuseFlaws(e, &out, "the handler of %s %q returned %s", "a handler of models returns Outcome.Response, each part of which holds what its kind says, or Outcome.Err")
	return out
}

// commit records the outcome of an effect. A cancelled effect has none.
func commit(ctx context.Context, j engine.Journal, e *engine.Effect, out engine.Outcome) (committed engine.Outcome) {
	if out.Err != nil && (ctx.Err() != nil || out.Err.Kind == engine.KindApproval || out.Err.Code == diag.ServerSignIn) {
		return out // nothing was done, and a later run must ask again
	}
	committed = out
	defer func() {
		if p := recover(); p != nil {
			committed.Err = journalFailed("take the outcome of", e, engine.Panicked("the journal", p))
		}
	}()
	if err := j.Commit(ctx, e.ID(), e, out); err != nil {
		if out.Err != nil && out.Err.Code == diag.StoreFailed {
			return out // the effect did not begin for the same reason
		}
		committed.Err = journalFailed("take the outcome of", e, err)
	}
	return committed
}

// intend records that an effect that must not be executed twice is about to begin.
func intend(ctx context.Context, j engine.DurableJournal, e *engine.Effect) (failed *engine.Error) {
	defer func() {
		if p := recover(); p != nil {
			failed = journalFailed("take the intent of", e, engine.Panicked("the journal", p))
		}
	}()
	if err := j.Intend(ctx, e); err != nil {
		return journalFailed("take the intent of", e, err)
	}
	return nil
}

// journalFailed returns the error of an effect that the journal does not accept. If the run has another owner, it
// returns only that error, whether a step or the lease watch notices it first.
func journalFailed(what string, e *engine.Effect, err error) *engine.Error {
	own, ok := errors.AsType[*engine.Error](err)
	if ok && own.Code == diag.RunLost {
		lost := *own
		return &lost
	}
	failed := engine.Errorf(engine.KindStore, diag.JournalFailed, "the journal did not %s %s: %w", what, e.ID(), err).
		WithHelp("check that the store can be written; a run continues only with what is recorded")
	if ok && own.Help != "" {
		failed.Help = own.Help
	}
	return failed
}

// Touch implements [run.Touch].
func (b *Branch) Touch(op *capability.Operation, name string, class engine.Class, args *generable.Map) (generable.Value, error) {
	if err := b.Sched.Err(); err != nil {
		return generable.Value{}, b.Locate(err, nil)
	}
	word := string(op.Kind)
	e := (&InFlight{Effect: engine.Effect{Kind: op.Kind, Name: name, Run: b.RunID(), Class: class, Returns: op.Returns, Req: &capability.Request{Op: op.Name, Args: args},
		At: b.InCallback().Child(word, op.Name, b.Ordinal(CallKey{word, op.Name}))}}).Begin()
	err := b.exceedsClass(e, op)
	if err == nil {
		err = b.Run.Secrets.Spoils(op, args)
	}
	if err != nil {
		return generable.Value{}, b.Locate(err, nil)
	}
	out := b.Do(e, &Ask{})
	if out.Err != nil {
		return generable.Value{}, b.Locate(out.Err, nil)
	}
	return Converted(out.Value, op.Returns, word+"."+op.Name)
}

// exceedsClass returns an error if an operation has a stronger effect class than the surrounding tool call was judged
// by.
func (b *Branch) exceedsClass(e *engine.Effect, op *capability.Operation) error {
	if b.EffectRank == 0 || e.Class.Rank() <= b.EffectRank {
		return nil
	}
	if _, known := b.Known(e); known {
		return nil
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

// IsOf reports whether v is of type t. A record, the common case, is decided without listing the reasons against it.
func IsOf(v generable.Value, t *generable.Type) bool {
	if r, ok := v.AsRecord(); ok {
		if t = t.Deref(); t.Kind == generable.RecordType {
			return generable.Same(r.Type(), t)
		}
	}
	return t.Conforms(v) == nil
}

// Converted checks a callback's result against its declared type. Like a constructor it widens int to float and makes
// instances from dicts.
func Converted(v generable.Value, t *generable.Type, who string) (generable.Value, error) {
	if t.Kind == generable.AnyType || IsOf(v, t) {
		return v, nil
	}
	out, errs := t.Convert(v)
	if errs != nil {
		return v, engine.Errorf(engine.KindType, diag.WrongTypeAtBoundary, "%s must return %s: %w; it returned %s", who, t, errs, Shown(v)).
			WithHelp("return a value of %s, or declare the type that it returns", t)
	}
	return out, nil
}

// MaxShown bounds how much of a value an error shows, in runes.
const MaxShown = 60

// Shown returns a value as errors show it.
func Shown(v generable.Value) string { return text.Clip(generable.JSON(v, nil), MaxShown) }

// Because returns why as the error of an operation that failed because of it, with the position of err.
func Because(why, err error) *engine.Error {
	e, was := *engine.AsError(why), engine.AsError(err)
	if e.Path == "" {
		e.Path, e.Pos, e.Trace = was.Path, was.Pos, was.Trace
	}
	if e.Usage == (model.Usage{}) {
		e.Usage = was.Usage
	}
	return &e
}
