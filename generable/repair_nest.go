package generable

import "strings"

// This file repairs brackets that are missing, or one too many, in the middle of a value.

// inList reports whether the innermost bracket is an item of a list in brackets.
func (s *scanner) inList() bool {
	n := len(s.stack)
	return n > 1 && !s.stack[n-2].obj && s.stack[n-2].closer == ']'
}

// enter makes the node at tape index at an open container again, or for the first time.
func (s *scanner) enter(at int, obj bool) {
	f := scanFrame{node: uint32(at), obj: obj, closer: ']'}
	if obj {
		f.closer = '}'
	}
	s.rewrites++
	s.opens[closerIndex(f.closer)]++
	s.stack = append(s.stack, f)
	s.tape[at].end, s.tape[at].span = 0, 0
}

// rejoinList goes on with the list that is the last value of the current object, when an
// opening bracket follows where a key should: {"a": [1], [2]}. Lists join lists as an item,
// and else with their items.
func (s *scanner) rejoinList() bool {
	at := s.lastClosed
	if !s.reenter(len(s.tape)) {
		return false
	}
	s.st = stArrNext
	if s.tape[at].count == 0 || s.tape[at+1].kind != nodeArr {
		s.pos++
	}
	return true
}

// rejoinItem does the same for a scalar where a key should be: {"a": [1], 2].
func (s *scanner) rejoinItem() bool {
	last := len(s.tape) - 1
	item := s.tape[last]
	if !s.reenter(last) {
		return false
	}
	s.unkey(&item)
	s.tape = append(s.tape[:last], item)
	s.attached()
	return true
}

// reenter opens the list again that was closed last, if it ends at tape index end and is the
// last value of the current object.
func (s *scanner) reenter(end int) bool {
	top, at := s.stack[len(s.stack)-1], s.lastClosed
	if at <= int(top.node) || at >= end || s.tape[top.node].count == 0 || len(s.stack) >= s.maxDepth {
		return false
	}
	n := &s.tape[at]
	if n.kind != nodeArr || at+int(n.span) != end {
		return false
	}
	s.repair(repExtraCloser, int(n.end)-1, int(n.end))
	s.tape[top.node].count--
	s.enter(at, false)
	s.forget()
	return true
}

// keyInList handles a colon after a string that seemed an item. The list lacks its closer,
// {"a": [1, 2, "b": 3}, unless it stands in no object or turns out to go on: then the members
// lack their opening brace, [{"a": 1}, "a": 2}].
func (s *scanner) keyInList() bool {
	at := len(s.tape) - 1
	top := s.stack[len(s.stack)-1]
	if top.obj || top.closer != ']' || int(s.lastStr.node) != at || s.tentStr.node >= 0 || len(s.stack) >= s.maxDepth {
		return false
	}
	key := s.tape[at]
	if key.flags&flagRepaired != 0 && s.lastStr.kind == quoteDouble || !s.isName(&key) {
		return false
	}
	list := &s.tape[top.node]
	if s.continues(at, key, list.count) {
		list.count -= 2
		sibling := s.lastClosed
		s.repair(repExtraCloser, int(s.tape[sibling].end)-1, int(s.tape[sibling].end))
		s.tape = s.tape[:at]
		s.enter(sibling, true)
		key.flags |= flagKey
		s.tape = append(s.tape, key)
		s.pos++
		s.colon()
		return true
	}
	list.count--
	if s.soft = false; len(s.stack) > 1 && s.stack[len(s.stack)-2].obj && list.count > 0 {
		s.tape = s.tape[:at]
		s.rewrites++
		s.repair(repMissingCloser, int(key.start)-1, int(key.start)-1)
		s.closeTop(int(key.start) - 1)
		parent := s.stack[len(s.stack)-1].node
		s.hoist = hoisted{int(parent), int(top.node), at, s.tape[parent].count}
	} else {
		s.repair(repBrackets, int(key.start)-1, int(key.start)-1)
		s.tape[at] = node{kind: nodeObj, flags: flagRepaired, start: key.start - 1}
		s.enter(at, true)
	}
	key.flags |= flagKey
	s.tape = append(s.tape, key)
	s.pos++
	s.colon()
	return true
}

