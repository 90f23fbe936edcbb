package transport

import (
	"fmt"
	"sync/atomic"
)

// Bounds are what a server may send.
type Bounds struct {
	Message int64 // bytes of one message
	Unasked int64 // bytes between the beginnings and ends of calls
}

// DefaultBounds are those of a host that says nothing else.
var DefaultBounds = Bounds{Message: MaxFrame, Unasked: 2 * MaxFrame}

// Breach is how a server broke its session.
type Breach string

// Error implements error.
func (b Breach) Error() string { return string(b) }

// errGarbage is the breach of a server that prints.
const errGarbage = Breach("it writes what is no message to its standard output")

// Intake bounds what a server sends over one session, and keeps the first reason that the session
// was lost by.
type Intake struct {
	bounds  Bounds
	unasked atomic.Int64 // bytes since the last call began or ended
	broke   atomic.Pointer[error]
}

// NewIntake returns the intake of a new session.
func NewIntake(b Bounds) *Intake { return &Intake{bounds: b} }

// Asked counts anew: a call begins or ends.
func (i *Intake) Asked() { i.unasked.Store(0) }

// Break notes that the session was lost by an error; the first one stays.
func (i *Intake) Break(err error) {
	if err != nil {
		i.broke.CompareAndSwap(nil, &err)
	}
}

// Reason is what the session was lost by, nil when it was not or nothing is known.
func (i *Intake) Reason() error {
	if p := i.broke.Load(); p != nil {
		return *p
	}
	return nil
}

// count counts bytes that came, and returns the breach where these are a flood.
func (i *Intake) count(n int) error {
	if i.unasked.Add(int64(n)) > i.bounds.Unasked {
		return Breach(fmt.Sprintf("it sent more than %d MB that nobody asked for", i.bounds.Unasked>>20))
	}
	return nil
}

// tooLarge is the breach of a message that is larger than it may be.
func (i *Intake) tooLarge() Breach {
	return Breach(fmt.Sprintf("one of its answers has more than %d MB", i.bounds.Message>>20))
}
