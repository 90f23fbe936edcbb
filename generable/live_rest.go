package generable

import "strconv"

// tellRest tells what only the end of the text made certain: the rest of a text, the members
// and items that came with it, and the containers that are complete now, from the inside out.
// The final value extends what was shown.
func (l *live) tellRest(final Value) {
	if len(l.frames) == 0 {
		if l.text.node >= 0 { // the whole is a text
			l.text.last, l.text.done = final, true
			l.tellText(final, len(l.m.src), 0)
		}
		return
	}
	if !l.known {
		return
	}
	// What the open containers came to, as far as they can be found again.
	whole := []Value{final}
	for i := range l.frames[:len(l.frames)-1] {
		v, ok := l.frames[i].child(whole[i])
		if !ok {
			break
		}
		whole = append(whole, v)
	}
	for i := len(whole) - 1; i >= 0; i-- {
		f := &l.frames[i]
		path := l.path(i)
		v, open := f.child(whole[i])
		open = open && (i+1 < len(whole) || l.text.node >= 0)
		if open {
			at := l.path(i + 1)
			if text, ok := v.AsStr(); ok && i == len(whole)-1 && l.text.told < len(text) {
				l.tellAt(StreamText, at, text[l.text.told:], Value{})
			}
			l.tellAt(f.done(), at, "", v)
		}
		f.others(whole[i], open, func(step string, v Value) { l.tellAt(f.done(), path+step, "", v) })
	}
}

func (l *live) tellAt(kind StreamKind, path, text string, v Value) {
	l.tell(&StreamEvent{Kind: kind, Text: text, Value: v, Offset: len(l.m.src), path: path})
}

// done is the kind of event for a complete child of a frame.
func (f *liveFrame) done() StreamKind {
	if f.op == opList {
		return StreamItem
	}
	return StreamField
}

// child finds what the child being read came to in the frame's final value.
func (f *liveFrame) child(v Value) (Value, bool) {
	if f.op == opList {
		if l, ok := v.AsList(); ok && len(f.vals) < l.Len() {
			return l.At(len(f.vals)), true
		}
		return Value{}, false
	}
	if f.skip || !f.begun {
		return Value{}, false
	}
	return memberOf(v, f.key)
}

func memberOf(v Value, key string) (Value, bool) {
	if m, ok := v.AsMap(); ok {
		return m.Get(key)
	}
	if r, ok := v.AsRecord(); ok {
		return r.Get(key)
	}
	return Value{}, false
}

// others lists the members of the final value that the frame has not read, but for the child
// being read when that is told already. Fields that have their default were not given.
func (f *liveFrame) others(v Value, open bool, each func(step string, v Value)) {
	if l, ok := v.AsList(); ok && f.op == opList {
		n := len(f.vals)
		if open {
			n++
		}
		for ; n < l.Len(); n++ {
			each("["+strconv.Itoa(n)+"]", l.At(n))
		}
		return
	}
	if m, ok := v.AsMap(); ok && f.op == opDict {
		for i := range m.Len() {
			if k, w := m.At(i); i >= len(f.vals) && !(open && k == f.key) {
				each(string(appendKey(nil, k)), w)
			}
		}
		return
	}
	if r, ok := v.AsRecord(); ok && f.op == opRecord && Same(r.Type(), f.typ) {
		for i := range r.Type().Fields {
			fld := &r.Type().Fields[i]
			if f.place[i] == 0 && !(open && fld.Name == f.key) && !(fld.Optional && Equal(r.At(i), fld.Default)) && !in.IsAbsent(r.At(i)) {
				each(string(appendKey(nil, fld.Name)), r.At(i))
			}
		}
	}
}
