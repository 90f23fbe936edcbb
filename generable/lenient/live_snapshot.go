package lenient

import (
	"slices"
	"strconv"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/lenient/internal/coerce"
)

// snapshot returns what is known of the value. It shares everything that is complete with the snapshots before and
// after it; it only creates one node for each open container.
func (l *live) snapshot() generable.Value {
	if l.shown != l.version || l.version == 0 {
		l.shown, l.last = l.version, l.build(true)
	}
	return l.last
}

// build makes the snapshot, with or without the states of fields that show them.
func (l *live) build(states bool) generable.Value {
	if len(l.frames) == 0 || !l.known {
		if l.hollow >= 0 && l.root.IsNull() {
			return l.rooted(generable.NewMap(0).Value(), states)
		}
		return l.root
	}
	shown := len(l.frames)
	for i := range l.frames {
		if l.frames[i].owed > 0 {
			shown = i
			break
		}
	}
	last, growing := generable.Value{}, false
	if shown == len(l.frames) && l.text.node >= 0 {
		last, growing = l.text.value(l.m.src), true
	} else if shown == len(l.frames) && l.hollow >= 0 {
		last, growing = generable.NewMap(0).Value(), true
	}
	for i := shown - 1; i >= 0; i-- {
		last, growing = l.frames[i].show(last, growing, states), true
	}
	if shown == 0 {
		return last
	}
	return l.rooted(last, states)
}

// rooted returns the incomplete whole, with its state if the type shows that.
func (l *live) rooted(v generable.Value, states bool) generable.Value {
	if states && policyOf(l.m.typ)&generable.StreamState != 0 {
		return withState(v, Incomplete)
	}
	return v
}

// show returns the snapshot of one frame, with what is known of the child being read.
func (f *liveFrame) show(last generable.Value, growing, states bool) generable.Value {
	n := len(f.vals)
	f.shared = true
	vals := f.vals[:n:n]
	if states = states && f.states(); states && f.op != coerce.OpRecord {
		for len(f.told) < n {
			f.told = append(f.told, withState(f.vals[len(f.told)], Complete))
		}
		if vals = f.told[:n:n]; growing {
			last = withState(last, Incomplete)
		}
	}
	if f.op == coerce.OpList {
		if growing {
			return in.GrowingList(vals, last)
		}
		return generable.NewList(vals).Value()
	}
	keys := f.names(n)
	if growing && len(f.keys) == n {
		f.keys = append(f.keys, f.key)
	}
	switch {
	case f.op == coerce.OpRecord && (states || !f.inOrder(growing)):
		return f.showFields(last, growing, states)
	case growing:
		return in.GrowingMap(f.keys[:n+1:n+1], vals, last)
	}
	return mapOf(keys, vals)
}

// inOrder reports whether the fields of a record, including the one being read, came in the order of the schema.
func (f *liveFrame) inOrder(growing bool) bool {
	n := len(f.fields)
	return slices.IsSorted(f.fields) && (!growing || n == 0 || f.fields[n-1] < f.field)
}

// showFields returns the snapshot of a schema in the order of its fields, some of which may show their state.
func (f *liveFrame) showFields(last generable.Value, growing, states bool) generable.Value {
	m := generable.NewMap(len(f.typ.Fields) + 1)
	if f.tag != "" {
		m.Set(f.tag, f.vals[0])
	}
	for i := range f.typ.Fields {
		fld := &f.typ.Fields[i]
		v, state := generable.Value{}, Pending
		if at := f.place[i]; at > 0 {
			v, state = f.vals[at-1], Complete
		} else if growing && f.field == i {
			v, state = last, Incomplete
		}
		switch {
		case states && f.policy(i)&generable.StreamState != 0:
			m.Set(fld.Name, withState(v, state))
		case state != Pending:
			m.Set(fld.Name, v)
		}
	}
	return m.Value()
}

