package tape

import (
	"strings"

	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/lenient/internal/lex"
)

// This file repairs what appears in place of a key or a colon.

// oddKey reads a key that does not begin like a JSON key.
func (s *Scanner) oddKey(c byte) bool {
	if s.aside(c) {
		return true
	}
	p, top := s.Pos, s.top()
	switch c {
	case '}', ')', ']':
		if c != ')' || s.due(c) {
			return s.closerNext(c)
		}
	case ',':
		return s.skipAs(repExtraComma, 1)
	case '{':
		if s.St == stObjNext && s.inList() { // the object before it was not closed
			s.repair(repMissingCloser, p, p)
			s.closeTop(p)
			s.St = stArrNext
			return s.push(NodeObj)
		}
		if !s.wants(maxMember) {
			return false
		}
		if at := s.lastClosed; at > int(top.node) && s.Tape[at].Count > 0 && s.has(p, s.Src[s.Tape[at].Start:s.Tape[at+1].End]) {
			s.repair(RepDropped, p, p+1) // it begins like the object before it: another item rather than members
		}
		s.repair(repBraces, p, p+1)
		if top.extra < 1<<15 {
			top.extra++
		}
		s.Pos++
		return true
	case '[':
		if s.St == stObjNext && s.rejoinList() {
			return true
		}
	case '`':
		if ok, more := s.innerFence(); ok || more {
			return ok
		}
	}
	if strings.IndexByte(":;)[(=", c) >= 0 {
		if s.Soft {
			return s.dismiss()
		}
		return s.skip(1)
	}
	if s.atFenceEnd(p) {
		return s.endRegion(p)
	}
	if kind, w := s.QuoteAt(p); w > 0 && kind != QuoteFence {
		return s.openOdd(kind, w, FlagKey)
	}
	if !s.Soft {
		return s.prefixOrWord(FlagKey)
	}
	if lex.Class[c]&lex.IsIdent == 0 {
		return s.dismiss()
	}
	return s.openWord(FlagKey)
}

