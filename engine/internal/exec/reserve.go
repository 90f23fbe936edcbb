package exec

import (
	"fmt"
	"strconv"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/internal/abi"
	"github.com/agentscript/agentscript/engine/internal/units"
	"github.com/agentscript/agentscript/engine/model"
)

// toolCallRequest is the recorded reservation of one call of a script's tool. Requests differ only by position.
type toolCallRequest struct{}

func (toolCallRequest) Digest() [32]byte { return abi.Hash([]byte("tool call")) }

// ReserveToolCall reserves one call of a tool of the script. Nothing stays held while the tool runs, since what it
// calls may need the same resource. Several agents may share what is left, so the result is recorded as for effects: a
// replay runs the tool itself again.
func (b *Branch) ReserveToolCall(agent string) error {
	a := &Ask{Want: Estimate{units.ToolCalls: 1}}
	if b.Run.Spec.Journal == nil || !b.Budget.shares {
		if b.Made() {
			b.charge(a, nil, model.Usage{})
			return nil
		}
		held, err := b.Reserve(a, agent, b.At)
		if err == nil {
			held.Settle(nil, model.Usage{})
		}
		return err
	}
	e := (&InFlight{Effect: engine.Effect{Kind: engine.EffectBudget, Name: "tool_call", Agent: agent, Run: b.RunID(), At: b.At.Child("budget", "", 0), Req: toolCallRequest{}, Class: engine.ClassRead}}).Begin()
	if out, known := b.Known(e); known {
		b.extended(e)
		if out.Err != nil {
			return out.Err
		}
		b.charge(a, nil, model.Usage{})
		return nil
	}
	if b.Made() { // by a run whose budgets were not shared
		b.charge(a, nil, model.Usage{})
		return nil
	}
	held, err := b.Reserve(a, agent, e.At)
	out := engine.Outcome{Attempt: 1}
	switch {
	case err == nil:
		held.Settle(nil, model.Usage{})
	case b.Sched.Err() != nil: // stopped while it waited
		return err
	default:
		out = engine.Outcome{Err: engine.AsError(err)}
		b.Tell(engine.EventBudget, &event.Budget{Name: "tool_calls", Err: out.Err})
	}
	if out = b.record(e, out); out.Err != nil {
		return out.Err
	}
	return nil
}

// Ask is what a branch requests from its budgets before an effect.
type Ask struct {
	Want  Estimate  // must fit
	reply *reply    // of a model call whose tokens or money are limited, else nil
	Of    *Dialogue // of the conversation that makes the call, nil for a tool
}

// held returns what is held for the ask, including what further attempts added.
func (a *Ask) held() Estimate {
	e := a.Want
	if a.reply != nil {
		a.reply.want(&e, a.reply.given)
	}
	return e
}

// kept returns the conversation's reservation for a last answer, nil for none.
func (a *Ask) kept() *Reservation {
	if a.Of == nil {
		return nil
	}
	return a.Of.Reservation
}

// Reservation is what a conversation keeps for its last answer, on every level.
type Reservation struct {
	kept  Estimate     // now
	Next  Estimate     // from the beginning of the requested call
	In    *budget      // of the conversation
	Outer *Reservation // of the conversation whose tool contains this one
	waits int          // the waiting asks of this conversation and those inside it
}

// keepsIn reports whether it keeps something in an account.
func (k *Reservation) keepsIn(p *account) bool {
	for at := k.In; at != nil; at = at.up {
		if at.account == p {
			return true
		}
	}
	return false
}

// move changes what is kept to Next. The caller holds the lock.
func (k *Reservation) move() {
	if k == nil || k.kept == k.Next {
		return
	}
	for at := k.In; at != nil; at = at.up {
		in := at.account.inner()
		for r := range k.kept {
			in.kept[r] = units.Add(in.kept[r]-k.kept[r], k.Next[r])
		}
	}
	k.stand(func() { k.kept = k.Next })
}

// Release returns what a conversation kept.
func (b *Branch) Release(k *Reservation) {
	b.Budget.run.mu.Lock()
	k.Next = Estimate{}
	k.move()
	b.Budget.run.mu.Unlock()
	b.Sched.Wake()
}

// hold is an open reservation. Its holder must not make another reservation before it is settled: a reservation that
// waits for what its own branch holds waits forever.
type hold struct {
	b    *Branch
	from *budget
	of   *Ask
}

// begin makes the reservation of an effect.
func (b *Branch) begin(e *engine.Effect, a *Ask) (hold, error) {
	if err := b.untimely(a); err != nil {
		return hold{}, err
	}
	return b.Reserve(a, e.Agent, e.At)
}

