package thread

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// The bounds of a thread.
const (
	StepChunk  = 10_000 // interpreter steps between two checks of the budget
	shortSteps = 64     // steps of a callback that is too short to be watched for cancellation
	MaxFrames  = 10_000 // depth of the script's call stack
	maxNesting = 500    // nesting of callbacks that call nodes whose callbacks call nodes
)

// Thread is the Starlark side of one branch: its thread, used by all callbacks of the branch one after the other, or
// nested.
type Thread struct {
	Starlark *starlark.Thread
	branch   engine.Branch
	depth    int
	around   int      // depth of the threads by which this one was started
	stop     error    // why the thread was cancelled
	watch    []*watch // watches of nested callbacks, except short ones
	paid     uint64   // steps of the thread that the budgets know of
	Frozen   diag.Pos // where a list or dict of the script was last frozen because it left the script
	Taker    string   // the node that took it
}

// Enter finds or creates the branch's thread and enters it. The caller leaves it with Done.
func Enter(c *script.State, b engine.Branch) (*Thread, error) {
	s, ok := b.Host().(*Thread)
	if !ok || s.Starlark == nil {
		s = NewThread(c, b)
		b.SetHost(s)
	}
	if s.around+s.depth >= maxNesting {
		return nil, script.Errorf(diag.ScriptError, "nodes call each other more than %d deep", maxNesting).
			WithHelp("a node or branch that calls itself never ends; use loop(node, next)")
	}
	s.depth++
	s.Starlark.SetMaxExecutionSteps(s.Starlark.Steps + shortSteps)
	return s, nil
}

// NewThread returns the Starlark side of a branch.
func NewThread(c *script.State, b engine.Branch) *Thread {
	s := &Thread{branch: b}
	s.Starlark = &starlark.Thread{
		Name:  b.RunID(),
		Print: func(_ *starlark.Thread, text string) { b.Log(text) },
		OnMaxSteps: func(thread *starlark.Thread) {
			thread.SetMaxExecutionSteps(thread.Steps + StepChunk)
			if s.watched() {
				return
			}
			if err := s.tick(thread); err != nil && s.stop == nil {
				s.stop = err
				thread.Cancel(err.Error())
			}
		},
	}
	s.Starlark.SetLocal(script.EnvKey, &script.Env{State: c, Branch: b, Thread: s})
	return s
}

// tick checks the budgets and cancellation while the script computes.
func (s *Thread) tick(thread *starlark.Thread) error {
	if n := thread.CallStackDepth(); n > MaxFrames {
		return TooDeep()
	}
	return s.Debit(thread.Steps)
}

// owing bounds the steps not yet debited when the script calls a node or ends.
const owing = 256

// Settle debits the steps used since the last time, when control leaves the script: many short callbacks add up to a
// long one. A small number stays undebited on the thread, but never more than half of what the thread used, since a
// branch may end with it.
func (s *Thread) Settle() error {
	if n := s.Starlark.Steps - s.paid; n == 0 || n < owing && n < s.paid {
		return nil
	}
	return s.Debit(s.Starlark.Steps)
}

// Debit debits the steps of the thread up to the given number.
func (s *Thread) Debit(steps uint64) error {
	n := steps - s.paid
	s.paid = steps
	return s.branch.Steps(int64(n))
}

// TooDeep returns the error for functions that call each other endlessly.
func TooDeep() error {
	return script.Errorf(diag.ScriptError, "functions call each other more than %d deep", MaxFrames).
		WithHelp("a function that calls itself needs a case in which it does not")
}

// Done leaves the thread. A cancelled thread is not used again.
func (s *Thread) Done() {
	s.unwatch()
	s.depth--
	switch {
	case s.depth > 0: // the callback around it may still be long
		s.Starlark.SetMaxExecutionSteps(s.Starlark.Steps + shortSteps)
	case s.stop != nil:
		s.Starlark, s.stop = nil, nil
	}
}

