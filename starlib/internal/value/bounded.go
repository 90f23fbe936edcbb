package value

import (
	"iter"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib/internal/script"
)

// BoundedBuiltins are builtins of the interpreter with a bound that it does not have. Scripts may name
// something of their own so, as all of the interpreter's.
func BoundedBuiltins() starlark.StringDict {
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

// loopsOver reports whether the value of the call that is being made goes to a for alone.
func loopsOver(thread *starlark.Thread) bool {
	e := script.EnvOf(thread)
	if e == nil || thread.CallStackDepth() < 2 {
		return false
	}
	pos := thread.CallFrame(1).Pos
	file := e.State.SourceAt(pos)
	return file != nil && file.LoopsOver(pos)
}

// Parts yields what a container holds: the keys and values of a dict, the items of any other.
func Parts(v starlark.Value) iter.Seq[starlark.Value] {
	return func(yield func(starlark.Value) bool) {
		if d, ok := v.(*starlark.Dict); ok {
			for key, item := range d.Entries() {
				if !yield(key) || !yield(item) {
					return
				}
			}
			return
		}
		starlark.Elements(v.(starlark.Iterable))(yield)
	}
}

// extent is how far a value reaches: its items, counted as often as they are reached, and how
// deep they are nested.
type extent struct{ size, height int }

// holds counts a part in.
func (e *extent) holds(part extent) {
	e.size = min(e.size+part.size, maxSize+1)
	e.height = max(e.height, part.height+1)
}

// BoundedBuiltins reports whether an instance can be walked: compared, hashed and written. It is asked
// when the instance becomes part of another, or leaves: a chain of instances is made one by one.
func (v *Record) bounded() bool {
	e := v.extent()
	return e.size <= maxSize && e.height <= maxDepth
}

// extent is worked out once. An instance that the script made a part of this one knows its own,
// so that this does not go far down; what a model answered is shallow.
func (v *Record) extent() extent {
	if size := v.size.Load(); size != 0 {
		return extent{int(size), int(v.height.Load())}
	}
	e := extent{1, 1}
	for i := range v.Record.Type().Fields {
		e.holds(extentOf(v.Record.At(i)))
	}
	v.height.Store(int32(min(e.height, maxDepth+1)))
	v.size.Store(int32(e.size)) // last: who sees it sees the height
	return e
}

func extentOf(v generable.Value) extent {
	e := extent{1, 0}
	switch v.Kind() {
	case generable.RecordKind:
		r, _ := v.AsRecord()
		own, ok := r.Host().(*Record)
		if !ok {
			own = &Record{Record: r}
		}
		return own.extent()
	case generable.ListKind:
		l, _ := v.AsList()
		e.height = 1
		for _, item := range l.Items() {
			e.holds(extentOf(item))
		}
	case generable.MapKind:
		m, _ := v.AsMap()
		e.height = 1
		for i := range m.Len() {
			_, item := m.At(i)
			e.holds(extentOf(item))
		}
	}
	return e
}
