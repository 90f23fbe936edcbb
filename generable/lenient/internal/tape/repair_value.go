package tape

import (
	"strings"

	"github.com/agentscript/agentscript/generable/lenient/internal/lex"
)

// This file repairs what appears in place of a value.

// oddValue reads a value that does not begin like a JSON value.
func (s *Scanner) oddValue(c byte) bool {
	p, top := s.Pos, s.top()
	if s.Soft && (c == '/' || c == '#' && s.has(p, "# ")) && s.comment() {
		return true
	}
	if s.Soft && c != '\'' && c != '"' && c != '\\' && lex.Class[c]&lex.IsIdent == 0 {
		if kind, _ := s.QuoteAt(p); kind != quoteSmart && !(c == ',' && s.has(p+1, `"`)) {
			return s.dismiss()
		}
	}
	if sign := c == '#' || s.has(p, "//"); sign && !s.wants(4*maxMember) {
		return false
	} else if sign && s.signedWord(p) {
		return s.openWord(0)
	}
	if s.aside(c) {
		return true
	}
	switch c {
	case ',':
		if top.obj {
			return s.missingValue()
		}
		return s.skipAs(repExtraComma, 1)
	case '}', ']', ')':
		switch {
		case top.obj && s.due(c):
			return s.missingValue()
		case c == top.closer && (c == ')' || top.wrap != wrapNone):
			return s.pop() // one comma makes a tuple
		}
		return s.closerNext(c)
	case '(':
		s.repair(RepSet, p, p+1)
		return s.parenthesis(wrapGroup)
	case '=':
		if top.obj && s.Src[p-1] == ':' { // :=
			return s.skipAs(RepOddColon, 1)
		}
	case ';', ':':
		if top.obj && c == ';' {
			return s.missingValue()
		}
		return s.skip(1)
	}
	if c == '`' || c == '~' {
		if ok, more := s.innerFence(); ok || more {
			return ok
		}
	}
	if s.atFenceEnd(p) {
		return s.endRegion(p)
	}
	if kind, w := s.QuoteAt(p); w > 0 {
		return s.openOdd(kind, w, 0)
	}
	return s.prefixOrWord(0)
}

// signedWord reports whether the comment sign at offset p more likely begins an unquoted text, #fff or
// //server/share: one word, after which the container continues or ends. It looks at a bounded number of bytes.
func (s *Scanner) signedWord(p int) bool {
	text := s.upTo(p + maxMember)[p:]
	end := strings.IndexAny(text, ",}] \t\r\n")
	word := strings.TrimLeft(text[:max(end, 0)], "#/")
	if word == "" || lex.Class[word[0]]&(lex.IsIdent|lex.IsDigit) != lex.IsIdent || !s.endsToken(p+end) {
		return false
	}
	if s.top().obj {
		return text[end] != ',' || s.memberFollows(p+end+1)
	}
	return text[end] > ' '
}

// prefixOrWord skips the letters that Python writes before a string, or begins an unquoted text.
func (s *Scanner) prefixOrWord(flags uint8) bool {
	if n := lex.PrefixAt(s.Src, s.Pos); n > 0 {
		if !s.wants(n + 2 + MaxGap) {
			return false
		}
		// If only blanks separate that quote from a comma, a colon or a closer, it is the closing one.
		behind := strings.TrimLeft(s.upTo(s.Pos + n + 1 + MaxGap)[s.Pos+n+1:], " \t\r\n")
		if behind != "" && strings.IndexByte(",:=}]\xef", behind[0]) < 0 {
			return s.skipAs(RepQuotes, n)
		}
	}
	return s.openWord(flags)
}

// openOdd begins a string at the current position that is not JSON, in JSON or other quotes.
func (s *Scanner) openOdd(kind quoteKind, w int, flags uint8) bool {
	s.oddQuote(kind, w)
	return s.openString(kind, w, flags|FlagRepaired)
}

