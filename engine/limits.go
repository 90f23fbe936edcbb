package engine

import (
	"context"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/internal/units"
	"github.com/agentscript/agentscript/engine/model"
)

// Cap is an upper bound. The zero Cap does not bound, or means the default if there is one.
type Cap struct {
	over int64 // the bound plus one, 0 for none; small, because a waiting run holds many of them
}

// AtMost returns a bound of n, which may be 0. A negative n allows nothing either.
func AtMost(n int64) Cap {
	if n == math.MaxInt64 {
		return Cap{n}
	}
	return Cap{max(n, 0) + 1}
}

// Unlimited returns a bound that is never reached, for places where the zero Cap means a default.
func Unlimited() Cap { return AtMost(math.MaxInt64) }

// Dollars returns a bound on money, in US dollars. It is stored in billionths of a dollar. A value that is not an
// amount, such as a negative one, allows nothing.
func Dollars(usd float64) Cap { return AtMost(units.Nanos(usd)) }

// Set reports whether there is a bound.
func (c Cap) Set() bool { return c.over > 0 }

// N returns the bound, or 0 if there is none.
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

// Limits bound what a run, a node or one call of an agent may use. They nest: what is used inside also counts against
// everything around it. Turns and ToolCalls of an agent's own budget bound its own conversation; those of a run, of a
// node and of a named budget count everything inside, as the other counts always do.
type Limits struct {
	// Name makes one budget of all limits with the same name: it is opened once in a run, and agents and nodes with
	// the name share it. Without a name each call has its own.
	Name string

	ModelCalls Cap
	Turns      Cap           // model calls in one agent call; default 8 for agents
	ToolCalls  Cap           // default 32 for agents
	Tokens     Cap           // in and out together
	USD        Cap           // see [Dollars]; a call whose price is unknown is not made
	Steps      Cap           // of the script interpreter
	Depth      Cap           // of agents that call each other, including the outermost; default 16
	SameCall   Cap           // consecutive calls of one tool with the same arguments; default 8 for agents
	ArgBytes   Cap           // of the arguments of one tool call; the model is told if they are longer
	Wall       time.Duration // 0: the default, if there is one; [NoWall]: unbounded
	OnLimit    OnLimit       // of an agent
	// WarnAt are the parts of a bound, from 0 to 1 and ascending, at which an event is emitted. nil means only 0.8,
	// empty means never. Only the first 255 are used.
	WarnAt []float64
}

// OnLimit says what an agent does when a budget is used up during its conversation.
type OnLimit uint8

// What an agent may do when a budget is used up.
const (
	OnLimitFail   OnLimit = iota // it fails
	OnLimitAnswer                // it is asked once more for an answer, without tools
)

// NoWall means unlimited wall time, for places where 0 means a default.
const NoWall time.Duration = -1

var defaultWarnAt = []float64{0.8} // never written

// Over reports whether the limits bound more than a conversation, which has its own counts.
func (l *Limits) Over() bool {
	return l.Name != "" || l.ModelCalls.Set() || l.Tokens.Set() || l.USD.Set() || l.Steps.Set()
}

// Same reports whether two limits are equal.
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

// latest is the last result of Late: waiting runs share the error.
var latest atomic.Pointer[lateAfter]

type lateAfter struct {
	wall time.Duration
	err  *Error
}

// Late returns the error of a run that did not end within its wall time. The error must not be changed.
func (l *Limits) Late() *Error {
	if known := latest.Load(); known != nil && known.wall == l.Wall {
		return known.err
	}
	err := l.late()
	latest.Store(&lateAfter{l.Wall, err})
	return err
}

func (l *Limits) late() *Error {
	return Errorf(KindTimeout, diag.Timeout, "the run did not end within %s", l.Wall).
		WithHelp("allow more time with --timeout, or find the slow step in the events")
}

// BudgetLimit is a bound that a run has reached, and that its host may raise.
type BudgetLimit struct {
	Budget   string // as messages name it
	Scope    string // the position where it was opened
	Resource string // as budget(...) names it: "turns", "tokens", "usd"
	Agent    string // the agent that wants more, or ""
	Limit    Cap    // the current bound; for money see [Cap.USD]
	Used     Cap
}

// OnBudget is called when a budget is used up, before anything fails because of that. It returns the bound that
// applies from then on. A bound that is not higher than Limit, or the zero Cap, changes nothing. The answer is
// recorded, so that a replay asks nobody. OnBudget may wait for a person; the rest of the run continues in the
// meantime.
type OnBudget func(ctx context.Context, l BudgetLimit) Cap

// Pricer knows the prices of model calls. The registry of engine/llm is one. A Pricer that also has the method
//
//	AnswerSize(req *model.Request) (least, most int)
//
// knows the smallest limit, in tokens including thoughts, that the provider accepts for an answer, and the largest
// answer that is possible. If the budgets have no room for the least, the call is not made.
type Pricer interface {
	// PriceCall returns the price in US dollars of a call with the given usage, for the most expensive model that may
	// answer the request. If the price of one of these models is not known, it returns that model's name and no
	// price.
	PriceCall(req *model.Request, u model.Usage) (usd float64, unpriced string)
}
