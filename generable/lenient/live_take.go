package lenient

import (
	"slices"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient/internal/coerce"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
)

// take decodes the complete child at index at.
func (l *live) take(at int) {
	f := &l.frames[len(l.frames)-1]
	span := int(l.m.scan.Tape[at].Span)
	v, ok := l.decode(f, at)
	if l.text.node == at { // it was shown while it grew
		if !l.finishText(at, v) && l.retract() {
			return
		}
		v, ok = l.text.last, true
	}
	if !ok && l.m.scan.Tape[at].Kind == tape.NodeObj && hollows(f.childType()) {
		v, ok = generable.NewMap(0).Value(), true // nothing of it fits
	}
	l.fill(!ok || v.Kind() == generable.MapKind || v.Kind() == generable.RecordKind)
	f.cur = at + span
	l.place(v, ok)
}

// hollows reports whether an object is shown for t before anything of it is known.
func hollows(t *generable.Type) bool {
	t = t.Deref()
	return t.Kind == generable.RecordType || t.Kind == generable.DictType
}

// pass skips a member that is not a field, or whose key came before.
func (l *live) pass(f *liveFrame, at int) {
	f.cur = at + int(l.m.scan.Tape[at].Span)
	f.begun = false
	l.exact, l.apart = false, true
}

// decode makes the value of the child at index at.
func (l *live) decode(f *liveFrame, at int) (generable.Value, bool) {
	n := &l.m.scan.Tape[at]
	t := f.childType()
	if n.Flags&tape.FlagOpen != 0 && (n.Kind < tape.NodeStr || n.Kind == tape.NodeWord || n.Kind == tape.NodeStr && t.Deref().Kind == generable.EnumType) {
		return generable.Value{}, false // the rest of it may be missing
	}
	if f.op == coerce.OpRecord {
		fld := &f.typ.Fields[f.field]
		if n.Kind == tape.NodeMissing {
			return generable.Value{}, false
		} else if n.Kind == tape.NodeNull && fld.Optional && !fld.Type.AcceptsNone() && l.m.o.Level != generable.Strict {
			l.exact = false
			return fld.Default, true
		} else if n.Kind == tape.NodeNull && fld.Omit {
			l.exact, l.apart = false, true // it may count as left out
		}
	}
	v, ok := l.asItStands(n, at, t)
	if !ok {
		l.aim(at)
		v, ok = l.c.Decode(0, t)
		l.exact, l.apart = l.exact && ok, l.apart || !ok
		if !ok && f.op != coerce.OpRecord && l.m.o.OnBadItem == generable.ItemKeep {
			l.aim(at)
			v, ok = l.c.Decode(0, generable.AnyT)
		}
		l.coerced()
	}
	if ok && f.op == coerce.OpRecord {
		fld := &f.typ.Fields[f.field]
		if fld.Dedent {
			l.aim(at)
			v = l.c.Dedented(0, v)
			l.coerced()
		}
		ok = fld.Limits == nil || len(generable.CheckLimits(fld, v)) == 0
		l.exact, l.apart = l.exact && ok, l.apart || !ok
	}
	return v, ok
}

// asItStands makes the value of a scalar that is beyond doubt a t, as the coercer would.
func (l *live) asItStands(n *tape.Node, at int, t *generable.Type) (generable.Value, bool) {
	v, ok := coerce.Plain(n, l.m.src[n.Start:n.End], t)
	switch {
	case ok:
		return v, true
	case n.Kind == tape.NodeNull && t.Kind == generable.OneOfType:
		return v, l.m.o.Level != generable.Loose && t.Variants[len(t.Variants)-1].Kind == generable.NoneType
	case n.Kind == tape.NodeStr && (t.Kind == generable.StrType || t.Kind == generable.AnyType):
		return l.grown(n, at)
	}
	return generable.Value{}, false
}

// place puts a complete value into the innermost frame, or leaves out a value that does not fit.
func (l *live) place(v generable.Value, ok bool) {
	f := &l.frames[len(l.frames)-1]
	f.begun = false
	if !ok {
		l.version++ // it may have been shown as an object
		return
	}
	kind := StreamItem
	if cap(f.vals) == 0 {
		f.vals = make([]generable.Value, 0, fewKeys)
	}
	f.vals = append(f.vals, v)
	switch f.op {
	case coerce.OpDict:
		kind = StreamField
		if len(f.keys) < len(f.vals) {
			f.keys = append(f.keys, f.key)
		}
		if f.index != nil {
			f.index[f.key] = struct{}{}
		}
	case coerce.OpRecord:
		kind = StreamField
		f.sorted = f.sorted && len(f.vals)-f.field == f.first()
		f.fields = append(f.fields, f.field)
		f.place[f.field] = int32(len(f.vals))
		if waits(f.typ, f.field) {
			f.owed--
			l.owing--
		}
	}
	l.show()
	l.release()
	l.emit(kind, "", v, l.m.scan.Pos, len(l.frames))
}

// first returns the number of values up to the first field of a record: one, or two with a tag.
func (f *liveFrame) first() int {
	if f.tag != "" {
		return 2
	}
	return 1
}

