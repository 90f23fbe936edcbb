package lenient

import (
	"slices"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient/internal/coerce"
	"github.com/agentscript/agentscript/generable/lenient/internal/tape"
)

// opening says whether a container can be followed while it is read.
type opening uint8

const (
	openNo   opening = iota // it is complete, and is taken as a whole
	openWait                // not before more of it has arrived
	openYes                 // a frame was pushed
)

// openChild opens the child of a frame.
func (l *live) openChild(f *liveFrame, at int) opening {
	if f.policy(f.field)&generable.StreamAtomic != 0 {
		return l.whole(at)
	}
	return l.open(at, f.childType())
}

// policy returns how the value of a field, or an item, appears.
func (f *liveFrame) policy(field int) generable.StreamPolicy {
	if f.op != coerce.OpRecord {
		return f.items | policyOf(f.typ)
	}
	fld := &f.typ.Fields[field]
	return fld.Stream | policyOf(fld.Type)&^generable.StreamFirst
}

// policyOf returns how an instance of a schema or union appears.
func policyOf(t *generable.Type) generable.StreamPolicy {
	t = t.Deref()
	if inner := in.NonNone(t); inner != nil {
		t = inner.Deref()
	}
	if t.Kind == generable.RecordType || t.Kind == generable.UnionType {
		return t.Stream
	}
	return 0
}

// waits reports whether nothing of an instance of t is shown before that field has arrived.
func waits(t *generable.Type, field int) bool {
	f := &t.Fields[field]
	return f.Stream&generable.StreamFirst != 0 || t.Stream&generable.StreamFirst != 0 && f.Required()
}

// childType returns the type of the child being read.
func (f *liveFrame) childType() *generable.Type {
	if f.op == coerce.OpRecord {
		return f.typ.Fields[f.field].Type
	}
	return f.typ
}

// mostFollowed is how deep containers are followed. Deeper containers are taken when they are complete: a frame takes
// more memory than the few bytes of text that it stands for.
const mostFollowed = 8 * tape.DefaultDepth

// whole takes a node only when it is complete.
func (l *live) whole(at int) opening {
	if l.m.scan.Tape[at].Span == 0 {
		return openWait
	}
	return openNo
}

// open pushes a frame for the container at a node when it is certain to be an instance of t.
func (l *live) open(at int, t *generable.Type) opening {
	if in.Resolved(t).Kind == generable.LimitType {
		l.exact, l.apart = false, true // limits of a whole list or dict are not checked here
	}
	t = t.Deref()
	n := &l.m.scan.Tape[at]
	switch {
	case len(l.frames) == mostFollowed || policyOf(t)&generable.StreamAtomic != 0:
		return l.whole(at)
	case t.Kind == generable.ListType && len(t.Variants) > 0: // a tuple
		return l.whole(at)
	case n.Kind == tape.NodeArr && (t.Kind == generable.ListType || t.Kind == generable.AnyType):
		l.push(coerce.OpList, at, elemOf(t)).items = t.Stream
		return openYes
	case t.Kind == generable.OneOfType && (n.Kind == tape.NodeArr || n.Kind == tape.NodeObj):
		if v := l.narrow(at, n, t); v != nil {
			return l.open(at, v)
		}
		return l.whole(at)
	case n.Kind != tape.NodeObj:
		return l.whole(at)
	}
	key, ok := l.firstKey(at)
	switch {
	case t.Kind == generable.DictType || t.Kind == generable.AnyType:
		if !ok && n.Span == 0 {
			return l.showHollow(at, t) // it may turn out to be a set
		}
		l.push(coerce.OpDict, at, elemOf(t)).items = t.Stream
		return openYes
	case t.Kind == generable.RecordType:
		if i, _ := l.c.FindField(t, key); ok && i >= 0 {
			l.pushRecord(at, t, "")
			return openYes
		}
		if ok && key != generable.DefaultTag && l.isAround(at, t) {
			l.outer, l.exact, l.apart = at, false, true
			l.pushRecord(at+2, t, "")
			return openYes
		}
		if n.Span == 0 {
			return l.showHollow(at, t) // it may be an object around the instance
		}
	case !ok:
	case t.Kind == generable.UnionType:
		return l.openVariant(at, key, t)
	}
	return l.whole(at)
}

// isAround reports whether the object at a node is the whole value and has one member so far: an instance of t.
func (l *live) isAround(at int, t *generable.Type) bool {
	ta := l.m.scan.Tape
	if len(l.frames) > 0 || l.m.o.Level == generable.Strict || at+2 >= len(ta) || ta[at+2].Kind != tape.NodeObj || l.hasMore(at) {
		return false
	}
	key, ok := l.firstKey(at + 2)
	return ok && l.c.TakesKey(t, key)
}

