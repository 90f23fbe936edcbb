package starlib

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
)

// bounded are builtins of the interpreter with a bound that it does not have. Scripts may name
// something of their own so, as all of the interpreter's.
func bounded() starlark.StringDict {
	return starlark.StringDict{
		"getattr": boundedGetattr(),
		"range":   boundedRange(),
		"repr":    boundedPrinter(starlark.Universe["repr"].(*starlark.Builtin)),
	}
}

// maxRange is how many numbers a range may have that is no loop's: one call of max, sorted or
// list goes through all of them in a single step, and no limit and no deadline is looked at
// before it ends.
const maxRange = 10_000_000

// boundedRange is the interpreter's range. One that a for goes through may have any length: each
// turn is a step.
func boundedRange() starlark.Value {
	own := starlark.Universe["range"].(*starlark.Builtin)
	return starlark.NewBuiltin("range", func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		v, err := own.CallInternal(thread, args, kwargs)
		if err != nil {
			return nil, err
		}
		n := starlark.Len(v)
		if n < 0 { // more than an int counts
			return nil, errorf(diag.WrongValue, "range: there are too many numbers from the first to the last").
				WithHelp("for a loop without end write while True:")
		}
		if n > maxRange && !loopsOver(thread) {
			return nil, errorf(diag.WrongValue, "range: %d numbers, and at most %d can be used at once", n, maxRange).
				WithHelp("go through them in a loop: for i in range(...)")
		}
		return v, nil
	})
}

// loopsOver reports whether the value of the call that is being made goes to a for alone.
func loopsOver(thread *starlark.Thread) bool {
	e := envOf(thread)
	if e == nil || thread.CallStackDepth() < 2 {
		return false
	}
	pos := thread.CallFrame(1).Pos
	file := e.c.source(pos)
	return file != nil && file.LoopsOver(pos)
}
