package engine

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/generable"
)

// Execution is one execution of a node or function that its host can give up. A handler that
// ignores its context cannot be stopped: [Execution.Run] returns when it does. A host that
// must not wait for that runs it on a goroutine of its own and gives it up.
type Execution struct {
	sched Sched
	run   run
}

// NewExecution makes an execution on a scheduler. It runs once.
func NewExecution(s Sched, spec *RunSpec) *Execution {
	return &Execution{s, newRun((*config)(spec), interp{})}
}

// Run runs to the end and returns the value, see [Exec].
func (x *Execution) Run() (generable.Value, error) {
	r := &x.run
	var out generable.Value
	err := x.sched.Par(1, 0, func(_ int, s Sched) error {
		b := r.begin(s)
		b.tellRun(PhaseStart, nil)
		gone := true
		defer func() {
			if gone { // a function of the host ended the goroutine; what the run has taken is not to stay taken
				r.giveBack()
				b.ended(ended(nil))
			}
		}()
		err := b.guard(func() (err error) {
			if err = b.resume(); err != nil {
				return err
			}
			if out, err = b.root((*RunSpec)(r.spec)); err != nil {
				return err
			}
			return b.keep()
		})
		if lost := r.giveBack(); err == nil && lost != nil {
			err = b.locate(lost, nil)
		}
		gone = false
		return b.ended(err)
	})
	if err != nil {
		return generable.Value{}, asError(err)
	}
	return out, nil
}

// GiveUp ends an execution whose scheduler is to stop though it still runs: its listener hears no more of it, and what Run returns later is of no use. The error says what goes
// on. It is nil when the execution has ended by itself, or has no reason to end. tell emits the
// end of the run; it waits for the listener, which may be what does not return.
func (x *Execution) GiveUp() (failed *Error, tell func()) {
	why := x.sched.Err()
	if why == nil || !x.run.over.CompareAndSwap(false, true) {
		return nil, nil
	}
	e := *asError(why)
	e.Path = "main"
	if busy := x.run.pending.list(); len(busy) > 0 {
		names := make([]string, 0, maxNamed)
		for _, f := range busy[:min(len(busy), maxNamed)] {
			names = append(names, string(f.Kind)+" "+strconv.Quote(cmp.Or(f.Name, f.Agent)))
		}
		more := ""
		if n := len(busy) - len(names); n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		e.Path = busy[0].At.Path()
		e.Message += ", but what runs " + strings.Join(names, ", ") + more + " has not returned"
		e.Help = "a handler or tool of the host ends when its context does; until it returns, its goroutine is left behind"
	} else {
		e.Message += ", but its script has not stopped"
		e.Help = "one operation on very much data and a builtin of the host cannot be interrupted; until it ends, its goroutine is left behind"
	}
	return &e, func() {
		b := x.run.branch(x.sched)
		if err := x.run.giveBack(); err != nil { // what is left behind is to save nothing more
			e.Notes = append(e.Notes, err.Error())
		}
		b.tellRun(PhaseEnd, &e)
		x.run.events.close()
	}
}

// maxNamed bounds how many effects an error names.
const maxNamed = 3
