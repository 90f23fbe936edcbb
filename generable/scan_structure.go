package generable

// structure reads what stands between the tokens of a value. Here and in [scanner.token] is
// the grammar of JSON; every byte that it does not allow goes to the repairs.
func (s *scanner) structure() bool {
	for s.st >= stArrFirst && s.st <= stWordQuote {
		src, p := s.src, s.pos
		for p < len(src) && class[src[p]]&isBlank != 0 {
			p++
		}
		s.pos = p
		if p == len(src) {
			return true
		}
		if !s.token(src[p]) {
			return false
		}
		if s.st == stString && s.quote == quoteDouble && !s.scanString() {
			return false
		}
	}
	return true
}

// token reads the byte c, which is no blank, where a token begins or ends.
func (s *scanner) token(c byte) bool {
	switch s.st {
	case stArrFirst, stArrNext, stObjValue:
		switch c {
		case '"':
			s.openString(quoteDouble, 1, 0)
			return true
		case '{':
			s.push(nodeObj)
			return true
		case '[':
			s.push(nodeArr)
			return true
		case ']':
			if s.st == stArrFirst && s.closes(']') {
				s.pop()
				return true
			}
		case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			return s.number()
		case 't':
			return s.literal("true", nodeTrue)
		case 'f':
			return s.literal("false", nodeFalse)
		case 'n':
			return s.literal("null", nodeNull)
		}
		return s.oddValue(c)
	case stArrAfter:
		switch c {
		case ',':
			s.pos++
			s.st = stArrNext
			return true
		case ']':
			if s.closes(']') {
				s.pop()
				return true
			}
		}
		return s.oddAfter(c)
	case stObjFirst, stObjNext:
		switch {
		case c == '"':
			s.openString(quoteDouble, 1, flagKey)
			return true
		case c == '}' && s.st == stObjFirst && s.closes('}'):
			s.pop()
			return true
		}
		return s.oddKey(c)
	case stColon:
		if c == ':' {
			s.pos++
			s.colon()
			return true
		}
		return s.oddColon(c)
	case stObjAfter:
		switch c {
		case ',':
			s.pos++
			s.st = stObjNext
			return true
		case '}':
			if s.ends('}') {
				s.pop()
				return true
			}
		}
		return s.oddAfter(c)
	case stConcat:
		return s.oddConcat()
	case stWordQuote:
		return s.wordQuote(c)
	}
	return false // not reached: there is no other state between tokens
}

// closes reports whether c is the closer that the innermost bracket waits for.
func (s *scanner) closes(c byte) bool { return s.stack[len(s.stack)-1].closer == c }

// ends reports whether c closes the innermost bracket and nothing speaks against it.
func (s *scanner) ends(c byte) bool { return s.closes(c) && (s.hoist.parent < 0 || !s.hoisted()) }

// colon notes that the current key is a key beyond doubt.
func (s *scanner) colon() {
	if key := &s.tape[len(s.tape)-1]; key.kind == nodeWord {
		s.repair(repMissingQuotes, int(key.start), int(key.end))
	}
	s.forget()
	s.soft = false
	s.st = stObjValue
}

// forget gives up the ways back to earlier strings, because what follows them is certain.
func (s *scanner) forget() {
	s.lastStr.node, s.tentStr.node = -1, -1
	s.lastConcat = -1
	s.noComma = false
}

// push opens a container at the current position.
func (s *scanner) push(kind nodeKind) {
	s.forget()
	if len(s.stack) >= s.maxDepth {
		s.st, s.deep, s.deepStr = stTooDeep, 0, false
		s.cand.tooDeep = true
		s.cand.deepAt = s.pos
		return
	}
	f := scanFrame{node: uint32(len(s.tape)), closer: ']'}
	s.st = stArrFirst
	if kind == nodeObj {
		f.obj, f.closer = true, '}'
		s.st = stObjFirst
	}
	s.opens[closerIndex(f.closer)]++
	if len(s.stack) == cap(s.stack) {
		s.stack = append(make([]scanFrame, 0, s.room(len(s.stack))), s.stack...)
	}
	s.stack = append(s.stack, f)
	s.add(node{kind: kind, start: uint32(s.pos)})
	s.pos++
}

// add puts a node on the tape.
func (s *scanner) add(n node) {
	if len(s.tape) == cap(s.tape) {
		s.tape = append(make([]node, 0, s.room(len(s.tape))), s.tape...)
	}
	s.tape = append(s.tape, n)
}

// room is how many entries there should be room for when n are not enough. When all of the text
// is there, they go on as they came: a text of brackets takes its memory once.
func (s *scanner) room(n int) int {
	if s.whole && n > 1<<10 {
		all := float64(n) * float64(len(s.src)) / float64(max(s.pos, 1))
		return max(n+n/8, int(all+all/32))
	}
	return max(8, 2*n)
}

// doubled makes room in a slice that is full. append takes a quarter more once a slice is
// large, and so copies it more often.
func doubled[T any](list []T) []T {
	if len(list) < cap(list) {
		return list
	}
	return append(make([]T, 0, max(8, 2*len(list))), list...)
}

