package generable

import "strings"

// This file repairs words behind a value that lacks quotes for them: 5 to 6, true or false.

// maxWords bounds the words behind a value that are looked at.
const maxWords = 256

// wordsAfter reads several words directly behind a number, a literal or a container, when the
// innermost container goes on or is closed behind them. A number or literal is one text with
// them; behind a container they are junk. A name and its colon are none of these words.
func (s *scanner) wordsAfter() (done, ok bool) {
	top, last := int(s.stack[len(s.stack)-1].node), len(s.tape)-1
	if s.lastStr.node >= 0 || s.soft || last <= top || !s.beginsWords(s.pos) {
		return false, true
	}
	if list := !s.stack[len(s.stack)-1].obj; list && len(s.stack) == 1 && s.cand.bare {
		return false, true // brackets in a sentence: [5 and 6] is no list
	}
	v := &s.tape[last]
	container := s.lastClosed > top && s.lastClosed+int(s.tape[s.lastClosed].span) == last+1
	if container {
		v = &s.tape[s.lastClosed]
	} else if v.kind >= nodeStr || v.flags&flagKey != 0 || s.furtherIn(last) {
		return false, true
	}
	if strings.Trim(s.src[v.end:s.pos], " \t") != "" { // what stands on another line is not meant
		return false, true
	}
	if !s.wants(maxLiteral + maxGap) {
		return false, false
	}
	if s.isMember(s.pos) {
		return false, true
	}
	if !s.wants(maxWords + maxLiteral + 2*maxGap) {
		return false, false
	}
	end := s.wordsEnd()
	if end < 0 {
		return false, true
	}
	first, _, several := strings.Cut(s.src[s.pos:end], " ")
	if kind, _ := classifyWord(first); kind != nodeWord || !several && s.stack[len(s.stack)-1].obj {
		return false, true
	}
	if container {
		s.skip(end - s.pos)
		return true, true
	}
	v.kind, v.end, v.flags = nodeWord, uint32(end), flagRepaired|flagHigh|flagEscape
	s.repair(repMissingQuotes, int(v.start), end)
	s.pos = end
	return true, true
}

// strayWords reads words between a string and the closer of its container, as they are no part of
// it while no quote is open: an item that lacks its comma, and else junk.
func (s *scanner) strayWords() (done, ok bool) {
	if int(s.lastStr.next) == s.pos || s.soft || s.quotesOpen() || !s.beginsWords(s.pos) {
		return false, true
	}
	if strings.Trim(s.src[s.lastStr.next:s.pos], " \t") != "" {
		return false, true
	}
	if !s.wants(maxWords + maxLiteral + 2*maxGap) {
		return false, false
	}
	end := s.wordsEnd()
	if end < 0 || s.isMember(s.pos) {
		return false, true
	}
	if behind := strings.TrimLeft(s.src[end:min(len(s.src), end+maxGap)], " \t\r\n"); behind == "" || behind[0] != '}' && behind[0] != ']' {
		return false, true
	}
	if s.stack[len(s.stack)-1].obj {
		s.skip(end - s.pos)
	} else {
		s.repair(repMissingComma, s.pos, s.pos)
		s.st = stArrNext
	}
	return true, true
}

// beginsWords reports whether a word that is no number, or a dash alone, begins at offset p.
func (s *scanner) beginsWords(p int) bool {
	switch c := s.src[p]; c {
	case '-', '+':
		return p+1 < len(s.src) && s.src[p+1] == ' '
	case '.':
		return false
	default:
		return class[c]&isIdent != 0 && class[c]&isDigit == 0
	}
}

