package engine

import (
	"math"
	"sync"
	"time"

	"github.com/agentscript/agentscript/diag"
)

// Cap is an upper bound; the zero Cap does not bound, or stands for the default where there is one.
type Cap struct {
	n   int64
	set bool
}

// AtMost returns a bound of n, which may be 0.
func AtMost(n int64) Cap { return Cap{n: n, set: true} }

// Unlimited returns a bound that is never reached, where a zero Cap stands for a default.
func Unlimited() Cap { return AtMost(math.MaxInt64) }

// Value returns the bound, and whether there is one.
func (c Cap) Value() (int64, bool) { return c.n, c.set }

func (c Cap) or(n int64) int64 {
	if c.set {
		return c.n
	}
	return n
}

// Limits bound what a run, or one call of an agent, may use. They nest: what an agent uses
// counts against its run as well. Of an agent, Turns and ToolCalls bound its own conversation,
// and the others all that it calls, too.
type Limits struct {
	ModelCalls Cap
	Turns      Cap           // model calls in one agent call; default 8 for agents
	ToolCalls  Cap           // default 32 for agents
	Tokens     Cap           // in and out together; calls in flight may overshoot it
	Steps      Cap           // of the script interpreter
	Wall       time.Duration // 0 and [NoWall]: unbounded
}

// NoWall is a wall time without an end, where 0 stands for a default.
const NoWall time.Duration = -1

// Defaults of an agent call.
const (
	DefaultTurns     = 8
	DefaultToolCalls = 32
)

// resource indexes the counters of a budget.
type resource int

const (
	resModelCalls resource = iota
	resToolCalls
	resTokens
	resSteps
	resources
)

var resourceNames = [resources]string{"model call", "tool call", "token", "script step"}
var resourceArgs = [resources]string{"model_calls", "tool_calls", "tokens", "steps"}

// estimate is what something is expected to use of each resource.
type estimate [resources]int64

// budget counts one scope: what was used, and what open reservations hold. All budgets of a
// run share one lock, so that a reservation is taken on every level or on none.
type budget struct {
	up    *budget
	mu    *sync.Mutex
	label string
	at    *Frame // where it was opened
	apart bool   // it bounds nothing, and tells what a branch uses
	caps  [resources]Cap
	used  estimate
	held  estimate
}

// newBudget opens the budget of a run or, below another one, of an agent call.
func newBudget(up *budget, at *Frame, label string, l Limits) *budget {
	b := &budget{up: up, at: at, label: label}
	b.caps = [resources]Cap{resModelCalls: l.ModelCalls, resTokens: l.Tokens, resSteps: l.Steps}
	if up != nil {
		b.mu = up.mu
	} else {
		b.mu = &sync.Mutex{}
		b.caps[resToolCalls] = l.ToolCalls
	}
	return b
}

// verdict of one look at a budget.
type verdict uint8

const (
	granted verdict = iota
	later           // open reservations may give something back
	refused
)

// look tells whether want fits on every level, else which level and resource refuse it. The
// caller holds the lock.
func (b *budget) look(want estimate) (verdict, *budget, resource) {
	for at := b; at != nil; at = at.up {
		for r, n := range want {
			c := at.caps[r]
			if n == 0 || !c.set || plus(plus(at.used[r], at.held[r]), n) <= c.n {
				continue
			}
			if at.held[r] > 0 && plus(at.used[r], n) <= c.n {
				return later, at, resource(r)
			}
			return refused, at, resource(r)
		}
		// Tokens are counted when a call ends: a spent budget starts no further call.
		if c := at.caps[resTokens]; c.set && want[resModelCalls] > 0 && at.used[resTokens] >= c.n {
			return refused, at, resTokens
		}
	}
	return granted, nil, 0
}

// take holds want on every level when it fits on all.
func (b *budget) take(want estimate) (verdict, *budget, resource) {
	b.mu.Lock()
	defer b.mu.Unlock()
	v, at, r := b.look(want)
	if v == granted {
		for at := b; at != nil; at = at.up {
			for r, n := range want {
				at.held[r] += n
			}
		}
	}
	return v, at, r
}

// spend books what was used already, or gives the level and resource that refuse it.
func (b *budget) spend(used estimate) (*budget, resource) {
	b.mu.Lock()
	defer b.mu.Unlock()
	v, at, r := b.look(used)
	if v != granted {
		return at, r
	}
	for at := b; at != nil; at = at.up {
		for r, n := range used {
			at.used[r] = plus(at.used[r], n)
		}
	}
	return nil, 0
}

// settle turns a reservation into what was really used.
func (b *budget) settle(held, used estimate) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for at := b; at != nil; at = at.up {
		for r := range held {
			at.held[r] -= held[r]
			at.used[r] = plus(at.used[r], used[r])
		}
	}
}

// hold is an open reservation. Whoever holds one must not reserve another before it is
// settled: a reservation that waits for what its own branch holds waits for ever.
type hold struct {
	b    *Branch
	from *budget
	want estimate
}

// reserve takes an estimate from the branch's budgets before an effect. While other
// reservations are open it waits for what they give back: what is in flight was paid for and
// is to end well. When none is open it fails.
func (b *Branch) reserve(want estimate) (hold, error) {
	for {
		switch v, at, r := b.budget.take(want); v {
		case granted:
			return hold{b, b.budget, want}, nil
		case refused:
			return hold{}, at.refusal(r)
		}
		err := b.sched.Wait(func() bool {
			b.budget.mu.Lock()
			defer b.budget.mu.Unlock()
			v, _, _ := b.budget.look(want)
			return v != later
		})
		if err != nil {
			return hold{}, err
		}
	}
}

// settle books what was used. Every reservation is settled exactly once.
func (h hold) settle(u Usage) {
	h.from.settle(h.want, h.want.with(u))
	h.b.sched.Wake()
}

// with adds to an estimate of calls what they really used.
func (e estimate) with(u Usage) estimate {
	e[resTokens] = plus(int64(max(u.In, 0)), int64(max(u.Out, 0)))
	return e
}

// plus adds counts, none of which is negative. A sum that is too large stays at the largest, so
// that what is spent stays spent.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// charge books what a recorded effect used, without asking.
func (b *Branch) charge(e estimate, u Usage) { b.budget.settle(estimate{}, e.with(u)) }

func (b *budget) refusal(r resource) *Error {
	e := overspent(b.label, b.caps[r].n, r)
	e.OfRun, e.Scope = b.up == nil, b.at.Path()
	return e
}

func overspent(label string, limit int64, r resource) *Error {
	code := diag.BudgetExceeded
	if r == resSteps {
		code = diag.StepLimit
	}
	return Errorf(KindBudget, code, "%s is used up: the limit of %d %s%s is reached", label, limit, resourceNames[r], plural(limit)).
		WithHelp("raise it with budget(%s = ...), or find out in the events what uses so many", resourceArgs[r])
}

func plural(n int64) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// Steps debits interpreter steps and reports cancellation. The host language calls it every
// few thousand steps.
func (b *Branch) Steps(n int64) error {
	if at, r := b.budget.spend(estimate{resSteps: n}); at != nil {
		return at.refusal(r)
	}
	return b.sched.Yield()
}
