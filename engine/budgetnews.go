package engine

import (
	"fmt"
	"math"
	"slices"
	"strconv"
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
	BudgetSpent      BudgetWhat = "budget.spent"       // what was used in the end, which the event of a run's end tells
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

// account tells what was used of the tokens and the money that a budget bounds.
func (b *budget) account() (news []BudgetNews) {
	b.run.mu.Lock()
	defer b.run.mu.Unlock()
	for _, r := range []resource{resTokens, resUSD} {
		if b.pot.bounds(r) {
			news = append(news, b.news(BudgetSpent, r))
		}
	}
	return news
}

// Of says how much of the limit is used, as in "60 of 200 tokens" and "$0.06 of $0.50".
func (n *BudgetNews) Of() string {
	r := resource(slices.Index(resourceArgs[:], n.Resource))
	if r < 0 {
		return ""
	}
	return amountIn(n.Used, r) + " of " + amountOf(inCount(n.Limit, r), r)
}

func inCount(x float64, r resource) int64 {
	if r == resUSD {
		return nanos(x)
	}
	return int64(x)
}

func inUnits(n int64, r resource) float64 {
	if r == resUSD {
		return float64(n) / perDollar
	}
	return float64(n)
}

// tellBudget emits news of budgets.
func (b *branch) tellBudget(news []BudgetNews, replayed bool) {
	for i := range news {
		n := &news[i]
		b.emit(Event{Kind: EventBudget, Data: &BudgetData{Name: n.Resource, Text: n.String(), Change: n, Replayed: replayed}})
	}
}

// String says the news in a sentence.
func (n *BudgetNews) String() string {
	r := resource(slices.Index(resourceArgs[:], n.Resource))
	if r < 0 {
		return fmt.Sprintf("%s: %s", n.Budget, n.What)
	}
	switch n.What {
	case BudgetThreshold:
		return fmt.Sprintf("%s: %s used (past %.0f%%)", n.Budget, n.Of(), 100*n.At)
	case BudgetOverrun:
		return fmt.Sprintf("%s is overrun: %s used; no further call begins", n.Budget, n.Of())
	case BudgetSpent:
		return fmt.Sprintf("%s: %s used", n.Budget, n.Of())
	case BudgetExtended:
		return fmt.Sprintf("%s was extended to %s", n.Budget, amountOf(inCount(n.Limit, r), r))
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

func (t *turns) label() string { return "the budget of agent " + strconv.Quote(t.a.Name) }
