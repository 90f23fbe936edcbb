package generable

import "strings"

// wholeKind tells how the text as a whole serves as a candidate.
type wholeKind uint8

const (
	wholeNone   wholeKind = iota
	wholeScalar           // as a scalar, if nothing else fits
	wholeText             // it is one valid JSON value, or all that is wanted: nothing else counts
)

// whole looks at the text as a whole: as one valid JSON value, or, for types that have
// scalars, as a scalar without quotes. It adds a node to the tape for the latter.
func (m *Machine) whole(c *coercer) (candidate, wholeKind) {
	s := m.scan
	start, end := trimSpan(m.src, 0, len(m.src))
	for i := range s.cands {
		if k := &s.cands[i]; k.start == start && k.end == end && !k.broken {
			return *k, wholeText
		}
	}
	fence := -1
	if !strictString(m.src[start:end]) { // tags of reasoning within a string of JSON belong to it
		start, end = m.withoutReasoning(start, end)
		start, end, fence = m.withinFence(start, end)
	}
	return m.wholeAt(c, start, end, fence)
}

// wholeAt does so with a range of the text, in the fence of that index.
func (m *Machine) wholeAt(c *coercer, start, end, fence int) (candidate, wholeKind) {
	s := m.scan
	if start >= end {
		return candidate{}, wholeNone
	}
	n := node{kind: nodeWord, flags: flagHigh, start: uint32(start), end: uint32(end), span: 1}
	kind, odd := wholeNone, repNone
	text := m.src[start:end]
	if strictString(text) {
		c.visits += len(text)
		n.kind, n.flags = nodeStr, flagEscape|flagHigh
		n.start, n.end = n.start+1, n.end-1
		kind = wholeText
	} else if len(text) <= maxLiteral || strictNumber(text) != nodeWord {
		if k, rep := classifyWord(text); k != nodeWord && m.typ.Deref().Kind != StrType {
			n.kind, kind, odd = k, wholeText, rep
		}
	}
	if kind == wholeNone {
		switch takes := takesScalars(m.typ, 0) || m.o.Level == Loose && takesItem(m.typ); {
		case m.typ.Deref().Kind == StrType:
			kind = wholeText // a text is wanted, and this is one
		case takes:
			kind = wholeScalar
		default:
			return candidate{}, wholeNone
		}
	}
	cand := candidate{node: len(c.tape), start: start, end: end, fence: fence, repairs: len(s.repairs)}
	if odd != repNone {
		s.repairs = append(s.repairs, synRepair{kind: odd, off: n.start, end: n.end})
		cand.broken, cand.cost = true, repairInfo[odd].cost
	}
	cand.repairsEnd = len(s.repairs)
	c.tape = append(c.tape, n)
	return cand, kind
}

// trimSpan narrows a range of the text by a byte order mark and blanks.
func trimSpan(src string, from, to int) (int, int) {
	if from == 0 && strings.HasPrefix(src, "\ufeff") {
		from = len("\ufeff")
	}
	for from < to && class[src[from]]&isBlank != 0 {
		from++
	}
	for to > from && class[src[to-1]]&isBlank != 0 {
		to--
	}
	return from, to
}

// withoutReasoning narrows a range by the reasoning regions at its beginning.
func (m *Machine) withoutReasoning(start, end int) (int, int) {
	for _, t := range m.scan.thinks {
		if t.start <= start && t.end > start {
			start, end = trimSpan(m.src, min(t.end, end), end)
		}
	}
	return start, end
}

// withinFence narrows a range to the content of the fence that it consists of, and returns the
// index of that; -1 when there is none, or a value with brackets in it.
func (m *Machine) withinFence(start, end int) (int, int, int) {
	s := m.scan
	if len(s.fences) != 1 || len(s.cands) > 0 {
		return start, end, -1
	}
	f := s.fences[0]
	if f.start != start || f.end >= 0 && f.end+f.n != end {
		return start, end, -1
	}
	start, end = m.fenced(f)
	return start, end, 0
}

// fenced is the range of the content of a fence. On one line, ```json null```, it stands behind
// the tag.
func (m *Machine) fenced(f fenceMark) (int, int) {
	if f.end < 0 {
		return trimSpan(m.src, f.body, len(m.src))
	}
	start, end := trimSpan(m.src, f.body, max(f.end, f.body))
	if _, _, inline := strings.Cut(f.tag, " "); start == end && inline {
		start, end = trimSpan(m.src, f.start+f.n, f.body)
		start += strings.IndexByte(m.src[start:end], ' ')
		start, end = trimSpan(m.src, start, end)
	}
	return start, end
}

