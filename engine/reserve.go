package engine

import (
	"fmt"
	"github.com/agentscript/agentscript/internal/text"
	"strconv"

	"github.com/agentscript/agentscript/diag"
)

// ask is what a branch wants of its budgets before an effect.
type ask struct {
	want estimate  // must fit
	more estimate  // is held as well, as far as it is there: an answer of no set length may need it
	of   *dialogue // of the conversation whose call it is, nil of a tool
}

// kept is what the conversation keeps for a last answer, nil for none.
func (a *ask) kept() *reserve {
	if a.of == nil {
		return nil
	}
	return a.of.keep
}

// reserve is what a conversation keeps for its last answer, on every level.
type reserve struct {
	kept  estimate // now
	next  estimate // when the call that is asked for has begun
	in    *budget  // of the conversation
	outer *reserve // of the conversation whose tool this one is inside of
	waits int      // asks of this conversation and those inside that wait
}

// keepsIn reports whether it keeps something in a pot.
func (k *reserve) keepsIn(p *pot) bool {
	for at := k.in; at != nil; at = at.up {
		if at.pot == p {
			return true
		}
	}
	return false
}

// move makes what is kept what is to be kept. The caller holds the lock.
func (k *reserve) move() {
	if k == nil || k.kept == k.next {
		return
	}
	for at := k.in; at != nil; at = at.up {
		if at.pot.kept == nil {
			at.pot.kept = &keeping{}
		}
		for r := range k.kept {
			at.pot.kept.of[r] = plus(at.pot.kept.of[r]-k.kept[r], k.next[r])
		}
	}
	k.stand(func() { k.kept = k.next })
}

// release gives back what a conversation kept.
func (b *branch) release(k *reserve) {
	b.budget.run.mu.Lock()
	k.next = estimate{}
	k.move()
	b.budget.run.mu.Unlock()
	b.sched.Wake()
}

// hold is an open reservation. Whoever holds one must not reserve another before it is
// settled: a reservation that waits for what its own branch holds waits for ever.
type hold struct {
	b    *branch
	from *budget
	of   *ask
}

// begin reserves what an effect asks for.
func (b *branch) begin(e *Effect, a *ask) (hold, error) {
	if err := b.untimely(a); err != nil {
		return hold{}, err
	}
	return b.reserve(a, e.Agent, e.At)
}

// reserve takes an estimate from the branch's budgets before an effect. While other reservations
// are open, and while conversations that go on keep room for a last answer, it waits for what they
// give back: what is in flight was paid for and is to end well. When nothing is to come back it
// fails, unless the host allows more.
func (b *branch) reserve(a *ask, agent string, at *Frame) (hold, error) {
	for asked := 0; ; {
		v, p, r := b.budget.take(b, a)
		if v == granted {
			return hold{b, b.budget, a}, nil
		}
		if v != refused {
			var err error
			if v, p, r, err = b.await(*a); err != nil {
				return hold{}, err
			}
		}
		if v != refused {
			continue
		}
		more, err := b.extend(p, r, agent, at, asked)
		if err != nil {
			return hold{}, err
		}
		if !more {
			return hold{}, b.refusal(p, r, a)
		}
		asked++
	}
}

// await waits until what is asked for may be granted or is refused.
func (b *branch) await(a ask) (v verdict, by *budget, r resource, err error) {
	s := &starved{b: b, a: &a}
	s.starve(true)
	defer s.starve(false)
	err = b.sched.Wait(func() bool {
		b.budget.run.mu.Lock()
		defer b.budget.run.mu.Unlock()
		v, by, r = s.answered()
		return v == granted || v == refused
	})
	return v, by, r, err
}

// settle books what was used. Every reservation is settled exactly once.
func (h hold) settle(e *Effect, u Usage) {
	b := h.b
	b.tellBudget(h.from.settle(h.of.want, b.used(h.of.want, e, u), b.Wants(EventBudget)), false)
	b.sched.Wake()
}

// used is what a call really took, where an estimate was held for it.
func (b *branch) used(e estimate, of *Effect, u Usage) estimate {
	e[resTokens] = plus(int64(max(u.In, 0)), int64(max(u.Out, 0)))
	e[resUSD] = b.cost(of, u)
	return e
}

// charge books what a recorded effect used, without asking.
func (b *branch) charge(a *ask, e *Effect, u Usage) {
	b.tellBudget(b.budget.settle(estimate{}, b.used(a.want, e, u), b.Wants(EventBudget)), true)
}

// refusal is the error of what did not fit.
func (b *branch) refusal(by *budget, r resource, a *ask) *Error {
	p := by.pot
	b.budget.run.mu.Lock()
	defer b.budget.run.mu.Unlock()
	limit, used, held, kept, last := p.caps[r], p.used[r], p.held[r], p.keeps(int(r)), int64(0)
	if k := a.kept(); k != nil {
		kept, last = max(kept-k.kept[r], 0), k.next[r]
	}
	e := overspent(p.label(), limit, r)
	e.OfRun, e.Scope = by.up == nil, by.at.Path()
	if used >= limit || r == resSteps {
		return e
	}
	text := fmt.Sprintf("%s has too little left: %s of its %s %s used", p.label(), partOf(used, r), amountOf(limit, r), isOrAre(used, r))
	if held > 0 {
		text += fmt.Sprintf(", %s %s held by calls that run", partOf(held, r), isOrAre(held, r))
	}
	if kept > 0 {
		text += fmt.Sprintf(", %s %s kept for the last answers of others", partOf(kept, r), isOrAre(kept, r))
	}
	text += fmt.Sprintf("; the next call may need %s", amountOf(a.want[r], r))
	if last > 0 {
		text += fmt.Sprintf(" and its last answer after it %s", amountOf(last, r))
	}
	e.Message = text
	if r == resTokens || r == resUSD {
		e.Help = fmt.Sprintf("raise it with budget(%s = ...), or bound the answer with max_tokens: a call begins only when all that it may need is there", resourceArgs[r])
	}
	return e
}

// partOf is a number of something that is named with it: "none of its 15 tokens".
func partOf(n int64, r resource) string {
	switch {
	case r == resUSD && n > 0:
		return amountOf(n, r)
	case r == resUSD:
		return "nothing"
	case n == 0:
		return "none"
	}
	return strconv.FormatInt(n, 10)
}

func isOrAre(n int64, r resource) string {
	if n < 2 || r == resUSD {
		return "is"
	}
	return "are"
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
	return text.Count(n, resourceNames[r])
}

// Steps debits interpreter steps and reports cancellation. The host language calls it every
// few thousand steps.
func (b *branch) Steps(n int64) error {
	if p, r := b.budget.spend(b, estimate{resSteps: n}); p != nil {
		return b.refusal(p, r, &ask{want: estimate{resSteps: n}})
	}
	return b.sched.Yield()
}
