package exec

import (
	"context"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/engine/internal/units"
	"github.com/agentscript/agentscript/generable"
)

// extendRequest asks whether a budget may be extended. It is recorded.
type extendRequest struct{ scope, resource string }

func (r *extendRequest) Digest() [32]byte {
	return abi.Hash(abi.AppendText(abi.AppendText([]byte("extend"), r.scope), r.resource))
}

// extend asks the host to raise a limit of an account, and reports whether it did. If several branches reach the same
// limit, one asks, and the others use its result.
func (b *Branch) extend(by *budget, r units.Resource, agent string, at *engine.Frame, asked int) (bool, error) {
	if b.Run.Spec.OnBudget == nil {
		return false, nil
	}
	p, mu := by.account, &b.Budget.run.mu
	mu.Lock()
	limit := p.caps[r]
	if p.asking {
		mu.Unlock()
		err := b.Sched.Wait(func() bool {
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
	l := engine.BudgetLimit{Budget: p.label(), Scope: by.at.Path(), Resource: units.Args[r], Agent: agent, Limit: engine.AtMost(limit), Used: engine.AtMost(p.used[r])}
	mu.Unlock()
	to, err := b.AskHost(l, at, asked)
	mu.Lock()
	p.asking = false
	raised := err == nil && to > limit
	var news event.BudgetChange
	if raised {
		p.caps[r] = to
		news = by.news(event.BudgetExtended, r)
	}
	mu.Unlock()
	b.Sched.Wake()
	if raised && b.Wants(engine.EventBudget) {
		b.EmitBudget([]event.BudgetChange{news}, false)
	}
	return raised, err
}

// AskHost runs the recorded effect of asking. Questions are distinguished by budget, resource, and how often they were
// asked at this position.
func (b *Branch) AskHost(l engine.BudgetLimit, at *engine.Frame, asked int) (int64, error) {
	e := b.question(l.Scope, l.Resource, at, asked)
	if out, known := b.Known(e); known {
		return allowed(out)
	}
	out := b.Sched.Do(engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, _ engine.Sink) (out engine.Outcome) {
		defer func() {
			if p := recover(); p != nil {
				out = engine.Failed(engine.Panicked("the host's OnBudget", p))
			}
		}()
		n, _ := b.Run.Spec.OnBudget(ctx, l).Value()
		out = engine.Outcome{Value: generable.IntOf(max(n, 0)), Attempt: 1}
		if j := b.Run.Spec.Journal; j != nil {
			out = commit(ctx, j, e, out)
		}
		return out
	}), e, nil)
	return allowed(out)
}

func (b *Branch) question(scope, resource string, at *engine.Frame, asked int) *engine.Effect {
	return (&InFlight{Effect: engine.Effect{Kind: engine.EffectBudget, Name: "extend", Run: b.RunID(), At: at.Child("limit", resource, asked),
		Req: &extendRequest{scope, resource}, Class: engine.ClassRead}}).Begin()
}

func allowed(out engine.Outcome) (int64, error) {
	if out.Err != nil {
		return 0, out.Err
	}
	n, ok := out.Value.AsInt()
	if !ok {
		return 0, engine.Errorf(engine.KindReplay, diag.ReplayMismatch, "what was recorded of a budget's extension is no number")
	}
	return n, nil
}

// extended restores the limits that were raised for a recorded effect, so that a run that continues from a record has
// what its host allowed.
func (b *Branch) extended(e *engine.Effect) {
	if b.Run.Spec.OnBudget == nil || b.Run.Spec.Journal == nil {
		return
	}
	for at := b.Budget; at != nil; at = at.up {
		for r := range at.account.caps {
			if !at.account.bounds(units.Resource(r)) {
				continue
			}
			for asked := 0; ; asked++ {
				out, known := b.Known(b.question(at.at.Path(), units.Args[r], e.At, asked))
				n, err := allowed(out)
				if !known || err != nil { // nothing is asked after a failure
					break
				}
				b.Budget.run.mu.Lock()
				if at.account.bounds(units.Resource(r)) {
					at.account.caps[r] = max(at.account.caps[r], n)
				}
				b.Budget.run.mu.Unlock()
			}
		}
	}
}