// inFence considers the content of the last fence for data in which no bracket stands, as a
// scalar or as what lacks its brackets, with prose around the fence.
func (m *Machine) inFence(c *coercer, consider func(candidate) bool) {
	s := m.scan
	held := make(map[int]bool)
	for i := range s.cands {
		held[s.cands[i].fence] = true
	}
	for i := len(s.fences) - 1; i >= 0; i-- {
		f := s.fences[i]
		if tag, _, _ := strings.Cut(f.tag, " "); held[i] || !isDataTag(tag) || m.inReasoning(f.start) {
			continue
		}
		start, end := m.fenced(f)
		if start == end {
			continue
		}
		if cand, kind := m.wholeAt(c, start, end, i); kind == wholeNone || !consider(cand) {
			m.bracketedAt(c, start, end, i, consider)
		}
		return
	}
}

// inReasoning reports whether offset p stands in a reasoning region.
func (m *Machine) inReasoning(p int) bool {
	for _, t := range m.scan.thinks {
		if t.start <= p && p < t.end {
			return true
		}
	}
	return false
}

// isProgram reports whether a fence's language is that of a program, which may hold values but is
// none.
func isProgram(tag string) bool {
	tag, _, _ = strings.Cut(strings.ToLower(tag), " ")
	switch tag {
	case "python", "py", "python3", "typescript", "ts", "tsx", "jsx", "go", "golang", "java", "kotlin", "c", "cpp", "c++", "csharp", "cs", "rust", "ruby", "php",
		"swift", "sh", "bash", "shell", "zsh", "console", "powershell", "sql", "html", "xml", "css", "diff":
		return true
	}
	return false
}

// isDataTag reports whether a fence's language says that its content is data.
func isDataTag(tag string) bool {
	switch strings.ToLower(tag) {
	case "yaml", "yml", "text", "txt", "plaintext":
		return true
	}
	return isJSONTag(tag)
}

// takesScalars reports whether a type has values that are written without brackets. What may
// follow from an inline union is bounded, as a type may contain itself.
func takesScalars(t *Type, depth int) bool {
	switch t = t.Deref(); t.Kind {
	case BoolType, IntType, FloatType, StrType, EnumType:
		return true
	case UnionType:
		for _, v := range t.Variants {
			if v = v.Deref(); v.Kind == RecordType && allOptional(v) {
				return true
			}
		}
	case OneOfType:
		for _, v := range t.Variants {
			if depth < 8 && takesScalars(v, depth+1) {
				return true
			}
		}
	}
	return false
}

// takesItem reports whether a type is a list of such values, so that one may stand for it.
func takesItem(t *Type) bool {
	t = t.Deref()
	return t.Kind == ListType && takesScalars(t.Elem, 0)
}

// run is the list of the candidates from the one at index i on that only blanks and commas
// separate: values on lines of their own. There is one where the type is a list, or where
// there is no type and the text holds no other. It has no items otherwise, or when the first
// candidate continues an earlier run.
func (m *Machine) run(c *coercer, all []candidate, i int) candidate {
	none := candidate{}
	list := all[i:]
	untyped := m.typ.Deref().Kind == AnyType
	if (!takesList(m.typ, 0) && !untyped) || m.o.Level == Strict || list[0].adjacent {
		return none
	}
	n := 1
	for n < len(list) && list[n].adjacent {
		n++
	}
	if n == 1 || (untyped && !(m.onLines(list[:n]) && (n == len(all) || m.alone(list[:n])))) {
		return none
	}
	first, last := list[0], list[n-1]
	head := first.node - 1 // the place that was kept for it
	root := &c.tape[head]
	root.kind, root.flags, root.count = nodeArr, flagRepaired, uint32(n)
	root.start, root.end = uint32(first.start), uint32(last.end)
	root.span = uint32(last.node-head) + c.tape[last.node].span
	run := first
	run.node, run.end, run.items = head, last.end, n
	run.repairsEnd, run.broken, run.bare = last.repairsEnd, true, false
	run.cost = repairInfo[repSequence].cost
	for _, k := range list[:n] {
		run.cost += k.cost
		run.tooDeep = run.tooDeep || k.tooDeep
	}
	return run
}

// onLines reports whether the candidates stand on lines of their own, or between commas.
func (m *Machine) onLines(list []candidate) bool {
	for i := 1; i < len(list); i++ {
		if !strings.ContainsAny(m.src[list[i-1].end:list[i].start], "\n,") {
			return false
		}
	}
	return true
}

// alone reports whether the candidates are all there is in the text or in a fence.
func (m *Machine) alone(list []candidate) bool {
	start, end := trimSpan(m.src, 0, len(m.src))
	first, last := list[0], list[len(list)-1]
	if first.fence >= 0 {
		f := m.scan.fences[first.fence]
		start, end = trimSpan(m.src, f.body, max(f.end, f.body))
	}
	return first.start == start && strings.Trim(m.src[last.end:max(end, last.end)], ", \t\r\n") == ""
}

// takesList reports whether a type has lists as values.
func takesList(t *Type, depth int) bool {
	switch t = t.Deref(); t.Kind {
	case ListType:
		return true
	case OneOfType:
		for _, v := range t.Variants {
			if depth < 8 && takesList(v, depth+1) {
				return true
			}
		}
	}
	return false
}