// openList makes a list of the last value and of the keys without values behind it, where the
// closer of a list stands at the current position: {"a": "x", "y"] lacks its opening bracket.
func (s *scanner) openList() bool {
	last := len(s.tape) - 1
	at, n := last-1, 1
	for at > 1 && s.tape[at].kind == nodeMissing && s.tape[at].flags&flagKey == 0 {
		at, n = at-2, n+1
	}
	value := s.tape[at]
	if value.flags&flagKey != 0 || value.span != 1 || value.kind == nodeMissing || at == 0 || s.tape[at-1].flags&flagKey == 0 {
		return false
	}
	if s.furtherIn(at) {
		return false
	}
	if s.due(']') {
		run, next, k := s.closersAhead(']')
		if !s.pay(k) || s.afterClosing(run, next, closeNothing) > s.afterClosing(run, next, closeOuter) {
			return false
		}
	}
	items := []node{value}
	if value.kind == nodeWord { // 1,2 was taken for one text
		items = items[:0]
		for p := value.start; ; {
			word, _, more := strings.Cut(s.src[p:value.end], ",")
			kind, _ := classifyWord(strings.TrimSpace(word))
			if kind == nodeWord {
				return false
			}
			from := p + uint32(len(word)-len(strings.TrimLeft(word, " \t\r\n")))
			items = append(items, node{kind: kind, start: from, end: from + uint32(len(strings.TrimSpace(word))), span: 1})
			if p += uint32(len(word)) + 1; !more {
				break
			}
		}
	}
	if !s.pay(2 * n) {
		return false
	}
	for i := at + 1; i <= last; i += 2 {
		item := s.tape[i]
		s.unkey(&item)
		items = append(items, item)
	}
	s.rewrites++
	s.repair(repBrackets, int(value.start), int(value.start))
	s.tape = append(s.tape[:at], node{kind: nodeArr, flags: flagRepaired, count: uint32(len(items)), start: value.start, end: uint32(s.pos + 1), span: uint32(len(items) + 1)})
	s.tape = append(s.tape, items...)
	s.tape[s.stack[len(s.stack)-1].node].count -= uint32(n - 1)
	s.forget()
	s.lastClosed = at
	s.pos++
	s.st = stObjAfter
	return true
}

// furtherIn reports whether the scalar at tape index at, which ends before the current key,
// belongs to the container that was closed last, or may do so.
func (s *scanner) furtherIn(at int) bool {
	top, last := int(s.stack[len(s.stack)-1].node), s.lastClosed
	return last < 0 || last > top && last+int(s.tape[last].span) > at
}

// continues reports whether a key belongs to the object that ends directly before it, at tape
// index end, [{"a": 1}, "b": 2}]: that object does not have it, but the first one of the list
// does, or it is the only one and the list stands in no object that could have the key. It
// looks at a bounded number of keys.
func (s *scanner) continues(end int, key node, items uint32) bool {
	at, first := s.lastClosed, int(s.stack[len(s.stack)-1].node)+1
	if at < first || at >= end || s.tape[at].kind != nodeObj || at+int(s.tape[at].span) != end || s.hasKey(at, key) {
		return false
	}
	if at == first {
		return len(s.stack) < 2 || !s.stack[len(s.stack)-2].obj
	}
	return items > 2 && s.tape[first].kind == nodeObj && s.hasKey(first, key)
}

// hasKey reports whether the first members of the object at a tape index include that key.
func (s *scanner) hasKey(at int, key node) bool {
	k := at + 1
	for range min(s.tape[at].count, maxPops) {
		if s.src[s.tape[k].start:s.tape[k].end] == s.src[key.start:key.end] {
			return true
		}
		k += 1 + int(s.tape[k+1].span)
	}
	return s.tape[at].count > maxPops
}

