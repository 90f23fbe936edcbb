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

// permit decides whether a call may be made. A person may replace its arguments. If it may not be made, the error is
// the call's result.
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

// denied returns the result of a call that a rule denies.
func denied(b *exec.Branch, t *agent.Tool, d policy.Decision) error {
	err := d.Denial(t.Name)
	b.EmitPolicy(engine.PhaseEnd, t.Name, "denied", err)
	return err
}

// asked makes the call depend on a person's approval.
func asked(b *exec.Branch, sk *skillPlan, t *agent.Tool, args *generable.Value, why string) error {
	by, err := b.Decide(&engine.ApprovalRequest{Tool: t.Name, Agent: sk.agent.Name, Skill: sk.Name, Data: *args, Why: why, Type: t.Parameters()},
		b.At.Child("approval", "", 0), denies(b, sk, t))
	if err != nil {
		return err
	}
	return decidedBy(b, sk, t, args, by)
}

// denies returns a function that finds the rule which denies a call with changed data, nil if no rule denies anything.
// It is not inlined, so that a waiting run does not keep its frame.
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

// decidedBy applies a person's decision about a call.
func decidedBy(b *exec.Branch, sk *skillPlan, t *agent.Tool, args *generable.Value, by engine.Decision) error {
	if !by.Approved && by.Data != nil { // a rule denies the arguments that a person entered
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
		// A person may allow what a rule asks about, but not what a rule denies.
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

// permitHosted decides whether a call of a tool of the host may be made. A recorded answer is used without asking. A
// call that a person decides about counts at once, whatever the decision; the returned ask is what remains for the
// budgets. args becomes the arguments of the call, which determine the effect's id: the effect does not exist while a
// person decides.
func permitHosted(b *exec.Branch, sk *skillPlan, t *agent.Tool, args *generable.Value) (*exec.Ask, error) {
	if !ruled(b, sk) || rules(b, sk, t, *args).Ruling == policy.Allowed || recorded(b, sk, t, *args) {
		return &exec.Ask{Want: exec.Estimate{units.ToolCalls: 1}}, nil
	}
	if err := reserveHosted(b, sk, t, *args); err != nil {
		return nil, err
	}
	return &exec.Ask{}, permit(b, sk, t, args)
}

// recorded reports whether the journal has the result of a call.
func recorded(b *exec.Branch, sk *skillPlan, t *agent.Tool, args generable.Value) bool {
	if b.Run.Spec.Journal == nil {
		return false
	}
	_, known := b.Known(hosted(b, sk, t, args))
	return known
}

// reserveHosted counts a call before a person is asked. Others must not wait for a reservation meanwhile, as a person
// may take hours.
func reserveHosted(b *exec.Branch, sk *skillPlan, t *agent.Tool, args generable.Value) error {
	held, err := b.Reserve(&exec.Ask{Want: exec.Estimate{units.ToolCalls: 1}}, sk.agent.Name, b.At)
	if err != nil {
		return b.Refused(hosted(b, sk, t, args), err).Err
	}
	held.Settle(nil, model.Usage{})
	return nil
}

// rules returns the strictest ruling of all policies about a call.
func rules(b *exec.Branch, sk *skillPlan, t *agent.Tool, args generable.Value) (strictest policy.Decision) {
	if knows(t) { // effectively part of the prompt
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

// stricter returns the stricter of a decision and that of a policy, which may be nil.
func stricter(than policy.Decision, p *policy.Policy, c *policy.Call, args generable.Value) policy.Decision {
	if p != nil {
		if v := p.Judge(c, args); v.Ruling > than.Ruling {
			return v
		}
	}
	return than
}

// ruled reports whether any policy applies to a skill's calls.
func ruled(b *exec.Branch, sk *skillPlan) bool {
	return sk.Policy != nil || sk.agent.Policy != nil || len(b.Run.Spec.Policies) > 0
}

// ruledAs returns the effect rank that everything a tool's function does must stay within, 0 if no rule for its calls
// depends on the effect class. It is a second line of defence: what a tool may do was determined before any call.
func ruledAs(b *exec.Branch, sk *skillPlan, t *agent.Tool) uint8 {
	if !ruled(b, sk) || !byClass(b, sk) {
		return 0
	}
	return t.Acts().Rank()
}

// byClass reports whether a rule for a skill's calls depends on the effect class.
func byClass(b *exec.Branch, sk *skillPlan) bool {
	byClass := func(p *policy.Policy) bool { return p != nil && p.ByClass() }
	return slices.ContainsFunc(b.Run.Spec.Policies, byClass) || byClass(sk.agent.Policy) || byClass(sk.Policy)
}