// withState returns a value together with how much of it has arrived.
func withState(v generable.Value, s FieldState) generable.Value {
	w := generable.NewMap(2)
	if s != Pending {
		w.Set("value", v)
	}
	w.Set("state", generable.StrOf(s.String()))
	return w.Value()
}

// states reports whether a field, or the items, show their state.
func (f *liveFrame) states() bool {
	if f.op != coerce.OpRecord {
		return f.policy(0)&generable.StreamState != 0
	}
	for i := range f.typ.Fields {
		if f.policy(i)&generable.StreamState != 0 {
			return true
		}
	}
	return false
}

// state returns how much is known of the value at a path.
func (l *live) state(path string) FieldState {
	v := l.build(false)
	if len(l.frames) == 0 {
		switch _, ok := lookup(v, path); {
		case !ok || v.IsNull():
			return Pending
		case path == "" && (l.hollow >= 0 || l.rows > 0):
			return Incomplete
		}
		return Complete
	}
	// The open values are those on the way to the child being read.
	var open []byte
	for i := range l.frames {
		f := &l.frames[i]
		if string(open) == path {
			if !l.known || f.owed > 0 {
				return Pending
			}
			return Incomplete
		}
		open = f.appendStep(open, len(f.vals))
	}
	_, ok := lookup(v, path)
	switch {
	case !ok:
		return Pending
	case string(open) == path && (l.text.node >= 0 || l.hollow >= 0):
		return Incomplete
	}
	return Complete
}

// lookup finds the value at a path.
func lookup(v generable.Value, path string) (generable.Value, bool) {
	for ok := true; path != ""; {
		step, isIndex, rest := message.CutStep(path)
		if l, isList := v.AsList(); isList {
			i, err := strconv.Atoi(step)
			if !isIndex || err != nil || i >= l.Len() {
				return generable.Value{}, false
			}
			v = l.At(i)
		} else if v, ok = memberOf(v, step); !ok || message.KeyPath(step) != path[:len(path)-len(rest)] {
			return generable.Value{}, false // it does not exist, or its path is written differently
		}
		path = rest
	}
	return v, true
}

// ends reports whether the final value extends what was shown, of which only the text being read may still grow.
func (l *live) ends(shown, final generable.Value) bool {
	if l.text.node < 0 && len(l.frames) == 0 && l.hollow < 0 && l.rows == 0 {
		return shown.Kind() == generable.Null || generable.Equal(shown, final) // it was complete
	}
	return shown.Kind() == generable.Null || keeps(shown, final, l.text.node >= 0)
}

// keeps reports whether b preserves everything that a showed: texts and lists only get longer, members stay, scalars
// do not change. A dict may become the instance of the schema that it was the beginning of. With grows, the last text
// may be longer.
func keeps(a, b generable.Value, grows bool) bool {
	switch a.Kind() {
	case generable.Str:
		x, _ := a.AsStr()
		y, ok := b.AsStr()
		return ok && len(y) >= len(x) && y[:len(x)] == x && (grows || len(x) == len(y))
	case generable.ListKind:
		x, _ := a.AsList()
		y, ok := b.AsList()
		if !ok || y.Len() < x.Len() {
			return false
		}
		for i := range x.Len() {
			if !keeps(x.At(i), y.At(i), grows && i == x.Len()-1) {
				return false
			}
		}
		return true
	case generable.MapKind:
		x, _ := a.AsMap()
		return mapExtends(x, b, grows)
	}
	return generable.Equal(a, b)
}

func mapExtends(x *generable.Map, b generable.Value, grows bool) bool {
	r, isRecord := b.AsRecord()
	if !isRecord && b.Kind() != generable.MapKind {
		return false
	}
	for i := range x.Len() {
		k, v := x.At(i)
		w, ok := memberOf(b, k)
		if !ok && isRecord { // the tag
			w, ok = generable.StrOf(r.Type().Name), v.Kind() == generable.Str
		}
		if !ok || !keeps(v, w, grows && i == x.Len()-1) {
			return false
		}
	}
	return true
}
