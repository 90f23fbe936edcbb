package exec

import (
	"math"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/units"
)

// addEvents adds the news of what was booked on a resource. The caller holds the lock.
func (b *budget) addEvents(r units.Resource, news *[]engine.BudgetEvent) {
	p := b.account
	parts := p.limits.Thresholds()
	for ; int(p.warned[r]) < min(len(parts), math.MaxUint8) && Passed(p.used[r], parts[p.warned[r]], p.caps[r]); p.warned[r]++ {
		n := b.news(engine.BudgetThreshold, r)
		n.At = parts[p.warned[r]]
		*news = append(*news, n)
	}
	if p.used[r] > p.caps[r] {
		*news = append(*news, b.news(engine.BudgetOverrun, r))
	}
}

// Passed reports whether a part of a limit is used.
func Passed(used int64, part float64, limit int64) bool {
	return limit > 0 && float64(used) >= part*float64(limit)
}

func (b *budget) news(what engine.BudgetWhat, r units.Resource) engine.BudgetEvent {
	p := b.account
	return engine.BudgetEvent{What: what, Budget: p.label(), Scope: b.at.Path(), Resource: units.Args[r],
		Used: units.InUnits(p.used[r], r), Limit: units.InUnits(p.caps[r], r)}
}

// Report tells what was used of the tokens and the money that a budget bounds.
func (b *budget) Report() (news []engine.BudgetEvent) {
	b.run.mu.Lock()
	defer b.run.mu.Unlock()
	for _, r := range []units.Resource{units.Tokens, units.USD} {
		if b.account.bounds(r) {
			news = append(news, b.news(engine.BudgetSpent, r))
		}
	}
	return news
}

// EmitBudget emits news of budgets.
func (b *Branch) EmitBudget(news []engine.BudgetEvent, replayed bool) {
	for i := range news {
		n := &news[i]
		b.Emit(engine.Event{Kind: engine.EventBudget, Data: &engine.BudgetData{Name: n.Resource, Text: n.String(), Change: n, Replayed: replayed}})
	}
}
