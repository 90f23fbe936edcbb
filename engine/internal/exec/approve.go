// Package exec carries out the effects of a run: its branches, their budgets, memory, approvals and events.
package exec

import (
	"cmp"
	"context"
	"strconv"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/internal/quiet"
	"github.com/agentscript/agentscript/generable"
)

// Decide asks for a decision at a position. It is recorded, so that a replay asks nobody; that
// nobody could be asked is not, so that a resumed run asks again. denies returns the failure of a call with other data
// than what was asked about where a rule denies that, nil where none does; then the decision is recorded as denied. It
// may be nil.
func (b *Branch) Decide(r *engine.ApprovalRequest, at *engine.Frame, denies func(data generable.Value) *engine.Error) (engine.Decision, error) {
	name := r.Tool
	if name == "" {
		name = "ask"
	}
	b.EmitPolicy(engine.PhaseStart, name, r.Why, nil)
	e := (&InFlight{Effect: engine.Effect{Kind: engine.EffectApproval, Name: name, Agent: r.Agent, Run: b.RunID(), At: at, Req: r, Class: engine.ClassRead}}).Begin()
	b.Run.Secrets.Effect(e)
	r, _ = e.Req.(*engine.ApprovalRequest)
	r.ID = e.ID() // here it takes less of the stack on which the run waits
	b.denies = denies
	v, err := b.awaitApproval(e)
	b.denies = nil
	if err != nil {
		return engine.Decision{}, err
	}
	if err := b.Sched.Err(); err != nil { // whoever decided too late has decided for a run that is resumed
		return engine.Decision{}, err
	}
	return decided(r, v)
}

// amended is a decision as it is recorded: one that approves data which a rule denies is denied.
func amended(r *engine.ApprovalRequest, denies func(generable.Value) *engine.Error, v generable.Value) generable.Value {
	d, err := decided(r, v)
	if err != nil || !d.Approved || d.Data == nil {
		return v
	}
	why := denies(*d.Data)
	if why == nil {
		return v
	}
	d.Approved, d.Reason = false, why.Help
	return d.Value()
}

// amending is the effect side for a decision that rules may deny.
//
//go:noinline
func (b *Branch) amending() engine.Handler {
	asks, denies := b.Run.Spec.Handler, b.denies
	if asks == nil {
		asks = engine.Handlers{}
	}
	return effectSide(engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
		out := asks.Do(ctx, e, sink)
		if r, ok := e.Req.(*engine.ApprovalRequest); ok && out.Err == nil {
			out.Value = amended(r, denies, out.Value)
		}
		return out
	}), b.Run.Spec.Journal, b.Run.Secrets)
}

// EmitPolicy emits the event of a decision about a call.
func (b *Branch) EmitPolicy(phase engine.Phase, name, text string, err *engine.Error) {
	b.Tell(engine.EventPolicy, &event.Policy{Phase: phase, Name: name, Text: text, Err: err})
}

// Approve asks a person a question of the script, about data that may be null, from a callback. What the
// person puts in the place of a record is of the record's schema where no type says more.
// The result is an [engine.ApprovalType]: that it was not approved is no error.
func (b *Branch) Approve(question string, data generable.Value, t *generable.Type) (generable.Value, error) {
	if r, ok := data.AsRecord(); ok && (t == nil || t.Kind == generable.AnyType) {
		t = r.Type()
	}
	if err := b.Sched.Err(); err != nil {
		return generable.Value{}, b.Locate(err, nil)
	}
	d, err := b.Decide(&engine.ApprovalRequest{Question: question, Data: data, Type: t}, b.place("approval", ""), nil)
	if err != nil {
		return generable.Value{}, b.Locate(err, nil)
	}
	if !d.Approved {
		b.EmitPolicy(engine.PhaseEnd, "ask", "denied: "+d.Reason, nil)
		return d.Value(), nil
	}
	edited := d.Data != nil
	if !edited {
		d.Data = &data
	}
	b.EmitPolicy(engine.PhaseEnd, "ask", ApprovedText(edited), nil)
	return generable.NewRecord(engine.ApprovalType, []generable.Value{generable.BoolOf(true), generable.StrOf(d.Reason), generable.BoolOf(edited), *d.Data}).Value(), nil
}

// Approved asks a person about a value of a type and returns it, or what the person put in its
// place. That it is denied is an error.
func (b *Branch) Approved(question string, v generable.Value, t *generable.Type) (generable.Value, error) {
	out, err := b.Approve(question, v, t)
	if err != nil {
		return out, err
	}
	r, _ := out.AsRecord()
	if ok, _ := r.At(0).AsBool(); ok {
		return r.At(3), nil
	}
	reason, _ := r.At(1).AsStr()
	return out, b.Locate(engine.Errorf(engine.KindPolicy, diag.Denied, "%s was not approved: %s", strconv.Quote(question), cmp.Or(reason, "no reason was given")).
		WithHelp("a person denied it; to go on all the same write fallback(approval(...) >> next, otherwise), or attempt(node, x) in a function"), nil)
}

