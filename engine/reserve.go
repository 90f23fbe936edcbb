package engine

import (
	"fmt"
	"strconv"

	"github.com/agentscript/agentscript/diag"
)

// ask is what a branch wants of its budgets before an effect.
type ask struct {
	want estimate // must fit
	more estimate // is held as well, as far as it is there: an answer of no set length may need it
	of   *turns   // whose call it is, nil of a tool
}

// kept is what the conversation keeps for a last answer, nil for none.
func (a *ask) kept() *reserve {
	if a.of == nil {
		return nil
	}
	return a.of.end.keep
}

// reserve is what a conversation keeps for its last answer, on every level.
type reserve struct {
	kept estimate // now
	next estimate // when the call that is asked for has begun
}

// move makes what is kept what is to be kept. The caller holds the lock.
func (k *reserve) move(b *budget) {
	if k == nil || k.kept == k.next {
		return
	}
	for at := b; at != nil; at = at.up {
		if at.pot.kept == nil {
			at.pot.kept = &estimate{}
		}
		for r := range k.kept {
			at.pot.kept[r] = plus(at.pot.kept[r]-k.kept[r], k.next[r])
		}
	}
	k.kept = k.next
}

// release gives back what a conversation kept.
func (b *Branch) release(k *reserve) {
	b.budget.run.mu.Lock()
	k.next = estimate{}
	k.move(b.budget)
	b.budget.run.mu.Unlock()
	b.sched.Wake()
}

// hold is an open reservation. Whoever holds one must not reserve another before it is
// settled: a reservation that waits for what its own branch holds waits for ever.
type hold struct {
	b    *Branch
	from *budget
	of   *ask
}

// begin reserves what an effect asks for.
func (b *Branch) begin(e *Effect, a *ask) (hold, error) {
	if err := b.untimely(a); err != nil {
		return hold{}, err
	}
	return b.reserve(a, e.Agent, e.At)
}

// reserve takes an estimate from the branch's budgets before an effect. While other
// reservations are open it waits for what they give back: what is in flight was paid for and
// is to end well. When none is open it fails, unless the host allows more.
func (b *Branch) reserve(a *ask, agent string, at *Frame) (hold, error) {
	for asked := 0; ; {
		v, p, r := b.budget.take(a)
		switch {
		case v == granted:
			return hold{b, b.budget, a}, nil
		case v == refused:
			more, err := b.extend(p, r, agent, at, asked)
			if err != nil {
				return hold{}, err
			}
			if !more {
				return hold{}, b.refusal(p, r, a.want[r])
			}
			asked++
			continue
		}
		if err := b.await(*a); err != nil {
			return hold{}, err
		}
	}
}

// await waits until what is asked for is granted or refused.
func (b *Branch) await(a ask) error {
	return b.sched.Wait(func() bool {
		b.budget.run.mu.Lock()
		defer b.budget.run.mu.Unlock()
		v, _, _ := b.budget.look(&a)
		return v != later
	})
}

// settle books what was used. Every reservation is settled exactly once.
func (h hold) settle(e *Effect, u Usage) {
	b := h.b
	b.tellBudget(h.from.settle(h.of.want, b.used(h.of.want, e, u), b.Wants(EventBudget)), false)
	b.sched.Wake()
}

// used is what a call really took, where an estimate was held for it.
func (b *Branch) used(e estimate, of *Effect, u Usage) estimate {
	e[resTokens] = plus(int64(max(u.In, 0)), int64(max(u.Out, 0)))
	e[resUSD] = b.cost(of, u)
	return e
}

// charge books what a recorded effect used, without asking.
func (b *Branch) charge(a *ask, e *Effect, u Usage) {
	b.tellBudget(b.budget.settle(estimate{}, b.used(a.want, e, u), b.Wants(EventBudget)), true)
}

// refusal is the error of what did not fit.
func (b *Branch) refusal(by *budget, r resource, n int64) *Error {
	p := by.pot
	b.budget.run.mu.Lock()
	defer b.budget.run.mu.Unlock()
	limit, left := p.caps[r], max(p.caps[r]-plus(p.used[r], p.keeps(int(r))), 0)
	e := overspent(p.label(), limit, r)
	if (r == resTokens || r == resUSD) && left > 0 {
		e.Message = fmt.Sprintf("%s has %s of its %s left, and the next call may need %s", p.label(), amountOf(left, r), amountOf(limit, r), amountOf(n, r))
		e.Help = fmt.Sprintf("raise it with budget(%s = ...), or bound the answer with max_tokens: a call begins only when all that it may need is there", resourceArgs[r])
	}
	e.OfRun, e.Scope = by.up == nil, by.at.Path()
	return e
}

func overspent(label string, limit int64, r resource) *Error {
	code := diag.BudgetExceeded
	if r == resSteps {
		code = diag.StepLimit
	}
	return Errorf(KindBudget, code, "%s is used up: the limit of %s is reached", label, amountOf(limit, r)).
		WithHelp("raise it with budget(%s = ...), or find out in the events what uses so %s", resourceArgs[r], muchOrMany(r))
}

func muchOrMany(r resource) string {
	if r == resUSD {
		return "much"
	}
	return "many"
}

// amountOf is a number of a resource for people: "15 tokens", "$0.50".
func amountOf(n int64, r resource) string {
	if r == resUSD {
		usd := strconv.FormatFloat(float64(n)/perDollar, 'f', -1, 64)
		if n%1e7 == 0 {
			usd = fmt.Sprintf("%.2f", float64(n)/perDollar)
		}
		return "$" + usd
	}
	return fmt.Sprintf("%d %s%s", n, resourceNames[r], plural(n))
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
	if p, r := b.budget.spend(estimate{resSteps: n}); p != nil {
		return b.refusal(p, r, n)
	}
	return b.sched.Yield()
}
