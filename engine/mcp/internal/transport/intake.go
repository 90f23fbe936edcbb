package transport

import (
	"fmt"
	"sync/atomic"
)

// Bounds limit what a server may send.
type Bounds struct {
	Message int64 // bytes of one message
	Unasked int64 // bytes between starts and ends of calls
}

// DefaultBounds are the default limits.
var DefaultBounds = Bounds{Message: MaxFrame, Unasked: 2 * MaxFrame}

// Breach says how a server broke its session.
type Breach string

// Error implements error.
func (b Breach) Error() string { return string(b) }

// errGarbage is the breach of a server that prints to its standard output.
const errGarbage = Breach("it writes what is no message to its standard output")

// Intake limits what a server sends over one session, and keeps the first reason why the session was lost.
type Intake struct {
	bounds  Bounds
	unasked atomic.Int64 // bytes since a call last began or ended
	broke   atomic.Pointer[error]
}

// NewIntake returns the intake of a new session.
func NewIntake(b Bounds) *Intake { return &Intake{bounds: b} }

// Asked restarts the count: a call begins or ends.
func (i *Intake) Asked() { i.unasked.Store(0) }

// Break records the error by which the session was lost; the first one stays.
func (i *Intake) Break(err error) {
	if err != nil {
		i.broke.CompareAndSwap(nil, &err)
	}
}

// Reason returns why the session was lost, nil if it was not or the reason is unknown.
func (i *Intake) Reason() error {
	if p := i.broke.Load(); p != nil {
		return *p
	}
	return nil
}

// count counts received bytes, and returns a breach if there are too many.
func (i *Intake) count(n int) error {
	if i.unasked.Add(int64(n)) > i.bounds.Unasked {
		return Breach(fmt.Sprintf("it sent more than %d MB unasked", i.bounds.Unasked>>20))
	}
	return nil
}

// tooLarge returns the breach of a message that is too large.
func (i *Intake) tooLarge() Breach {
	return Breach(fmt.Sprintf("one of its answers has more than %d MB", i.bounds.Message>>20))
}
