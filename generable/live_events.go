package generable

// emit tells an event, or keeps it as long as what it belongs to is not shown.
func (l *live) emit(e *StreamEvent) {
	if l.on == nil {
		return
	}
	if l.owing > 0 && e.Kind != StreamReset {
		l.held = append(l.held, *e)
		return
	}
	l.tell(e)
}

func (l *live) tell(e *StreamEvent) { l.on(e) }

// release tells the events that were kept, once nothing is held back any more.
func (l *live) release() {
	if l.owing > 0 || len(l.held) == 0 {
		return
	}
	held := l.held
	l.held = nil
	for i := range held {
		l.on(&held[i])
	}
}

// repaired tells of a coercion of a key.
func (l *live) repaired(kind repairKind, at int, before, after string) {
	if l.on == nil {
		return
	}
	r := Repair{Kind: kind.String(), Path: l.path(), Offset: int(l.m.scan.tape[at].start), Before: shorten(before), After: shorten(after), Cost: repairInfo[kind].cost}
	l.emit(&StreamEvent{Kind: StreamRepair, Path: r.Path, Offset: r.Offset, Repair: &r})
}

// tellRepairs tells the repairs of the syntax that have become certain.
func (l *live) tellRepairs() {
	if l.on == nil {
		return
	}
	s := l.m.scan
	n := s.certainRepairs()
	for ; l.repairs < n; l.repairs++ {
		k := s.repairs[l.repairs]
		r := Repair{
			Kind: k.kind.String(), Path: l.path(), Offset: int(k.off), Cost: repairInfo[k.kind].cost,
			Before: shorten(l.m.src[k.off:max(k.off, k.end)]), After: repairAfter(k.kind),
		}
		l.emit(&StreamEvent{Kind: StreamRepair, Path: r.Path, Offset: r.Offset, Repair: &r})
	}
}
