package engine

import (
	"fmt"
	"sync"
	"time"

	"github.com/agentscript/agentscript/diag"
)

// Cap is an upper bound; the zero Cap does not bound.
type Cap struct {
	n   int64
	set bool
}

// AtMost returns a bound of n, which may be 0.
func AtMost(n int64) Cap { return Cap{n: n, set: true} }

// Value returns the bound, and whether there is one.
func (c Cap) Value() (int64, bool) { return c.n, c.set }

// Limits bound what a run, or one call of an agent, may use. They nest: what an agent uses
// counts against its run as well.
type Limits struct {
	ModelCalls Cap
	Turns      Cap           // model calls in one agent call; default 8 for agents
	ToolCalls  Cap           // default 32 for agents
	Tokens     Cap           // in and out together; calls in flight may overshoot it
	Steps      Cap           // of the script interpreter
	Wall       time.Duration // 0: unbounded
}

// Defaults of an agent call.
const (
	DefaultTurns     = 8
	DefaultToolCalls = 32
)

// Estimate is what an effect is expected to use.
type Estimate struct {
	ModelCalls int64
	ToolCalls  int64
}

// resource indexes the counters of a budget.
type resource int

const (
	resModelCalls resource = iota
	resToolCalls
	resTokens
	resSteps
	resources
)

var resourceNames = [resources]string{"model calls", "tool calls", "tokens", "script steps"}
var resourceArgs = [resources]string{"model_calls", "tool_calls", "tokens", "steps"}

// budget counts one scope: what was used, and what open reservations hold. All budgets of a
// run share one lock, so that a reservation is taken on every level or on none.
type budget struct {
	up    *budget
	mu    *sync.Mutex
	label string
	caps  [resources]Cap
	used  [resources]int64
	held  [resources]int64
}

func newBudget(up *budget, label string, l Limits) *budget {
	b := &budget{up: up, label: label}
	b.caps = [resources]Cap{l.ModelCalls, l.ToolCalls, l.Tokens, l.Steps}
	if up != nil {
		b.mu = up.mu
	} else {
		b.mu = &sync.Mutex{}
	}
	return b
}

// verdict of one try to reserve.
type verdict uint8

const (
	granted verdict = iota
	later           // open reservations may give something back
	refused
)

// try takes want on every level, or nothing.
func (b *budget) try(want [resources]int64) (verdict, *budget, resource) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for at := b; at != nil; at = at.up {
		for r, n := range want {
			c := at.caps[r]
			if n == 0 || !c.set || at.used[r]+at.held[r]+n <= c.n {
				continue
			}
			if at.held[r] > 0 && at.used[r]+n <= c.n {
				return later, at, resource(r)
			}
			return refused, at, resource(r)
		}
		// Tokens are counted when a call ends: a spent budget starts no further call.
		if c := at.caps[resTokens]; c.set && want[resModelCalls] > 0 && at.used[resTokens] >= c.n {
			return refused, at, resTokens
		}
	}
	for at := b; at != nil; at = at.up {
		for r, n := range want {
			at.held[r] += n
		}
	}
	return granted, nil, 0
}

// settle turns a reservation into what was really used.
func (b *budget) settle(held, used [resources]int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for at := b; at != nil; at = at.up {
		for r := range held {
			at.held[r] -= held[r]
			at.used[r] += used[r]
		}
	}
}

// Hold is an open reservation.
type Hold struct {
	b    *Branch
	want [resources]int64
}

// Reserve takes an estimate from the branch's budgets before an effect. While other
// reservations are open it waits for what they give back; when none is, it fails.
func Reserve(b *Branch, e Estimate) (Hold, error) {
	want := [resources]int64{resModelCalls: e.ModelCalls, resToolCalls: e.ToolCalls}
	for {
		v, at, r := b.budget.try(want)
		switch v {
		case granted:
			return Hold{b, want}, nil
		case refused:
			return Hold{}, at.refusal(r)
		}
		if err := b.sched.Wait(func() bool {
			v, _, _ := b.budget.peek(want)
			return v != later
		}); err != nil {
			return Hold{}, err
		}
	}
}

// peek is try without taking.
func (b *budget) peek(want [resources]int64) (verdict, *budget, resource) {
	v, at, r := b.try(want)
	if v == granted {
		b.settle(want, [resources]int64{})
	}
	return v, at, r
}

// Settle gives back what was not used. Every reservation is settled exactly once.
func (h Hold) Settle(u Usage) {
	used := h.want
	used[resTokens] = int64(u.In + u.Out)
	h.b.budget.settle(h.want, used)
	h.b.sched.Wake()
}

// charge books what a recorded effect used, without asking.
func (b *Branch) charge(e Estimate, u Usage) {
	b.budget.settle([resources]int64{}, [resources]int64{
		resModelCalls: e.ModelCalls, resToolCalls: e.ToolCalls, resTokens: int64(u.In + u.Out)})
}

func (b *budget) refusal(r resource) *Error {
	code := diag.BudgetExceeded
	if r == resSteps {
		code = diag.StepLimit
	}
	e := Errorf(KindBudget, code, "%s used up: the limit of %d %s is reached", b.label, b.caps[r].n, resourceNames[r])
	return e.WithHelp("%s", fmt.Sprintf("raise it with budget(%s = ...), or find out in the events what uses so many", resourceArgs[r]))
}

// Steps debits interpreter steps and reports cancellation. The host language calls it every
// few thousand steps.
func (b *Branch) Steps(n int64) error {
	want := [resources]int64{resSteps: n}
	v, at, r := b.budget.try(want)
	if v != granted {
		return at.refusal(r)
	}
	b.budget.settle(want, want)
	return b.sched.Yield()
}
