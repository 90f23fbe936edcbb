package generable

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file repairs what stands where a value should.

// oddValue reads a value that does not begin as a value of JSON does.
func (s *scanner) oddValue(c byte) bool {
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
	top := &s.stack[len(s.stack)-1]
	if s.soft && (c == '/' || c == '#' && s.has(p, "# ")) && s.comment() {
		return true
	}
	if s.soft && c != '\'' && c != '"' && c != '\\' && class[c]&isIdent == 0 {
		if kind, _ := s.quoteAt(p); kind != quoteSmart {
			s.dismiss()
			return true
		}
	}
	switch c {
	case ',':
		if top.obj {
			s.missingValue()
			return true
		}
		s.pos++
		s.repair(repExtraComma, p, p+1)
		return true
	case '}', ']', ')':
		switch {
		case top.obj && s.due(c):
			s.missingValue()
		case c == top.closer && (c == ')' || top.wrap != wrapNone):
			s.pop() // one comma makes a tuple
		case c == top.closer:
			s.trailingComma()
			s.pop()
		case s.due(c):
			if !s.wants(maxAhead) {
				return false
			}
			s.trailingComma()
			return s.closer(c)
		default:
			s.skipAs(repExtraCloser, 1)
		}
		return true
	case '(':
		s.repair(repSet, p, p+1)
		s.parenthesis(wrapGroup)
		return true
	case '/', '#':
		if s.comment() {
			return true
		}
	case '.':
		if !top.obj && s.ellipsis() {
			return true
		}
	case '=':
		if top.obj && s.src[p-1] == ':' { // :=
			s.skipAs(repOddColon, 1)
			return true
		}
	case ';':
		if top.obj {
			s.missingValue()
			return true
		}
		s.skip(1)
		return true
	case ':':
		s.skip(1)
		return true
	case '<':
		if s.has(p, "</") {
			s.endRegion(p)
			return true
		}
	}
	if c == '`' || c == '~' {
		switch ok, more := s.innerFence(); {
		case more:
			return false
		case ok:
			return true
		}
	}
	if s.atFenceEnd(p) {
		s.endRegion(p)
		return true
	}
	if kind, w := s.quoteAt(p); w > 0 {
		s.oddQuote(kind, p, w)
		s.openString(kind, w, 0)
		s.tape[s.cur].flags |= flagRepaired
		return true
	}
	if !top.obj && s.has(p, "…") {
		s.skipAs(repEllipsis, 3)
		return true
	}
	if n := s.prefixAt(p); n > 0 {
		if !s.wants(n + 2 + maxGap) {
			return false
		}
		if s.prefixed(p, n) {
			s.skipAs(repQuotes, n)
			return true
		}
	}
	s.openWord(0)
	return true
}

// prefixAt returns the length of the letters at offset p that Python writes before the quote of a
// string, r"…", u'…', 0 when there are none.
func (s *scanner) prefixAt(p int) int {
	for n := 0; n < 3 && p+n < len(s.src); n++ {
		switch s.src[p+n] {
		case 'r', 'R', 'b', 'B', 'f', 'F', 'u', 'U':
		case '"', '\'':
			return n
		default:
			return 0
		}
	}
	return 0
}

// prefixed reports whether the n letters at offset p stand before the first quote of a string: no
// more than blanks between that quote and a comma, a colon or a closer says that it is the last.
func (s *scanner) prefixed(p, n int) bool {
	behind := strings.TrimLeft(s.src[p+n+1:min(len(s.src), p+n+1+maxGap)], " \t\r\n")
	return behind != "" && strings.IndexByte(",:=}]", behind[0]) < 0 && behind[0] != 0xef
}

// oddQuote records a string in other quotes than JSON's.
func (s *scanner) oddQuote(kind quoteKind, p, w int) {
	rep := repQuotes
	switch kind {
	case quoteDouble:
		return
	case quoteEscaped:
		rep = repEscaped
	}
	s.repair(rep, p, p+w)
}

// trailingComma records that the last separator had nothing behind it.
func (s *scanner) trailingComma() {
	if s.st == stArrNext || s.st == stObjNext {
		s.repair(repTrailingComma, s.pos, s.pos)
	}
}

// missingValue gives the current key a missing value, without reading anything.
func (s *scanner) missingValue() {
	s.repair(repMissingValue, s.pos, s.pos)
	s.leaf(nodeMissing, s.pos, s.pos, flagRepaired)
}

// skip passes over n bytes that mean nothing here.
func (s *scanner) skip(n int) { s.skipAs(repJunk, n) }

func (s *scanner) skipAs(kind repairKind, n int) {
	n = min(n, len(s.src)-s.pos)
	s.repair(kind, s.pos, s.pos+n)
	s.pos += n
}

// oddBlank passes over a blank that is none in JSON.
func (s *scanner) oddBlank() bool {
	n := oddBlankAt(s.src, s.pos)
	if n == 0 {
		return false
	}
	s.skipAs(repBlank, n)
	return true
}

// oddBlankAt returns the length of the blank at p that is none in JSON, 0 when there is none.
func oddBlankAt(src string, p int) int {
	r, n := utf8.DecodeRuneInString(src[p:])
	switch {
	case r < 0x80, !unicode.IsSpace(r) && (r < '\u200b' || r > '\u200d') && r != '\u2060' && r != '\ufeff':
		return 0
	}
	return n
}

// ellipsis passes over three dots.
func (s *scanner) ellipsis() bool {
	if !s.has(s.pos, "...") {
		return false
	}
	s.skipAs(repEllipsis, 3)
	return true
}
