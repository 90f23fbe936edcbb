package generable

import "strings"

// openWord begins an unquoted text at the current position: a key, a literal or number of
// another language, or a string that lacks its quotes.
func (s *scanner) openWord(flags uint8) {
	s.tok = s.pos
	s.wordKey = flags&flagKey != 0
	s.wordEnd = s.pos
	s.blank = false
	s.st = stWord
}

// word reads on to the end of the current unquoted text.
func (s *scanner) word() bool {
	src, p := s.src, s.pos
	for {
		q := p
		for p < len(src) && class[src[p]]&isWordStop == 0 && (!s.soft || class[src[p]]&isIdent != 0) {
			p++
		}
		if p > q {
			s.wordEnd = p
		}
		s.pos = p
		if p == len(src) {
			return true
		}
		if s.soft && class[src[p]]&isIdent == 0 {
			s.stopWord()
			return true
		}
		stop, ok := s.wordStops(src[p])
		if !ok {
			return false
		}
		if stop || s.st != stWord {
			return true
		}
		p = s.pos + 1
		if class[src[s.pos]]&isBlank == 0 {
			s.wordEnd = p
		}
	}
}

// wordStops handles a byte that may end the current word, and tells whether it did. The
// second result is false when more text is needed to tell.
func (s *scanner) wordStops(c byte) (stop, ok bool) {
	p := s.pos
	switch c {
	case ' ', '\t':
		if s.wordKey {
			if s.soft || s.noComma {
				s.endKeyWord()
				return true, true
			}
		} else if !s.blank && s.isLiteralSoFar() {
			s.endWord()
			return true, true
		}
		s.blank = true
		return false, true
	case '\n', '\r', ',':
		return s.stopWord()
	case '}':
		if s.objs > 0 || s.alienOpen() || (!s.wordKey && s.isLiteralSoFar()) {
			return s.stopWord()
		}
	case ']':
		if s.arrs > 0 || (!s.wordKey && s.isLiteralSoFar()) {
			return s.stopWord()
		}
	case ')':
		if s.calls > 0 || s.alienOpen() {
			return s.stopWord()
		}
	case ':', '=':
		if s.wordKey {
			s.endKeyWord()
			return true, true
		}
	case '"':
		s.st = stWordQuote
		s.tokQuote = p
		s.pos++
		return true, true
	case '/':
		if !s.wants(2) {
			return false, false
		}
		if (s.has(p, "//") || s.has(p, "/*")) && p > s.tok && (class[s.src[p-1]]&isBlank != 0 || s.isLiteralSoFar()) {
			return s.stopWord()
		}
	case '#':
		if p > s.tok && class[s.src[p-1]]&isBlank != 0 {
			return s.stopWord()
		}
	case '(':
		if !s.wordKey && !s.blank && p-s.tok < maxLiteral && isWord(s.src[s.tok:p]) {
			s.call(p)
			return true, true
		}
	case 0xe2, 0xef:
		if !s.wants(3) {
			return false, false
		}
		if s.has(p, "，") || (s.wordKey && s.has(p, "：")) {
			return s.stopWord()
		}
		if s.wordKey && !s.blank && (s.has(p, "”") || s.has(p, "“")) {
			return s.stopWord()
		}
	}
	return false, true
}

func (s *scanner) alienOpen() bool {
	return len(s.stack) > 0 && s.stack[len(s.stack)-1].alien
}

func (s *scanner) stopWord() (stop, ok bool) {
	if s.wordKey {
		s.endKeyWord()
	} else {
		s.endWord()
	}
	return true, true
}

// call passes over the name and the parenthesis of a call around a value, as in
// ObjectId("…") or callback({…}).
func (s *scanner) call(p int) {
	s.repair(repCall, s.tok, p+1)
	s.calls++
	s.pos = p + 1
	s.toValue()
}

// toValue goes to the state that expects a value of the innermost container.
func (s *scanner) toValue() {
	if s.stack[len(s.stack)-1].obj {
		s.st = stObjValue
	} else {
		s.st = stArrNext
	}
}