// wordsEnd returns where the words at the current position end, if what follows shows that
// the innermost container goes on or is closed there, else -1.
func (s *scanner) wordsEnd() int {
	top := &s.stack[len(s.stack)-1]
	src := s.src[:min(len(s.src), s.pos+maxWords)]
	end, depth := -1, 0 // of an item, where a comma follows it
	for p := s.pos; p < len(src); p++ {
		switch c := src[p]; c {
		case '"', '{', '[':
			if end >= 0 {
				return end
			}
			return -1
		case '`', '\\', '=':
			return -1
		case ':':
			if class[src[p-1]]&isDigit == 0 || p+1 == len(src) || class[src[p+1]]&isDigit == 0 {
				return -1
			}
		case '<':
			if s.has(p, "</") {
				return -1
			}
		case '(':
			depth++
		case ')', '}', ']':
			if c == ')' && depth > 0 {
				depth--
				continue
			}
			if c != top.closer && (c == ')' || !s.due(c)) {
				continue
			}
			if end >= 0 {
				return end
			}
			return s.trimBefore(p)
		case ',':
			switch {
			case top.obj && s.goesOn(p+1):
				return s.trimBefore(p)
			case !top.obj && end < 0:
				end = s.trimBefore(p)
			}
		case '/', '#':
			if class[src[p-1]]&isBlank == 0 {
				continue
			}
			if s.has(p, "/*") {
				n := strings.Index(src[p:], "*/")
				if n < 0 || end >= 0 {
					return -1
				}
				if n += p + 2; s.goesOnBehind(n) {
					return s.trimBefore(p)
				}
				continue
			}
			if c == '/' && !s.has(p, "//") {
				continue
			}
			line := strings.IndexByte(src[p:], '\n')
			if line >= 0 && end < 0 && s.goesOnBehind(p+line+1) {
				return s.trimBefore(p)
			}
			return -1
		case '\n':
			switch {
			case end >= 0 && s.src[s.trimBefore(p)-1] == ',':
				return end
			case end < 0 && s.goesOnBehind(p+1):
				return s.trimBefore(p)
			}
			return -1
		}
	}
	return -1
}

// trimBefore is where the text before offset p ends, without blanks.
func (s *scanner) trimBefore(p int) int {
	for p > s.pos && class[s.src[p-1]]&isBlank != 0 {
		p--
	}
	return p
}

// goesOnBehind does what goesOn does, and also where the comma stands on the line at p.
func (s *scanner) goesOnBehind(p int) bool {
	q := p
	for end := p + maxGap; q < len(s.src) && q < end && class[s.src[q]]&isBlank != 0; {
		q++
	}
	if q < len(s.src) && s.src[q] == ',' {
		return s.goesOn(q + 1)
	}
	return s.goesOn(p)
}

// goesOn reports whether the innermost container goes on or is closed at offset p, behind
// blanks: with a key and its colon, with an item that is not a word, or with a closer. It
// looks at a bounded number of bytes.
func (s *scanner) goesOn(p int) bool {
	for end := p + maxGap; p < len(s.src) && p < end && class[s.src[p]]&isBlank != 0; {
		p++
	}
	if p == len(s.src) {
		return false
	}
	top := &s.stack[len(s.stack)-1]
	switch c := s.src[p]; {
	case c == top.closer || (c == '}' || c == ']') && s.due(c):
		return true
	case !top.obj:
		return c == '"' || c == '{' || c == '[' || class[c]&isDigit != 0
	case c == '"' || c == '\'':
		name := s.src[p+1 : min(len(s.src), p+maxLiteral)]
		q := strings.IndexByte(name, c)
		return q >= 0 && strings.HasPrefix(strings.TrimLeft(name[q+1:], " \t\r\n"), ":")
	}
	if kind, w := s.quoteAt(p); w > 0 && kind != quoteFence {
		src := s.src[:min(len(s.src), p+maxLiteral)]
		for q := p + w; q < len(src) && src[q] != ':' && src[q] != '\n'; q++ {
			if end, w := s.quoteAt(q); end == kind && w > 0 {
				return s.colonAt(q + w)
			}
		}
		return false
	}
	return s.isMember(p)
}
