package generable

// This file repairs what stands where a comma or a closer should.

// oddAfter reads what follows a value and is neither comma nor closer.
func (s *scanner) oddAfter(c byte) bool {
	p := s.pos
	if !s.wants(4) {
		return false
	}
	if c >= 0x80 && s.oddBlank() {
		return true
	}
	top := &s.stack[len(s.stack)-1]
	str := s.lastStr.node >= 0
	switch c {
	case '}':
		if top.alien {
			s.pop()
		} else {
			s.closerMismatch()
		}
		return true
	case ']':
		s.closerMismatch()
		return true
	case ')', ';':
		switch {
		case c == ')' && top.alien:
			s.pop()
			return true
		case str && s.calls == 0 && s.reopen(s.lastStr):
			return true
		}
		s.skip(1)
		return true
	case '/', '#':
		if s.comment() {
			return true
		}
	case '+':
		if str || s.lastConcat >= 0 {
			s.tok = p
			s.pos++
			s.st = stConcat
			return true
		}
	case ':', '=':
		if !s.reopen(s.lastStr) {
			s.skip(1)
		}
		return true
	case '.':
		if s.ellipsis() {
			return true
		}
	case '<':
		if s.has(p, "</") {
			s.endRegion(p)
			return true
		}
	case '{', '[':
		return s.missingCommaBracket(c)
	}
	if s.atFenceEnd(p) {
		s.endRegion(p)
		return true
	}
	if kind, w := s.quoteAt(p); w > 0 {
		return s.quoteAfter(kind, p, w)
	}
	switch {
	case s.has(p, "，"):
		s.skipAs(repFullWidth, 3)
		if top.obj {
			s.st = stObjNext
		} else {
			s.st = stArrNext
		}
		return true
	case s.has(p, "…"):
		s.skipAs(repEllipsis, 3)
		return true
	}
	return s.wordAfter(c)
}

// missingCommaBracket reads an opening bracket directly after a value.
func (s *scanner) missingCommaBracket(c byte) bool {
	top := &s.stack[len(s.stack)-1]
	if !top.obj {
		s.repair(repMissingComma, s.pos, s.pos)
		s.st = stArrNext
		return true
	}
	if s.reopen(s.lastStr) {
		return true
	}
	if c == '{' {
		s.repair(repMissingComma, s.pos, s.pos)
		s.st = stObjNext
		return true
	}
	s.skip(1)
	return true
}

// quoteAfter reads a quote directly after a value: a comma is missing, or the last string
// goes on.
func (s *scanner) quoteAfter(kind quoteKind, p, w int) bool {
	obj := s.stack[len(s.stack)-1].obj
	last := s.lastStr
	if last.node >= 0 {
		n := s.tape[last.node]
		if n.start == n.end && int(last.next) == p && last.kind == kind && (kind == quoteDouble || kind == quoteSingle) {
			s.takeBack(last)
			return s.quoteAgain(int(last.node), p)
		}
		if kind != last.kind && kind != quoteDouble && s.reopen(last) {
			return true
		}
	}
	s.repair(repMissingComma, p, p)
	s.oddQuote(kind, p, w)
	var flags uint8
	if obj {
		flags = flagKey
	}
	if kind == quoteFence {
		s.endRegion(p)
		return true
	}
	s.openString(kind, w, flags)
	s.tentStr = last
	return true
}

// takeBack undoes the completion of the string that m remembers.
func (s *scanner) takeBack(m marker) {
	s.tape[s.stack[len(s.stack)-1].node].count--
	s.forget()
}

// wordAfter reads a byte directly after a value that begins neither a string nor a bracket:
// the last string goes on, or a comma is missing, or prose follows a value that was cut off.
func (s *scanner) wordAfter(c byte) bool {
	top := &s.stack[len(s.stack)-1]
	if last := s.lastStr; last.node >= 0 {
		n := s.tape[last.node]
		if n.start == n.end && int(last.next) == s.pos && (last.kind == quoteDouble) && class[c]&isIdent != 0 {
			s.takeBack(last)
			return s.quoteAgain(int(last.node), s.pos)
		}
		if s.tentStr.node >= 0 && s.reopen(s.tentStr) {
			return true
		}
		if end, ok := s.endsBefore(int(n.start), int(last.quote)); ok && int(last.next) == s.pos && s.cutString(end) {
			return true
		}
		if !(class[c]&isDigit != 0 && !top.obj) && s.reopen(last) {
			return true
		}
	}
	if class[c]&isIdent == 0 && c != '+' && c != '\\' {
		s.skip(1)
		return true
	}
	if c == '\\' {
		s.skip(1)
		return true
	}
	s.bare = marker{repairs: int32(len(s.repairs)), cost: int32(s.cost)}
	s.repair(repMissingComma, s.pos, s.pos)
	s.noComma = true
	if top.obj {
		s.openWord(flagKey)
		return true
	}
	s.st = stArrNext
	return true
}

// endsBefore finds where a string ends whose closing quote is missing: before the comma, or
// the line end, that stands directly before the quote at q. It looks at a bounded number of
// blanks.
func (s *scanner) endsBefore(start, q int) (int, bool) {
	p, line := q, false
	for p > start && q-p < 64 && class[s.src[p-1]]&isBlank != 0 {
		p--
		line = line || s.src[p] == '\n'
	}
	switch {
	case p > start && s.src[p-1] == ',':
		return p - 1, true
	case line && p > start:
		return p, true
	}
	return 0, false
}

// cutString ends the string closed last before a quote that rather begins the next token.
// Should that token not turn out as one, the string is reopened.
func (s *scanner) cutString(end int) bool {
	m := s.lastStr
	if !s.back(int(m.quote)) {
		return false
	}
	n := &s.tape[m.node]
	if p := end - 1; p > int(n.start) && s.src[p] == '"' && s.src[p-1] == '\\' {
		end = p // the quote was there, but a backslash before it took its meaning: "C:\me\"
	}
	n.end = uint32(end)
	n.flags |= flagRepaired
	s.repair(repMissingQuote, end, end)
	var flags uint8
	if s.stack[len(s.stack)-1].obj {
		flags = flagKey
	}
	s.openString(m.kind, int(m.next-m.quote), flags)
	s.lastStr, s.tentStr = noMarker, m
	return true
}

// closerMismatch handles a closer at the current position that does not close the innermost
// container. What it closes depends on what follows.
func (s *scanner) closerMismatch() {
	open := s.arrs
	if s.src[s.pos] == '}' {
		open = s.objs
	}
	if open == 0 {
		s.skipAs(repExtraCloser, 1)
		s.afterValue()
		return
	}
	s.tok = s.pos
	s.pos++
	s.st = stMismatch
}

// mismatch settles a closer that does not match, knowing the byte that follows (0 at the
// end): a wrong closer when it would end the whole value although the value goes on, else
// the right one for a container further out.
func (s *scanner) mismatch(c byte) {
	obj := s.src[s.tok] == '}'
	root := s.stack[0].obj == obj && ((obj && s.objs == 1) || (!obj && s.arrs == 1))
	if root && c == ',' {
		s.repair(repWrongCloser, s.tok, s.tok+1)
		s.closeTop(s.pos)
		return
	}
	for s.stack[len(s.stack)-1].obj != obj {
		s.repair(repMissingCloser, s.tok, s.tok)
		s.closeTop(s.tok)
	}
	s.closeTop(s.tok + 1)
}
