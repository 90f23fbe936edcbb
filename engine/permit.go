package engine

import (
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// permit lets a call be made. The arguments become what a person put in their place. The error is what
// the call comes to when it may not be made.
func (b *branch) permit(sk *skillPlan, t *Tool, args *generable.Value) error {
	if !b.ruled(sk) {
		return nil
	}
	switch d := b.rules(sk, t, *args); d.Ruling {
	case Allowed:
		return nil
	case Denied:
		return b.denied(t, d)
	default:
		return b.asked(sk, t, args, d.Why())
	}
}

// denied is what a call comes to that a rule denies.
func (b *branch) denied(t *Tool, d PolicyDecision) error {
	err := d.Denial(t.Name)
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
		if d := b.rules(sk, t, *by.Data); d.Ruling == Denied {
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
	if !b.ruled(sk) || b.rules(sk, t, *args).Ruling == Allowed || b.recorded(sk, t, *args) {
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

// rules about a call: the strictest of all policies.
func (b *branch) rules(sk *skillPlan, t *Tool, args generable.Value) (strictest PolicyDecision) {
	if t.knows { // part of the prompt in truth
		return strictest
	}
	c := t.Call()
	if b.byClass(sk) {
		c.Class = t.Acts()
	}
	for _, p := range b.run.spec.Policies {
		strictest = stricter(strictest, p, &c, args)
	}
	return stricter(stricter(strictest, sk.agent.Policy, &c, args), sk.Policy, &c, args)
}

// stricter is the stricter of a verdict and that of a policy, which may be nil.
func stricter(than PolicyDecision, p *Policy, c *PolicyCall, args generable.Value) PolicyDecision {
	if p != nil {
		if v := p.Judge(c, args); v.Ruling > than.Ruling {
			return v
		}
	}
	return than
}

// ruled reports whether any policy holds for a skill's calls.
func (b *branch) ruled(sk *skillPlan) bool {
	return sk.Policy != nil || sk.agent.Policy != nil || len(b.run.spec.Policies) > 0
}

// ruledAs is the rank that all which the function of a tool touches is held to, 0 when no rule for its
// calls speaks of an effect. It is a second line: what a tool may touch was found before any call.
func (b *branch) ruledAs(sk *skillPlan, t *Tool) uint8 {
	if !b.ruled(sk) || !b.byClass(sk) {
		return 0
	}
	return t.Acts().rank()
}

// byClass reports whether a rule for calls of a skill speaks of an effect.
func (b *branch) byClass(sk *skillPlan) bool {
	byClass := func(p *Policy) bool { return p != nil && p.ByClass() }
	return slices.ContainsFunc(b.run.spec.Policies, byClass) || byClass(sk.agent.Policy) || byClass(sk.Policy)
}
