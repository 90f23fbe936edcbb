package tape

import (
	"strings"

	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/lenient/internal/lex"
)

// This file repairs what appears in place of a comma or a closer.

// oddAfter reads what follows a value and is neither a comma nor a closer.
func (s *Scanner) oddAfter(c byte) bool {
	p, str := s.Pos, s.LastStr.Node >= 0
	if glued := c == '#' && str && int(s.LastStr.next) == p && !s.has(p, "# "); !glued && s.aside(c) {
		return true
	}
	if str && int(s.LastStr.next) == p && quotedTwice(&s.Tape[s.LastStr.Node], s.LastStr.kind, c) {
		s.takeBack()
		return s.quoteAgain(len(s.Tape)-1, p)
	}
	if str && int(s.LastStr.next) == p && s.top().obj && s.LastStr.kind <= quoteSingle && strings.HasSuffix(strings.TrimRight(s.raw(int(s.LastStr.Node)), " \t\r\n"), ":") {
		if !s.wants(maxBalanced) {
			return false
		}
		if n := s.Tape[s.LastStr.Node]; s.unclosed(&n, int(n.End)) == 0 && s.endString(s.memberInside(int(n.Start), int(n.End))) {
			return true
		}
	}
	if done, more := s.unpop(); done || more {
		return done
	}
	if s.fencedText() {
		return true
	}
	switch c {
	case '}', ']', ')':
		return s.closer(c)
	case ';':
		reopens := str && s.Tape[s.LastStr.Node].Flags&FlagRepaired != 0
		if reopens && !s.wants(3*maxMember) {
			return false
		}
		return reopens && !s.goesOn(p+1) && s.reopen(s.LastStr) || s.separator(1)
	case '+':
		if str || s.lastConcat >= 0 {
			s.tok = p
			s.Pos++
			s.St = stConcat
			return true
		}
	case ':', '=':
		if c == ':' && s.keyInList() {
			return s.colon(1)
		}
		return s.reopen(s.LastStr) || s.skip(1)
	case '{', '[':
		return s.missingCommaBracket(c)
	case '`':
		if !s.wants(maxWords + 3*maxMember) {
			return false
		}
		if s.closeFence() || str && s.has(p, "```") && s.fenceInside() && s.reopen(s.LastStr) {
			return true
		}
	}
	if s.atFenceEnd(p) {
		return s.endRegion(p)
	}
	if kind, w := s.QuoteAt(p); w > 0 {
		return s.quoteAfter(kind, p, w)
	}
	return s.wordAfter(c)
}

// separator reads n bytes as a comma.
func (s *Scanner) separator(n int) bool {
	s.repair(RepMissingComma, s.Pos, s.Pos+n)
	s.Pos += n
	return s.toNext()
}

// missingCommaBracket reads an opening bracket directly after a value.
func (s *Scanner) missingCommaBracket(c byte) bool {
	top := s.top()
	if last := s.LastStr; last.Node >= 0 && int(last.next) == s.Pos {
		if end, ok := s.endsBefore(int(s.Tape[last.Node].Start), int(last.quote)); ok && !s.quotesOpen() && s.cutString(end) {
			return true
		}
	}
	if !top.obj {
		return s.LastStr.Node >= 0 && s.quotesOpen() && s.reopen(s.LastStr) || s.separator(0)
	}
	if s.LastStr.Node >= 0 {
		if !s.wants(2 * maxMember) {
			return false
		}
		p := lex.SkipBlanks(s.Src, s.Pos+1)
		switch opens := p < len(s.Src) && s.Tape[s.LastStr.Node].Flags&FlagQuoted == 0; {
		case opens && (s.Src[p] == ',' || s.Src[p] == ';'): // a single bracket
			return s.skip(1)
		case opens && c == '{' && s.inList() && (s.isKeyAt(p) || s.isMember(p)):
		case s.reopen(s.LastStr):
			return true
		}
	}
	switch {
	case c == '{' && (s.inList() || len(s.Stack) == 1 && s.Cand.Adjacent):
		s.repair(repMissingCloser, s.Pos, s.Pos)
		return s.closeTop(s.Pos)
	case c == '{':
		return s.separator(0)
	}
	return s.rejoinList() || s.skip(1)
}

