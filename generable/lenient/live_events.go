package lenient

import (
	"strconv"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/lenient/internal/coerce"
)

// emit reports or keeps an event about the child being read, with the given number of frames.
func (l *live) emit(kind StreamKind, text string, v generable.Value, offset, depth int) {
	if l.on == nil {
		return
	}
	// One event is used for all: listeners copy it to keep it.
	l.event = StreamEvent{Kind: kind, Text: text, Value: v, Offset: offset, live: l, depth: depth}
	l.tellOrHold(&l.event)
}

// emitRepair reports or keeps a repair of the child being read.
func (l *live) emitRepair(r *generable.Repair) {
	l.tellOrHold(&StreamEvent{Kind: StreamRepair, Repair: r, Offset: r.Offset, live: l, depth: len(l.frames)})
}

// tellOrHold reports an event, or keeps it as long as the value that it belongs to is not shown.
func (l *live) tellOrHold(e *StreamEvent) {
	if l.owing > 0 && e.Kind != StreamReset {
		e.Path() // the path as it is now
		l.held = append(l.held, *e)
		return
	}
	l.tell(e)
}

// toldRepair identifies a repair.
type toldRepair struct {
	kind   string
	offset int
}

// tellMissing reports the repairs of the result that became known only at the end.
func (l *live) tellMissing(all []generable.Repair) {
	for i := range all {
		r := &all[i]
		key := toldRepair{r.Kind, r.Offset}
		if l.told[key] > 0 {
			l.told[key]--
			continue
		}
		l.tell(&StreamEvent{Kind: StreamRepair, Repair: r, Offset: r.Offset, path: r.Path})
	}
}

// tell calls the listener.
func (l *live) tell(e *StreamEvent) {
	if e.Repair != nil {
		if l.told == nil {
			l.told = map[toldRepair]int{}
		}
		l.told[toldRepair{e.Repair.Kind, e.Repair.Offset}]++
	}
	l.telling = true
	l.on(e)
	l.telling = false
}

// release reports the kept events once nothing is held back any more.
func (l *live) release() {
	if l.owing > 0 || len(l.held) == 0 {
		return
	}
	held := l.held
	l.held = nil
	for i := range held {
		l.tell(&held[i])
	}
}

// path returns the path of the child being read, with the given number of frames.
func (l *live) path(depth int) string { return l.pathOf(depth, false) }

// pathOf returns that path or, if read is set, the path of the child that was read last.
func (l *live) pathOf(depth int, read bool) string {
	b := make([]byte, 0, 64)
	for i := range l.frames[:depth] {
		f := &l.frames[i]
		n := len(f.vals)
		if read && i == depth-1 {
			n--
		}
		b = f.appendStep(b, n)
	}
	return string(b)
}

// appendStep appends to a path the step to the child being read, or to item n of a list.
func (f *liveFrame) appendStep(b []byte, n int) []byte {
	if f.op == coerce.OpList {
		return message.AppendIndex(b, n)
	}
	return message.AppendKey(b, f.key)
}

// coerced notes and reports what the coercer changed.
func (l *live) coerced() {
	l.exact = l.exact && l.c.Cost == 0 && len(l.c.Repairs) == 0
	if l.on == nil {
		return
	}
	for _, r := range l.c.Repairs { // a copy of each, since an event may be kept
		r.Path = l.path(len(l.frames)) + r.Path
		l.emitRepair(&r)
	}
}

// tellRepairs reports the syntax repairs that have become certain.
func (l *live) tellRepairs() {
	s := l.m.scan
	if l.on == nil || l.repairs >= len(s.Repairs) {
		return
	}
	n := s.CertainRepairs()
	for l.repairs < n {
		r := l.m.syntaxRepair(s.Repairs[l.repairs])
		r.Path = l.path(len(l.frames))
		l.repairs++
		l.emitRepair(&r)
	}
}

// tellRest reports what became certain of the value at a depth only with the end of the text: the rest of a text, the
// members and items that came with it, and the containers that are now complete, from the inside out. The final value
// extends what was shown.
func (l *live) tellRest(final generable.Value, depth int) {
	path := l.path(depth)
	if depth == len(l.frames) {
		if text, ok := final.AsStr(); ok && l.text.told < len(text) {
			l.tellAt(StreamText, path, text[l.text.told:], generable.Value{})
		}
		return
	}
	f := &l.frames[depth]
	v, open := f.child(final)
	if open = open && (depth+1 < len(l.frames) || l.text.node >= 0); open {
		l.tellRest(v, depth+1)
		l.tellAt(f.done(), l.path(depth+1), "", v)
	}
	f.others(final, open, func(step string, v generable.Value) { l.tellAt(f.done(), path+step, "", v) })
}

func (l *live) tellAt(kind StreamKind, path, text string, v generable.Value) {
	l.tell(&StreamEvent{Kind: kind, Text: text, Value: v, Offset: len(l.m.src), path: path})
}

// done returns the kind of event for a complete child of a frame.
func (f *liveFrame) done() StreamKind {
	if f.op == coerce.OpList {
		return StreamItem
	}
	return StreamField
}

// child finds the child being read in the frame's final value.
func (f *liveFrame) child(v generable.Value) (generable.Value, bool) {
	if f.op == coerce.OpList {
		if l, ok := v.AsList(); ok && len(f.vals) < l.Len() {
			return l.At(len(f.vals)), true
		}
		return generable.Value{}, false
	}
	if f.skip || !f.begun {
		return generable.Value{}, false
	}
	return memberOf(v, f.key)
}

func memberOf(v generable.Value, key string) (generable.Value, bool) {
	if m, ok := v.AsMap(); ok {
		return m.Get(key)
	}
	if r, ok := v.AsRecord(); ok {
		return r.Get(key)
	}
	return generable.Value{}, false
}

// others lists the members of the final value that the frame has not read, except for the child being read if it has
// been reported already. Fields that have their default were absent.
func (f *liveFrame) others(v generable.Value, open bool, each func(step string, v generable.Value)) {
	if l, ok := v.AsList(); ok && f.op == coerce.OpList {
		n := len(f.vals)
		if open {
			n++
		}
		for ; n < l.Len(); n++ {
			each("["+strconv.Itoa(n)+"]", l.At(n))
		}
		return
	}
	if m, ok := v.AsMap(); ok && f.op == coerce.OpDict {
		for i := range m.Len() {
			if k, w := m.At(i); i >= len(f.vals) && !(open && k == f.key) {
				each(message.KeyPath(k), w)
			}
		}
		return
	}
	if r, ok := v.AsRecord(); ok && f.op == coerce.OpRecord && generable.Same(r.Type(), f.typ) {
		for i := range r.Type().Fields {
			fld := &r.Type().Fields[i]
			if f.place[i] == 0 && !(open && fld.Name == f.key) && !(fld.Optional && generable.Equal(r.At(i), fld.Default)) && !in.IsAbsent(r.At(i)) {
				each(message.KeyPath(fld.Name), r.At(i))
			}
		}
	}
}