// oddQuote records a string in quotes other than JSON's.
func (s *Scanner) oddQuote(kind quoteKind, w int) {
	switch kind {
	case QuoteDouble:
	case QuoteEscaped:
		s.repair(RepEscaped, s.Pos, s.Pos+w)
	default:
		s.repair(RepQuotes, s.Pos, s.Pos+w)
	}
}

// missingValue sets a missing value for the current key, without reading anything.
func (s *Scanner) missingValue() bool {
	s.repair(RepMissingValue, s.Pos, s.Pos)
	return s.leaf(NodeMissing, s.Pos, s.Pos, FlagRepaired)
}

// skip skips n bytes that mean nothing here.
func (s *Scanner) skip(n int) bool { return s.skipAs(repJunk, n) }

func (s *Scanner) skipAs(kind RepairKind, n int) bool {
	n = min(n, len(s.Src)-s.Pos)
	s.repair(kind, s.Pos, s.Pos+n)
	s.Pos += n
	return true
}

// ellipsis skips three dots, unless they are a member's value.
func (s *Scanner) ellipsis() bool {
	return s.St != stObjValue && (s.has(s.Pos, "...") || s.has(s.Pos, "…")) && s.skipAs(repEllipsis, 3)
}

// maxFenceOpen bounds the bytes that are examined to recognise a fence around a value.
const maxFenceOpen = 32

// innerFence reads the ticks of a fence around a value inside brackets, as in [```json {"a": 1} ```]. The second
// result reports that more text is needed.
func (s *Scanner) innerFence() (ok, more bool) {
	p := s.Pos
	if !s.wants(maxFenceOpen) {
		return false, true
	}
	if !s.has(p, "```") {
		return false, false
	}
	text := s.upTo(p + maxFenceOpen)[p:]
	body := strings.TrimLeft(text, "`")
	tag := body[:lex.SkipName(body, 0, false)]
	body = strings.TrimLeft(body[len(tag):], " \t\r\n")
	top := s.top()
	if body != "" && lex.IsJSONTag(tag) && !(tag == "" && s.inFence && s.beginsLine(p)) {
		c := body[0]
		inner := len(text) - len(body)
		switch {
		case c != '{' && c != '[' && (c != '(' || s.St == stObjFirst) && (c != '"' || !top.obj):
		case !top.obj || s.St == stObjValue:
			if len(s.Stack) == 1 && int(s.Tape[top.node].Start)+1 == p {
				s.wrapTop(wrapCall) // [``` and ```] are not a list
			}
			return s.openFence(inner), false
		case c == '"':
			return s.openFence(inner), false
		case s.St == stObjFirst && c == '{':
			top.obj = false
			s.wrapTop(wrapCall)
			s.Tape[top.node].Kind = NodeArr
			s.St = stArrFirst
			return s.openFence(inner), false
		}
	}
	return s.closeFence(), false
}

func (s *Scanner) openFence(n int) bool {
	s.Soft = false
	s.fenceAt = marker{Node: int32(len(s.Tape)), quote: int32(s.Pos), repairs: int32(len(s.Repairs)), cost: int32(s.cost)}
	s.inner++
	return s.skipAs(RepFence, n)
}

// fencedText reads again, as a text, the fence that opened before the last closed container, because the fence holds
// more than that container.
func (s *Scanner) fencedText() bool {
	m := s.fenceAt
	if s.inner == 0 || !s.top().obj || s.lastClosed != int(m.Node) || len(s.Tape) != int(m.Node)+int(s.Tape[m.Node].Span) ||
		s.Tape[m.Node-1].Flags&FlagKey == 0 || s.has(s.Pos, "```") || !s.back(int(m.quote)) {
		return false
	}
	s.inner--
	s.Rewrites++
	s.Tape[s.top().node].Count--
	s.Tape = s.Tape[:m.Node]
	s.Repairs, s.cost = s.Repairs[:m.repairs], int(m.cost)
	return s.openOdd(QuoteFence, 3, 0)
}

// closeFence skips the ticks that end a fence inside brackets.
func (s *Scanner) closeFence() bool {
	if s.inner == 0 || !s.has(s.Pos, "```") {
		return false
	}
	s.inner--
	return s.skipAs(RepFence, 3)
}
