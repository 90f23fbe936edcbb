package generable

// This file repairs what stands where a comma or a closer should.

// oddAfter reads what follows a value and is neither comma nor closer.
func (s *scanner) oddAfter(c byte) bool {
	p := s.pos
	if !s.wants(4) {
		return false
	}
	if c >= 0x80 {
		if s.oddBlank() {
			return true
		}
		if f := s.fold(p); f != 0 {
			return s.wide(f)
		}
	}
	str := s.lastStr.node >= 0
	switch c {
	case '}', ']', ')':
		return s.closer(c)
	case ';':
		if str && s.tape[s.lastStr.node].flags&flagRepaired != 0 {
			if !s.wants(maxLiteral + 2*maxGap) {
				return false
			}
			if list := !s.stack[len(s.stack)-1].obj; (list && s.quotesOpen() || !s.goesOn(p+1)) && s.reopen(s.lastStr) {
				return true
			}
		}
		s.separator(1)
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
		if c == ':' && (s.keyInList() || s.unset()) {
			if s.st == stObjAfter || s.st == stArrAfter { // a set no more
				s.pos++
				s.colon()
			}
			return true
		}
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
	case '`':
		if s.closeFence() {
			return true
		}
	}
	if s.atFenceEnd(p) {
		s.endRegion(p)
		return true
	}
	if kind, w := s.quoteAt(p); w > 0 {
		return s.quoteAfter(kind, p, w)
	}
	if s.has(p, "…") {
		s.skipAs(repEllipsis, 3)
		return true
	}
	return s.wordAfter(c)
}

// separator reads n bytes as a comma.
func (s *scanner) separator(n int) {
	s.repair(repMissingComma, s.pos, s.pos+n)
	s.pos += n
	if s.stack[len(s.stack)-1].obj {
		s.st = stObjNext
	} else {
		s.st = stArrNext
	}
}

// missingCommaBracket reads an opening bracket directly after a value.
func (s *scanner) missingCommaBracket(c byte) bool {
	top := &s.stack[len(s.stack)-1]
	if !top.obj {
		if s.lastStr.node >= 0 && s.quotesOpen() && s.reopen(s.lastStr) {
			return true
		}
		s.repair(repMissingComma, s.pos, s.pos)
		s.st = stArrNext
		return true
	}
	if s.reopen(s.lastStr) {
		return true
	}
	switch {
	case c == '{' && s.inList():
		s.repair(repMissingCloser, s.pos, s.pos)
		s.closeTop(s.pos)
		return true
	case c == '{':
		s.repair(repMissingComma, s.pos, s.pos)
		s.st = stObjNext
		return true
	case s.rejoinList():
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
		if int(last.next) == p && last.kind == kind && n.start < n.end {
			if !s.wants(w + maxGap) {
				return false
			}
			if s.endsToken(p+w) && s.reopen(last) { // "say "hi"": the second one ends it
				return true
			}
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

// maxGap bounds the blanks that are passed over to see what follows a token.
const maxGap = 16

// takeBack undoes the completion of the string that m remembers.
func (s *scanner) takeBack(m marker) {
	s.tape[s.stack[len(s.stack)-1].node].count--
	s.forget()
}

// wordAfter reads a byte directly after a value that begins neither a string nor a bracket:
// the last string goes on, or a comma is missing, or prose follows a value that was cut off.
func (s *scanner) wordAfter(c byte) bool {
	top := &s.stack[len(s.stack)-1]
	member := false
	if done, ok := s.wordsAfter(); done || !ok {
		return ok
	}
	if end := s.paragraph(); end >= 0 && top.obj && class[c]&isIdent != 0 && int(top.node)+1 < len(s.tape) && s.tape[top.node+1].kind == nodeStr {
		s.endRegion(end) // words after a blank line: the value was cut off
		return true
	}
	if last := s.lastStr; last.node >= 0 {
		n := s.tape[last.node]
		if n.start == n.end && int(last.next) == s.pos && (last.kind == quoteDouble || last.kind == quoteSingle) && class[c]&isIdent != 0 {
			s.takeBack(last)
			return s.quoteAgain(int(last.node), s.pos)
		}
		item := false // rather a value of its own than the rest of a string
		if !top.obj && int(last.next) < s.pos {
			if !s.wants(maxLiteral + maxGap) {
				return false
			}
			item = s.isItem(s.pos) && !s.quotesOpen()
		} else if !top.obj {
			item = class[c]&isDigit != 0
		}
		if !top.obj {
			if done, ok := s.strayWords(); done || !ok {
				return ok
			}
		}
		if s.tentStr.node >= 0 && !(item && int(last.next) < s.pos) && s.reopen(s.tentStr) {
			return true
		}
		if end, ok := s.endsInside(int(n.start), int(last.quote)); ok && int(last.next) == s.pos && s.back(end) {
			s.tape[last.node].end = uint32(end)
			s.tape[last.node].flags |= flagRepaired
			s.repair(repMissingQuote, end, end)
			s.forget()
			return true
		}
		if end, ok := s.endsBefore(int(n.start), int(last.quote)); ok && int(last.next) == s.pos && s.cutString(end) {
			return true
		}
		if top.obj && int(last.next) < s.pos {
			if !s.wants(maxLiteral + 2*maxGap) {
				return false
			}
			name, value := s.isMember(s.pos), s.memberAt(s.pos)
			member = name && s.tape[last.node-1].kind == nodeWord || value && !s.quotesOpen()
		}
		if top.obj {
			if done, ok := s.strayWords(); done || !ok {
				return ok
			}
		}
		if !member && !item && s.reopen(last) {
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