// Dialogue is what budgets and approvals know of the conversation of one agent call.
type Dialogue struct {
	Agent       *agent.Spec
	Outer       *Dialogue      // of the conversation for which this one is had, nil for none
	Turn        int32          // from 0
	Closing     bool           // the last answer was asked for
	Thinking    bool           // the turn asks for thoughts, not for an answer
	Seen        int64          // tokens up to and with the model's last answer, 0 when not known
	Reservation *Reservation   // for a last answer; nil when there is none
	Until       time.Time      // no turn but the first begins later
	pause       *approvalClock // of that time; nil: nobody was asked
}

// approvalClock is how long an agent's time stood still, as people or the budgets of others were waited for. The run's
// ledger locks it: calls of one answer wait at once.
type approvalClock struct {
	open int           // what is waited for now
	sum  time.Duration // while something is, more by what is left of the agent's time when the first of it began
	took *quiet.Spans  // of recorded effects, which sum is less by; nil before the first
}

// paused returns the clock of an agent's time. The caller holds the lock of the ledger.
func (d *Dialogue) paused() *approvalClock {
	if d.pause == nil {
		d.pause = &approvalClock{}
	}
	return d.pause
}

// awaitApproval is do for what a person decides. Meanwhile the default time of every agent for which the
// call is made is stopped: a person may take hours. A time that is given does not, nor is anything
// of this recorded: a turn that is refused is, so that a replay does not ask the clock.
func (b *Branch) awaitApproval(e *engine.Effect) (generable.Value, *engine.Error) {
	b.stopClocks(1)
	out := b.Do(e, nil)
	b.stopClocks(-1) // not after a panic, by which all that stood still ends
	return out.Value, out.Err
}

// stopClocks begins or ends a wait in the conversations around the branch.
//
//go:noinline
func (b *Branch) stopClocks(by int) {
	now := b.Sched.Now()
	b.Budget.run.mu.Lock()
	defer b.Budget.run.mu.Unlock()
	for d := b.Dialogue; d != nil; d = d.Outer {
		if d.Agent.Budget.Wall != 0 {
			continue
		}
		p := d.paused()
		if p.open == 0 {
			p.sum += d.Until.Sub(now)
		}
		if p.open += by; p.open == 0 {
			p.sum -= d.Until.Sub(now)
		}
	}
}

// end is when the agent's time ends, as far as it has gone on. b is the branch of the conversation.
func (d *Dialogue) end(b *Branch) time.Time {
	if d.Agent.Budget.Wall > 0 {
		return d.Until.Add(b.Moved())
	}
	l := b.Budget.run
	l.mu.Lock()
	defer l.mu.Unlock()
	if d.pause == nil {
		return d.Until
	}
	return d.Until.Add(d.pause.sum)
}

// untimely refuses a turn that would begin after the agent's time.
func (b *Branch) untimely(a *Ask) error {
	d := a.Of
	if d == nil || d.Turn == 0 || d.Closing || d.Until.IsZero() || b.Sched.Now().Before(d.end(b)) {
		return nil
	}
	return OutOfTime(d.Agent.Name, cmp.Or(d.Agent.Budget.Wall, agent.DefaultAgentWall))
}

// OutOfTime is the error of an agent whose time is used up.
func OutOfTime(agent string, wall time.Duration) *engine.Error {
	return engine.Errorf(engine.KindBudget, diag.BudgetExceeded, "agent %q used up its time of %s", agent, wall).
		WithHelp("raise it with budget(wall = ...)")
}

// decided reads a decision, whose data have to fit.
func decided(r *engine.ApprovalRequest, v generable.Value) (d engine.Decision, err error) {
	if v, err = Converted(v, engine.ApprovalType, "what was decided"); err != nil {
		return d, err
	}
	decision, _ := v.AsRecord()
	d.Approved, _ = decision.At(0).AsBool()
	d.Reason, _ = decision.At(1).AsStr()
	if edited, _ := decision.At(2).AsBool(); !edited {
		return d, nil
	}
	data := decision.At(3)
	if d.Data = &data; !d.Approved {
		return d, nil
	}
	v, errs := cmp.Or(r.Type, generable.AnyT).Convert(data)
	if errs != nil {
		return d, engine.Errorf(engine.KindType, diag.WrongTypeAtBoundary, "what was approved instead does not fit: %w", errs)
	}
	d.Data = &v
	return d, nil
}

// ApprovedText says in an event that something was approved.
func ApprovedText(edited bool) string {
	if edited {
		return "approved with changes"
	}
	return "approved"
}
