package starlib

import (
	"errors"
	"fmt"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/generable"
)

// Bounds of a strand.
const (
	stepChunk  = 10_000 // interpreter steps between two looks at the budget
	shortSteps = 64     // of a callback that is not worth watching for its cancellation
	maxFrames  = 10_000 // of the script's call stack
	maxNesting = 500    // callbacks that call nodes whose callbacks call nodes
)

// strand is the Starlark side of one branch: its thread, used by all callbacks of the branch
// one after the other, or one inside the other.
type strand struct {
	thread *starlark.Thread
	branch engine.Branch
	depth  int
	around int      // depth of the strands that this one was begun by
	stop   error    // why the thread was cancelled
	watch  []*watch // of the callbacks that run inside each other, those that are not short
	paid   uint64   // of the thread's steps, those that the budgets know of
	frozen diag.Pos // where a list or dict of the script was last frozen on leaving it
	taker  string   // which node took it
}

// strand finds or makes the branch's strand and enters it. The caller leaves it by done.
func (c *state) enter(b engine.Branch) (*strand, error) {
	s, ok := b.Host().(*strand)
	if !ok || s.thread == nil {
		s = c.newStrand(b)
		b.SetHost(s)
	}
	if s.around+s.depth >= maxNesting {
		return nil, errorf(diag.ScriptError, "nodes call each other more than %d deep", maxNesting).
			WithHelp("a node or branch that calls itself never ends; use loop(node, next)")
	}
	s.depth++
	s.thread.SetMaxExecutionSteps(s.thread.Steps + shortSteps)
	return s, nil
}

func (c *state) newStrand(b engine.Branch) *strand {
	s := &strand{branch: b}
	s.thread = &starlark.Thread{
		Name:  b.RunID(),
		Print: func(_ *starlark.Thread, text string) { b.Log(text) },
		OnMaxSteps: func(thread *starlark.Thread) {
			thread.SetMaxExecutionSteps(thread.Steps + stepChunk)
			if s.watched() {
				return
			}
			if err := s.tick(thread); err != nil && s.stop == nil {
				s.stop = err
				thread.Cancel(err.Error())
			}
		},
	}
	s.thread.SetLocal(envKey, &env{c: c, branch: b, strand: s})
	return s
}

// tick looks at the budgets and at cancellation, while the script computes.
func (s *strand) tick(thread *starlark.Thread) error {
	if n := thread.CallStackDepth(); n > maxFrames {
		return tooDeep()
	}
	return s.debit(thread.Steps)
}

// owing is how many steps may be unknown to the budgets when the script calls a node or ends.
const owing = 256

// settle debits what was used since the last time, where the script is left: many short
// callbacks add up like one long one. Little is carried over on the thread, though never more
// than half of what the thread used: a branch may end with it.
func (s *strand) settle() error {
	if n := s.thread.Steps - s.paid; n == 0 || n < owing && n < s.paid {
		return nil
	}
	return s.debit(s.thread.Steps)
}

func (s *strand) debit(steps uint64) error {
	n := steps - s.paid
	s.paid = steps
	return s.branch.Steps(int64(n))
}

func tooDeep() error {
	return errorf(diag.ScriptError, "functions call each other more than %d deep", maxFrames).
		WithHelp("a function that calls itself needs a case in which it does not")
}

// done leaves the strand. A cancelled thread is not used again.
func (s *strand) done() {
	s.unwatch()
	s.depth--
	switch {
	case s.depth > 0: // the callback around may be long in spite of this one
		s.thread.SetMaxExecutionSteps(s.thread.Steps + shortSteps)
	case s.stop != nil:
		s.thread, s.stop = nil, nil
	}
}

// leave takes a value out of the script for a node, and freezes it there.
func (s *strand) leave(thread *starlark.Thread, v starlark.Value, taker string) (generable.Value, error) {
	out, err := toValue(v)
	if err != nil {
		return out, prefixed("the input of "+taker, err)
	}
	s.keep(thread, v, out, taker)
	return out, nil
}

// keep freezes what was taken out of the script, and remembers where.
func (s *strand) keep(thread *starlark.Thread, v starlark.Value, out generable.Value, taker string) {
	switch v.(type) {
	case *starlark.List, *starlark.Dict, starlark.Tuple:
		if thread.CallStackDepth() > 1 {
			s.frozen, s.taker = position(thread.CallFrame(1).Pos), taker
		}
		freeze(v, out)
	}
}

// failure makes the engine's error of what a callback failed by. What the engine itself
// reported, a failed node, a spent budget, a cancellation, stays what it is.
func (s *strand) failure(err error, code diag.Code) error {
	s.noticed()
	if stop := s.stop; stop != nil {
		if s.branch.Catch(stop) != nil { // whoever catches it goes on with this thread
			s.stop = nil
			s.resume()
		}
		if engine.IsControl(stop) {
			return stop
		}
		if engineError(err) != nil {
			return s.located(err, err) // it passed a node, which said where
		}
		return s.located(stop, err)
	}
	if engine.IsControl(err) {
		return unwrapped(err)
	}
	if engineError(err) != nil {
		return s.located(err, err)
	}
	var x *crossingError
	if errors.As(err, &x) {
		return s.located(x.raise(), err)
	}
	e := errorf(code, "%s", scriptMessage(err))
	e.Cause = err
	if hint := s.frozenHint(err); hint != "" {
		e.Help = hint
	} else {
		e.Help = envOf(s.thread).c.helpFor(err, e.Message)
	}
	return s.located(e, err)
}

// located adds where in the script an error was raised, unless it says so.
func (s *strand) located(err error, at error) error {
	own := *engineError(err)
	if own.Cause == nil && at != err {
		own.Cause = at
	}
	if trace := traceOf(at); len(trace) > 0 {
		if !own.Pos.IsValid() {
			own.Pos = trace[len(trace)-1].Pos
		}
		if own.Trace == nil {
			own.Trace = trace
		}
	}
	return &own
}

func (s *strand) frozenHint(err error) string {
	if !isFrozenError(err) {
		return ""
	}
	if s.frozen.IsValid() {
		return fmt.Sprintf("values are frozen when they enter a node or a branch (the last one entered %s at %s) and when loading ends: change a copy, list(x) or dict(x)", s.taker, s.frozen)
	}
	return "values are frozen when they enter a node and when loading ends: change a copy, list(x) or dict(x)"
}