// quoteAfter reads a quote directly after a value: a comma is missing, or the last string continues.
func (s *Scanner) quoteAfter(kind quoteKind, p, w int) bool {
	last := s.LastStr
	if last.Node >= 0 {
		n := s.Tape[last.Node]
		if kind != last.kind && kind != QuoteDouble {
			if !s.wants(3 * maxMember) {
				return false
			}
			if key := int(last.next) < p && s.top().obj && kind != QuoteFence && kind != QuoteEscaped && s.isKeyAt(p); !key && s.reopen(last) {
				return true
			}
		}
		if int(last.next) == p && last.kind == kind && n.Start < n.End {
			if !s.wants(maxRun*w + MaxGap) {
				return false
			}
			if run := s.quoteRun(p, w); s.endsToken(p+run) || s.has(p+run, ";") || s.blanksAt(p+run) && s.quoteFollows(p+run, kind) {
				if end := s.trimBefore(int(n.Start), int(n.End)); run == w && !s.top().obj && end > int(n.Start) && s.Src[end-1] == ',' && s.cutString(end-1) {
					return true // "a,"": it is an empty string
				}
				if n.Flags&FlagQuoted == 0 || !s.quotesOpen() { // "a"": the quotes are superfluous
					return s.skipAs(RepQuotes, run)
				}
				if s.reopen(last) { // "say "hi"": the second quote ends it
					return true
				}
			}
		}
	}
	if kind == QuoteFence {
		return s.skip(w)
	}
	s.repair(RepMissingComma, p, p)
	s.oddQuote(kind, w)
	certain := last.Node < 0 || s.Tape[last.Node].Flags&FlagQuoted == 0 && strings.ContainsAny(s.Src[last.next:p], "\n/#")
	s.openString(kind, w, s.keyFlag())
	if !certain {
		s.TentStr = last
	}
	return true
}

// maxRun bounds the consecutive quotes that are examined.
const maxRun = 4

// quoteRun returns the length of the run of quotes at p that equal its first w bytes.
func (s *Scanner) quoteRun(p, w int) int {
	n := w
	for n < maxRun*w && s.has(p+n, s.Src[p:p+w]) {
		n += w
	}
	return n
}

// blanksAt reports whether a blank is at offset p.
func (s *Scanner) blanksAt(p int) bool { return p < len(s.Src) && lex.Class[s.Src[p]]&lex.IsBlank != 0 }

// quoteFollows reports whether a quote of that kind follows offset p, after blanks, and begins a token.
func (s *Scanner) quoteFollows(p int, kind quoteKind) bool {
	p = lex.PastGap(s.upTo(p+MaxGap-1), p)
	next, w := s.QuoteAt(min(p, len(s.Src)))
	return w > 0 && next == kind && !s.endsToken(p+w)
}

// keyFlag returns the flag of what comes before the next separator: a key, or an item.
func (s *Scanner) keyFlag() uint8 {
	if s.top().obj {
		return FlagKey
	}
	return 0
}

// MaxGap bounds the blanks that are skipped to see what follows a token.
const MaxGap = 16

// takeBack undoes the completion of the last string.
func (s *Scanner) takeBack() {
	s.Tape[s.top().node].Count--
	s.forget()
}

