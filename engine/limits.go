package engine

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/units"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// Cap is an upper bound; the zero Cap does not bound, or stands for the default where there is one.
type Cap struct {
	over int64 // one more than the bound, 0 for none: a run holds many of them while it waits
}

// AtMost returns a bound of n, which may be 0; below it nothing is allowed either.
func AtMost(n int64) Cap {
	if n == math.MaxInt64 {
		return Cap{n}
	}
	return Cap{max(n, 0) + 1}
}

// Unlimited returns a bound that is never reached, where a zero Cap stands for a default.
func Unlimited() Cap { return AtMost(math.MaxInt64) }

// Dollars returns a bound on money, in US dollars. It is kept in billionths of a dollar; what is no
// amount, such as a negative one, allows nothing.
func Dollars(usd float64) Cap { return AtMost(units.Nanos(usd)) }

// Set reports whether there is a bound.
func (c Cap) Set() bool { return c.over > 0 }

// N is the bound, 0 where there is none.
func (c Cap) N() int64 {
	if c.over == math.MaxInt64 {
		return c.over
	}
	return max(c.over-1, 0)
}

// Value returns the bound, and whether there is one.
func (c Cap) Value() (int64, bool) { return c.N(), c.Set() }

// USD returns a bound on money in US dollars, and whether there is one.
func (c Cap) USD() (float64, bool) { return float64(c.N()) / units.PerDollar, c.Set() }

func (c Cap) Or(n int64) int64 {
	if c.Set() {
		return c.N()
	}
	return n
}

// Limits bound what a run, a node or one call of an agent may use. They nest: what is used inside
// counts against everything around it as well. Turns and ToolCalls of an agent's own budget bound
// its own conversation; those of a run, of a node and of a named budget count all that goes on
// inside, as the other counts always do.
type Limits struct {
	// Name makes one budget of all that have the name: it is opened once in a run, and what any
	// agent or node with it uses is gone for all of them. Without a name each call has its own.
	Name string

	ModelCalls Cap
	Turns      Cap           // model calls in one agent call; default 8 for agents
	ToolCalls  Cap           // default 32 for agents
	Tokens     Cap           // in and out together
	USD        Cap           // see [Dollars]; a call whose price is not known is not made
	Steps      Cap           // of the script interpreter
	Depth      Cap           // agents that call each other, the outermost counted; default 16
	SameCall   Cap           // one after the other of one tool with the same arguments; default 8 for agents
	ArgBytes   Cap           // of the arguments of one tool call; the model is told of one that is longer
	Wall       time.Duration // 0: the default, where there is one; [NoWall]: unbounded
	OnLimit    OnLimit       // of an agent
	// WarnAt are the parts of a bound, from 0 to 1 and rising, at which an event is told; nil is
	// [DefaultWarnAt], empty tells of none. Those behind the first 255 are not told.
	WarnAt []float64
}

// OnLimit says what an agent does when a budget is used up in the midst of its conversation.
type OnLimit uint8

// What an agent may do when a budget is used up.
const (
	OnLimitFail   OnLimit = iota // it fails
	OnLimitAnswer                // it is asked for an answer once more, without tools
)

// NoWall is a wall time without an end, where 0 stands for a default.
const NoWall time.Duration = -1

// Defaults of an agent call. No turn begins after DefaultAgentWall, which stands still while a person
// is to decide; a wall time that is given cuts off what runs.
const (
	DefaultTurns     = 8
	DefaultToolCalls = 32
	DefaultDepth     = 16
	DefaultSameCall  = 8
	DefaultAgentWall = 5 * time.Minute
)

// DefaultWarnAt returns the parts of a bound at which an event is told when nothing else is said.
func DefaultWarnAt() []float64 { return slices.Clone(defaultWarnAt) }

var defaultWarnAt = []float64{0.8} // never written

// Over reports whether the limits bound more than a conversation, which counts for itself.
func (l *Limits) Over() bool {
	return l.Name != "" || l.ModelCalls.Set() || l.Tokens.Set() || l.USD.Set() || l.Steps.Set()
}

// Same reports whether two limits are alike.
func (l *Limits) Same(m *Limits) bool {
	return l.Name == m.Name && l.counts() == m.counts() && l.Wall == m.Wall && l.OnLimit == m.OnLimit && slices.Equal(l.WarnAt, m.WarnAt)
}

func (l *Limits) counts() [9]Cap {
	return [...]Cap{l.ModelCalls, l.Turns, l.ToolCalls, l.Tokens, l.USD, l.Steps, l.Depth, l.SameCall, l.ArgBytes}
}

func (l *Limits) Thresholds() []float64 {
	if l == nil || l.WarnAt == nil {
		return defaultWarnAt
	}
	return l.WarnAt
}

// Late is the error of a run that did not end within its wall time.
func (l Limits) Late() *Error { return late(l.Wall) }

// late is the error of a run that took longer than its wall time.
func late(wall time.Duration) *Error {
	return Errorf(KindTimeout, diag.Timeout, "the run did not end within %s", wall).
		WithHelp("allow more time with --timeout, or find the slow step in the events")
}

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
