package engine

import (
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// Branch is one line of execution of a run, as callbacks see it: they log, wait, touch the world
// and keep host state on it. It belongs to one goroutine at a time. Nodes, memories and parallel
// calls are reached through the functions that take a Branch: [run.Call], [run.CallsAt], [run.Memory] and
// [run.Remaining].
type Branch interface {
	// Path is the position in the run.
	Path() string
	// RunID is the run's id.
	RunID() string

	// Host returns the host language's state of this branch, nil at first.
	Host() any
	// SetHost keeps the host language's state of this branch.
	SetHost(h any)

	// Log emits a log event.
	Log(text string)
	// Phase emits an event that says which part of the script begins, for people that watch. It has no
	// effect on the run, nor on positions: it lasts until the next one at its position, or until
	// what is there ends.
	Phase(name string)
	// Wants reports whether anybody listens to events of a kind.
	Wants(k EventKind) bool

	// Err returns why the branch is to stop, nil while it is not.
	Err() error
	// OnCancel has f called beside the branch when the branch is to stop, as long as the callback
	// that asks for it runs: it calls stop before it returns. A watch costs about what a short
	// callback does.
	OnCancel(f func()) (stop func() bool)
	// Steps debits interpreter steps and reports cancellation. The host language calls it every
	// few thousand steps.
	Steps(n int64) error
	// Wait parks the branch until ready reports true, or returns why the branch is to stop. ready
	// is asked again after every Wake, and must be quick.
	Wait(ready func() bool) error
	// Wake has every waiting branch of the run ask again.
	Wake()

	// Catch returns the failure that a script may handle and go on after, nil when it may not: when
	// the branch is to stop (cancelled, out of time, a sibling ended it), when a limit of the whole
	// run is reached, and when the fault is not the flow's own: a panic, a journal that fails, a
	// replay that differs from its record.
	Catch(err error) *Error
	// Catchable is Catch for one who only looks: the script does not go on here.
	Catchable(err error) *Error
	// Apart counts what the branch uses from now on by itself, until the function that it returns
	// is called, so that Catch can tell what was never begun from what was stopped.
	Apart() (end func())

	// WaitFor waits for a value of type t that somebody sends to the run by a name.
	WaitFor(name string, t *generable.Type) (generable.Value, error)
	// Approve asks a person a question of the script, about data of type t that may be null. The
	// result is an [ApprovalType]: that it was not approved is no error.
	Approve(question string, data generable.Value, t *generable.Type) (generable.Value, error)
	// Approved asks a person about a value of type t and returns it, or what the person put in its
	// place. That it is denied is an error.
	Approved(question string, v generable.Value, t *generable.Type) (generable.Value, error)
}

// Func is a callback of the host language.
type Func interface {
	// Call runs the callback on a branch. The args are its own until it returns. An error
	// ends the node; it carries the host language's position when it is an [*Error].
	Call(b Branch, args []generable.Value) (generable.Value, error)
	// Info describes the callback.
	Info() FuncInfo
}

// FuncInfo describes a callback.
type FuncInfo struct {
	Name   string
	Doc    string
	Pos    diag.Pos
	Params int // positional parameters it takes at most
	Needs  int // of which must be given
}

// GoFunc makes a Go function a [Func].
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
