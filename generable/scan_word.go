package generable

import (
	"strings"
	"unicode/utf8"
)

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
		if src[p] >= 0x80 {
			if !s.wants(utf8.UTFMax) {
				return false
			}
			if n := oddBlankAt(src, p); n > 0 {
				if !s.wordKey && !s.blank && s.isLiteralSoFar() {
					s.endWord()
					return true
				}
				s.blank = true
				p += n
				continue
			}
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
		if s.due('}') || (!s.wordKey && s.isLiteralSoFar()) {
			return s.stopWord()
		}
	case ']':
		if s.due(']') || s.isLiteralSoFar() {
			return s.stopWord()
		}
	case ')':
		if s.due(')') {
			return s.stopWord()
		}
	case ';':
		if s.wordKey {
			break
		}
		if !s.wants(maxLiteral + 2*maxGap) {
			return false, false
		}
		if s.isLiteralSoFar() || s.goesOn(p+1) {
			return s.stopWord()
		}
	case ':', '=':
		if s.wordKey {
			s.endKeyWord()
			return true, true
		}
		if c == '=' && s.namedArgument() {
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
		if !s.wants(2) {
			return false, false
		}
		if !s.wordKey && p-s.tok < maxLiteral && !s.has(p, "()") && isCallee(s.src[s.tok:p]) {
			s.call(p)
			return true, true
		}
	case 0xe2, 0xef:
		switch f := s.fold(p); {
		case f == ',', f == ':' && s.wordKey, (f == '}' || f == ']' || f == ')') && s.due(f):
			return s.stopWord()
		}
		if s.wordKey && !s.blank && (s.has(p, "”") || s.has(p, "“")) {
			return s.stopWord()
		}
	}
	return false, true
}

func (s *scanner) stopWord() (stop, ok bool) {
	if s.wordKey {
		s.endKeyWord()
	} else {
		s.endWord()
	}
	return true, true
}

// isCallee reports whether a word may name what is called: ObjectId, datetime.date, new Date.
func isCallee(w string) bool {
	w = strings.TrimPrefix(w, "new ")
	for {
		name, rest, more := strings.Cut(w, ".")
		if !isWord(name) {
			return false
		}
		if !more {
			return true
		}
		w = rest
	}
}

// call begins the arguments of a call, as in ObjectId("…"), at the parenthesis at p.
func (s *scanner) call(p int) {
	s.repair(repCall, s.tok, p+1)
	s.pos = p
	s.parenthesis(wrapCall)
}

// parenthesis begins what stands between parentheses.
func (s *scanner) parenthesis(wrap wrapKind) {
	if s.push(nodeArr); s.st != stArrFirst {
		return // too deep
	}
	s.expect(')')
	s.wrapTop(wrap)
}

// wrapTop notes that the innermost bracket may vanish when it is closed.
func (s *scanner) wrapTop(wrap wrapKind) {
	top := &s.stack[len(s.stack)-1]
	top.wrap = wrap
	if s.wrapAt < 0 {
		s.wrapAt = int(top.node)
	}
}

// namedArgument makes an object of the arguments of a call, Point(x=1, y=2), when the current
// word names the first of them.
func (s *scanner) namedArgument() bool {
	if len(s.stack) == 0 || !isWord(s.src[s.tok:s.wordEnd]) {
		return false
	}
	top := &s.stack[len(s.stack)-1]
	n := &s.tape[top.node]
	if top.wrap != wrapCall || top.obj || n.count > 0 {
		return false
	}
	top.obj, n.kind = true, nodeObj
	s.wordKey = true
	s.endKeyWord()
	return true
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
	if kind == nodeWord && len(text) < maxLiteral {
		if short, ok := cutEllipsis(text); ok { // 3...
			if kind, rep = classifyWord(short); kind != nodeWord {
				s.repair(repEllipsis, start+len(short), end)
				end = start + len(short)
			}
		}
	}
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

// cutEllipsis cuts the dots off the end of a word.
func cutEllipsis(text string) (string, bool) {
	short, ok := strings.CutSuffix(text, "...")
	if !ok {
		short, ok = strings.CutSuffix(text, "…")
	}
	return strings.TrimRight(short, " \t"), ok
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
		ends = c == ':' || c == '=' || c >= 0x80 && s.fold(s.pos) == ':'
	}
	if adjacent && ends && !(s.blank && s.lastStr.node >= 0 && (s.noComma || s.tape[s.lastStr.node].flags&flagRepaired != 0)) {
		s.repair(repMissingQuote, s.tok, s.tok)
		if s.src[q-1] == '\\' && q-1 > s.tok {
			q-- // of an escaped document
		}
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
	if !s.wants(maxLiteral) {
		return false
	}
	if s.wordKey && !s.noComma && s.lastStr.node >= 0 && s.tape[s.lastStr.node].flags&flagRepaired == 0 && isWord(s.src[s.tok:s.wordEnd]) && s.isKeyAt(q) {
		s.forget() // a word alone before a key
	}
	if s.reopen(s.lastStr) {
		return true
	}
	if !s.back(q) {
		s.repair(repJunk, q, q+1)
		s.st = stWord
		return true
	}
	if s.wordKey && !s.noComma && s.textGoesOn() {
		return true
	}
	if s.wordKey { // a stray word before a key
		s.stray = strayWord{node: len(s.tape), repair: len(s.repairs), start: s.tok, end: s.wordEnd}
		s.repair(repJunk, s.tok, s.wordEnd)
		s.st = stObjNext
		return true
	}
	s.endWord()
	return true
}

// textGoesOn joins the current word, which stands before a key, to the text without quotes before
// the comma: {"a": red, or blue "b": 1}.
func (s *scanner) textGoesOn() bool {
	last := len(s.tape) - 1
	if s.stack[len(s.stack)-1].node >= uint32(last) || s.tape[last].kind != nodeWord || s.tape[last].flags&flagKey != 0 || s.furtherIn(last) || s.wordEnd == s.tok {
		return false
	}
	n := &s.tape[last]
	n.end, n.flags = uint32(s.wordEnd), n.flags|flagHigh|flagEscape
	s.rewrites++
	s.repair(repMissingQuotes, int(n.start), s.wordEnd)
	s.forget()
	s.st = stObjAfter
	return true
}

// isKeyAt reports whether a key in quotes and a colon stand at offset q.
func (s *scanner) isKeyAt(q int) bool {
	src := s.src[:min(len(s.src), q+maxLiteral)]
	p := skipName(src, q+1, true)
	if p == len(src) || src[p-1] != '"' {
		return false
	}
	for p < len(src) && class[src[p]]&isBlank != 0 {
		p++
	}
	return p < len(src) && src[p] == ':'
}
