package engine

import (
	"cmp"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// dialogue is what budgets and approvals know of the conversation of one agent call.
type dialogue struct {
	a       *AgentSpec
	outer   *dialogue // of the conversation for which this one is had, nil for none
	turn    int32     // from 0
	closing bool      // the last answer was asked for
	seen    int64     // tokens up to and with the model's last answer, 0 when not known
	keep    *reserve  // for a last answer; nil when there is none
	until   time.Time // no turn but the first begins later
	pause   *pause    // of that time; nil: nobody was asked
}

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
	for d := b.inside; d != nil; d = d.outer {
		if d.a.Budget.Wall != 0 {
			continue
		}
		if d.pause == nil {
			d.pause = &pause{}
		}
		p := d.pause
		if p.open == 0 {
			p.left = d.until.Sub(now)
		}
		if p.open += by; p.open == 0 {
			p.sum += p.left - d.until.Sub(now)
		}
	}
}

// end is when the agent's time ends, as far as it has gone on.
func (d *dialogue) end(l *ledger) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d.pause == nil {
		return d.until
	}
	return d.until.Add(d.pause.sum)
}

// untimely refuses a turn that would begin after the agent's time.
func (b *branch) untimely(a *ask) error {
	d := a.of
	if d == nil || d.turn == 0 || d.closing || d.until.IsZero() || b.sched.Now().Before(d.end(b.budget.run)) {
		return nil
	}
	return outOfTime(d.a.Name, cmp.Or(d.a.Budget.Wall, DefaultAgentWall))
}

func outOfTime(agent string, wall time.Duration) *Error {
	return Errorf(KindBudget, diag.BudgetExceeded, "agent %q used up its time of %s", agent, wall).
		WithHelp("raise it with budget(wall = ...)")
}