// hasMore reports whether the object at a node has a second member.
func (l *live) hasMore(at int) bool {
	ta := l.m.scan.Tape
	if at+2 >= len(ta) || ta[at+2].Span == 0 {
		return false
	}
	next := at + 2 + int(ta[at+2].Span)
	return next < len(ta) && (ta[at].Span == 0 || at+int(ta[at].Span) > next)
}

// showHollow shows an object of which nothing else is known yet.
func (l *live) showHollow(at int, t *generable.Type) opening {
	if l.hollow != at && !l.m.scan.Tentative(at) && owedBy(t) == 0 {
		l.hollow = at
		if len(l.frames) > 0 {
			l.show()
		}
		l.version++
	}
	return openWait
}

// owedBy counts the fields that must arrive before anything of an instance of t is shown.
func owedBy(t *generable.Type) int {
	n := 0
	for i := range t.Fields {
		if waits(t, i) {
			n++
		}
	}
	return n
}

// fill notes that the hollow child is followed or complete. If it is not an object after all, what was shown is void.
func (l *live) fill(object bool) {
	if l.hollow >= 0 && !object {
		l.reset("what looked like an object is a list")
	}
	l.hollow = -1
}

func elemOf(t *generable.Type) *generable.Type {
	if t.Kind == generable.AnyType {
		return generable.AnyT
	}
	return t.Elem
}

// openVariant opens an instance of a declared union whose first key is its tag. A tag that comes later is left to the
// coercer.
func (l *live) openVariant(at int, key string, t *generable.Type) opening {
	s := l.m.scan
	if key != t.Tag {
		return l.whole(at)
	}
	if at+2 >= len(s.Tape) {
		return openWait
	}
	tag := &s.Tape[at+2]
	if !tag.IsText() {
		return l.whole(at)
	}
	if tag.Span == 0 || (tag.Span+uint32(at)+2 >= uint32(len(s.Tape)) && s.Tape[at].Span == 0) {
		return openWait // until something follows it
	}
	v, _ := l.c.VariantNamed(t, l.str(at+2))
	if v == nil || v.Stream&generable.StreamAtomic != 0 {
		return l.whole(at)
	}
	l.pushRecord(at, v, t.Tag)
	return openYes
}

// narrow finds the only member of an inline union that a container can be an instance of: by its brackets, else by
// its first members.
func (l *live) narrow(at int, n *tape.Node, t *generable.Type) *generable.Type {
	var buf [8]*generable.Type
	left := buf[:0]
	for _, v := range t.Variants {
		if l.c.Affinity(n, v) == coerce.AffinityExact {
			left = append(left, v)
		}
	}
	ta, key := l.m.scan.Tape, at+1
	for i := 0; len(left) > 1; i++ {
		if n.Kind != tape.NodeObj || i == firstMembers || !l.keyAt(key) || ta[key].End-ta[key].Start > maxFirstKey {
			return nil
		}
		name, val := l.str(key), key+1
		left = slices.DeleteFunc(left, func(v *generable.Type) bool { return !l.mayHave(v, name, -1, i == 0) })
		if len(left) > 1 {
			if val >= len(ta) || ta[val].Span == 0 || val+int(ta[val].Span) >= len(ta) {
				return nil // it may become longer
			}
			left = slices.DeleteFunc(left, func(v *generable.Type) bool { return !l.mayHave(v, name, val, i == 0) })
			key = val + int(ta[val].Span)
		}
	}
	if len(left) == 0 {
		return nil
	}
	return left[0]
}

// firstMembers is how many members of an object are examined to decide between several types. While the object waits
// for more members, that happens with each piece of the text.
const firstMembers = 4

// mayHave reports whether a key, of the first member or of a later one, may be in an object of type t: it is a field
// and, if the field is an enum and val is not negative, the value at val is one of its values.
func (l *live) mayHave(t *generable.Type, key string, val int, first bool) bool {
	switch t = t.Deref(); t.Kind {
	case generable.UnionType:
		return !first || key == t.Tag
	case generable.RecordType:
		i, _ := l.c.FindField(t, key)
		if i < 0 || val < 0 || !l.m.scan.Tape[val].IsText() {
			return i >= 0
		}
		e := t.Fields[i].Type.Deref()
		return e.Kind != generable.EnumType || l.c.IsOf(l.str(val), e)
	}
	return t.Kind == generable.DictType
}

// maxFirstKey bounds the length of the first keys that are examined: while an object waits for more text, that
// happens with each piece.
const maxFirstKey = 256

// firstKey returns the first key of an object, once a colon makes it certain to be one. It does not return a key that
// is too long to be a field's.
func (l *live) firstKey(at int) (string, bool) {
	if !l.keyAt(at + 1) {
		return "", false
	}
	if n := &l.m.scan.Tape[at+1]; n.End-n.Start > maxFirstKey {
		return "", false
	}
	return l.str(at + 1), true
}

