package generable

import (
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
	if c >= 0x80 && s.oddBlank() {
		return true
	}
	top := &s.stack[len(s.stack)-1]
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
	case '}':
		switch {
		case top.obj:
			s.missingValue()
		case top.alien:
			s.trailingComma()
			s.pop()
		default:
			s.trailingComma()
			s.closerMismatch()
		}
		return true
	case ']':
		if top.obj {
			s.missingValue()
			return true
		}
		s.trailingComma()
		s.pop()
		return true
	case ')':
		if top.alien {
			s.pop()
			return true
		}
		s.skip(1)
		return true
	case '(':
		s.repair(repSet, p, p+1)
		s.push(nodeArr)
		if s.st == stArrFirst {
			s.stack[len(s.stack)-1].alien = true
		}
		return true
	case '/', '#':
		if s.comment() {
			return true
		}
	case '.':
		if s.ellipsis() {
			return true
		}
	case ':', ';':
		s.skip(1)
		return true
	case '<':
		if s.has(p, "</") {
			s.endRegion(p)
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
	switch {
	case s.has(p, "，"):
		s.pos += 3
		s.repair(repFullWidth, p, p+3)
		return true
	case s.has(p, "…"):
		s.skipAs(repEllipsis, 3)
		return true
	}
	s.openWord(0)
	return true
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
	if kind == repJunk && s.calls > 0 && (s.src[s.pos] == ')' || s.src[s.pos] == ';') {
		s.calls--
		s.pos += n
		return
	}
	s.repair(kind, s.pos, s.pos+n)
	s.pos += n
}

// oddBlank passes over a blank that is none in JSON.
func (s *scanner) oddBlank() bool {
	r, n := utf8.DecodeRuneInString(s.src[s.pos:])
	if !unicode.IsSpace(r) && r != '\ufeff' && r != '\u200b' {
		return false
	}
	s.skipAs(repBlank, n)
	return true
}

// ellipsis passes over three dots.
func (s *scanner) ellipsis() bool {
	if !s.has(s.pos, "...") {
		return false
	}
	s.skipAs(repEllipsis, 3)
	return true
}
