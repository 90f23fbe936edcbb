package value

import (
	"iter"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/generable"
)

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
type extent struct {
	size, height int
	text         int64 // bytes as it is printed, at most; of what is measured to be printed
}

// holds counts a part in.
func (e *extent) holds(part extent) {
	e.size = min(e.size+part.size, maxSize+1)
	e.height = max(e.height, part.height+1)
}

// bounded reports whether an instance can be walked: compared, hashed and written. It is asked
// when the instance becomes part of another, or leaves: a chain of instances is made one by one.
func (v *Record) bounded() bool {
	e := v.extent()
	return e.size <= maxSize && e.height <= maxDepth
}

// extent is worked out once. An instance that the script made a part of this one knows its own,
// so that this does not go far down; what a model answered is shallow.
func (v *Record) extent() extent {
	if size := v.size.Load(); size != 0 {
		return extent{size: int(size), height: int(v.height.Load())}
	}
	e := extent{size: 1, height: 1}
	for i := range v.Record.Type().Fields {
		e.holds(extentOf(v.Record.At(i)))
	}
	v.height.Store(int32(min(e.height, maxDepth+1)))
	v.size.Store(int32(e.size)) // last: who sees it sees the height
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
