package conversation

import (
	"cmp"
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/internal/units"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/generable"
)

// permit lets a call be made. The arguments become what a person put in their place. The error is the
// call's result when it may not be made.
func permit(b *exec.Branch, sk *skillPlan, t *agent.Tool, args *generable.Value) error {
	if !ruled(b, sk) {
		return nil
	}
	d := rules(b, sk, t, *args)
	if b.Made() { // a person may have changed it
		if !b.Run.Durable().Recorded(b.At.Child("approval", "", 0).Path()) {
			return nil
		}
		return asked(b, sk, t, args, d.Why())
	}
	switch d.Ruling {
	case policy.Allowed:
		return nil
	case policy.Denied:
		return denied(b, t, d)
	default:
		return asked(b, sk, t, args, d.Why())
	}
}

// denied is the result of a call that a rule denies.
func denied(b *exec.Branch, t *agent.Tool, d policy.Decision) error {
	err := d.Denial(t.Name)
	b.EmitPolicy(engine.PhaseEnd, t.Name, "denied", err)
	return err
}

// asked lets a call be made that a person approves.
func asked(b *exec.Branch, sk *skillPlan, t *agent.Tool, args *generable.Value, why string) error {
	by, err := b.Decide(&engine.ApprovalRequest{Tool: t.Name, Agent: sk.agent.Name, Skill: sk.Name, Data: *args, Why: why, Type: t.Parameters()},
		b.At.Child("approval", "", 0), denies(b, sk, t))
	if err != nil {
		return err
	}
	return decidedBy(b, sk, t, args, by)
}

// denies returns what finds the rule that denies a call with other data, nil where no rule denies anything: a run that
// waits does not hold it.
//
//go:noinline
func denies(b *exec.Branch, sk *skillPlan, t *agent.Tool) func(data generable.Value) *engine.Error {
	if !sk.Policy.Denies() && !sk.agent.Policy.Denies() && !slices.ContainsFunc(b.Run.Spec.Policies, (*policy.Policy).Denies) {
		return nil
	}
	return func(data generable.Value) *engine.Error {
		if d := rules(b, sk, t, data); d.Ruling == policy.Denied {
			return d.Denial(t.Name)
		}
		return nil
	}
}

// decidedBy does what a person decided about a call.
func decidedBy(b *exec.Branch, sk *skillPlan, t *agent.Tool, args *generable.Value, by engine.Decision) error {
	if !by.Approved && by.Data != nil { // a rule denies what a person put in the place of the arguments
		if data, errs := t.Parameters().Convert(*by.Data); errs == nil {
			if d := rules(b, sk, t, data); d.Ruling == policy.Denied {
				return denied(b, t, d)
			}
		}
	}
	if !by.Approved {
		err := notApproved(t.Name, by.Reason)
		b.EmitPolicy(engine.PhaseEnd, t.Name, "denied", err)
		return err
	}
	if by.Data != nil {
		// A person may do what has to be asked, but not what is denied.
		if d := rules(b, sk, t, *by.Data); d.Ruling == policy.Denied {
			return denied(b, t, d)
		}
		*args = *by.Data
	}
	b.EmitPolicy(engine.PhaseEnd, t.Name, exec.ApprovedText(by.Data != nil), nil)
	return nil
}

func notApproved(tool, reason string) *engine.Error {
	return engine.Errorf(engine.KindPolicy, diag.Denied, "the call of %q was not approved: %s; do not repeat it as it is", tool, cmp.Or(reason, "no reason was given")).
		WithHelp("a person denied it")
}

// permitHosted lets a call of a tool of the host be made. What is recorded answers first; the call
// counts as one whatever becomes of it, and what is to be asked of the budgets is given. The arguments
// become those that the call is made with, and its effect's id is that of those: nothing of the effect is
// there while a person decides.
func permitHosted(b *exec.Branch, sk *skillPlan, t *agent.Tool, args *generable.Value) (*exec.Ask, error) {
	if !ruled(b, sk) || rules(b, sk, t, *args).Ruling == policy.Allowed || recorded(b, sk, t, *args) {
		return &exec.Ask{Want: exec.Estimate{units.ToolCalls: 1}}, nil
	}
	if err := reserveHosted(b, sk, t, *args); err != nil {
		return nil, err
	}
	return &exec.Ask{}, permit(b, sk, t, args)
}

// recorded reports whether the journal answers a call.
func recorded(b *exec.Branch, sk *skillPlan, t *agent.Tool, args generable.Value) bool {
	if b.Run.Spec.Journal == nil {
		return false
	}
	_, known := b.Known(hosted(b, sk, t, args))
	return known
}

// reserveHosted counts a call before a person is asked, who may take hours: others may not wait for it
// meanwhile.
func reserveHosted(b *exec.Branch, sk *skillPlan, t *agent.Tool, args generable.Value) error {
	held, err := b.Reserve(&exec.Ask{Want: exec.Estimate{units.ToolCalls: 1}}, sk.agent.Name, b.At)
	if err != nil {
		return b.Refused(hosted(b, sk, t, args), err).Err
	}
	held.Settle(nil, model.Usage{})
	return nil
}

// rules about a call: the strictest of all policies.
func rules(b *exec.Branch, sk *skillPlan, t *agent.Tool, args generable.Value) (strictest policy.Decision) {
	if knows(t) { // part of the prompt in truth
		return strictest
	}
	c := t.Call()
	if byClass(b, sk) {
		c.Class = t.Acts()
	}
	for _, p := range b.Run.Spec.Policies {
		strictest = stricter(strictest, p, &c, args)
	}
	return stricter(stricter(strictest, sk.agent.Policy, &c, args), sk.Policy, &c, args)
}

// stricter is the stricter of a verdict and that of a policy, which may be nil.
func stricter(than policy.Decision, p *policy.Policy, c *policy.Call, args generable.Value) policy.Decision {
	if p != nil {
		if v := p.Judge(c, args); v.Ruling > than.Ruling {
			return v
		}
	}
	return than
}

// ruled reports whether any policy holds for a skill's calls.
func ruled(b *exec.Branch, sk *skillPlan) bool {
	return sk.Policy != nil || sk.agent.Policy != nil || len(b.Run.Spec.Policies) > 0
}

// ruledAs is the rank that all which the function of a tool touches is held to, 0 when no rule for its
// calls speaks of an effect. It is a second line: what a tool may touch was found before any call.
func ruledAs(b *exec.Branch, sk *skillPlan, t *agent.Tool) uint8 {
	if !ruled(b, sk) || !byClass(b, sk) {
		return 0
	}
	return t.Acts().Rank()
}

// byClass reports whether a rule for calls of a skill speaks of an effect.
func byClass(b *exec.Branch, sk *skillPlan) bool {
	byClass := func(p *policy.Policy) bool { return p != nil && p.ByClass() }
	return slices.ContainsFunc(b.Run.Spec.Policies, byClass) || byClass(sk.agent.Policy) || byClass(sk.Policy)
}
