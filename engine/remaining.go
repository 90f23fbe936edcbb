package engine

import (
	"context"
	"time"

	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/generable"
)

// RemainingType is the schema of what [Remaining] gives. What nothing bounds is null.
var RemainingType = remainingType()

func remainingType() *generable.Type {
	t := &generable.Type{Kind: generable.RecordType, Name: "Remaining", Doc: "What the budgets leave"}
	for _, f := range []struct {
		name, guide string
		of          *generable.Type
	}{
		{"model_calls", "model calls that may still begin", generable.IntT},
		{"tool_calls", "tool calls that the run has left", generable.IntT},
		{"tokens", "tokens, in and out together", generable.IntT},
		{"steps", "steps of the script's own code", generable.IntT},
		{"wall_seconds", "seconds until the time is up", generable.FloatT},
		{"turns", "turns that a budget around several agents has left", generable.IntT},
		{"usd", "US dollars", generable.FloatT},
	} {
		t.Fields = append(t.Fields, generable.Field{Name: f.name, Type: generable.OneOf(f.of, generable.NoneT), Guide: f.guide})
	}
	return t
}

// remainingRequest asks for what is left: nothing but the position tells two of them apart.
type remainingRequest struct{}

func (remainingRequest) Digest() [32]byte { return abi.Hash([]byte("remaining")) }

// Remaining tells what the budgets around the branch leave at this moment, a record of
// [RemainingType]. What that is depends on how far other branches have come and on the clock; so
// it is an effect, and a replay gives what was recorded. No handler sees it.
func Remaining(b Branch) (generable.Value, error) { return b.(*branch).remaining() }

func (b *branch) remaining() (generable.Value, error) {
	if err := b.sched.Err(); err != nil {
		return generable.Value{}, b.locate(err, nil)
	}
	e := (&inFlight{effect: Effect{Kind: EffectBudget, Name: "remaining", Run: b.RunID(), At: b.place("budget", ""), Req: remainingRequest{}, Class: ClassRead}}).begin()
	left := Outcome{Value: b.left(), Attempt: 1}
	return remainingOf(b.own(e, func(context.Context) Outcome { return left }))
}

func remainingOf(out Outcome) (generable.Value, error) {
	if out.Err != nil {
		return generable.Value{}, out.Err
	}
	return converted(out.Value, RemainingType, "what was recorded of budget.remaining()")
}

// left is what the budgets leave, the least of all levels. What calls in flight hold is not left.
func (b *branch) left() generable.Value {
	var left [resources]Cap
	b.budget.run.mu.Lock()
	for at := b.budget; at != nil; at = at.up {
		p := at.pot
		for r, c := range p.caps {
			if p.bounds(resource(r)) {
				n := max(c-plus(plus(p.used[r], p.held[r]), p.keeps(r)), 0)
				left[r] = AtMost(min(left[r].or(n), n))
			}
		}
	}
	b.budget.run.mu.Unlock()
	of := func(r resource) generable.Value {
		if !left[r].set() {
			return generable.Value{}
		}
		return generable.IntOf(left[r].n())
	}
	var wall, usd generable.Value
	if left[resUSD].set() {
		usd, _ = generable.FloatOf(float64(left[resUSD].n()) / perDollar)
	}
	if !b.deadline.IsZero() {
		wall, _ = generable.FloatOf(max(b.deadline.Sub(b.sched.Now()), 0).Round(time.Millisecond).Seconds())
	}
	return generable.NewRecord(RemainingType, []generable.Value{of(resModelCalls), of(resToolCalls), of(resTokens), of(resSteps), wall, of(resTurns), usd}).Value()
}
