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

// Bounds of a strand.
const (
	StepChunk  = 10_000 // interpreter steps between two looks at the budget
	shortSteps = 64     // of a callback that is not worth watching for its cancellation
	MaxFrames  = 10_000 // of the script's call stack
	maxNesting = 500    // callbacks that call nodes whose callbacks call nodes
)

// Thread is the Starlark side of one branch: its thread, used by all callbacks of the branch
// one after the other, or one inside the other.
type Thread struct {
	Starlark *starlark.Thread
	branch   engine.Branch
	depth    int
	around   int      // depth of the strands that this one was begun by
	stop     error    // why the thread was cancelled
	watch    []*watch // of the callbacks that run inside each other, those that are not short
	paid     uint64   // of the thread's steps, those that the budgets know of
	Frozen   diag.Pos // where a list or dict of the script was last frozen on leaving it
	Taker    string   // which node took it
}

// strand finds or makes the branch's strand and enters it. The caller leaves it by done.
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

// NewThread makes the Starlark side of a branch.
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

// tick looks at the budgets and at cancellation, while the script computes.
func (s *Thread) tick(thread *starlark.Thread) error {
	if n := thread.CallStackDepth(); n > MaxFrames {
		return TooDeep()
	}
	return s.Debit(thread.Steps)
}

// owing is how many steps may be unknown to the budgets when the script calls a node or ends.
const owing = 256

// Settle debits what was used since the last time, where the script is left: many short
// callbacks add up like one long one. Little is carried over on the thread, though never more
// than half of what the thread used: a branch may end with it.
func (s *Thread) Settle() error {
	if n := s.Starlark.Steps - s.paid; n == 0 || n < owing && n < s.paid {
		return nil
	}
	return s.Debit(s.Starlark.Steps)
}

// Debit debits the steps of the thread up to a number of them.
func (s *Thread) Debit(steps uint64) error {
	n := steps - s.paid
	s.paid = steps
	return s.branch.Steps(int64(n))
}

// TooDeep is the error of functions that call each other without an end.
func TooDeep() error {
	return script.Errorf(diag.ScriptError, "functions call each other more than %d deep", MaxFrames).
		WithHelp("a function that calls itself needs a case in which it does not")
}

// Done leaves the strand. A cancelled thread is not used again.
func (s *Thread) Done() {
	s.unwatch()
	s.depth--
	switch {
	case s.depth > 0: // the callback around may be long in spite of this one
		s.Starlark.SetMaxExecutionSteps(s.Starlark.Steps + shortSteps)
	case s.stop != nil:
		s.Starlark, s.stop = nil, nil
	}
}

// Leave takes a value out of the script for a node, and freezes it there.
func (s *Thread) Leave(thread *starlark.Thread, v starlark.Value, taker string) (generable.Value, error) {
	out, err := value.ToData(v)
	if err != nil {
		return out, value.Prefixed("the input of "+taker, err)
	}
	s.Keep(thread, v, out, taker)
	return out, nil
}

// Keep freezes what was taken out of the script, and remembers where.
func (s *Thread) Keep(thread *starlark.Thread, v starlark.Value, out generable.Value, taker string) {
	switch v.(type) {
	case *starlark.List, *starlark.Dict, starlark.Tuple:
		if thread.CallStackDepth() > 1 {
			s.Frozen, s.Taker = script.Position(thread.CallFrame(1).Pos), taker
		}
		value.Freeze(v, out)
	}
}

// Failure makes the engine's error of what a callback failed by. What the engine itself
// reported, a failed node, a spent budget, a cancellation, stays what it is.
func (s *Thread) Failure(err error, code diag.Code) error {
	s.noticed()
	if stop := s.stop; stop != nil {
		if s.branch.Catchable(stop) != nil { // whoever catches it goes on with this thread
			s.stop = nil
			s.resume()
		}
		if engine.IsControl(stop) {
			return stop
		}
		if script.EngineError(err) != nil {
			return s.located(err, err) // it passed a node, which said where
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

// located adds where in the script an error was raised, unless it says so.
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

// thaw is the remedy for a change to a frozen value: a copy would not reach the caller.
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

// Result is what a call on a branch gave: as the script has it, and as data.
type Result struct {
	Form starlark.Value
	Data generable.Value
}

// Apart makes calls of the script on a branch that the running callback began. They have a
// thread of their own, so that branches can go on at once; what they give is data, as all that
// leaves a branch. An error is the engine's.
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
