package run

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/exec"
	"github.com/agentscript/agentscript/engine/internal/interp"
	"github.com/agentscript/agentscript/engine/internal/quiet"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// Execution is one execution of a node or function that its host can abandon. A handler that ignores its context
// cannot be stopped: [Execution.Run] returns only when the handler does. A host that must not wait for that calls Run
// on another goroutine and abandons the execution.
type Execution struct {
	sched engine.Sched
	run   exec.Run
}

// New returns an execution on a scheduler. It can be run once.
func New(s engine.Sched, spec *Spec) *Execution {
	x := &Execution{s, exec.NewRun(spec, interp.Interp{})}
	x.sched = x.run.On(s)
	return x
}

// Run runs to the end and returns the value; see [Exec].
func (x *Execution) Run() (out generable.Value, err error) {
	defer x.recovered(&err)
	r := &x.run
	err = x.sched.Par(1, 0, func(_ int, s engine.Sched) error {
		b := r.Begin(s)
		emitRun(b, engine.PhaseStart, nil)
		gone := true
		defer func() {
			if gone { // a function of the host ended the goroutine; the run must still give back what it has taken
				r.GiveBack()
				ended(b, sched.Ended(nil))
			}
		}()
		err := b.Guard(func() (err error) {
			if err = resume(b); err != nil {
				return err
			}
			if out, err = root(b, r.Spec); err != nil {
				return err
			}
			return keep(b)
		})
		if lost := r.GiveBack(); err == nil && lost != nil {
			err = b.Locate(lost, nil)
		}
		gone = false
		return ended(b, err)
	})
	if err = x.cameTo(err); err != nil {
		out = generable.Value{}
	}
	return out, err
}

// cameTo returns the error of a run whose scheduler returned err, or nil. It is not inlined, so that a parked run
// does not hold its frame.
//
//go:noinline
func (x *Execution) cameTo(err error) error {
	var e *engine.Error // also nil if a host's scheduler returns a nil *engine.Error
	if err != nil {
		e = engine.AsError(err)
	}
	switch {
	case !x.run.Over.Load(): // the scheduler ended it, or never began it
		return x.broken(cmp.Or(e, exec.Unrun()))
	case e == nil:
		return nil
	}
	return e
}

// recovered is deferred. It turns a panic of the scheduler into the error of the run.
func (x *Execution) recovered(err *error) {
	if p := recover(); p != nil {
		*err = x.broken(engine.Panicked("the scheduler", p))
	}
}

// broken ends the run because of a fault of its scheduler. The scheduler is not called any more.
func (x *Execution) broken(why *engine.Error) error {
	x.run.Over.Store(true)
	x.run.Events.Close()
	_ = x.run.GiveBack() // the run has failed already
	e := *why
	e.Path = cmp.Or(e.Path, "main")
	return &e
}

// Abandon ends an execution that is still running although its scheduler must stop. Its listener receives nothing
// more, and what Run returns later is of no use. failed describes what is still running; it is nil if the execution
// has ended by itself or has no reason to end. tell emits the end of the run. It waits for the listener, which may be
// what does not return.
func (x *Execution) Abandon() (failed *engine.Error, tell func()) {
	why := x.sched.Err()
	if why == nil || !x.run.Over.CompareAndSwap(false, true) {
		return nil, nil
	}
	e := *engine.AsError(why)
	e.Path = "main"
	if busy := x.run.Pending.List(); len(busy) > 0 {
		names := make([]string, 0, maxNamed)
		for _, one := range busy[:min(len(busy), maxNamed)] {
			e := one.(*engine.Effect)
			names = append(names, string(e.Kind)+" "+strconv.Quote(cmp.Or(e.Name, e.Agent)))
		}
		more := ""
		if n := len(busy) - len(names); n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		e.Path = busy[0].(*engine.Effect).At.Path()
		e.Message += ", but what runs " + strings.Join(names, ", ") + more + " has not returned"
		e.Help = "a handler or tool of the host ends when its context does; until it returns, its goroutine is left behind"
	} else {
		e.Message += ", but its script has not stopped"
		e.Help = "one operation on very much data and a builtin of the host cannot be interrupted; until it ends, its goroutine is left behind"
	}
	return &e, func() {
		b := x.run.Branch(x.sched)
		if err := x.run.GiveBack(); err != nil { // what is left behind must not save anything more
			e.Notes = append(e.Notes, err.Error())
		}
		emitRun(b, engine.PhaseEnd, &e)
		x.run.Events.Close()
	}
}

// maxNamed is the maximum number of effects that an error names.
const maxNamed = 3

// Seed returns the seed from which the run's random numbers and ids follow.
func (x *Execution) Seed() uint64 { return Seed(x.run.Spec) }

// TimeLeft returns how much of a wall time the run may still work, and whether it is working now. In virtual time,
// and for a run that works all the time, no account of that is kept, and TimeLeft returns 0 and true.
func (x *Execution) TimeLeft(wall time.Duration) (left time.Duration, works bool) {
	w := quiet.Of(x.sched)
	if w == nil || x.run.Spec.Virtual {
		return 0, true
	}
	worked, works := w.Worked(x.sched)
	return wall - worked, works
}

// Left returns how many calls of handlers and tools were left behind and have not returned, because they ignore that
// they must stop. It may be called at any time, including after the run.
func (x *Execution) Left() int {
	n := int(x.run.Left.Load())
	if x.run.Over.Load() { // abandoned, it may have some in flight
		n += len(x.run.Pending.List())
	}
	return n
}