// Reserve takes an estimate from the branch's budgets before an effect. While other reservations are open, and while
// active conversations keep tokens for a last answer, it waits for what they return: calls in flight are paid for and
// should end well. If nothing will be returned it fails, unless the host allows more.
func (b *Branch) Reserve(a *Ask, agent string, at *engine.Frame) (hold, error) {
	for asked := 0; ; {
		v, p, r := b.Budget.take(b, a)
		if v == granted {
			return hold{b, b.Budget, a}, nil
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

// await waits until the ask can be granted or is refused.
func (b *Branch) await(a Ask) (v verdict, by *budget, r units.Resource, err error) {
	s := &waiter{b: b, a: &a}
	b.stopClocks(1) // others take the time
	defer b.stopClocks(-1)
	s.register(true)
	defer s.register(false)
	err = b.Sched.Wait(func() bool {
		b.Budget.run.mu.Lock()
		defer b.Budget.run.mu.Unlock()
		v, by, r = s.answered()
		return v == granted || v == refused
	})
	return v, by, r, err
}

// Settle books what was used. Every reservation is settled exactly once.
func (h hold) Settle(e *engine.Effect, u model.Usage) {
	h.b.settle(h.from, h.of, spent{h.b.used(h.of.Want, e, u), u})
	h.b.Sched.Wake()
}

// used returns the real use of a call for which e was reserved.
func (b *Branch) used(e Estimate, of *engine.Effect, u model.Usage) Estimate {
	e[units.Tokens] = units.Add(int64(max(u.In, 0)), int64(max(u.Out, 0)))
	e[units.USD] = b.cost(of, u)
	return e
}

// charge books the use of a recorded effect without a check.
func (b *Branch) charge(a *Ask, e *engine.Effect, u model.Usage) {
	b.settle(b.Budget, nil, spent{b.used(a.Want, e, u), u})
}

// refusal returns the error of an ask that did not fit.
func (b *Branch) refusal(by *budget, r units.Resource, a *Ask) *engine.Error {
	p := by.account
	b.Budget.run.mu.Lock()
	defer b.Budget.run.mu.Unlock()
	limit, used, held, kept, last := p.caps[r], p.used[r], p.held[r], p.keeps(int(r)), int64(0)
	if k := a.kept(); k != nil {
		kept, last = max(kept-k.kept[r], 0), k.Next[r]
	}
	e := Overspent(p.label(), limit, r)
	e.OfRun, e.Scope = by.up == nil, by.at.Path()
	if used >= limit || r == units.Steps {
		return e
	}
	text := fmt.Sprintf("%s has too little left: %s of its %s %s used", p.label(), partOf(used, r), units.Of(limit, r), isOrAre(used, r))
	if held > 0 {
		text += fmt.Sprintf(", %s %s held by calls that run", partOf(held, r), isOrAre(held, r))
	}
	if kept > 0 {
		text += fmt.Sprintf(", %s %s kept for the last answers of others", partOf(kept, r), isOrAre(kept, r))
	}
	text += fmt.Sprintf("; the next call %smay need %s", cannotFit(a), units.Of(a.Want[r], r))
	if last > 0 {
		text += fmt.Sprintf(" and its last answer after it %s", units.Of(last, r))
	}
	if c := a.reply; c != nil {
		text += fmt.Sprintf(" (about %d tokens to read, at least %d to answer)", c.in, c.least)
	}
	e.Message = text
	if r == units.Tokens || r == units.USD {
		e.Help = fmt.Sprintf("raise it with budget(%s = ...), or send less: a call begins only when there is room for what it reads and the least that its model takes for an answer, thoughts included", units.Args[r])
	}
	return e
}

// cannotFit returns the words for a model call whose minimum does not fit.
func cannotFit(a *Ask) string {
	if a.reply == nil {
		return ""
	}
	return "cannot fit: it "
}

// partOf writes an amount of a named resource: "none of its 15 tokens".
func partOf(n int64, r units.Resource) string {
	switch {
	case r == units.USD && n > 0:
		return units.Of(n, r)
	case r == units.USD:
		return "nothing"
	case n == 0:
		return "none"
	}
	return strconv.FormatInt(n, 10)
}

func isOrAre(n int64, r units.Resource) string {
	if n < 2 || r == units.USD {
		return "is"
	}
	return "are"
}

// Overspent returns the error of a budget that is used up.
func Overspent(label string, limit int64, r units.Resource) *engine.Error {
	code := diag.BudgetExceeded
	if r == units.Steps {
		code = diag.StepLimit
	}
	return engine.Errorf(engine.KindBudget, code, "%s is used up: the limit of %s is reached", label, units.Of(limit, r)).
		WithHelp("raise it with budget(%s = ...), or find out in the events what uses so %s", units.Args[r], muchOrMany(r))
}

func muchOrMany(r units.Resource) string {
	if r == units.USD {
		return "much"
	}
	return "many"
}

// Steps charges interpreter steps and reports cancellation. The host language calls it every few thousand steps.
func (b *Branch) Steps(n int64) error {
	if p, r := b.Budget.spend(b, Estimate{units.Steps: n}); p != nil {
		return b.refusal(p, r, &Ask{Want: Estimate{units.Steps: n}})
	}
	return b.Sched.Yield()
}
