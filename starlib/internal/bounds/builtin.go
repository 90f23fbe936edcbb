package bounds

import (
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib/internal/script"
	"github.com/agentscript/agentscript/starlib/internal/value"
)

// Builtins returns builtins of the interpreter with a limit that it lacks, for values of at most so many
// bytes. Callers must not modify the result. Scripts may shadow these names, like all of the interpreter's.
func Builtins(most int64) starlark.StringDict {
	return newLimit(most).builtins
}

func (l *limit) makeBuiltins() starlark.StringDict {
	return starlark.StringDict{
		"getattr": l.getattr(),
		"range":   boundedRange(),
		"repr":    l.repr(),
	}
}

// maxRange bounds a range outside of a loop: one call of max, sorted or list iterates over all of it in a
// single step, without checking a limit or a deadline.
const maxRange = 10_000_000

// boundedRange is the interpreter's range with a limit. A range that a for loop iterates over may have any
// length: each iteration is a step.
func boundedRange() starlark.Value {
	own := starlark.Universe["range"].(*starlark.Builtin)
	return starlark.NewBuiltin("range", func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		v, err := own.CallInternal(thread, args, kwargs)
		if err != nil {
			return nil, err
		}
		n := starlark.Len(v)
		if n < 0 { // overflowed
			return nil, script.Errorf(diag.WrongValue, "range: there are too many numbers from the first to the last").
				WithHelp("for a loop without end write while True:")
		}
		if n > maxRange && !loopsOver(thread) {
			return nil, script.Errorf(diag.WrongValue, "range: %d numbers, and at most %d can be used at once", n, maxRange).
				WithHelp("go through them in a loop: for i in range(...)")
		}
		return v, nil
	})
}

// loopsOver reports whether the result of the current call is used only by a for loop.
func loopsOver(thread *starlark.Thread) bool {
	e := script.EnvOf(thread)
	if e == nil || thread.CallStackDepth() < 2 {
		return false
	}
	pos := thread.CallFrame(1).Pos
	file := e.State.SourceAt(pos)
	return file != nil && file.LoopsOver(pos)
}

// repr is the interpreter's repr with a limit.
func (l *limit) repr() starlark.Value {
	own := starlark.Universe["repr"].(*starlark.Builtin)
	return starlark.NewBuiltin("repr", func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		for _, v := range args {
			if _, err := value.Printed(v, l.most); err != nil {
				return nil, err
			}
		}
		return own.CallInternal(thread, args, kwargs)
	})
}

// getattr is the interpreter's getattr, which also reaches methods.
func (l *limit) getattr() starlark.Value {
	own := starlark.Universe["getattr"].(*starlark.Builtin)
	return starlark.NewBuiltin("getattr", func(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if len(args) > 0 {
			args = append(starlark.Tuple{l.owner(args[0])}, args[1:]...)
		}
		return own.CallInternal(thread, args, kwargs)
	})
}
