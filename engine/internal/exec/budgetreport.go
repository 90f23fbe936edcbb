package exec

import (
	"context"
	"math"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/engine/internal/units"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// addEvents appends the events for what was booked on a resource. The caller holds the lock.
func (b *budget) addEvents(r units.Resource, a *Ask, u *spent, news *[]event.BudgetChange) {
	p := b.account
	parts := p.limits.Thresholds()
	for ; int(p.warned[r]) < min(len(parts), math.MaxUint8) && Passed(p.used[r], parts[p.warned[r]], p.caps[r]); p.warned[r]++ {
		n := b.news(event.BudgetThreshold, r)
		n.At = parts[p.warned[r]]
		*news = append(*news, n)
	}
	if p.used[r] > p.caps[r] {
		n := b.news(event.BudgetOverrun, r)
		n.Cause = event.OverrunRecord
		if p.in != nil {
			n.Cause = p.in.strayed[r].cause()
		}
		if a != nil && a.reply != nil && (r == units.Tokens || r == units.USD) {
			n.Requested, n.Reserved = units.InUnits(a.reply.need(r, a.reply.most), r), units.InUnits(a.reply.need(r, a.reply.given), r)
		}
		n.Spent = units.InUnits(u.of[r], r)
		*news = append(*news, n)
	}
}

// spent is the real use of a call, or the use recorded for it.
type spent struct {
	of    Estimate
	usage model.Usage // of a call
}

// stray says how the real use of calls may exceed what was held for them.
type stray uint8

const (
	strayIn     stray = 1 << iota // the input was longer than estimated
	strayOut                      // the answer is longer than its limit
	strayPrice                    // the provider charges more than the known price
	strayInside                   // the call itself asked models, as a tool's server may
)

// strayed returns, for each resource, why a call used more than was held for it.
func (u *spent) strayed(a *Ask) (why [units.Resources]stray) {
	if a == nil {
		return why
	}
	held := a.held()
	for _, r := range [...]units.Resource{units.Tokens, units.USD} {
		switch {
		case u.of[r] <= held[r]:
			continue
		case a.reply == nil:
			why[r] = strayInside
			continue
		}
		in, out := int64(u.usage.In), int64(u.usage.Out)
		if before := a.reply.past; before != nil {
			in, out = in-before.in, out-before.out
		}
		if in > a.reply.in {
			why[r] |= strayIn
		}
		if out > int64(a.reply.given) {
			why[r] |= strayOut
		}
		if why[r] == 0 {
			why[r] = strayPrice
		}
	}
	return why
}

// cause maps the reasons to the one that an event names.
func (s stray) cause() event.OverrunCause {
	switch {
	case s&strayIn != 0 && s&strayOut != 0:
		return event.OverrunInputAndLimit
	case s&strayIn != 0:
		return event.OverrunInput
	case s&strayOut != 0:
		return event.OverrunLimit
	case s&strayPrice != 0:
		return event.OverrunPrice
	case s&strayInside != 0:
		return event.OverrunInside
	}
	return event.OverrunRecord
}

// Passed reports whether a fraction of a limit is used.
func Passed(used int64, part float64, limit int64) bool {
	return limit > 0 && float64(used) >= part*float64(limit)
}

func (b *budget) news(what event.BudgetWhat, r units.Resource) event.BudgetChange {
	p := b.account
	return event.BudgetChange{What: what, Budget: p.label(), Scope: b.at.Path(), Resource: units.Args[r],
		Used: units.InUnits(p.used[r], r), Limit: units.InUnits(p.caps[r], r)}
}

// Report returns how much was used of the tokens and the money that a budget limits.
func (b *budget) Report() (news []event.BudgetChange) {
	b.run.mu.Lock()
	defer b.run.mu.Unlock()
	for _, r := range []units.Resource{units.Tokens, units.USD} {
		if b.account.bounds(r) {
			news = append(news, b.news(event.BudgetSpent, r))
		}
	}
	return news
}

// EmitBudget emits news of budgets.
func (b *Branch) EmitBudget(news []event.BudgetChange, replayed bool) {
	for i := range news {
		n := &news[i]
		b.Emit(engine.Event{Kind: engine.EventBudget, Data: &event.Budget{Name: n.Resource, Text: n.String(), Change: n, Replayed: replayed}})
	}
}

// remainingRequest asks for what is left. Requests differ only by position.
type remainingRequest struct{}

func (remainingRequest) Digest() [32]byte { return abi.Hash([]byte("remaining")) }

func (b *Branch) Remaining() (generable.Value, error) {
	if err := b.Sched.Err(); err != nil {
		return generable.Value{}, b.Locate(err, nil)
	}
	e := (&InFlight{Effect: engine.Effect{Kind: engine.EffectBudget, Name: "remaining", Run: b.RunID(), At: b.place("budget", ""), Req: remainingRequest{}, Class: engine.ClassRead}}).Begin()
	out := b.Own(e, func(context.Context) engine.Outcome { return engine.Outcome{Value: b.left(), Attempt: 1} })
	if out.Err != nil {
		return generable.Value{}, out.Err
	}
	return Converted(out.Value, agent.RemainingType, "what was recorded of budget.remaining()")
}

// left returns what remains in the budgets, the minimum over all levels. What calls in flight hold does not remain.
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
	if d, bounded := b.timeLeft(); bounded {
		wall, _ = generable.FloatOf(max(d, 0).Round(time.Millisecond).Seconds())
	}
	return generable.NewRecord(agent.RemainingType, []generable.Value{of(units.ModelCalls), of(units.ToolCalls), of(units.Tokens), of(units.Steps), wall, of(units.Turns), usd}).Value()
}
