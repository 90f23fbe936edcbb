// Package exec carries out the effects of a run: its branches, their budgets, memory, approvals and events.
package exec

import (
	"strconv"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// Decide asks for a decision at a position. It is recorded, so that a replay asks nobody; that
// nobody could be asked is not, so that a resumed run asks again.
func (b *Branch) Decide(r *engine.ApprovalRequest, at *engine.Frame) (engine.Decision, error) {
	name := r.Tool
	if name == "" {
		name = "ask"
	}
	b.EmitPolicy(engine.PhaseStart, name, r.Why, nil)
	e := (&engine.InFlight{Effect: engine.Effect{Kind: engine.EffectApproval, Name: name, Agent: r.Agent, Run: b.RunID(), At: at, Req: r, Class: engine.ClassRead}}).Begin()
	r.ID = e.ID() // here it takes less of the stack on which the run waits
	v, err := b.awaitApproval(e)
	if err != nil {
		return engine.Decision{}, err
	}
	if err := b.Sched.Err(); err != nil { // whoever decided too late has decided for a run that is resumed
		return engine.Decision{}, err
	}
	return r.Decided(v)
}

// EmitPolicy emits the event of a decision about a call.
func (b *Branch) EmitPolicy(phase engine.Phase, name, text string, err *engine.Error) {
	if b.Wants(engine.EventPolicy) {
		b.Emit(engine.Event{Kind: engine.EventPolicy, Data: &engine.PolicyData{Phase: phase, Name: name, Text: text, Err: err}})
	}
}

// Approve asks a person a question of the script, about data that may be null, from a callback.
// The result is an [engine.ApprovalType]: that it was not approved is no error.
func (b *Branch) Approve(question string, data generable.Value, t *generable.Type) (generable.Value, error) {
	if err := b.Sched.Err(); err != nil {
		return generable.Value{}, b.Locate(err, nil)
	}
	d, err := b.Decide(&engine.ApprovalRequest{Question: question, Data: data, Type: t}, b.place("approval", ""))
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
	b.EmitPolicy(engine.PhaseEnd, "ask", engine.ApprovedText(edited), nil)
	return generable.NewRecord(engine.ApprovalType, []generable.Value{generable.BoolOf(true), generable.StrOf(d.Reason), generable.BoolOf(edited), *d.Data}).Value(), nil
}

// Approved asks a person about a value of a type and gives it on, or what the person put in its
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
	if reason == "" {
		reason = "no reason was given"
	}
	return out, b.Locate(engine.Errorf(engine.KindPolicy, diag.Denied, "%s was not approved: %s", strconv.Quote(question), reason).
		WithHelp("a person denied it; what is to happen then says fallback(node, otherwise) around it, or attempt(node, x) in a function"), nil)
}
