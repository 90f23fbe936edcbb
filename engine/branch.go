package engine

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// Branch is one line of execution of a run, as callbacks see it: on it they log, wait, touch the world and keep host
// state. It belongs to one goroutine at a time. Nodes, memories and parallel calls are reached through functions that
// take a Branch: [run.Call], [run.CallsAt], [run.Memory] and [run.Remaining].
type Branch interface {
	// Path returns the position in the run.
	Path() string
	// RunID returns the run's id.
	RunID() string

	// Host returns the host language's state of this branch, initially nil.
	Host() any
	// SetHost sets the host language's state of this branch.
	SetHost(h any)

	// Log emits a log event.
	Log(text string)
	// Phase emits an event that says which part of the script begins, for people who watch. It affects neither the
	// run nor positions. The phase lasts until the next one at its position, or until what runs there ends.
	Phase(name string)
	// Wants reports whether anybody listens to events of a kind.
	Wants(k EventKind) bool

	// Err returns why the branch must stop, or nil.
	Err() error
	// OnCancel arranges for f to be called, concurrently with the branch, when the branch must stop. The callback
	// that calls OnCancel must call stop before it returns. A watch costs about as much as a short callback.
	OnCancel(f func()) (stop func() bool)
	// Steps debits interpreter steps and reports cancellation. The host language calls it every
	// few thousand steps.
	Steps(n int64) error
	// Wait parks the branch until ready reports true, or returns why the branch must stop. ready is called again
	// after every Wake, and must be quick.
	Wait(ready func() bool) error
	// Wake makes every waiting branch of the run call its ready function again.
	Wake()

	// Catch returns the failure that a script may handle and continue after. If the script may not, failed is nil and
	// ends is the error to return: when the branch must stop (cancelled, out of time, ended by a sibling), when a limit
	// of the whole run is reached, and when the fault is not the flow's own: a panic, a journal that fails, a replay
	// that differs from its record. If a sibling has ended the branch, ends is why, and not a failure that would have
	// been caught. Both are nil if err is.
	Catch(err error) (failed *Error, ends error)
	// Catchable is like Catch, for callers that only inspect the failure: the script does not continue after it here.
	Catchable(err error) (failed *Error, ends error)
	// Apart counts what the branch uses from now on separately, until the returned function is called, so that Catch
	// can distinguish what never began from what was stopped.
	Apart() (end func())

	// WaitFor waits for a value of type t that somebody sends to the run under a name.
	WaitFor(name string, t *generable.Type) (generable.Value, error)
	// Approve asks a person a question of the script, about data of type t that may be null. The result is an
	// [ApprovalType]. A denial is not an error.
	Approve(question string, data generable.Value, t *generable.Type) (generable.Value, error)
	// Approved asks a person about a value of type t and returns it, or the value that the person put in its place. A
	// denial is an error.
	Approved(question string, v generable.Value, t *generable.Type) (generable.Value, error)
}

// Func is a callback of the host language.
type Func interface {
	// Call runs the callback on a branch. The callback owns args until it returns. An error ends the node; an
	// [*Error] carries the position in the host language.
	Call(b Branch, args []generable.Value) (generable.Value, error)
	// Info describes the callback.
	Info() FuncInfo
}

// FuncInfo describes a callback.
type FuncInfo struct {
	Name   string
	Doc    string
	Pos    diag.Pos
	Params int // the maximum number of positional parameters
	Needs  int // how many of them are required
}

// GoFunc turns a Go function into a [Func].
func GoFunc(name string, params int, f func(b Branch, args []generable.Value) (generable.Value, error)) Func {
	return &goFunc{FuncInfo{Name: name, Params: params, Needs: params}, f}
}

type goFunc struct {
	info FuncInfo
	f    func(b Branch, args []generable.Value) (generable.Value, error)
}

func (g *goFunc) Call(b Branch, args []generable.Value) (generable.Value, error) {
	return g.f(b, args)
}

func (g *goFunc) Info() FuncInfo { return g.info }
