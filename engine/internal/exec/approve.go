// Package exec executes the effects of a run: its branches, their budgets, memory, approvals and events.
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

// Decide asks for a decision at a position. A decision is recorded, so that a replay asks nobody. If nobody could be
// asked, that is not recorded, so that a resumed run asks again. denies, which may be nil, returns the failure of a
// call with changed data that a rule denies, else nil; a decision with such data is recorded as denied.
func (b *Branch) Decide(r *engine.ApprovalRequest, at *engine.Frame, denies func(data generable.Value) *engine.Error) (engine.Decision, error) {
	name := r.Tool
	if name == "" {
		name = "ask"
	}
	b.EmitPolicy(engine.PhaseStart, name, r.Why, nil)
	e := (&InFlight{Effect: engine.Effect{Kind: engine.EffectApproval, Name: name, Agent: r.Agent, Run: b.RunID(), At: at, Req: r, Class: engine.ClassRead}}).Begin()
	b.Run.Secrets.Effect(e)
	r, _ = e.Req.(*engine.ApprovalRequest)
	r.ID = e.ID() // setting it here takes less of the stack on which the run waits
	b.denies = denies
	v, err := b.awaitApproval(e)
	b.denies = nil
	if err != nil {
		return engine.Decision{}, err
	}
	if err := b.Sched.Err(); err != nil { // a decision that came too late is for the resumed run
		return engine.Decision{}, err
	}
	return decided(r, v)
}

// amended returns a decision in its recorded form: approving data that a rule denies becomes a denial.
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

// amending returns the handler for a decision that rules may deny.
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

// Approve asks a person the script's question from a callback, about data that may be null. A replacement for a record
// must have the record's schema if t does not say more. The result is an [engine.ApprovalType]: a denial is not an
// error.
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

// Approved asks a person about a value of type t and returns it, or the person's replacement. A denial is an error.
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
		WithHelp("a person denied it; to continue anyway write fallback(approval(...) >> next, otherwise), or attempt(node, x) in a function"), nil)
}

// Dialogue is the part of an agent call's conversation that budgets and approvals use.
type Dialogue struct {
	Agent       *agent.Spec
	Outer       *Dialogue      // of the conversation that this one serves, nil for none
	Turn        int32          // from 0
	Closing     bool           // the last answer was requested
	Thinking    bool           // the turn asks for thoughts, not for an answer
	Seen        int64          // tokens up to and including the model's last answer, 0 if not known
	Reservation *Reservation   // for a last answer; may be nil
	Until       time.Time      // every turn but the first begins before it
	pause       *approvalClock // extends that time; nil: nobody was asked
}

// approvalClock is how long an agent's time was stopped while people or the budgets of others were waited for. The
// ledger of the run guards it, since calls of one answer wait concurrently.
type approvalClock struct {
	open int           // the number of current waits
	sum  time.Duration // total; during a wait it includes the agent's remaining time at the start of the wait
	took *quiet.Spans  // spans of recorded effects, which reduce sum; nil before the first
}

// paused returns the clock of an agent's time. The caller holds the ledger's lock.
func (d *Dialogue) paused() *approvalClock {
	if d.pause == nil {
		d.pause = &approvalClock{}
	}
	return d.pause
}

// awaitApproval is Do for a decision by a person. It stops the default time limit of every agent that the call serves:
// a person may take hours. An explicit time limit is not stopped. None of this is recorded; a refused turn is, so that
// a replay does not need the clock.
func (b *Branch) awaitApproval(e *engine.Effect) (generable.Value, *engine.Error) {
	b.stopClocks(1)
	out := b.Do(e, nil)
	b.stopClocks(-1) // skipped after a panic, which ends everything that was stopped
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

// end returns when the agent's time ends, including the time it was stopped. b is the branch of the conversation.
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

// untimely refuses a turn that would begin after the end of the agent's time.
func (b *Branch) untimely(a *Ask) error {
	d := a.Of
	if d == nil || d.Turn == 0 || d.Closing || d.Until.IsZero() || b.Sched.Now().Before(d.end(b)) {
		return nil
	}
	return OutOfTime(d.Agent.Name, cmp.Or(d.Agent.Budget.Wall, agent.DefaultAgentWall))
}

// OutOfTime returns the error of an agent whose time is used up.
func OutOfTime(agent string, wall time.Duration) *engine.Error {
	return engine.Errorf(engine.KindBudget, diag.BudgetExceeded, "agent %q used up its time of %s", agent, wall).
		WithHelp("raise it with budget(wall = ...)")
}

// decided reads a decision, whose data must fit.
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

// ApprovedText returns the event text for an approval.
func ApprovedText(edited bool) string {
	if edited {
		return "approved with changes"
	}
	return "approved"
}