// hoisted reports whether the current object holds members that were moved out of a list.
func (s *scanner) hoisted() bool {
	return s.hoist.parent == int(s.stack[len(s.stack)-1].node)
}

// enclose moves them back, as an object, because the closer of that list is here after all.
func (s *scanner) enclose() bool {
	h := s.hoist
	if !s.hoisted() || !s.pay(len(s.tape)-h.key) {
		return false
	}
	parent := &s.tape[h.parent]
	obj := node{kind: nodeObj, flags: flagRepaired, start: s.tape[h.key].start, end: uint32(s.pos), count: parent.count - h.count}
	parent.count = h.count
	s.tape = append(s.tape, node{})
	copy(s.tape[h.key+1:], s.tape[h.key:])
	obj.span = uint32(len(s.tape) - h.key)
	s.tape[h.key] = obj
	s.rewrites++
	list := &s.tape[h.arr]
	list.count++
	s.repair(repBrackets, int(obj.start), int(obj.start))
	s.forget()
	s.hoist.parent, s.lastClosed = -1, h.arr
	if s.src[s.pos] == '}' { // the list goes on
		s.tape[h.key].end++
		s.tape[h.parent].count--
		s.enter(h.arr, false)
		s.st = stArrAfter
	} else {
		list.end, list.span = uint32(s.pos+1), uint32(len(s.tape)-h.arr)
		s.st = stObjAfter
	}
	s.pos++
	return true
}

// maxRejoin bounds the bytes looked at behind a whole value.
const maxRejoin = 96

// rootAfter looks at what follows an object that is complete. A comma and another key say
// that its closer was one too many: {"a": {"b": 1}}, "c": 2}.
func (s *scanner) rootAfter() bool {
	src := s.src
	if len(src) > s.pos+maxRejoin {
		src = src[:s.pos+maxRejoin]
	}
	p, comma := s.pos, false
	for p < len(src) && (class[src[p]]&isBlank != 0 || !comma && (src[p] == ',' || src[p] == ';' || src[p] == '}' || src[p] == ']')) {
		comma = comma || src[p] == ',' || src[p] == ';'
		p++
	}
	key := p
	if p < len(src) && comma {
		root := s.cand.node
		quoted := src[p] == '"'
		if quoted {
			p++
		}
		if quoted || root+1 < len(s.tape) && s.tape[root+1].kind == nodeWord {
			p = skipName(src, p, quoted)
			for p < len(src) && class[src[p]]&isBlank != 0 {
				p++
			}
			if p < len(src) && src[p] == ':' && p > key+1 {
				p++
				for p < len(src) && class[src[p]]&isBlank != 0 {
					p++
				}
				if p < len(src) && (beginsValue(src[p]) || strings.IndexByte("+.'TFN", src[p]) >= 0) {
					s.rejoin(key)
					return true
				}
			}
		}
	}
	if p == len(s.src) && !s.eof {
		return false
	}
	s.accept(s.cand)
	return true
}

// skipName passes over the name of a key and the quote behind it.
func skipName(src string, p int, quoted bool) int {
	for p < len(src) && (class[src[p]]&isIdent != 0 || quoted && src[p] == ' ') {
		p++
	}
	if quoted && p < len(src) && src[p] == '"' {
		p++
	}
	return p
}

// beginsValue reports whether c begins a value of JSON.
func beginsValue(c byte) bool {
	switch c {
	case '"', '{', '[', '-', 't', 'f', 'n':
		return true
	}
	return class[c]&isDigit != 0
}

// rejoin goes on with the candidate, an object, at its next key.
func (s *scanner) rejoin(key int) {
	end := s.cand.end
	s.cand.cost, s.cand.end = s.cost-s.cand.cost, 0
	s.soft = false
	s.enter(s.cand.node, true)
	s.repair(repExtraCloser, end-1, end)
	s.rewound += key - s.pos
	s.pos = key
	s.st = stObjNext
}
