package engine

import (
	"strings"

	"github.com/agentscript/agentscript/diag"
)

// Catch gives the failure that a script may handle and go on after, nil when it may not: when
// the branch is to stop (cancelled, out of time, a sibling ended it), when a limit of the whole
// run is reached, and when the fault is not the flow's own: a panic, a journal that fails, a
// replay that differs from its record.
func (b *branch) Catch(err error) *Error {
	if err == nil || IsControl(err) || b.sched.Err() != nil {
		return nil
	}
	e := asError(b.locate(err, nil))
	switch e.Kind {
	case KindCancelled, KindPanic, KindReplay, KindStore:
		return nil
	case KindBudget:
		if e.OfRun {
			return nil
		}
	}
	if status := b.outcome(e); status != e.Status() { // it may have been caught before, further in
		e = e.withStatus(status)
	}
	return e
}

// Status is how what failed ended: failed, or else skipped or cancelled by a budget that is used
// up and is none of its own. [branch.Catch] finds it out.
func (e *Error) Status() Status {
	if e.status == "" {
		return StatusFailed
	}
	return e.status
}

// withStatus is the error of what ended so.
func (e *Error) withStatus(s Status) *Error {
	own := *e
	own.status = s
	return &own
}

// outcome tells how what stands at the branch's position ended, by its failure.
func (b *branch) outcome(e *Error) Status {
	if e.Kind != KindBudget || e.Scope == "" {
		return StatusFailed
	}
	rest, around := strings.CutPrefix(b.at.Path(), e.Scope)
	switch {
	case !around || rest != "" && rest[0] != '/':
		return StatusFailed
	case b.budget.apart && e.Code != diag.StepLimit && b.budget.spent() == estimate{}:
		return StatusSkipped
	}
	return StatusCancelled
}

// Apart counts what the branch uses from now on by itself, until the function that it returns is
// called, so that [branch.Catch] can tell what was never begun from what was stopped. Where no
// agent's budget is around there is nothing to tell apart: the run's ends the run.
func (b *branch) Apart() (end func()) {
	outer := b.budget
	if outer.up == nil {
		return func() {}
	}
	b.countApart()
	return func() { b.budget = outer }
}

// countApart opens a budget that bounds nothing.
func (b *branch) countApart() {
	b.budget = newBudget(b.budget, b.at, "", nil, false)
	b.budget.apart = true
}

// spent is what was used of a budget.
func (b *budget) spent() estimate {
	b.run.mu.Lock()
	defer b.run.mu.Unlock()
	return b.pot.used
}