// wordAfter reads a byte directly after a value that begins neither a string nor a bracket: the last string
// continues, a comma is missing, or prose follows a value that was cut off.
func (s *Scanner) wordAfter(c byte) bool {
	top := s.top()
	member := false
	if str := s.LastStr.Node >= 0; (str && int(s.LastStr.next) < s.Pos || !str && s.beginsWords(s.Pos)) && !s.wants(maxWords+3*maxMember) {
		return false
	}
	if end := s.paragraph(); end >= 0 && top.obj && lex.Class[c]&lex.IsIdent != 0 && int(top.node)+1 < len(s.Tape) && s.Tape[top.node+1].Kind == NodeStr {
		return s.endRegion(end) // words after a blank line: the value was cut off
	}
	if s.wordGoesOn() {
		return true
	}
	if last := s.LastStr; last.Node >= 0 {
		n := s.Tape[last.Node]
		item := false // more likely a separate value than the rest of a string
		if !top.obj && int(last.next) < s.Pos {
			item = s.isItem(s.Pos) && !s.quotesOpen()
		} else if !top.obj {
			item = lex.Class[c]&lex.IsDigit != 0
		}
		if !top.obj && s.strayWords() {
			return true
		}
		if s.TentStr.Node >= 0 && !(item && int(last.next) < s.Pos) && s.reopen(s.TentStr) {
			return true
		}
		end, ok := s.endsInside(int(n.Start), int(last.quote))
		ok = ok && s.unclosed(&n, end) == 0 // otherwise the closers there belong to brackets in the string
		quotes := n.Flags&FlagQuoted != 0 && s.unclosed(&n, int(last.quote)) != 0
		if ok && !quotes && int(last.next) == s.Pos && s.endString(end) {
			return true
		}
		if end, ok := s.endsBefore(int(n.Start), int(last.quote)); ok && !quotes && int(last.next) == s.Pos && s.cutString(end) {
			return true
		}
		if top.obj && int(last.next) < s.Pos {
			name, value := s.isMember(s.Pos), s.memberAt(s.Pos)
			line := strings.IndexByte(s.Src[last.next:s.Pos], '\n') >= 0
			member = name && s.Tape[last.Node-1].Kind == NodeWord || (value || name && line) && !s.quotesOpen()
		}
		if top.obj && s.strayWords() {
			return true
		}
		if !member && !item && s.reopen(last) {
			return true
		}
	}
	if lex.Class[c]&lex.IsIdent == 0 {
		return s.skip(1)
	}
	s.bare = marker{repairs: int32(len(s.Repairs)), cost: int32(s.cost)}
	s.separator(0)
	s.NoComma = true
	return !top.obj || s.openWord(FlagKey)
}

// endString ends the last string, whose quote is missing, at an earlier offset, and continues there.
func (s *Scanner) endString(end int) bool {
	n := &s.Tape[s.LastStr.Node]
	if end <= int(n.Start) || !s.back(end) {
		return false
	}
	n.End = uint32(end)
	n.Flags |= FlagRepaired
	s.repair(RepMissingQuote, end, end)
	s.forget()
	return true
}

// cutString ends the last string before a quote that more likely begins the next token. If that does not turn out to
// be a token, the string is reopened.
func (s *Scanner) cutString(end int) bool {
	m := s.LastStr
	if !s.back(int(m.quote)) {
		return false
	}
	n := &s.Tape[m.Node]
	if p := end - 1; p > int(n.Start) && s.Src[p] == '"' && s.Src[p-1] == '\\' {
		end = p // the quote was there, but a backslash before it changed its meaning: "C:\me\"
	}
	n.End = uint32(end)
	n.Flags |= FlagRepaired
	s.repair(RepMissingQuote, end, end)
	s.openString(m.kind, int(m.next-m.quote), s.keyFlag())
	s.LastStr, s.TentStr = noMarker, m
	return true
}

// The functions below examine what comes before and after the end of a value. Each looks at a bounded number of
// bytes.

// quotesOpen reports whether one of the quotes inside the last string has no partner, so that the closing quote may
// be its partner.
func (s *Scanner) quotesOpen() bool {
	n := s.Tape[s.LastStr.Node]
	if n.Flags&FlagRepaired == 0 {
		return false
	}
	open := n.Start < n.End && s.Src[n.Start] == '"'
	for i := len(s.Repairs) - 1; i >= 0 && i >= len(s.Repairs)-maxPops; i-- {
		r := s.Repairs[i]
		if r.Off < n.Start || r.Kind != RepInnerQuote && r.Kind != repControl {
			break
		}
		open = open != (r.Kind == RepInnerQuote)
	}
	return open
}

// endsToken reports whether a comma, a closer or the end of the text follows offset p.
func (s *Scanner) endsToken(p int) bool {
	p = lex.PastGap(s.upTo(p+MaxGap-3), p)
	return p >= len(s.Src) || s.Src[p] == ',' || s.Src[p] == '}' || s.Src[p] == ']' || s.Fold(p) == ','
}

