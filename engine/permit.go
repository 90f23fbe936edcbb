package engine

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// permit lets a call be made. The arguments become what a person put in their place. The error is what
// the call comes to when it may not be made.
func (b *branch) permit(sk *skillPlan, t *Tool, args *generable.Value) error {
	if !b.ruled(sk) {
		return nil
	}
	switch d := b.rules(sk, t, *args); d.ruling {
	case Allowed:
		return nil
	case Denied:
		return b.denied(t, d)
	default:
		return b.asked(sk, t, args, d.why())
	}
}

// denied is what a call comes to that a rule denies.
func (b *branch) denied(t *Tool, d decision) error {
	err := d.forbidden(t.Name)
	b.tellPolicy(PhaseEnd, t.Name, "denied", err)
	return err
}

// asked lets a call be made that a person approves.
func (b *branch) asked(sk *skillPlan, t *Tool, args *generable.Value, why string) error {
	by, err := b.decide(&ApprovalRequest{Tool: t.Name, Agent: sk.agent.Name, Skill: sk.Name, Data: *args, Why: why, typ: t.params()},
		b.at.child("approval", "", 0))
	if err != nil {
		return err
	}
	return b.answered(sk, t, args, by)
}

// answered does what a person decided about a call.
func (b *branch) answered(sk *skillPlan, t *Tool, args *generable.Value, by Decision) error {
	if !by.Approved {
		err := notApproved(t.Name, by.Reason)
		b.tellPolicy(PhaseEnd, t.Name, "denied", err)
		return err
	}
	if by.Data != nil {
		// A person may do what has to be asked, but not what is denied.
		if d := b.rules(sk, t, *by.Data); d.ruling == Denied {
			return b.denied(t, d)
		}
		*args = *by.Data
	}
	b.tellPolicy(PhaseEnd, t.Name, approvedText(by.Data != nil), nil)
	return nil
}

func notApproved(tool, reason string) *Error {
	if reason == "" {
		reason = "no reason was given"
	}
	return Errorf(KindPolicy, diag.Denied, "the call of %q was not approved: %s; do not repeat it as it is", tool, reason).
		WithHelp("a person denied it")
}

// permitHosted lets a call of a tool of the host be made. What is recorded answers first; the call
// counts as one whatever becomes of it, and what is to be asked of the budgets is given. The arguments
// become those that the call is made with, and its effect's id is that of those: nothing of the effect is
// there while a person decides.
func (b *branch) permitHosted(sk *skillPlan, t *Tool, args *generable.Value) (*ask, error) {
	if !b.ruled(sk) || b.rules(sk, t, *args).ruling == Allowed || b.recorded(sk, t, *args) {
		return &ask{want: estimate{resToolCalls: 1}}, nil
	}
	if err := b.claimHosted(sk, t, *args); err != nil {
		return nil, err
	}
	return &ask{}, b.permit(sk, t, args)
}

// recorded reports whether the journal answers a call.
func (b *branch) recorded(sk *skillPlan, t *Tool, args generable.Value) bool {
	j := b.run.spec.Journal
	if j == nil {
		return false
	}
	_, known := j.Answer(b.hosted(sk, t, args).ID())
	return known
}

// claimHosted counts a call before a person is asked, who may take hours: others may not wait for it
// meanwhile.
func (b *branch) claimHosted(sk *skillPlan, t *Tool, args generable.Value) error {
	held, err := b.reserve(&ask{want: estimate{resToolCalls: 1}}, sk.agent.Name, b.at)
	if err != nil {
		return b.refused(b.hosted(sk, t, args), err).Err
	}
	held.settle(nil, Usage{})
	return nil
}
