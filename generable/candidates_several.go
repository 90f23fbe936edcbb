package generable

import "strings"

// several is the list of values that a text without a type holds apart from each other, each
// about something else. A later object with a key of an earlier one replaces it: it is the
// final form of a draft. Brackets in a sentence hold citations rather than values; only
// objects count there.
func (m *Machine) several(c *coercer, list []candidate) candidate {
	none := candidate{}
	if m.typ.Deref().Kind != AnyType || m.o.Pick != PickBest || m.o.Level == Strict || len(list) < 2 {
		return none
	}
	if m.commented(list) {
		return m.join(c, list)
	}
	var kept []candidate
	owner := make(map[string]int) // by key, the object in kept that has it
	lists := 0
	for _, k := range list {
		root := &c.tape[k.node]
		switch {
		case k.tooDeep || root.count == 0:
			continue
		case root.kind == nodeObj:
			at := len(kept)
			for key := k.node + 1; key < k.node+int(root.span); key += 1 + int(c.tape[key+1].span) {
				if old, ok := owner[c.raw(&c.tape[key])]; ok {
					at = old
				}
				owner[c.raw(&c.tape[key])] = at
			}
			if at < len(kept) {
				kept[at] = k
				continue
			}
		case lists > 0 || k.broken || k.bare || k.fence >= 0 && strings.TrimSpace(m.src[m.scan.fences[k.fence].body:k.start]) != "":
			continue
		default:
			lists++
		}
		kept = append(kept, k)
	}
	if len(kept) < 2 {
		return none
	}
	return m.join(c, kept)
}

// commented reports whether nothing but comments, blanks and commas stands beside the candidates, and
// some comment between them.
func (m *Machine) commented(list []candidate) bool {
	from, _ := trimSpan(m.src, 0, len(m.src))
	comments := 0
	for i := 0; i <= len(list); i++ {
		to := len(m.src)
		if i < len(list) {
			to = list[i].start
		}
		if from > to {
			return false
		}
		n, ok := onlyComments(m.src[from:to])
		if !ok {
			return false
		}
		if i > 0 && i < len(list) {
			comments += n
			from = list[i].end
		} else if i == 0 {
			from = list[i].end
		}
	}
	return comments > 0
}

// onlyComments counts the comments of a text that consists of such, blanks and commas.
func onlyComments(text string) (int, bool) {
	for n := 0; ; n++ {
		text = strings.TrimLeft(text, ", \t\r\n")
		switch {
		case text == "":
			return n, true
		case strings.HasPrefix(text, "//"), text[0] == '#':
			_, text, _ = strings.Cut(text, "\n")
		case strings.HasPrefix(text, "/*"):
			var ok bool
			if _, text, ok = strings.Cut(text[2:], "*/"); !ok {
				return n, false
			}
		default:
			return n, false
		}
	}
}

// collected is the list of the objects that a text holds apart from each other, where a list of
// such is wanted and the text has no other. If some stand in fences, those outside are no part of
// the answer.
func (m *Machine) collected(c *coercer, list []candidate) candidate {
	var kept []candidate
	for _, k := range list {
		fenced := k.fence >= 0
		switch {
		case len(kept) == 0 || fenced == (kept[0].fence >= 0):
			kept = append(kept, k)
		case fenced:
			kept = append(kept[:0], k)
		}
	}
	if len(kept) < 2 {
		return candidate{}
	}
	return m.join(c, kept)
}

// join is the list of several candidates, a copy.
func (m *Machine) join(c *coercer, kept []candidate) candidate {
	run := kept[0]
	run.node, run.items, run.broken, run.bare = len(c.tape), len(kept), true, false
	run.cost = repairInfo[repSequence].cost
	c.tape = append(c.tape, node{kind: nodeArr, flags: flagRepaired, count: uint32(len(kept))})
	run.repairs = len(m.scan.repairs)
	for _, k := range kept {
		// What was repaired between them belongs to values that are left out.
		for _, r := range m.scan.repairs[k.repairs:k.repairsEnd] {
			r.node += uint32(len(c.tape) - k.node)
			m.scan.repairs = append(m.scan.repairs, r)
		}
		c.tape = append(c.tape, c.tape[k.node:k.node+int(c.tape[k.node].span)]...)
		run.start, run.end = min(run.start, k.start), max(run.end, k.end)
		run.cost += k.cost
	}
	run.repairsEnd = len(m.scan.repairs)
	root := &c.tape[run.node]
	root.start, root.end, root.span = uint32(run.start), uint32(run.end), uint32(len(c.tape)-run.node)
	return run
}

// valuesOnLines reports whether a text consists of values on lines of their own, of which
// some are scalars.
func (m *Machine) valuesOnLines(list []candidate) bool {
	if m.typ.Deref().Kind != AnyType && !takesList(m.typ, 0) || m.o.Level == Strict || len(list) == 0 {
		return false
	}
	start, end := trimSpan(m.src, 0, len(m.src))
	scalars, at := 0, start
	for i := 0; i <= len(list); i++ {
		to := end
		if i < len(list) {
			to = list[i].start
		}
		if at > to {
			return false
		}
		gap := m.src[at:to]
		if i > 0 && i < len(list) && !strings.ContainsAny(gap, ",\n") {
			return false
		}
		for rest := gap; rest != ""; {
			var line string
			line, rest, _ = strings.Cut(rest, "\n")
			line = strings.Trim(line, ", \t\r")
			if line == "" {
				continue
			}
			if kind, _ := classifyWord(line); kind == nodeWord && !strictString(line) {
				return false
			}
			scalars++
		}
		if i < len(list) {
			at = list[i].end
		}
	}
	return scalars > 0
}
