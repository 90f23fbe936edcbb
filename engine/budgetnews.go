package engine

import (
	"fmt"
	"math"
	"slices"
)

// BudgetNews is what an event tells of a budget.
type BudgetNews struct {
	What     BudgetWhat `json:"what"`
	Budget   string     `json:"budget"`          // as messages call it: "the budget of agent \"a\""
	Scope    string     `json:"scope,omitempty"` // where it stands
	Resource string     `json:"resource"`        // as budget(...) names it: "tokens", "usd"
	Used     float64    `json:"used"`            // of money in US dollars
	Limit    float64    `json:"limit"`
	At       float64    `json:"at,omitempty"` // of a threshold: the part of the limit that is passed
}

// BudgetWhat is a kind of news.
type BudgetWhat string

// The news of budgets. Refusals are told by an event with the error.
const (
	BudgetThreshold  BudgetWhat = "budget.threshold"   // a part of the limit is used; once for each budget, resource and part
	BudgetOverrun    BudgetWhat = "budget.overrun"     // a call in flight used more than was reckoned, or a record more than is allowed now
	BudgetExtended   BudgetWhat = "budget.extended"    // the host allowed more: Limit is the new bound
	BudgetLastAnswer BudgetWhat = "budget.last_answer" // an agent is asked to answer with what it has
)

// tell adds the news of what was booked on a resource. The caller holds the lock.
func (b *budget) tell(r resource, news *[]BudgetNews) {
	p := b.pot
	parts := p.limits.warnAt()
	for ; int(p.warned[r]) < min(len(parts), math.MaxUint8) && passed(p.used[r], parts[p.warned[r]], p.caps[r]); p.warned[r]++ {
		n := b.news(BudgetThreshold, r)
		n.At = parts[p.warned[r]]
		*news = append(*news, n)
	}
	if p.used[r] > p.caps[r] {
		*news = append(*news, b.news(BudgetOverrun, r))
	}
}

func (l *Limits) warnAt() []float64 {
	if l == nil || l.WarnAt == nil {
		return defaultWarnAt
	}
	return l.WarnAt
}

func passed(used int64, part float64, limit int64) bool {
	return limit > 0 && float64(used) >= part*float64(limit)
}

func (b *budget) news(what BudgetWhat, r resource) BudgetNews {
	p := b.pot
	return BudgetNews{What: what, Budget: p.label(), Scope: b.at.Path(), Resource: resourceArgs[r],
		Used: inUnits(p.used[r], r), Limit: inUnits(p.caps[r], r)}
}

func inUnits(n int64, r resource) float64 {
	if r == resUSD {
		return float64(n) / perDollar
	}
	return float64(n)
}

// tellBudget emits news of budgets.
func (b *Branch) tellBudget(news []BudgetNews, replayed bool) {
	for i := range news {
		n := &news[i]
		b.emit(Event{Kind: EventBudget, Name: n.Resource, Text: n.String(), Budget: n, Replayed: replayed})
	}
}

// String says the news in a sentence.
func (n *BudgetNews) String() string {
	r := resource(slices.Index(resourceArgs[:], n.Resource))
	if r < 0 {
		return fmt.Sprintf("%s: %s", n.Budget, n.What)
	}
	count := func(x float64) string {
		if r == resUSD {
			return amountOf(nanos(x), r)
		}
		return amountOf(int64(x), r)
	}
	switch n.What {
	case BudgetThreshold:
		return fmt.Sprintf("%s: %s of %s used (past %.0f%%)", n.Budget, amountIn(n.Used, r), count(n.Limit), 100*n.At)
	case BudgetOverrun:
		return fmt.Sprintf("%s is overrun: %s of %s used; no further call begins", n.Budget, amountIn(n.Used, r), count(n.Limit))
	case BudgetExtended:
		return fmt.Sprintf("%s was extended to %s", n.Budget, count(n.Limit))
	}
	return "a bound is reached: a last answer is asked for, without tools"
}

func amountIn(x float64, r resource) string {
	if r == resUSD {
		return amountOf(nanos(x), r)
	}
	return fmt.Sprintf("%.0f", x)
}

// warn tells when a conversation passes a part of a bound that it counts itself.
func (t *turns) warn(r resource, before, after, limit int64) {
	if !t.b.Wants(EventBudget) {
		return
	}
	for _, part := range t.a.Budget.warnAt() {
		if !passed(before, part, limit) && passed(after, part, limit) {
			t.news(BudgetThreshold, r, after, limit, part)
		}
	}
}

func (t *turns) news(what BudgetWhat, r resource, used, limit int64, part float64) {
	t.b.tellBudget([]BudgetNews{{What: what, Budget: t.label(), Scope: t.b.Path(), Resource: resourceArgs[r],
		Used: inUnits(used, r), Limit: inUnits(limit, r), At: part}}, false)
}

func (t *turns) label() string { return "the budget of agent " + quoted(t.a.Name) }
