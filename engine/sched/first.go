package sched

import (
	"sync"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// firstError keeps the failure of the lowest index, preferring real failures to control
// outcomes, in constant space.
type firstError struct {
	mu      sync.Mutex
	at      int
	err     error
	control error
}

// newFirstError returns a firstError for n indices.
func newFirstError(n int) *firstError { return &firstError{at: n} }

func (f *firstError) add(i int, err error) {
	if err == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case engine.IsControl(err):
		f.control = err
	case i < f.at:
		f.at, f.err = i, err
	}
}

func (f *firstError) lowest() error {
	if f.err != nil {
		return f.err
	}
	return f.control
}

// race decides a First: the first body that settles wins, and without one the failure of the lowest
// index counts.
type race struct {
	mu     sync.Mutex
	winner int
	won    error
	errs   *firstError
}

func newRace(n int) *race { return &race{winner: -1, errs: newFirstError(n)} }

// end records how body i ended, and reports whether it has won by that.
func (r *race) end(i int, settled bool, err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.winner >= 0:
		return false
	case settled:
		r.winner, r.won = i, err
	default:
		r.errs.add(i, err)
	}
	return settled
}

// result returns the results of First on s.
func (r *race) result(s engine.Sched) (int, error) {
	if r.winner >= 0 {
		return r.winner, r.won
	}
	if err := r.errs.lowest(); err != nil {
		return -1, err
	}
	return -1, s.Err()
}

// ErrSibling is the control outcome of a branch whose sibling ended it. Schedulers cancel with it.
var ErrSibling = &engine.Control{Why: "stopped because a sibling branch ended"}

// Ended returns the error of a body that did not return: it panicked with p or, if p is nil, left its goroutine.
func Ended(p any) error {
	if p != nil {
		return engine.Panicked("the engine", p)
	}
	return engine.Errorf(engine.KindPanic, diag.Panic, "a branch left its goroutine, by runtime.Goexit or a test's FailNow").
		WithHelp("a handler or host function returns; it does not end the goroutine that it is called on")
}
