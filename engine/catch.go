package engine

// Catch gives the failure that a script may handle and go on after, nil when it may not: when
// the branch is to stop (cancelled, out of time, a sibling ended it), when a limit of the whole
// run is reached, and when the fault is not the flow's own: a panic, a journal that fails, a
// replay that differs from its record.
func (b *Branch) Catch(err error) *Error {
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
	return e
}
