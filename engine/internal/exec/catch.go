package exec

import (
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// Catch gives the failure that a script may handle and go on after, nil when it may not: when
// the branch is to stop (cancelled, out of time, a sibling ended it), when a limit of the whole
// run is reached, and when the fault is not the flow's own: a panic, a journal that fails, a
// replay that differs from its record.
func (b *Branch) Catch(err error) *engine.Error {
	if err == nil || engine.IsControl(err) || b.Sched.Err() != nil {
		return nil
	}
	e := engine.AsError(b.Locate(err, nil))
	switch e.Kind {
	case engine.KindCancelled, engine.KindPanic, engine.KindReplay, engine.KindStore:
		return nil
	case engine.KindBudget:
		if e.OfRun {
			return nil
		}
	}
	if status := b.outcome(e); status != e.Status() { // it may have been caught before, further in
		e = e.WithStatus(status)
	}
	return e
}

// outcome tells how what stands at the branch's position ended, by its failure.
func (b *Branch) outcome(e *engine.Error) engine.Status {
	if e.Kind != engine.KindBudget || e.Scope == "" {
		return engine.StatusFailed
	}
	rest, around := strings.CutPrefix(b.At.Path(), e.Scope)
	switch {
	case !around || rest != "" && rest[0] != '/':
		return engine.StatusFailed
	case b.Budget.apart && e.Code != diag.StepLimit && b.Budget.spent() == Estimate{}:
		return engine.StatusSkipped
	}
	return engine.StatusCancelled
}

// Apart counts what the branch uses from now on by itself, until the function that it returns is
// called, so that [Branch.Catch] can tell what was never begun from what was stopped. Where no
// agent's budget is around there is nothing to tell apart: the run's ends the run.
func (b *Branch) Apart() (end func()) {
	outer := b.Budget
	if outer.up == nil {
		return func() {}
	}
	b.countApart()
	return func() { b.Budget = outer }
}

// countApart opens a budget that bounds nothing.
func (b *Branch) countApart() {
	b.Budget = NewBudget(b.Budget, b.At, "", nil, false)
	b.Budget.apart = true
}

// spent is what was used of a budget.
func (b *budget) spent() Estimate {
	b.run.mu.Lock()
	defer b.run.mu.Unlock()
	return b.account.used
}