// oddColon reads what follows a key and is not a colon.
func (s *Scanner) oddColon(c byte) bool {
	p, key := s.Pos, &s.Tape[len(s.Tape)-1]
	word := key.Kind == NodeWord
	valueStart := c == '"' || c == '\'' && s.Quote == quoteSingle || c == '{' || c == '[' || c == '-' || lex.Class[c]&lex.IsDigit != 0
	certain := !word && valueStart && int(key.End)+1 < p && key.Flags&FlagQuoted == 0 || word && s.NoComma
	switch {
	case s.has(p, "=>"), s.has(p, "->"):
		s.skipAs(RepOddColon, 2)
		return s.colon(0)
	case c == '=':
		if s.LastStr.Node >= 0 && key.Kind == NodeWord && s.Tape[s.LastStr.Node].Flags&FlagRepaired != 0 && s.reopen(s.LastStr) {
			return true // an attribute inside a string with quotes
		}
		s.skipAs(RepOddColon, 1)
		return s.colon(0)
	case int(key.End)+1 == p && quotedTwice(key, s.Quote, c):
		return s.quoteAgain(len(s.Tape)-1, p)
	case !certain && strings.IndexByte(",]}", c) < 0 && !s.wants(2*maxMember):
		return false
	case c == '/' || c == '#':
		if key.Kind == NodeStr && int(key.End)+1 == p && s.Src[p-1] == '"' && s.Src[s.trimBefore(int(key.Start), int(key.End))-1] == ':' && key.End > key.Start && s.cutKey(key) {
			return true
		}
		if sign := 1 + strings.Count(s.upTo(p + 2)[p:], "/")/2; int(key.End)+1 == p && s.colonAt(p+sign) {
			return s.skip(sign)
		}
		if s.comment() {
			return true
		}
	}
	if c == '`' && s.inner == 0 && !s.Soft && s.has(p, "```") && !(s.inFence && s.beginsLine(p)) {
		s.repair(RepMissingColon, p, p)
		return s.colon(0)
	}
	if !word && key.End > key.Start && s.TentStr.Node < 0 && (int(key.End)+1 == p || key.Flags&FlagQuoted != 0) {
		if s.keyGoesOn(p) {
			s.Cur, s.St = len(s.Tape)-1, StString
			s.repair(RepInnerQuote, int(key.End), int(key.End)+1)
			key.Flags |= FlagRepaired | FlagQuoted
			return true
		}
	}
	if c == '"' && !word && s.Quote == QuoteDouble && int(key.End)+1 == p && key.End > key.Start && key.Flags&FlagQuoted == 0 {
		if s.colonAt(p + 1) { // "a"": the second quote is superfluous
			return s.skipAs(RepQuotes, 1)
		}
	}
	if c == '"' && word && int(key.End) == p && s.Soft {
		if s.colonAt(p + 1) { // its first quote is missing
			s.repair(RepMissingQuote, int(key.Start), int(key.Start))
			key.Kind, s.Quote = NodeStr, QuoteDouble
			s.Pos++
			return true
		}
	}
	if word && !s.NoComma && message.IsWord(s.Src[key.Start:key.End]) {
		if behind, quoted := s.keyAt(p); behind >= 0 && (quoted || !s.Soft) { // a single word before a key
			s.repair(repJunk, int(key.Start), int(key.End))
			return s.dropKey()
		}
	}
	if !word && s.cutKey(key) {
		return true
	}
	if s.Soft && c != ',' && c != '}' && (word || !lex.BeginsValue(c)) {
		s.dropKey()
		return s.dismiss()
	}
	valueStart = valueStart || !word && s.valueAt(p)
	if s.TentStr.Node >= 0 && s.reopen(s.TentStr) {
		return true
	}
	lone := !word && !s.NoComma && s.isName(key) && (c == '}' || (c == ',' && s.LastStr.Node >= 0 && s.Tape[s.LastStr.Node].Flags&FlagRepaired == 0))
	if s.LastStr.Node >= 0 && !lone && (!valueStart || word || s.NoComma) && s.reopen(s.LastStr) {
		return true
	}
	if c == ',' || c == ';' || c == '}' || c == ']' || s.atFenceEnd(p) {
		return s.loneKey(word, c)
	}
	if word && (s.NoComma || !valueStart) {
		// Words without a colon: this is prose, and the value ended before it.
		at := int(key.Start)
		s.dropKey()
		if c != '"' {
			return s.endRegion(p)
		}
		s.repair(repJunk, at, p)
		return true
	}
	s.repair(RepMissingColon, p, p)
	return s.colon(0)
}

// keyGoesOn reports whether the quote before offset p belongs to the key that it ended: words follow it directly, and
// then a quote and a colon before anything that ends a key.
func (s *Scanner) keyGoesOn(p int) bool {
	key := &s.Tape[len(s.Tape)-1]
	quote, src := s.Src[key.End], s.upTo(p+lex.MaxLiteral)
	if strings.ContainsAny(src[key.Start:key.End], ":,{}[]\n") {
		return false
	}
	for q := p; q < len(src) && strings.IndexByte(":,{}[]\n", src[q]) < 0; q++ {
		if src[q] == quote && s.colonAt(q+1) {
			return q > p || key.Flags&FlagQuoted != 0
		}
	}
	return false
}

// colonAt reports whether a colon is at offset p, after blanks. It looks at a bounded number of bytes.
func (s *Scanner) colonAt(p int) bool {
	return s.pastColon(p, true) >= 0
}

// isName reports whether a key looks like the name of a field.
func (s *Scanner) isName(key *Node) bool {
	return key.End-key.Start < lex.MaxLiteral && message.IsWord(s.Src[key.Start:key.End])
}

// dropKey removes the last key from the tape.
func (s *Scanner) dropKey() bool {
	s.Tape = s.Tape[:len(s.Tape)-1]
	s.St = stObjNext
	return true
}