// closerIndex is the place of a closer in the count of those that are due.
func closerIndex(c byte) int {
	switch c {
	case '}':
		return 0
	case ']':
		return 1
	}
	return 2
}

// due reports whether some open bracket waits for closer c.
func (s *scanner) due(c byte) bool { return s.opens[closerIndex(c)] > 0 }

// expect changes the closer that the innermost bracket waits for.
func (s *scanner) expect(c byte) {
	top := &s.stack[len(s.stack)-1]
	s.opens[closerIndex(top.closer)]--
	s.opens[closerIndex(c)]++
	top.closer = c
}

// pop closes the innermost container with the closer at the current position.
func (s *scanner) pop() {
	top := &s.stack[len(s.stack)-1]
	s.pos++
	s.forget()
	if top.extra > 0 {
		top.extra--
		s.st = stObjAfter
		return
	}
	s.closeTop(s.pos)
}

// closeTop closes the innermost container at offset end and goes on after it.
func (s *scanner) closeTop(end int) {
	top := s.stack[len(s.stack)-1]
	s.stack = s.stack[:len(s.stack)-1]
	n := &s.tape[top.node]
	n.end = uint32(end)
	n.span = uint32(len(s.tape)) - top.node
	s.opens[closerIndex(top.closer)]--
	s.soft = false
	s.lastClosed = int(top.node)
	if s.wrapAt == s.lastClosed {
		s.wrapAt = -1
	}
	if top.wrap != wrapNone && n.count == 1 && !top.obj && (top.wrap == wrapCall || s.st != stArrNext) && s.pay(int(n.span)) {
		copy(s.tape[top.node:], s.tape[top.node+1:])
		s.tape = s.tape[:len(s.tape)-1]
		s.lastClosed, s.hoist.parent = -1, -1
	}
	s.attached()
}

// attached counts a completed value in its container, or ends the candidate.
func (s *scanner) attached() {
	if len(s.stack) == 0 {
		s.endCandidate()
		return
	}
	top := &s.stack[len(s.stack)-1]
	s.tape[top.node].count++
	if top.obj {
		s.st = stObjAfter
	} else {
		s.st = stArrAfter
	}
}

// leaf adds a scalar over the bytes from start to the current position and goes on after it.
func (s *scanner) leaf(kind nodeKind, start, end int, flags uint8) {
	s.forget()
	s.soft = false
	s.add(node{kind: kind, flags: flags, start: uint32(start), end: uint32(end), span: 1})
	s.attached()
}

// literal reads true, false or null; anything else that begins so is a word.
func (s *scanner) literal(text string, kind nodeKind) bool {
	if !s.wants(len(text) + 1) {
		return false
	}
	p := s.pos
	if s.has(p, text) {
		end := p + len(text)
		if end == len(s.src) || class[s.src[end]]&isNumEnd != 0 {
			s.pos = end
			s.leaf(kind, p, end, 0)
			return true
		}
	}
	s.openWord(0)
	return true
}

// number reads a number as JSON writes it; anything else that begins so is a word. The whole
// number is read in one go: when it is not complete yet it is read as a word, which may end
// at any byte.
func (s *scanner) number() bool {
	src, p := s.src, s.pos
	if src[p] == '-' {
		p++
	}
	digits := p
	for p < len(src) && class[src[p]]&isDigit != 0 {
		p++
	}
	kind := nodeInt
	if p == digits || (src[digits] == '0' && p > digits+1) {
		s.openWord(0)
		return true
	}
	if p < len(src) && src[p] == '.' {
		kind = nodeFloat
		p++
		frac := p
		for p < len(src) && class[src[p]]&isDigit != 0 {
			p++
		}
		if p == frac {
			s.openWord(0)
			return true
		}
	}
	if p < len(src) && src[p]|0x20 == 'e' {
		kind = nodeFloat
		p++
		if p < len(src) && (src[p] == '+' || src[p] == '-') {
			p++
		}
		exp := p
		for p < len(src) && class[src[p]]&isDigit != 0 {
			p++
		}
		if p == exp {
			s.openWord(0)
			return true
		}
	}
	if p == len(src) || class[src[p]]&isNumEnd == 0 {
		s.openWord(0)
		return true
	}
	start := s.pos
	s.pos = p
	s.leaf(kind, start, p, 0)
	return true
}

// tooDeep passes over what is nested beyond the limit.
func (s *scanner) tooDeep() bool {
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		switch {
		case s.deepStr && c == '\\':
			if !s.wants(2) {
				return false
			}
			s.pos = min(s.pos+2, len(s.src))
			continue
		case c == '"':
			s.deepStr = !s.deepStr
		case s.deepStr:
		case c == '{' || c == '[':
			s.deep++
		case c == '}' || c == ']':
			if s.deep--; s.deep == 0 {
				s.pos++
				s.leaf(nodeNull, s.cand.deepAt, s.pos, flagRepaired)
				return true
			}
		}
		s.pos++
	}
	return true
}
