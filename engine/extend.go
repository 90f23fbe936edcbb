package engine

import (
	"context"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/generable"
)

// BudgetLimit is a bound that a run has come to, and that its host may move.
type BudgetLimit struct {
	Budget   string // as messages call it
	Scope    string // the position where it was opened
	Resource string // as budget(...) names it: "turns", "tokens", "usd"
	Agent    string // that wants more, "" when none does
	Limit    Cap    // now; money see [Cap.USD]
	Used     Cap
}

// OnBudget is asked when a budget is used up, before anything fails because of that. It gives the
// bound that is to hold from then on; one that is no higher than Limit, or the zero Cap, leaves it
// at that. The answer is recorded, so that a replay asks nobody. It may wait for a person; the rest
// of the run goes on meanwhile.
type OnBudget func(ctx context.Context, l BudgetLimit) Cap

// extendRequest is the recorded question whether a budget may be used further.
type extendRequest struct{ scope, resource string }

func (r *extendRequest) Digest() [32]byte {
	return abi.Hash(abi.AppendText(abi.AppendText([]byte("extend"), r.scope), r.resource))
}

// extend asks the host to raise a bound of a pot, and reports whether it did. Of several branches
// that come to the same bound one asks, and the others see what came of it.
func (b *branch) extend(by *budget, r resource, agent string, at *Frame, asked int) (bool, error) {
	if b.run.spec.OnBudget == nil {
		return false, nil
	}
	p, mu := by.pot, &b.budget.run.mu
	mu.Lock()
	limit := p.caps[r]
	if p.asking {
		mu.Unlock()
		err := b.sched.Wait(func() bool {
			mu.Lock()
			defer mu.Unlock()
			return !p.asking
		})
		mu.Lock()
		raised := p.caps[r] > limit
		mu.Unlock()
		return raised, err
	}
	p.asking = true
	l := BudgetLimit{Budget: p.label(), Scope: by.at.Path(), Resource: resourceArgs[r], Agent: agent, Limit: AtMost(limit), Used: AtMost(p.used[r])}
	mu.Unlock()
	to, err := b.askHost(l, at, asked)
	mu.Lock()
	p.asking = false
	raised := err == nil && to > limit
	var news BudgetNews
	if raised {
		p.caps[r] = to
		news = by.news(BudgetExtended, r)
	}
	mu.Unlock()
	b.sched.Wake()
	if raised && b.Wants(EventBudget) {
		b.tellBudget([]BudgetNews{news}, false)
	}
	return raised, err
}

// askHost is the recorded effect of asking. Which budget and resource it is about, and how often
// they were asked about at this position, tells the questions apart.
func (b *branch) askHost(l BudgetLimit, at *Frame, asked int) (int64, error) {
	e := b.question(l.Scope, l.Resource, at, asked)
	j := b.run.spec.Journal
	if j != nil {
		if out, known := j.Answer(e.ID()); known {
			return allowed(out)
		}
	}
	out := b.sched.Do(HandlerFunc(func(ctx context.Context, e *Effect, _ Sink) (out Outcome) {
		defer func() {
			if p := recover(); p != nil {
				out = Failed(panicked("the host's OnBudget", p))
			}
		}()
		n, _ := b.run.spec.OnBudget(ctx, l).Value()
		out = Outcome{Value: generable.IntOf(max(n, 0)), Attempt: 1}
		if j != nil {
			out = commit(ctx, j, e, out)
		}
		return out
	}), e, nil)
	return allowed(out)
}

func (b *branch) question(scope, resource string, at *Frame, asked int) *Effect {
	return (&inFlight{effect: Effect{Kind: EffectBudget, Name: "extend", Run: b.RunID(), At: at.child("limit", resource, asked),
		Req: &extendRequest{scope, resource}, Class: ClassRead}}).begin()
}

func allowed(out Outcome) (int64, error) {
	if out.Err != nil {
		return 0, out.Err
	}
	n, ok := out.Value.AsInt()
	if !ok {
		return 0, Errorf(KindReplay, diag.ReplayMismatch, "what was recorded of a budget's extension is no number")
	}
	return n, nil
}

// extended moves the bounds that were moved for a recorded effect, so that a run that goes on from
// a record has what its host allowed.
func (b *branch) extended(e *Effect) {
	j := b.run.spec.Journal
	if b.run.spec.OnBudget == nil || j == nil {
		return
	}
	for at := b.budget; at != nil; at = at.up {
		for r := range at.pot.caps {
			if !at.pot.bounds(resource(r)) {
				continue
			}
			for asked := 0; ; asked++ {
				out, known := j.Answer(b.question(at.at.Path(), resourceArgs[r], e.At, asked).ID())
				if !known {
					break
				}
				n, err := allowed(out)
				b.budget.run.mu.Lock()
				if err == nil && at.pot.bounds(resource(r)) {
					at.pot.caps[r] = max(at.pot.caps[r], n)
				}
				b.budget.run.mu.Unlock()
			}
		}
	}
}