// isLiteralSoFar reports whether the current word is complete as a literal or a number.
func (s *scanner) isLiteralSoFar() bool {
	kind, _ := classifyWord(s.src[s.tok:s.wordEnd])
	return kind != nodeWord
}

// endWord ends the current value word where its last byte was read; the current position is
// at what follows.
func (s *scanner) endWord() {
	start, end := s.tok, s.wordEnd
	text := s.src[start:end]
	kind, rep := classifyWord(text)
	if kind == nodeWord {
		switch {
		case text == "":
			s.pos++ // nothing that could be a value
			s.repair(repJunk, start, s.pos)
			s.toValue()
			return
		case strings.HasPrefix(text, "```"):
		case s.soft:
			s.dismiss()
			return
		case s.noComma && !s.lastIsWord():
			s.endRegion(start)
			return
		}
		rep = repMissingQuotes
	}
	var flags uint8
	if rep != repNone {
		s.repair(rep, start, end)
		flags = flagRepaired
	}
	if kind == nodeWord {
		flags |= flagHigh | flagEscape
	}
	s.leaf(kind, start, end, flags)
}

// lastIsWord reports whether the last value is an unquoted text too.
func (s *scanner) lastIsWord() bool {
	return len(s.tape) > 0 && s.tape[len(s.tape)-1].kind == nodeWord
}

// endKeyWord ends the current word as a key.
func (s *scanner) endKeyWord() {
	if s.wordEnd == s.tok {
		s.repair(repJunk, s.pos, s.pos+1)
		s.pos++
		s.st = stObjNext
		return
	}
	s.tape = append(s.tape, node{kind: nodeWord, flags: flagKey | flagRepaired | flagHigh, start: uint32(s.tok), end: uint32(s.wordEnd), span: 1})
	s.st = stColon
}

// wordQuote decides what a quote directly behind a word means, by what follows it (0 at the
// end of the text).
func (s *scanner) wordQuote(c byte) bool {
	q := s.tokQuote
	adjacent := q == s.wordEnd
	ends := c == ',' || c == '}' || c == ']' || c == 0
	if s.wordKey {
		ends = c == ':'
	}
	if adjacent && ends && !(s.blank && s.lastStr.node >= 0) {
		s.repair(repMissingQuote, s.tok, s.tok)
		kind := node{kind: nodeStr, flags: flagRepaired | flagHigh | flagEscape, start: uint32(s.tok), end: uint32(q), span: 1}
		if s.wordKey {
			kind.flags |= flagKey
			s.tape = append(s.tape, kind)
			s.st = stColon
			return true
		}
		s.leaf(nodeStr, s.tok, q, kind.flags)
		return true
	}
	// The word is no token of its own. It may belong to the string before it.
	if s.reopen(s.lastStr) {
		return true
	}
	if !s.back(q) {
		s.repair(repJunk, q, q+1)
		s.st = stWord
		return true
	}
	if s.wordKey { // a stray word before a key
		s.repair(repJunk, s.tok, s.wordEnd)
		s.st = stObjNext
		return true
	}
	s.endWord()
	return true
}

// comment begins a comment at the current position, if one is there.
func (s *scanner) comment() bool {
	switch {
	case s.src[s.pos] == '#', s.has(s.pos, "//"):
		s.ret, s.st = s.st, stLineComment
	case s.has(s.pos, "/*"):
		s.ret, s.st = s.st, stBlockComment
		s.pos++
	default:
		return false
	}
	s.tok = s.pos
	s.repair(repComment, s.pos, s.pos+1)
	s.pos++
	return true
}

func (s *scanner) lineComment() {
	n := strings.IndexByte(s.src[s.pos:], '\n')
	if n < 0 {
		s.pos = len(s.src)
		return
	}
	s.pos += n
	s.st = s.ret
}

func (s *scanner) blockComment() bool {
	for {
		n := strings.IndexByte(s.src[s.pos:], '*')
		if n < 0 {
			s.pos = len(s.src)
			return true
		}
		s.pos += n
		if !s.wants(2) {
			return false
		}
		if s.has(s.pos, "*/") {
			s.pos += 2
			s.st = s.ret
			return true
		}
		s.pos++
	}
}
