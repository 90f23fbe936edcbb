package generable

import "strconv"

// emit tells an event about the child being read at the given number of frames, or keeps it
// as long as what it belongs to is not shown.
func (l *live) emit(e StreamEvent, depth int) {
	if l.on == nil {
		return
	}
	if l.owing > 0 && e.Kind != StreamReset {
		e.path = l.pathOf(depth, e.Kind == StreamItem)
		l.held = append(l.held, e)
		return
	}
	// The event is told in place: a copy of all of it costs more than what is in it.
	ev := &l.event
	ev.Kind, ev.Text, ev.Offset, ev.depth = e.Kind, e.Text, e.Offset, depth
	if e.Value.kind != Null || ev.Value.kind != Null {
		ev.Value = e.Value
	}
	if e.Repair != nil || ev.Repair != nil {
		ev.Repair = e.Repair
	}
	if ev.path != "" {
		ev.path = ""
	}
	if ev.live == nil {
		ev.live = l
	}
	l.tell(ev)
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
		l.emit(StreamEvent{Kind: StreamRepair, Offset: r.Offset, Repair: &r}, len(l.frames))
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
		l.emit(StreamEvent{Kind: StreamRepair, Offset: r.Offset, Repair: &r}, len(l.frames))
	}
}
