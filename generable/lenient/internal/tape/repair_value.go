package tape

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file repairs what stands where a value should.

// oddValue reads a value that does not begin as a value of JSON does.
func (s *Scanner) oddValue(c byte) bool {
	p := s.Pos
	if !s.wants(4) {
		return false
	}
	if c >= 0x80 {
		if s.oddBlank() {
			return true
		}
		if f := s.Fold(p); f != 0 {
			return s.wide(f)
		}
	}
	top := &s.Stack[len(s.Stack)-1]
	if s.Soft && (c == '/' || c == '#' && s.has(p, "# ")) && s.comment() {
		return true
	}
	if s.Soft && c != '\'' && c != '"' && c != '\\' && Class[c]&IsIdent == 0 {
		if kind, _ := s.QuoteAt(p); kind != quoteSmart {
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
		s.Pos++
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
		s.repair(RepSet, p, p+1)
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
		if top.obj && s.Src[p-1] == ':' { // :=
			s.skipAs(RepOddColon, 1)
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
	if kind, w := s.QuoteAt(p); w > 0 {
		s.oddQuote(kind, p, w)
		s.openString(kind, w, 0)
		s.Tape[s.Cur].Flags |= FlagRepaired
		return true
	}
	if !top.obj && s.has(p, "…") {
		s.skipAs(repEllipsis, 3)
		return true
	}
	if n := s.prefixAt(p); n > 0 {
		if !s.wants(n + 2 + MaxGap) {
			return false
		}
		if s.prefixed(p, n) {
			s.skipAs(RepQuotes, n)
			return true
		}
	}
	s.openWord(0)
	return true
}

// prefixAt returns the length of the letters at offset p that Python writes before the quote of a
// string, r"…", u'…', 0 when there are none.
func (s *Scanner) prefixAt(p int) int {
	for n := 0; n < 3 && p+n < len(s.Src); n++ {
		switch s.Src[p+n] {
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
func (s *Scanner) prefixed(p, n int) bool {
	behind := strings.TrimLeft(s.Src[p+n+1:min(len(s.Src), p+n+1+MaxGap)], " \t\r\n")
	return behind != "" && strings.IndexByte(",:=}]", behind[0]) < 0 && behind[0] != 0xef
}

// oddQuote records a string in other quotes than JSON's.
func (s *Scanner) oddQuote(kind quoteKind, p, w int) {
	rep := RepQuotes
	switch kind {
	case QuoteDouble:
		return
	case QuoteEscaped:
		rep = RepEscaped
	}
	s.repair(rep, p, p+w)
}

// trailingComma records that the last separator had nothing behind it.
func (s *Scanner) trailingComma() {
	if s.St == stArrNext || s.St == stObjNext {
		s.repair(repTrailingComma, s.Pos, s.Pos)
	}
}

// missingValue gives the current key a missing value, without reading anything.
func (s *Scanner) missingValue() {
	s.repair(RepMissingValue, s.Pos, s.Pos)
	s.leaf(NodeMissing, s.Pos, s.Pos, FlagRepaired)
}

// skip passes over n bytes that mean nothing here.
func (s *Scanner) skip(n int) { s.skipAs(repJunk, n) }

func (s *Scanner) skipAs(kind RepairKind, n int) {
	n = min(n, len(s.Src)-s.Pos)
	s.repair(kind, s.Pos, s.Pos+n)
	s.Pos += n
}

// oddBlank passes over a blank that is none in JSON.
func (s *Scanner) oddBlank() bool {
	n := oddBlankAt(s.Src, s.Pos)
	if n == 0 {
		return false
	}
	s.skipAs(RepBlank, n)
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
func (s *Scanner) ellipsis() bool {
	if !s.has(s.Pos, "...") {
		return false
	}
	s.skipAs(repEllipsis, 3)
	return true
}

// maxFenceOpen bounds the bytes looked at to recognise a fence around a value.
const maxFenceOpen = 32

// innerFence reads the ticks of a fence that stands inside of brackets, around a value, as in
// [```json {"a": 1} ```]. The second result tells that more text is needed.
func (s *Scanner) innerFence() (ok, more bool) {
	p := s.Pos
	if !s.wants(maxFenceOpen) {
		return false, true
	}
	if !s.has(p, "```") {
		return false, false
	}
	text := s.Src[p:min(len(s.Src), p+maxFenceOpen)]
	body := strings.TrimLeft(text, "`")
	tag := body[:SkipName(body, 0, false)]
	body = strings.TrimLeft(body[len(tag):], " \t\r\n")
	top := &s.Stack[len(s.Stack)-1]
	if body != "" && IsJSONTag(tag) && !(tag == "" && s.inFence && s.beginsLine(p)) {
		c := body[0]
		inner := len(text) - len(body)
		switch {
		case c != '{' && c != '[' && (c != '(' || s.St == stObjFirst) && (c != '"' || !top.obj):
		case !top.obj || s.St == stObjValue:
			if len(s.Stack) == 1 && int(s.Tape[top.node].Start)+1 == p {
				s.wrapTop(wrapCall) // [``` and ```] are no list
			}
			s.openFence(inner)
			return true, false
		case c == '"':
			s.openFence(inner)
			return true, false
		case s.St == stObjFirst && c == '{':
			top.obj = false
			s.wrapTop(wrapCall)
			s.Tape[top.node].Kind = NodeArr
			s.openFence(inner)
			s.St = stArrFirst
			return true, false
		}
	}
	return s.closeFence(), false
}

func (s *Scanner) openFence(n int) {
	s.Soft = false
	s.inner++
	s.skipAs(RepFence, n)
}

// closeFence passes over the ticks that end a fence inside of brackets.
func (s *Scanner) closeFence() bool {
	if s.inner == 0 || !s.has(s.Pos, "```") {
		return false
	}
	s.inner--
	s.skipAs(RepFence, 3)
	return true
}

// IsJSONTag reports whether a fence's language says that its content is a value.
func IsJSONTag(tag string) bool {
	switch strings.ToLower(tag) {
	case "", "json", "json5", "jsonc", "javascript", "js":
		return true
	}
	return false
}
