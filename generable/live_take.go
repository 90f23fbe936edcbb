package generable

import "slices"

// take decodes the complete child at a place.
func (l *live) take(at int) {
	f := &l.frames[len(l.frames)-1]
	span := int(l.m.scan.tape[at].span)
	v, ok := l.decode(f, at)
	if l.text.node == at { // it was shown while it grew
		l.finishText(at, v)
		v, ok = l.text.last, true
	}
	f.cur = at + span
	l.place(v, ok)
}

// pass goes on after a member that is no field, or a key that came before.
func (l *live) pass(f *liveFrame, at int) {
	f.cur = at + int(l.m.scan.tape[at].span)
	f.begun = false
	l.exact = false
}

// decode makes the value of the child at a place.
func (l *live) decode(f *liveFrame, at int) (Value, bool) {
	n := &l.m.scan.tape[at]
	t := f.childType()
	if f.op == opRecord {
		fld := &f.typ.Fields[f.field]
		if n.kind == nodeMissing {
			return Value{}, false
		} else if n.kind == nodeNull && fld.Optional && !fld.Type.AcceptsNone() && l.m.o.Level != Strict {
			l.exact = false
			return fld.Default, true
		} else if n.kind == nodeNull && fld.Omit {
			l.exact = false // it may count as left out
		}
	}
	v, ok := l.asItStands(n, at, t)
	if !ok {
		l.aim(at)
		v, ok = l.c.decode(0, t)
		l.exact = l.exact && ok
		if !ok && f.op != opRecord && l.m.o.OnBadItem == ItemKeep {
			l.aim(at)
			v, ok = l.c.decode(0, AnyT)
		}
		l.coerced()
	}
	if ok && f.op == opRecord {
		fld := &f.typ.Fields[f.field]
		ok = fld.Limits == nil || len(CheckLimits(fld, v)) == 0
		l.exact = l.exact && ok
	}
	return v, ok
}

// asItStands makes the value of a scalar that is one of t beyond doubt, as the coercer would:
// most are, and it takes many times as long.
func (l *live) asItStands(n *node, at int, t *Type) (Value, bool) {
	switch n.kind {
	case nodeNull:
		switch t.Kind {
		case AnyType, NoneType:
			return Value{}, true
		case OneOfType:
			return Value{}, l.m.o.Level != Loose && t.Variants[len(t.Variants)-1].Kind == NoneType
		}
	case nodeTrue, nodeFalse:
		if t.Kind == BoolType {
			return BoolOf(n.kind == nodeTrue), true
		}
	case nodeInt:
		if t.Kind == IntType || t.Kind == AnyType {
			return integer(l.m.src[n.start:n.end])
		}
	case nodeFloat:
		if t.Kind == FloatType || t.Kind == AnyType {
			return floating(l.m.src[n.start:n.end])
		}
	case nodeStr:
		plain := n.flags&(flagEscape|flagHigh|flagFenced|flagDouble) == 0
		switch t.Kind {
		case StrType, AnyType:
			if plain {
				return StrOf(l.m.src[n.start:n.end]), true
			}
			return l.grown(n, at)
		case EnumType:
			if s := l.m.src[n.start:n.end]; plain && slices.Contains(t.Values, s) {
				return StrOf(s), true
			}
		}
	}
	return Value{}, false
}

// place puts a complete value into the innermost frame, or leaves out what does not fit.
func (l *live) place(v Value, ok bool) {
	f := &l.frames[len(l.frames)-1]
	f.begun = false
	if !ok {
		return
	}
	kind := StreamItem
	if cap(f.vals) == 0 {
		f.vals = make([]Value, 0, fewKeys)
	}
	f.vals = append(f.vals, v)
	switch f.op {
	case opDict:
		kind = StreamField
		if len(f.keys) < len(f.vals) {
			f.keys = append(f.keys, f.key)
		}
		if f.index != nil {
			f.index[f.key] = struct{}{}
		}
	case opRecord:
		kind = StreamField
		f.sorted = f.sorted && len(f.vals)-f.field == f.first()
		f.fields = append(f.fields, f.field)
		f.place[f.field] = int32(len(f.vals))
		if f.typ.Fields[f.field].Stream&StreamFirst != 0 {
			f.owed--
			l.owing--
		}
	}
	l.show()
	l.release()
	l.emit(kind, "", v, l.m.scan.pos, len(l.frames))
}

// first is the number of values with the first field of a record: one, or two with a tag.
func (f *liveFrame) first() int {
	if f.tag != "" {
		return 2
	}
	return 1
}

// names are the keys of the first n values, for who is shown them.
func (f *liveFrame) names(n int) []string {
	if f.op == opRecord {
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

// fewKeys is up to how many keys a scan beats a hash index.
const fewKeys = 8

// repeats reports whether the key being read came before. A dict keeps an index of its keys
// once it is too large to look through.
func (f *liveFrame) repeats() bool {
	n := len(f.vals)
	if n <= fewKeys {
		for _, k := range f.keys[:n] {
			if k == f.key {
				return true
			}
		}
		return false
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
	v := f.complete(&l.c.room)
	l.exact = l.exact && (f.op != opRecord || len(f.vals) >= len(f.typ.Fields))
	l.owing -= f.owed
	end := f.node + int(l.m.scan.tape[f.node].span)
	l.frames = l.frames[:len(l.frames)-1]
	if len(l.frames) == 0 {
		l.show()
		l.root = v
		l.release()
		return
	}
	up := &l.frames[len(l.frames)-1]
	up.cur = end
	if up.op == opRecord && up.typ.Fields[up.field].Limits != nil {
		l.exact = false
	}
	l.place(v, true)
}

// mapOf is a dict that has keys and vals as they are.
func mapOf(keys []string, vals []Value) Value {
	m := new(Map)
	in.SetMap(m, keys, vals)
	return m.Value()
}

// complete makes the value of a frame that is read to its end. Where fields are missing it
// stays the dict of those that are there: what was shown stays, and the end says what is
// wrong.
func (f *liveFrame) complete(r *room) Value {
	n := len(f.vals)
	if f.op != opRecord {
		// What is small is copied, so that the next frame has the room; the rest is the value now.
		f.shared = f.shared || n > ownBlock
		if !f.shared {
			f.room = f.vals
		}
		switch {
		case f.op == opList && f.shared:
			return r.list(f.vals)
		case f.op == opList:
			return r.list(append(r.values(n)[:0], f.vals...))
		case f.shared:
			return mapOf(f.keys[:n], f.vals)
		}
		return r.dict(f.keys[:n], f.vals)
	}
	if from := f.first() - 1; f.sorted && n-from == len(f.typ.Fields) {
		return r.record(f.typ, f.vals[from:n:n])
	}
	vals := r.values(len(f.typ.Fields))
	for i := range f.typ.Fields {
		fld := &f.typ.Fields[i]
		switch at := f.place[i]; {
		case at > 0:
			vals[i] = f.vals[at-1]
		case fld.Optional:
			vals[i] = fld.Default
		case !fld.Type.AcceptsNone():
			f.shared = true
			return mapOf(f.names(n), f.vals)
		}
	}
	return r.record(f.typ, vals)
}
