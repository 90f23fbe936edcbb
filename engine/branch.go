package engine

import (
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
)

// Branch is one line of execution of a run. Callbacks get it and may call nodes, log and keep
// host state on it. It belongs to one goroutine at a time.
type Branch struct {
	run        *run
	sched      Sched
	at         *Frame
	budget     *budget
	host       any
	calls      map[callKey]int // how often the running callback called nodes of a kind and name
	transcript *transcript     // what a forum said so far, until an agent has read it
}

type callKey struct {
	kind NodeKind
	name string
}

// fork makes the branch of a parallel child.
func (b *Branch) fork(s Sched, at *Frame) *Branch {
	return &Branch{run: b.run, sched: s, at: at, budget: b.budget, transcript: b.transcript}
}

// Path is the position in the run.
func (b *Branch) Path() string { return b.at.Path() }

// RunID is the run's id.
func (b *Branch) RunID() string { return b.run.spec.ID }

// Host returns the host language's state of this branch, nil at first.
func (b *Branch) Host() any { return b.host }

// SetHost keeps the host language's state of this branch.
func (b *Branch) SetHost(h any) { b.host = h }

// Log emits a log event.
func (b *Branch) Log(text string) {
	if b.run.events.wants(EventLog) {
		b.emit(Event{Kind: EventLog, Text: text})
	}
}

// Wants reports whether anybody listens to events of a kind.
func (b *Branch) Wants(k EventKind) bool { return b.run.events.wants(k) }

func (b *Branch) emit(ev Event) {
	if ev.Path == "" {
		ev.Path = b.Path()
	}
	ev.At = b.sched.Now()
	b.run.events.emit(ev)
}

// Call runs a node from a callback, as in `plan = planner(spec)`. The input is converted like
// a constructor's argument. The same node may be called any number of times.
func (b *Branch) Call(n *Node, input generable.Value) (generable.Value, error) {
	if n.failed {
		return generable.Value{}, Errorf(KindScript, diag.CannotJoin, "%s was not composed: see the errors of loading", n.Label())
	}
	v, errs := n.in.Convert(input)
	if errs != nil {
		return generable.Value{}, b.locate(Errorf(KindType, diag.WrongTypeAtBoundary, "%s takes %s: %w", n.Label(), n.in, errs), n)
	}
	if b.calls == nil {
		b.calls = map[callKey]int{}
	}
	key := callKey{n.kind, n.name}
	ordinal := b.calls[key]
	b.calls[key]++
	root := n.compiled().root
	s := *root // the plan's root with the ordinal of this call
	s.n = ordinal
	calls, transcript := b.calls, b.transcript
	b.calls, b.transcript = nil, nil
	out, err := b.exec(&s, v)
	b.calls, b.transcript = calls, transcript
	return out, err
}

// invoke calls a callback inside its own scope of calls. A panic becomes an error: neither
// host code nor a bug of ours may take down the process of somebody else's runs.
func (b *Branch) invoke(f Func, args ...generable.Value) (v generable.Value, err error) {
	calls, at := b.calls, b.at
	b.calls = nil
	defer func() {
		b.calls, b.at = calls, at
		if p := recover(); p != nil {
			v, err = generable.Value{}, panicked(f.Info().Name, p)
		}
	}()
	return f.Call(b, args)
}

// panicked turns a recovered panic into an error that keeps its stack.
func panicked(where string, p any) *Error {
	cause, ok := p.(error)
	if !ok {
		cause = fmt.Errorf("%v", p)
	}
	return &Error{Kind: KindPanic, Code: diag.Panic, Message: fmt.Sprintf("%s panicked: %v", where, p), Raw: string(debug.Stack()), Cause: cause,
		Help: "this is a bug in the host's code or in the engine, not in the script"}
}

// guard runs a branch's body and turns a panic into an error.
func (b *Branch) guard(body func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = b.locate(panicked("the engine", p), nil)
		}
	}()
	return body()
}

// locate says where in the run and the script an error happened, unless a deeper place did.
func (b *Branch) locate(err error, n *Node) error {
	if IsControl(err) {
		return err
	}
	e := asError(err)
	if e.Path != "" {
		return e
	}
	located := *e
	located.Path = b.Path()
	if n != nil && !located.Pos.IsValid() {
		located.Pos = n.span.Pos
	}
	return &located
}

// asError makes any error an *Error.
func asError(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Kind: KindScript, Code: diag.CallbackFailed, Message: err.Error(), Cause: err}
}
