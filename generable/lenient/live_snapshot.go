package lenient

import (
	"strconv"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/lenient/internal/coerce"
)

// snapshot is what is known of the value. It shares all that is complete with the snapshots
// before and after it; what it makes anew is one node for each container that is open.
func (l *live) snapshot() generable.Value {
	if l.shown != l.version || l.version == 0 {
		l.shown, l.last = l.version, l.build(true)
	}
	return l.last
}

// build makes the snapshot, with the states of fields that want them or without.
func (l *live) build(states bool) generable.Value {
	if len(l.frames) == 0 || !l.known {
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
	}
	for i := shown - 1; i >= 0; i-- {
		last, growing = l.frames[i].show(last, growing, states), true
	}
	return last
}

// show is the snapshot of one frame, with what is known of the child it reads.
func (f *liveFrame) show(last generable.Value, growing, states bool) generable.Value {
	n := len(f.vals)
	f.shared = true
	vals := f.vals[:n:n]
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
	case states && f.op == coerce.OpRecord && streams(f.typ, generable.StreamState):
		return f.showStates(last, growing)
	case growing:
		return in.GrowingMap(f.keys[:n+1:n+1], vals, last)
	}
	return mapOf(keys, vals)
}

// showStates is the snapshot of a schema some of whose fields show their state.
func (f *liveFrame) showStates(last generable.Value, growing bool) generable.Value {
	m := generable.NewMap(len(f.typ.Fields) + 1)
	with := func(v *generable.Value, s FieldState) generable.Value {
		w := generable.NewMap(2)
		if v != nil {
			w.Set("value", *v)
		}
		w.Set("state", generable.StrOf(s.String()))
		return w.Value()
	}
	for i, v := range f.vals {
		if k := f.fields[i]; k >= 0 && f.typ.Fields[k].Stream&generable.StreamState != 0 {
			v = with(&v, Complete)
		}
		m.Set(f.keys[i], v)
	}
	for i := range f.typ.Fields {
		fld := &f.typ.Fields[i]
		reading := growing && f.field == i
		switch {
		case f.place[i] > 0:
		case reading && fld.Stream&generable.StreamState != 0:
			m.Set(fld.Name, with(&last, Incomplete))
		case reading:
			m.Set(fld.Name, last)
		case fld.Stream&generable.StreamState != 0:
			m.Set(fld.Name, with(nil, Pending))
		}
	}
	return m.Value()
}

// streams reports whether a field of schema t has policy p.
func streams(t *generable.Type, p generable.StreamPolicy) bool {
	for i := range t.Fields {
		if t.Fields[i].Stream&p != 0 {
			return true
		}
	}
	return false
}

// state returns how much is known of the value at a path.
func (l *live) state(path string) FieldState {
	v := l.build(false)
	if len(l.frames) == 0 {
		if _, ok := lookup(v, path); ok && !l.root.IsNull() {
			return Complete
		}
		return Pending
	}
	// What is open is what leads to the child being read.
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
	case string(open) == path && l.text.node >= 0:
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
			return generable.Value{}, false // there is none, or its path is written otherwise
		}
		path = rest
	}
	return v, true
}

// growth says which texts may have become longer.
type growth uint8

const (
	textsGrow growth = iota
	lastGrows        // the one that came last
	noneGrows
)

// ends reports whether the final value extends what was shown, of which only the text that is
// being read may still grow.
func (l *live) ends(shown, final generable.Value) bool {
	how := noneGrows
	if l.text.node >= 0 || len(l.frames) == 0 {
		how = lastGrows
	}
	return shown.Kind() == generable.Null || keeps(shown, final, how)
}

// of is the growth of one of several children.
func (g growth) of(last bool) growth {
	if g == lastGrows && !last {
		return noneGrows
	}
	return g
}

// keeps reports whether b keeps all that a showed: texts and lists only get longer, members
// stay, scalars do not change. A dict may become the instance of the schema that it was the
// beginning of.
func keeps(a, b generable.Value, g growth) bool {
	switch a.Kind() {
	case generable.Str:
		x, _ := a.AsStr()
		y, ok := b.AsStr()
		return ok && len(y) >= len(x) && y[:len(x)] == x && (g != noneGrows || len(x) == len(y))
	case generable.ListKind:
		x, _ := a.AsList()
		y, ok := b.AsList()
		if !ok || y.Len() < x.Len() {
			return false
		}
		for i := range x.Len() {
			if !keeps(x.At(i), y.At(i), g.of(i == x.Len()-1)) {
				return false
			}
		}
		return true
	case generable.MapKind:
		x, _ := a.AsMap()
		return mapExtends(x, b, g)
	}
	return generable.Equal(a, b)
}

func mapExtends(x *generable.Map, b generable.Value, g growth) bool {
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
		if !ok || !keeps(v, w, g.of(i == x.Len()-1)) {
			return false
		}
	}
	return true
}
