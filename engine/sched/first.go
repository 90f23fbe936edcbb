package sched

import (
	"sync"

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

// newFirstError begins to keep the failure of the lowest of n indices.
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