// Leave converts a value that is passed to a node, and freezes it.
func (s *Thread) Leave(thread *starlark.Thread, v starlark.Value, taker string) (generable.Value, error) {
	out, err := value.ToData(v)
	if err != nil {
		return out, value.Prefixed("the input of "+taker, err)
	}
	s.Keep(thread, v, out, taker)
	return out, nil
}

// Keep freezes a value that has left the script, and remembers where.
func (s *Thread) Keep(thread *starlark.Thread, v starlark.Value, out generable.Value, taker string) {
	switch v.(type) {
	case *starlark.List, *starlark.Dict, starlark.Tuple:
		if thread.CallStackDepth() > 1 {
			s.Frozen, s.Taker = script.Position(thread.CallFrame(1).Pos), taker
		}
		value.Freeze(v, out)
	}
}

// Failure converts the error of a callback to an error of the engine. What the engine itself reported, a failed node, a
// spent budget or a cancellation, stays unchanged.
func (s *Thread) Failure(err error, code diag.Code) error {
	s.noticed()
	if stop := s.stop; stop != nil {
		if caught, _ := s.branch.Catchable(stop); caught != nil { // code that catches it continues with this thread
			s.stop = nil
			s.resume()
		}
		if engine.IsControl(stop) {
			return stop
		}
		if script.EngineError(err) != nil {
			return s.located(err, err) // it passed a node, which added its position
		}
		return s.located(stop, err)
	}
	if engine.IsControl(err) {
		return unwrapped(err)
	}
	if script.EngineError(err) != nil {
		return s.located(err, err)
	}
	var x *value.ConvertError
	if errors.As(err, &x) {
		return s.located(x.Raise(), err)
	}
	e := script.Errorf(code, "%s", ScriptMessage(err))
	e.Cause = err
	if hint := s.frozenHint(err); hint != "" {
		e.Help = hint
	} else {
		e.Help = HelpFor(script.EnvOf(s.Starlark).State, err, e.Message)
	}
	return s.located(e, err)
}

// located adds where in the script an error occurred, unless the error has a position.
func (s *Thread) located(err error, at error) error {
	own := *script.EngineError(err)
	if own.Cause == nil && at != err {
		own.Cause = at
	}
	if trace := TraceOf(at); len(trace) > 0 {
		if !own.Pos.IsValid() {
			own.Pos = trace[len(trace)-1].Pos
		}
		if own.Trace == nil {
			own.Trace = trace
		}
	}
	return &own
}

// thaw is the remedy for a change to a frozen value: a changed copy would not reach the caller.
const thaw = "return the new value to the caller (parallel and stream list what each branch returned), or change a copy, list(x) or dict(x)"

func (s *Thread) frozenHint(err error) string {
	if !isFrozenError(err) {
		return ""
	}
	if s.Frozen.IsValid() {
		return fmt.Sprintf("values are frozen when they enter a node or a branch (the last one entered %s at %s) and when loading ends: "+thaw, s.Taker, s.Frozen)
	}
	return "values are frozen when they enter a node and when loading ends: " + thaw
}

// Result is the result of a call on a branch: as a script value, and as data.
type Result struct {
	Form starlark.Value
	Data generable.Value
}

// Apart makes calls of the script on a branch that the running callback began. They have a separate thread, so that
// branches can continue concurrently. Like everything that leaves a branch, their result is data. A returned error is
// the engine's.
func Apart(e *script.Env, br engine.Branch, what string, body func(thread *starlark.Thread) (starlark.Value, error)) (Result, error) {
	around, own := e.Thread.(*Thread), NewThread(e.State, br)
	own.around = around.around + around.depth
	own.Frozen, own.Taker = around.Frozen, around.Taker
	br.SetHost(own)
	s, err := Enter(e.State, br)
	if err != nil {
		return Result{}, err
	}
	defer s.Done()
	out, err := body(s.Starlark)
	if err != nil {
		return Result{}, s.Failure(err, diag.ScriptError)
	}
	if err := s.Settle(); err != nil {
		return Result{}, err
	}
	v, err := value.ToData(out)
	if err != nil {
		return Result{}, s.Failure(value.Prefixed(what, err), diag.WrongValue)
	}
	value.Freeze(out, v)
	return Result{out, v}, nil
}
