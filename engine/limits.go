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
	ArgBytes   Cap           // of the arguments of one tool call; the model learns of one that is longer
	Wall       time.Duration // 0: the default, where there is one; [NoWall]: unbounded
	OnLimit    OnLimit       // of an agent
	// WarnAt are the parts of a bound, from 0 to 1 and rising, at which there is an event; nil is
	// 0.8 alone, empty is never. Those behind the first 255 have none.
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

// latest is what Late returned last: runs that wait share the error.
var latest atomic.Pointer[lateAfter]

type lateAfter struct {
	wall time.Duration
	err  *Error
}

// Late is the error of a run that did not end within its wall time. It must not be changed.
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

// Pricer knows what calls of models cost. The registry of engine/llm is one. One that also has the method
//
//	AnswerSize(req *model.Request) (least, most int)
//
// knows how many tokens the limit of an answer must at least be for the provider to take it, thoughts included,
// and how many the answer may have. A call for whose least the budgets have no room is not made.
type Pricer interface {
	// PriceCall returns what a call with such a usage costs in US dollars, by the dearest of the models that
	// may answer the request. If the price of one is not known, it returns that model's name and no price.
	PriceCall(req *model.Request, u model.Usage) (usd float64, unpriced string)
}
