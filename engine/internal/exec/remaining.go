package exec

import (
	"context"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/engine/internal/units"
	"github.com/agentscript/agentscript/generable"
)

// remainingRequest asks for what is left: nothing but the position tells two of them apart.
type remainingRequest struct{}

func (remainingRequest) Digest() [32]byte { return abi.Hash([]byte("remaining")) }

func (b *Branch) Remaining() (generable.Value, error) {
	if err := b.Sched.Err(); err != nil {
		return generable.Value{}, b.Locate(err, nil)
	}
	e := (&engine.InFlight{Effect: engine.Effect{Kind: engine.EffectBudget, Name: "remaining", Run: b.RunID(), At: b.place("budget", ""), Req: remainingRequest{}, Class: engine.ClassRead}}).Begin()
	left := engine.Outcome{Value: b.left(), Attempt: 1}
	return remainingOf(b.Own(e, func(context.Context) engine.Outcome { return left }))
}

func remainingOf(out engine.Outcome) (generable.Value, error) {
	if out.Err != nil {
		return generable.Value{}, out.Err
	}
	return engine.Converted(out.Value, engine.RemainingType, "what was recorded of budget.remaining()")
}

// left is what the budgets leave, the least of all levels. What calls in flight hold is not left.
func (b *Branch) left() generable.Value {
	var left [units.Resources]engine.Cap
	b.Budget.run.mu.Lock()
	for at := b.Budget; at != nil; at = at.up {
		p := at.account
		for r, c := range p.caps {
			if p.bounds(units.Resource(r)) {
				n := max(c-units.Add(units.Add(p.used[r], p.held[r]), p.keeps(r)), 0)
				left[r] = engine.AtMost(min(left[r].Or(n), n))
			}
		}
	}
	b.Budget.run.mu.Unlock()
	of := func(r units.Resource) generable.Value {
		if !left[r].Set() {
			return generable.Value{}
		}
		return generable.IntOf(left[r].N())
	}
	var wall, usd generable.Value
	if left[units.USD].Set() {
		usd, _ = generable.FloatOf(float64(left[units.USD].N()) / units.PerDollar)
	}
	if !b.deadline.IsZero() {
		wall, _ = generable.FloatOf(max(b.deadline.Sub(b.Sched.Now()), 0).Round(time.Millisecond).Seconds())
	}
	return generable.NewRecord(engine.RemainingType, []generable.Value{of(units.ModelCalls), of(units.ToolCalls), of(units.Tokens), of(units.Steps), wall, of(units.Turns), usd}).Value()
}
