package value

import (
	"iter"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/generable"
)

// Parts yields the contents of a container: the keys and values of a dict, the items of any other.
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

// extent is the size of a value: its number of items, counted as often as they are reached, and their nesting.
type extent struct {
	size, height int
	text         int64 // the most bytes of its text; only if it is measured for printing
}

// holds adds a part.
func (e *extent) holds(part extent) {
	e.size = min(e.size+part.size, maxSize+1)
	e.height = max(e.height, part.height+1)
}

// bounded reports whether an instance can be compared, hashed and printed. It is checked when the instance becomes part
// of another, or leaves the script: a chain of instances is made one by one.
func (v *Record) bounded() bool {
	e := v.extent()
	return e.size <= maxSize && e.height <= maxDepth
}

// extent is computed once. An instance that the script made part of this one knows its own extent, so the recursion is
// not deep; answers of models are shallow.
func (v *Record) extent() extent {
	if size := v.size.Load(); size != 0 {
		return extent{size: int(size), height: int(v.height.Load())}
	}
	e := extent{size: 1, height: 1}
	for i := range v.Record.Type().Fields {
		e.holds(extentOf(v.Record.At(i)))
	}
	v.height.Store(int32(min(e.height, maxDepth+1)))
	v.size.Store(int32(e.size)) // stored last: a reader that sees size also sees height
	return e
}

func extentOf(v generable.Value) extent {
	e := extent{size: 1}
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