// keyAt reports whether a key is at index at and a colon follows it.
func (l *live) keyAt(at int) bool {
	s := l.m.scan
	return at < len(s.Tape) && s.Tape[at].Flags&tape.FlagKey != 0 && s.Tape[at].Span != 0 && (at+1 < len(s.Tape) || s.AfterColon())
}

// member reads the key at the frame's current position.
func (l *live) member(f *liveFrame) bool {
	if !l.keyAt(f.cur) {
		return false
	}
	f.key, f.begun, f.skip = l.str(f.cur), true, false
	if f.op == coerce.OpDict {
		f.skip = f.repeats() // what was shown stays, until the end says otherwise
		return true
	}
	f.skip = true
	if f.key == f.tag && f.tag != "" {
		return true
	}
	if i := len(f.fields); i < len(f.place) && f.place[i] == 0 && f.typ.Fields[i].Key() == f.key {
		f.field, f.skip, f.key = i, false, f.typ.Fields[i].Name // most fields come in order
		return true
	}
	if i, rep := l.c.FindField(f.typ, f.key); i >= 0 && f.place[i] == 0 {
		f.field, f.skip = i, false
		if rep != tape.RepNone {
			l.aim(f.cur)
			l.c.Repair(rep, 0, f.key, f.typ.Fields[i].Key())
			l.coerced()
		}
		f.key = f.typ.Fields[i].Name
	}
	return true
}

func (l *live) push(op coerce.FrameOp, at int, t *generable.Type) *liveFrame {
	l.fill(op != coerce.OpList)
	n := len(l.frames)
	if n == cap(l.frames) {
		l.frames = append(make([]liveFrame, 0, max(2*n, 4)), l.frames...)
	}
	l.frames = l.frames[:n+1]
	f := &l.frames[n]
	// Reuse the memory of an earlier frame, unless a value refers to it.
	if f.shared {
		f.spare, f.keys, f.shared = nil, nil, false
	}
	f.op, f.node, f.cur, f.typ, f.tag = op, at, at+1, t, ""
	f.vals, f.keys, f.fields, f.place = f.spare[:0], f.keys[:0], f.fields[:0], f.place[:0]
	f.key, f.begun, f.skip, f.field, f.owed = "", false, false, 0, 0
	f.items, f.told = 0, nil
	f.index = nil
	if n == 0 {
		l.known = false // until something of it is shown, the previous candidate is
	}
	l.show()
	return f
}

func (l *live) pushRecord(at int, t *generable.Type, tag string) {
	owed := owedBy(t)
	l.owing += owed
	f := l.push(coerce.OpRecord, at, t)
	f.owed, f.tag = owed, tag
	n := len(t.Fields)
	if cap(f.place) < n {
		f.place = make([]int32, n)
	}
	f.place = f.place[:n]
	clear(f.place)
	if n++; cap(f.fields) < n { // one more for a tag
		f.fields = make([]int, 0, n)
	}
	f.vals, f.sorted = l.c.Values(n)[:0], true
	if tag != "" {
		f.vals, f.fields = append(f.vals, generable.StrOf(t.Name)), append(f.fields, -1)
		l.emit(StreamVariant, t.Name, generable.Value{}, int(l.m.scan.Tape[at].Start), len(l.frames)-1)
	}
}

// str returns the text of a complete node.
func (l *live) str(at int) string {
	if n := &l.m.scan.Tape[at]; n.Kind == tape.NodeStr && n.IsVerbatim() {
		return l.m.src[n.Start:n.End]
	}
	l.aim(at)
	text := l.c.Str(0)
	l.exact = l.exact && len(l.c.Repairs) == 0
	return text
}

// aim points the coercer at the subtree at a node. What the coercer appends to its tape does not affect the
// scanner's.
func (l *live) aim(at int) {
	tape := l.m.scan.Tape
	end := at + max(1, int(tape[at].Span))
	c := &l.c
	c.Tape = tape[at:end:end]
	c.Docs, c.Base, c.Depths = append(c.Docs[:0], l.m.src), c.Base[:1], c.Depths[:1]
	if s := l.salvage; s != nil {
		c.Docs, c.Base, c.Depths = append(c.Docs[:0], s.Docs...), append(c.Base[:0], s.Base...), append(c.Depths[:0], s.Depths...)
	}
	c.Stack, c.Repairs, c.Errs, c.Subdocs = c.Stack[:0], c.Repairs[:0], c.Errs[:0], nil
	c.More, c.Cost, c.Score, c.Trials = 0, 0, 0, 0
	clear(c.Memo)
}