// cutKey ends a key whose closing quote is missing at the colon inside it: {"a: 1, "b": 2}.
func (s *Scanner) cutKey(key *Node) bool {
	for p := key.Start; p < key.End && p < key.Start+lex.MaxLiteral; p++ {
		if s.Src[p] == ':' && p > key.Start {
			if !s.back(int(p)) {
				return false
			}
			key.End = p
			key.Flags |= FlagRepaired
			s.repair(RepMissingQuote, int(p), int(p))
			return true
		}
		if lex.Class[s.Src[p]]&lex.IsIdent == 0 {
			return false
		}
	}
	return false
}

// quotedTwice reports whether the quotes of an empty string that is followed by the byte c are the first of two or
// three opening quotes.
func quotedTwice(n *Node, kind quoteKind, c byte) bool {
	return n.Kind == NodeStr && n.Start == n.End && (kind == QuoteDouble && c == '"' || kind == quoteSingle && c == '\'' ||
		kind <= quoteSingle && lex.Class[c]&lex.IsIdent != 0)
}

// quoteAgain reopens the empty string at tape index i, whose quotes turn out to be the first of two or three opening
// quotes. The current position is after them.
func (s *Scanner) quoteAgain(i, p int) bool {
	kind, w := quoteTwice, 0
	if s.Src[p] == '"' || s.Src[p] == '\'' {
		kind, w = quoteTriple, 1
	}
	if s.Src[p-1] == '\'' {
		kind++ // the one of single quotes
	}
	flags := s.Tape[i].Flags
	s.Tape = s.Tape[:i]
	s.repair(RepQuotes, p-2, p+w)
	return s.openString(kind, w, flags|FlagRepaired)
}

// This file decides what a key without a value means.

// loneKey handles a key that is followed by a comma or closer: {"a", "b"} is a set, {"a": 1, "b"} lacks a value, and
// {"a": 1, b} ends in a stray word.
func (s *Scanner) loneKey(word bool, c byte) bool {
	top := s.top()
	obj := &s.Tape[top.node]
	key := &s.Tape[len(s.Tape)-1]
	if s.Soft && word {
		s.dropKey()
		return s.dismiss()
	}
	if (c == ']' || c == ',') && s.rejoinItem() {
		return true
	}
	if obj.Count == 0 && c != ']' && top.extra == 0 && top.closer == '}' && (len(s.Stack) > 1 || c == ',' || !word) {
		if c == ',' {
			if !s.wants(2 * maxMember) {
				return false
			}
			if p := lex.SkipBlanks(s.upTo(s.Pos+MaxGap), s.Pos+1); p < len(s.Src) && s.Src[p] == '"' && s.isKeyAt(p) {
				return s.missingValue() // more likely an object
			}
		}
		return s.makeSet()
	}
	if word {
		if s.thousands(*key) {
			return true
		}
		kind := repJunk
		if value, rep := ClassifyWord(s.Src[key.Start:key.End]); value != NodeWord && rep != RepTruncated {
			kind = RepDropped
		}
		s.repair(kind, int(key.Start), int(key.End))
		s.dropKey()
		s.St = stObjAfter
		return true
	}
	return s.missingValue()
}

// thousands joins a number and the lone key after it into one text that includes the comma: 1,234,567.
func (s *Scanner) thousands(key Node) bool {
	at := len(s.Tape) - 2
	last := &s.Tape[at]
	if last.Kind >= NodeStr && last.Kind != NodeWord || key.Start != last.End+1 || lex.Class[s.Src[key.Start]]&lex.IsDigit == 0 || s.furtherIn(at) {
		return false
	}
	s.Rewrites++
	last.Kind, last.End, last.Flags = NodeWord, key.End, FlagRepaired|FlagHigh
	s.dropKey()
	s.repair(RepMissingQuotes, int(last.Start), int(last.End))
	return s.afterValue()
}
