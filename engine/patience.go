package engine

import (
	"time"

	"github.com/agentscript/agentscript/generable"
)

// pause is how long an agent's time stood still, as people were waited for. The run's ledger locks it:
// calls of one answer wait at once.
type pause struct {
	open int           // decisions that are waited for now
	left time.Duration // of the agent's time, as it was when the first of them began
	sum  time.Duration
}

// patient is do for what a person decides. Meanwhile the default time of every agent for which the
// call is made stands still: a person may take hours. A time that is given does not, nor is anything
// of this recorded: a turn that is refused is, so that a replay does not ask the clock.
func (b *branch) patient(e *Effect) (generable.Value, *Error) {
	b.pausing(1)
	out := b.do(e, nil)
	b.pausing(-1) // not after a panic, by which all that stood still ends
	return out.Value, out.Err
}

// pausing begins or ends a wait in the conversations around the branch.
//
//go:noinline
func (b *branch) pausing(by int) {
	now := b.sched.Now()
	b.budget.run.mu.Lock()
	defer b.budget.run.mu.Unlock()
	for t := b.inside; t != nil; t = t.outer {
		if t.a.Budget.Wall != 0 {
			continue
		}
		if t.end.pause == nil {
			t.end.pause = &pause{}
		}
		p := t.end.pause
		if p.open == 0 {
			p.left = t.end.until.Sub(now)
		}
		if p.open += by; p.open == 0 {
			p.sum += p.left - t.end.until.Sub(now)
		}
	}
}

// until is when the agent's time ends, as far as it has gone on.
func (t *turns) until() time.Time {
	l := t.b.budget.run
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.end.pause == nil {
		return t.end.until
	}
	return t.end.until.Add(t.end.pause.sum)
}
