package starlib

import "github.com/agentscript/agentscript/generable"

// extent is how far a value reaches: its items, counted as often as they are reached, and how
// deep they are nested.
type extent struct{ size, height int }

// holds counts a part in.
func (e *extent) holds(part extent) {
	e.size = min(e.size+part.size, maxSize+1)
	e.height = max(e.height, part.height+1)
}

// bounded reports whether an instance can be walked: compared, hashed and written. It is asked
// when the instance becomes part of another, or leaves: a chain of instances is made one by one.
func (v *recordValue) bounded() bool {
	e := v.extent()
	return e.size <= maxSize && e.height <= maxDepth
}

// extent is worked out once. An instance that the script made a part of this one knows its own,
// so that this does not go far down; what a model answered is shallow.
func (v *recordValue) extent() extent {
	if size := v.size.Load(); size != 0 {
		return extent{int(size), int(v.height.Load())}
	}
	e := extent{1, 1}
	for i := range v.r.Type().Fields {
		e.holds(extentOf(v.r.At(i)))
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
		own, ok := r.Host().(*recordValue)
		if !ok {
			own = &recordValue{r: r}
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
