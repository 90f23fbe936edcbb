package engine

import (
	"time"

	"github.com/agentscript/agentscript/diag"
)

// A Leaver is a [Sched] that does not wait for ever for an effect that goes on after its branch is
// to stop. Without it, a tool that ignores its context holds up the agent whose time is over; a run
// as a whole is given up by its host, see [Execution.GiveUp].
type Leaver interface {
	// DoOrLeave is Do without a sink, except that it returns soon after the branch is to stop,
	// whether the handler does or not. What that comes to later is of no use to the branch.
	DoOrLeave(h Handler, e *Effect) Outcome
}

// leaveAfter is how long an effect may go on after its branch is to stop.
const leaveAfter = time.Second

// doOrLeave carries out an effect under the wall time of an agent. It is for tools, which are the
// host's: models end when they are told to, and so many may be asked at once that a goroutine more
// for each would count.
func (b *Branch) doOrLeave(e *Effect) Outcome {
	if l, ok := b.sched.(Leaver); ok {
		return l.DoOrLeave(b.run.handler, e)
	}
	return b.sched.Do(b.run.handler, e, nil)
}

// left is the outcome of an effect that was left behind.
func left(e *Effect) Outcome {
	return Failed(Errorf(KindTimeout, diag.Timeout, "%s %q has not returned since it was to stop", e.Kind, e.Name).
		WithHelp("a handler or tool of the host ends when its context does; until it returns, its goroutine is left behind"))
}
