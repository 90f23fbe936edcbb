package generable

import "strconv"

// emit tells an event about the child being read at the given number of frames, or keeps it
// as long as what it belongs to is not shown.
func (l *live) emit(kind StreamKind, text string, v Value, offset, depth int) {
	if l.on == nil {
		return
	}
	if l.owing > 0 && kind != StreamReset {
		l.held = append(l.held, StreamEvent{Kind: kind, Text: text, Value: v, Offset: offset, path: l.pathOf(depth, kind == StreamItem)})
		return
	}
	// There is one event, told again and again: of what it holds only that is written which differs.
	e := &l.event
	e.Kind, e.Offset, e.depth = kind, offset, depth
	if text != "" || e.Text != "" {
		e.Text = text
	}
	if v.Kind() != Null || e.Value.Kind() != Null {
		e.Value = v
	}
	if e.path != "" {
		e.path = ""
	}
	if e.live == nil {
		e.live = l
	}
	l.telling = true
	l.on(e)
	l.telling = false
}

// emitRepair tells a repair of the child being read, or keeps it.
func (l *live) emitRepair(r *Repair) {
	e := StreamEvent{Kind: StreamRepair, Repair: r, Offset: r.Offset, path: l.pathOf(len(l.frames), false)}
	if l.owing > 0 {
		l.held = append(l.held, e)
		return
	}
	l.tell(&e)
}

// toldRepair tells repairs apart.
type toldRepair struct {
	kind   string
	offset int
}

// tellMissing tells the repairs of the result that only the end made known.
func (l *live) tellMissing(all []Repair) {
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

// release tells the events that were kept, once nothing is held back any more.
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

// path is where the child stands that is read at the given number of frames.
func (l *live) path(depth int) string { return l.pathOf(depth, false) }

// pathOf is that path, or when the child was read already, the one of the child read last.
func (l *live) pathOf(depth int, read bool) string {
	var b []byte
	for i := range l.frames[:depth] {
		f := &l.frames[i]
		if f.op != opList {
			b = appendKey(b, f.key)
			continue
		}
		n := len(f.vals)
		if read && i == depth-1 {
			n--
		}
		b = append(strconv.AppendInt(append(b, '['), int64(n), 10), ']')
	}
	return string(b)
}

// coerced takes note of what the coercer changed, and tells it.
func (l *live) coerced() {
	l.exact = l.exact && l.c.cost == 0 && len(l.c.repairs) == 0
	if l.on == nil {
		return
	}
	for _, r := range l.c.repairs { // a copy of each: an event may be kept
		r.Path = l.path(len(l.frames)) + r.Path
		l.emitRepair(&r)
	}
}

// tellRepairs tells the repairs of the syntax that have become certain.
func (l *live) tellRepairs() {
	s := l.m.scan
	if l.on == nil || l.repairs >= len(s.repairs) {
		return
	}
	n := s.certainRepairs()
	for l.repairs < n {
		r := l.m.syntaxRepair(s.repairs[l.repairs])
		r.Path = l.path(len(l.frames))
		l.repairs++
		l.emitRepair(&r)
	}
}
