package engine

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// permit gives the arguments with which a call may be made: those that it has, or what a person
// put in their place. The error is what the call comes to when it may not be made.
func (b *Branch) permit(sk *skillPlan, t *Tool, args generable.Value) (generable.Value, error) {
	if !b.ruled(sk) {
		return args, nil
	}
	return b.permitted(b.rules(sk, t, args), sk, t, args)
}

func (b *Branch) permitted(d decision, sk *skillPlan, t *Tool, args generable.Value) (generable.Value, error) {
	switch d.ruling {
	case Allowed:
		return args, nil
	case Denied:
		err := d.forbidden(t.Name)
		b.tellPolicy(PhaseEnd, t.Name, "denied", err)
		return args, err
	}
	by, err := b.decide(&ApprovalRequest{Tool: t.Name, Agent: sk.agent.Name, Skill: sk.Name, Data: args, Why: d.why(), typ: t.params()},
		b.at.child("approval", "", 0))
	switch {
	case err != nil:
		return args, err
	case !by.Approved:
		err := notApproved(t.Name, by.Reason)
		b.tellPolicy(PhaseEnd, t.Name, "denied", err)
		return args, err
	case by.Data == nil:
		b.tellPolicy(PhaseEnd, t.Name, approvedText(false), nil)
		return args, nil
	}
	// A person may do what has to be asked, but not what is denied.
	if d := b.rules(sk, t, *by.Data); d.ruling == Denied {
		err := d.forbidden(t.Name)
		b.tellPolicy(PhaseEnd, t.Name, "denied", err)
		return args, err
	}
	b.tellPolicy(PhaseEnd, t.Name, approvedText(true), nil)
	return *by.Data, nil
}

func notApproved(tool, reason string) *Error {
	if reason == "" {
		reason = "no reason was given"
	}
	return Errorf(KindPolicy, diag.Denied, "the call of %q was not approved: %s; do not repeat it as it is", tool, reason).
		WithHelp("a person denied it")
}

// doPermitted carries out a call of a tool of the host, when it may be made. What is recorded
// answers first; the call counts as one whatever becomes of it. args become those of the call that
// is made.
func (b *Branch) doPermitted(sk *skillPlan, t *Tool, args *generable.Value, e *Effect, est *ask) Outcome {
	if !b.ruled(sk) {
		return b.do(e, est)
	}
	req := e.Req.(*ToolRequest)
	d := b.rules(sk, t, req.Args)
	if d.ruling == Allowed {
		return b.do(e, est)
	}
	if j := b.run.spec.Journal; j != nil {
		if _, known := j.Answer(e.ID()); known {
			return b.do(e, est)
		}
	}
	held, err := b.reserve(est, e.Agent, e.At)
	if err != nil {
		return b.refused(e, err)
	}
	held.settle(nil, Usage{}) // a person may take hours, and others may not wait for this call meanwhile
	if *args, err = b.permitted(d, sk, t, req.Args); err != nil {
		return Outcome{Err: asError(err)}
	}
	// The effect's id is that of the arguments with which it is made.
	made := *req
	made.Args = *args
	return b.do(&Effect{Kind: e.Kind, Name: e.Name, Agent: e.Agent, Run: e.Run, At: e.At,
		Req: &made, Class: e.Class, Timeout: e.Timeout}, &ask{})
}