// isItem reports whether a number or a literal is at offset p and is followed by what may follow an item. It looks at
// a bounded number of bytes.
func (s *Scanner) isItem(p int) bool {
	src := s.upTo(p + lex.MaxLiteral + MaxGap)
	first, next, _ := lex.CutItem(src[p:])
	if !lex.IsLiteral(first) {
		return false
	}
	if next == "" {
		return true
	}
	switch next[0] {
	case ',', ']', '"', '{', '[':
		return true
	}
	second, _, blank := lex.CutItem(next)
	return blank && lex.IsLiteral(second)
}

// paragraph returns the end of the text before the current position if a blank line separates them, else -1. It looks
// at a bounded number of blanks.
func (s *Scanner) paragraph() int {
	p := s.trimBefore(max(0, s.Pos-maxMember), s.Pos)
	if strings.Count(s.Src[p:s.Pos], "\n") < 2 {
		return -1
	}
	return p
}

// endsBefore finds the end of a string whose closing quote is missing: before the commas, the line end or the
// comments directly before the quote at q. It looks at a bounded number of bytes.
func (s *Scanner) endsBefore(start, q int) (int, bool) {
	gap := s.Src[max(start, q-maxAhead):q]
	text, comma, line := lex.TrimGap(gap)
	p := q - len(gap) + len(text)
	return p, p > start && (comma || line && strings.IndexByte("{[(", s.Src[p-1]) < 0)
}

// endsInside finds the end of a string that ran over brackets because its closing quote is missing: before the run of
// blanks and punctuation, which includes closers, directly before the quote at q. It looks at a bounded number of
// bytes.
func (s *Scanner) endsInside(start, q int) (int, bool) {
	p, closers := q, 0
	for p > start && q-p < 2*maxAhead {
		switch c := s.Src[p-1]; {
		case c == '}' || c == ']':
			if !s.due(c) {
				return 0, false
			}
			closers++
		case c == '{' || c == '[':
			closers = max(closers-1, 0)
		case lex.Class[c]&lex.IsBlank == 0 && c != ',':
			return p, closers > 0 && p > start
		}
		p--
	}
	return 0, false
}

// memberInside returns the end of a string that ran over the next key because its closing quote is missing: {"a": "x,
// b: "y"}, before the comma or line end that precedes the key. The quote at q opens the value.
func (s *Scanner) memberInside(start, q int) int {
	p := s.trimBefore(start, q)
	name := p - 1
	for name > start && q-name < lex.MaxLiteral && lex.Class[s.Src[name-1]]&lex.IsIdent != 0 {
		name--
	}
	end := s.trimBefore(start, name)
	if end > start && (s.Src[end-1] == ',' || s.Src[end-1] == ';') {
		end--
	} else if !strings.Contains(s.Src[end:name], "\n") {
		return -1
	}
	if !message.IsWord(s.Src[name:p-1]) || !s.quoteEndsToken(q) {
		return -1
	}
	if s.Tape[s.LastStr.Node-1].Kind == NodeWord { // keys have no quotes here: another key may precede it
		if first := s.bareMember(start, end); first >= 0 {
			end = first
		}
	}
	return end
}

// quoteEndsToken reports whether the string that begins with the quote at q ends a member. It looks at a bounded
// number of bytes.
func (s *Scanner) quoteEndsToken(q int) bool {
	end := lex.PastString(s.upTo(q+maxBalanced-MaxGap), q)
	return end >= 0 && s.endsToken(end)
}

// bareMember returns the offset of the first comma before end that is followed by an unquoted key and a value, or -1
// without one.
func (s *Scanner) bareMember(start, end int) int {
	if !s.pay(end - start) {
		return -1
	}
	for p := start; p < end; p++ {
		if s.Src[p] != ',' {
			continue
		}
		key := lex.SkipBlanks(s.upTo(end), p+1)
		if behind, quoted := s.keyAt(key); behind >= 0 && !quoted {
			if value := lex.SkipBlanks(s.upTo(end), behind); value < end && s.valueAt(value) {
				return p
			}
		}
	}
	return -1
}
