package event

import (
	"fmt"
	"slices"

	"github.com/agentscript/agentscript/engine/internal/units"
)

// BudgetChange is what an event tells of a budget.
type BudgetChange struct {
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

// Of says how much of the limit is used, as in "60 of 200 tokens" and "$0.06 of $0.50".
func (n *BudgetChange) Of() string {
	r := units.Resource(slices.Index(units.Args[:], n.Resource))
	if r < 0 {
		return ""
	}
	return units.AmountIn(n.Used, r) + " of " + units.Of(units.InCount(n.Limit, r), r)
}

// String says the news in a sentence.
func (n *BudgetChange) String() string {
	r := units.Resource(slices.Index(units.Args[:], n.Resource))
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
		return fmt.Sprintf("%s was extended to %s", n.Budget, units.Of(units.InCount(n.Limit, r), r))
	}
	return "a bound is reached: a last answer is asked for, without tools"
}