// names returns the keys of the first n values, for snapshots.
func (f *liveFrame) names(n int) []string {
	if f.op == coerce.OpRecord {
		for len(f.keys) < n {
			key := f.tag
			if i := f.fields[len(f.keys)]; i >= 0 {
				key = f.typ.Fields[i].Name
			}
			f.keys = append(f.keys, key)
		}
	}
	return f.keys[:n:n]
}

// fewKeys is up to how many keys a linear scan beats a hash index.
const fewKeys = 8

// repeats reports whether the key being read came before. A dict keeps an index of its keys once it is too large to
// scan.
func (f *liveFrame) repeats() bool {
	n := len(f.vals)
	if n <= fewKeys {
		return slices.Contains(f.keys[:n], f.key)
	}
	if f.index == nil {
		f.index = make(map[string]struct{}, 2*n)
		for _, k := range f.keys[:n] {
			f.index[k] = struct{}{}
		}
	}
	_, ok := f.index[f.key]
	return ok
}

// close completes the innermost frame.
func (l *live) close() {
	f := &l.frames[len(l.frames)-1]
	if len(l.frames) == 1 && l.rows > 0 && l.rowCand == l.cand {
		l.rowVals, f.shared = f.vals, true
	}
	v := generable.Value{}
	if f.op == coerce.OpRecord && l.m.scan.Tape[f.node].Flags&tape.FlagOpen != 0 {
		v = f.show(v, false, false)
	} else {
		v = f.complete(&l.c.Arena)
	}
	if f.op == coerce.OpRecord && len(f.vals) < len(f.typ.Fields) {
		l.exact = false
	}
	l.owing -= f.owed
	end := f.node + int(l.m.scan.Tape[f.node].Span)
	l.frames = l.frames[:len(l.frames)-1]
	if len(l.frames) == 0 {
		l.takeRoot(f.node, v, true)
		return
	}
	up := &l.frames[len(l.frames)-1]
	up.cur = end
	if up.op == coerce.OpRecord && up.typ.Fields[up.field].Limits != nil {
		l.exact, l.apart = false, true
	}
	l.place(v, true)
}

// takeRoot completes a candidate that was shown as v. A candidate that is not exact is read again as a whole: only
// that determines its defaults, its limits and everything that was skipped.
func (l *live) takeRoot(at int, v generable.Value, shown bool) {
	if l.salvage != nil {
		l.root = v
		return
	}
	w, ok := l.reread(at)
	if ok || l.apart && l.rows == 0 || !shown {
		if !ok {
			l.aim(at)
			w, ok = l.c.Decode(0, l.m.typ)
		}
		if !shown {
			l.coerced()
		}
		l.exact = false
		switch {
		case !ok && shown:
		case !ok && (l.m.scan.Tape[at].Kind != tape.NodeObj || !hollows(l.m.typ)):
			l.hollow = -1
			l.version++
			return
		case !ok:
			v = generable.NewMap(0).Value()
		default:
			if shown { // otherwise the previous value was shown
				l.root = v
			}
			if !l.root.IsNull() && !generable.Equal(l.root, w) && !(l.rows > 0 && keeps(l.root, w, false)) {
				l.reset("the whole is another value than its parts")
			}
			v = w
		}
	}
	l.fill(v.Kind() == generable.MapKind || v.Kind() == generable.RecordKind)
	l.show()
	l.root = v
	l.release()
}

// mapOf returns a dict that uses keys and vals without copying them.
func mapOf(keys []string, vals []generable.Value) generable.Value {
	m := new(generable.Map)
	in.SetMap(m, keys, vals)
	return m.Value()
}

// complete makes the value of a frame that was read to its end. If fields are missing, it stays the dict of those
// that arrived: what was shown stays, and the end reports what is wrong.
func (f *liveFrame) complete(r *coerce.Arena) generable.Value {
	n := len(f.vals)
	if f.op != coerce.OpRecord {
		// Small values are copied so that the next frame can reuse the memory; larger ones become the value.
		f.shared = f.shared || n > coerce.OwnBlock
		if !f.shared {
			f.spare = f.vals
		}
		switch {
		case f.op == coerce.OpList && f.shared:
			return r.List(f.vals)
		case f.op == coerce.OpList:
			return r.List(append(r.Values(n)[:0], f.vals...))
		case f.shared:
			return mapOf(f.keys[:n], f.vals)
		}
		return r.Dict(f.keys[:n], f.vals)
	}
	if from := f.first() - 1; f.sorted && n-from == len(f.typ.Fields) {
		return r.Record(f.typ, f.vals[from:n:n])
	}
	vals := r.Values(len(f.typ.Fields))
	for i := range f.typ.Fields {
		fld := &f.typ.Fields[i]
		switch at := f.place[i]; {
		case at > 0:
			vals[i] = f.vals[at-1]
		case fld.Optional:
			vals[i] = fld.Default
		case !fld.Type.AcceptsNone():
			return f.show(generable.Value{}, false, false)
		}
	}
	return r.Record(f.typ, vals)
}
