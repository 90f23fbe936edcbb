package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/agentscript/agentscript/engine/internal/units"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// BudgetEvent is what an event tells of a budget.
type BudgetEvent struct {
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
func (n *BudgetEvent) Of() string {
	r := units.Resource(slices.Index(units.Args[:], n.Resource))
	if r < 0 {
		return ""
	}
	return units.AmountIn(n.Used, r) + " of " + units.Of(units.InCount(n.Limit, r), r)
}

// String says the news in a sentence.
func (n *BudgetEvent) String() string {
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

// Pricer knows what calls of models cost. The registry of engine/llm is one.
type Pricer interface {
	// PriceCall is what a call with such a usage costs in US dollars, by the dearest of the models that
	// may answer the request. Of a model whose price is not known it gives the name, and no price.
	PriceCall(req *model.Request, u model.Usage) (usd float64, unpriced string)
}

// RemainingType is the schema of what [run.Remaining] gives. What nothing bounds is null.
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
