package tape

import (
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/lenient/internal/lex"
)

// openWord begins an unquoted text at the current position: a key, a literal or number of another language, or a
// string that lacks its quotes.
func (s *Scanner) openWord(flags uint8) bool {
	s.tok = s.Pos
	s.wordKey = flags&FlagKey != 0
	s.wordEnd = s.Pos
	s.blank = false
	s.wordsTo = 0
	s.quotes = 0
	s.St = stWord
	return true
}

// word reads on to the end of the current unquoted text.
func (s *Scanner) word() bool {
	src, p := s.Src, s.Pos
	for {
		q := p
		for p < len(src) && lex.Class[src[p]]&lex.IsWordStop == 0 && (!s.Soft || lex.Class[src[p]]&lex.IsIdent != 0) {
			p++
		}
		if p > q {
			s.wordEnd = p
		}
		s.Pos = p
		if p == len(src) {
			return true
		}
		if s.Soft && lex.Class[src[p]]&lex.IsIdent == 0 {
			return s.stopWord()
		}
		if src[p] >= 0x80 {
			if !s.wants(utf8.UTFMax) {
				return false
			}
			if n := lex.OddBlankAt(src, p); n > 0 {
				if !s.wordKey && !s.blank && s.isLiteralSoFar() {
					return s.endWord()
				}
				s.blank = true
				p += n
				continue
			}
		}
		if !s.wordStops(src[p]) {
			return false
		}
		if s.St != stWord {
			return true
		}
		p = s.Pos + 1
		if lex.Class[src[s.Pos]]&lex.IsBlank == 0 {
			s.wordEnd = p
		}
	}
}

// wordStops reads a byte that may end the current word; the word has ended if the state has changed. It returns false
// when more text is needed to decide.
func (s *Scanner) wordStops(c byte) bool {
	p := s.Pos
	if (!s.wordKey || c == '/') && strings.IndexByte(`;"/([{`, c) >= 0 && !s.wants(maxBalanced+2*maxMember) {
		return false
	}
	switch c {
	case ' ', '\t':
		if s.wordKey {
			if s.Soft || s.NoComma {
				return s.endKeyWord()
			}
			next := lex.SkipBlanks(s.upTo(p+MaxGap), p)
			if !s.wants(next - p + 1) {
				return false
			}
			quote, need := s.upTo(next + 1)[next:], maxMember+2*MaxGap
			if n := strings.Index(s.Src[next+len(quote):], quote); n >= 0 { // look no further than what follows it
				need = min(need, next-p+n+2*MaxGap)
			}
			if quote != ":" && !s.wants(need) {
				return false
			}
			if message.IsWord(s.Src[s.tok:s.wordEnd]) && s.valueAlone(next) {
				s.endKeyWord()
				s.Pos = next
				s.colon(0)
				s.repair(RepMissingColon, s.wordEnd, s.wordEnd)
				return true
			}
		} else if !s.blank && s.isLiteralSoFar() {
			return s.endWord()
		}
		s.blank = true
	case '\n', ',':
		if s.wordKey || s.Soft || !s.top().obj || s.isLiteralSoFar() {
			return s.stopWord()
		}
		if !s.wants(2*maxWords + 3*maxMember) {
			return false
		}
		if !s.linesGoOn() {
			return s.stopWord()
		}
		s.blank = true
	case '\r':
		return s.stopWord()
	case '}', ']', ')':
		if s.due(c) || (!s.wordKey || c == ']') && s.isLiteralSoFar() {
			return s.stopWord()
		}
	case ';':
		if s.wordKey || s.isLiteralSoFar() || s.goesOn(p+1) {
			return s.stopWord()
		}
	case ':', '=':
		if s.wordKey {
			return s.endKeyWord()
		}
		if c == '=' {
			s.namedArgument()
		}
	case '"':
		if !s.wordKey && s.quoteInWord(p) {
			s.quotes++
			break
		}
		s.St = stWordQuote
		s.tokQuote = p
		s.Pos++
	case '/':
		if (s.has(p, "//") || s.has(p, "/*")) && p > s.tok && (lex.Class[s.Src[p-1]]&lex.IsBlank != 0 || s.isLiteralSoFar() || s.Src[p+1] == '*' && (s.endsToken(p) || s.goesOn(p))) {
			return s.stopWord()
		}
	case '#':
		if p > s.tok && lex.Class[s.Src[p-1]]&lex.IsBlank != 0 {
			return s.stopWord()
		}
	case '(', '[', '{':
		if s.wordKey {
			if c != '(' && !s.Soft && s.blank && message.IsWord(s.Src[s.tok:s.wordEnd]) {
				return s.endKeyWord() // it lacks its colon
			}
			break
		}
		if c != '(' && s.isLiteralSoFar() {
			return s.stopWord() // another value directly follows it
		}
		if c == '(' && p-s.tok < lex.MaxLiteral && lex.IsCallee(s.Src[s.tok:p]) && s.isArgument(p+1) {
			s.repair(repCall, s.tok, p+1)
			s.parenthesis(wrapCall)
		} else if n := s.balanced(p); s.pay(n) {
			s.Pos += n
		}
	case 0xe2, 0xef:
		switch f := s.Fold(p); {
		case f == ',', f == ':' && s.wordKey, (f == '}' || f == ']' || f == ')') && s.due(f):
			return s.stopWord()
		}
		if s.wordKey && !s.blank && (s.has(p, "”") || s.has(p, "“")) {
			return s.stopWord()
		}
	}
	return true
}

// quoteInWord reports whether the quote at p belongs to the unquoted text before it: as a quote that opens after a
// blank or an opening bracket, or as its closing quote.
func (s *Scanner) quoteInWord(p int) bool {
	if s.Soft || s.NoComma || !s.top().obj || s.top().wrap != wrapNone {
		return false
	}
	if s.quotes%2 == 1 {
		return true
	}
	src := s.upTo(p + 2*maxMember)
	end := strings.IndexByte(src[p+1:], '"')
	if glued := lex.Class[s.Src[p-1]]&lex.IsBlank == 0 && strings.IndexByte("([{=", s.Src[p-1]) < 0; glued && (s.endsToken(p+1) || s.blanksAt(p+1) || end > 0 && !s.endsToken(p+end+2)) {
		return false
	}
	if p == s.tok || s.isKeyAt(p) {
		return false
	}
	if end < 0 || strings.Contains(src[p+1:p+1+end], "\n") || s.pastColon(p+end+2, true) >= 0 {
		return false
	}
	return s.Src[s.trimBefore(p, p+1+end)-1] != ':' // otherwise it opens the next value
}

// inText reports whether the current word is the value of a field that holds a text, in an object whose keys are all
// known: it continues to the next key.
func (s *Scanner) inText() bool {
	return s.Names != nil && s.St == stWord && !s.wordKey && s.top().obj && len(s.Tape) > 0 && s.Names.Text(s.raw(len(s.Tape)-1))
}

// linesGoOn reports whether the unquoted text continues after the comma or line end at the current position: words
// follow, and after them the object continues, at the start of a line or after a comma, or is closed.
func (s *Scanner) linesGoOn() bool {
	if s.Pos < s.wordsTo {
		return true
	}
	src := s.upTo(s.Pos + 2*maxWords)
	first := lex.SkipBlanks(src, s.Pos+1)
	if s.has(first, "...") || s.has(first, "…") {
		return false
	}
	if s.inText() {
		return first < len(src) && strings.IndexByte("`<,", src[first]) < 0 && !s.goesOn(first) && s.pay(first-s.Pos)
	}
	if first == len(src) || lex.Class[src[first]]&lex.IsIdent == 0 || s.goesOn(first) {
		return false
	}
	p, on := first, false
	for ; p < len(src) && !on && strings.IndexByte("`{[<", src[p]) < 0; p++ {
		switch c := src[p]; c {
		case '"':
			on = s.isKeyAt(p)
		case ',', '\n':
			on = s.goesOn(p + 1)
		case '}':
			if on = s.due(c); !on {
				return false
			}
		}
	}
	if !on { // a text that is cut off continues to the end
		on = s.Eof && p == len(s.Src) && strings.TrimSpace(s.Src[first:]) != ""
	}
	if !s.pay(p-s.Pos) || !on {
		return false
	}
	s.wordsTo = p - 1
	return true
}

func (s *Scanner) stopWord() bool {
	if s.wordKey {
		return s.endKeyWord()
	}
	return s.endWord()
}

// maxBalanced bounds the bytes of an unquoted text in which a bracket is matched.
const maxBalanced = 256

// isArgument reports whether what is at offset p is more likely an argument of a constructor, as in ObjectId("…"),
// Point(x=1) or Decimal(1.5), than of a function in a text, max(a, b): a string, a number, a literal, a list or dict,
// named or not.
func (s *Scanner) isArgument(p int) bool {
	src := s.upTo(s.Pos + maxBalanced)
	for q := lex.SkipName(src, p, false); q < len(src) && q > p && (src[q] == '=' || src[q] == '('); q = lex.SkipName(src, p, false) {
		p = q + 1 // skip a name, or another call
	}
	if p = lex.SkipBlanks(src, p); p == len(src) {
		return true
	}
	if strings.IndexByte("\"'`{[", src[p]) >= 0 {
		return true
	}
	word, _, _ := lex.CutItem(src[p:])
	return lex.IsLiteral(strings.TrimRight(word, ")"))
}

// balanced returns the distance from the opening bracket at p to its closer on the same line, or 0 if there is none
// or a member begins before it. Brackets in double quotes do not count.
func (s *Scanner) balanced(p int) int {
	src := s.upTo(p + maxBalanced)
	var open lex.Brackets
	for q := p; q < len(src); q++ {
		switch c := src[q]; c {
		case '\n':
			if !s.inText() {
				return 0
			}
		case '"':
			if n := strings.IndexAny(src[q+1:], "\"\n"); n >= 0 && src[q+1+n] == '"' {
				q += n + 1
			}
		case ',':
			if next := lex.SkipBlanks(src, q+1); next < len(src) && src[next] == '"' && s.isKeyAt(next) {
				return 0
			}
		case '(', '[', '{', ')', ']', '}':
			if !open.Step(c) {
				return 0
			}
			if open.Depth == 0 {
				return q - p
			}
		}
	}
	return 0
}

// parenthesis begins a parenthesized group.
func (s *Scanner) parenthesis(wrap wrapKind) bool {
	if s.push(NodeArr); s.St == stArrFirst { // otherwise it is too deep
		s.expect(')')
		s.wrapTop(wrap)
	}
	return true
}

// wrapTop notes that the innermost bracket may vanish when it is closed.
func (s *Scanner) wrapTop(wrap wrapKind) {
	top := s.top()
	top.wrap = wrap
	if s.wrapAt < 0 {
		s.wrapAt = int(top.node)
	}
}

// namedArgument makes an object of the arguments of a call, Point(x=1, y=2), if the current word names the first of
// them.
func (s *Scanner) namedArgument() {
	if len(s.Stack) == 0 || !message.IsWord(s.Src[s.tok:s.wordEnd]) {
		return
	}
	top := s.top()
	n := &s.Tape[top.node]
	if top.wrap == wrapCall && !top.obj && n.Count == 0 {
		top.obj, n.Kind = true, NodeObj
		s.wordKey = true
		s.endKeyWord()
	}
}

// isLiteralSoFar reports whether the current word is complete as a literal or a number.
func (s *Scanner) isLiteralSoFar() bool {
	return lex.IsLiteral(s.Src[s.tok:s.wordEnd])
}

// endWord ends the current value word at its last byte; the current position is after it.
func (s *Scanner) endWord() bool {
	start, end := s.tok, s.wordEnd
	text := s.Src[start:end]
	kind, rep := ClassifyWord(text)
	if kind == NodeWord && len(text) < lex.MaxLiteral {
		if short, ok := lex.CutEllipsis(text); ok { // 3...
			if kind, rep = ClassifyWord(short); kind != NodeWord {
				s.repair(repEllipsis, start+len(short), end)
				end = start + len(short)
			}
		}
	}
	if kind == NodeWord {
		switch {
		case text == "":
			s.Pos++ // nothing that could be a value
			s.repair(repJunk, start, s.Pos)
			return s.toValue()
		case strings.HasPrefix(text, "```"):
		case s.Soft:
			return s.dismiss()
		case s.NoComma && s.Tape[len(s.Tape)-1].Kind != NodeWord:
			return s.endRegion(start)
		}
		rep = RepMissingQuotes
	}
	var flags uint8
	if rep != RepNone {
		s.repair(rep, start, end)
		flags = FlagRepaired
	}
	if kind >= NodeStr {
		flags |= FlagHigh | FlagEscape
	}
	return s.leaf(kind, start, end, flags)
}

// valueAlone reports whether a scalar at offset p is neither a key nor a word, so that the word before it is a key:
// {a 1}, {a 'b'}.
func (s *Scanner) valueAlone(p int) bool {
	if _, w := s.QuoteAt(min(p, len(s.Src))); w > 0 {
		return !s.isKeyAt(p)
	}
	value, _, _ := lex.CutItem(s.upTo(p + lex.MaxLiteral)[min(p, len(s.Src)):])
	return lex.IsLiteral(value) && s.endsToken(p+len(value))
}

// endKeyWord ends the current word as a key.
func (s *Scanner) endKeyWord() bool {
	if s.wordEnd == s.tok {
		s.St = stObjNext
		return s.skip(1)
	}
	return s.addKey(NodeWord, s.wordEnd)
}

// addKey makes a key of the current word, up to offset end.
func (s *Scanner) addKey(kind nodeKind, end int) bool {
	s.Tape = append(s.Tape, Node{Kind: kind, Flags: FlagKey | FlagRepaired | FlagHigh | FlagEscape, Start: uint32(s.tok), End: uint32(end), Span: 1})
	s.St = stColon
	return true
}

// wordQuote decides what a quote directly after a word means, by what follows it (0 at the end of the text).
func (s *Scanner) wordQuote(c byte) bool {
	q := s.tokQuote
	adjacent := q == s.wordEnd
	ends := c == 0 || strings.IndexByte(",}];", c) >= 0 || s.Fold(s.Pos) == ','
	if s.wordKey {
		ends = c == ':' || c == '=' || c >= 0x80 && s.Fold(s.Pos) == ':'
	}
	if adjacent && ends && !(s.blank && s.LastStr.Node >= 0 && (s.NoComma || s.Tape[s.LastStr.Node].Flags&FlagRepaired != 0)) {
		s.repair(RepMissingQuote, s.tok, s.tok)
		if s.Src[q-1] == '\\' && q-1 > s.tok {
			q-- // the quote of an escaped document
		}
		if s.wordKey {
			return s.addKey(NodeStr, q)
		}
		return s.leaf(NodeStr, s.tok, q, FlagRepaired|FlagHigh|FlagEscape)
	}
	// The word is not a separate token. It may belong to the string before it.
	if !s.wants(3 * maxMember) {
		return false
	}
	if s.wordKey && !s.NoComma && s.LastStr.Node >= 0 && message.IsWord(s.Src[s.tok:s.wordEnd]) && s.isKeyAt(q) &&
		(s.Tape[s.LastStr.Node].Flags&FlagRepaired == 0 || s.goesOn(s.tok)) {
		s.forget() // a single word before a key
	}
	if s.reopen(s.LastStr) {
		return true
	}
	if !s.back(q) {
		s.repair(repJunk, q, q+1)
		s.St = stWord
		return true
	}
	if s.wordKey { // a stray word before a key
		s.repair(repJunk, s.tok, s.wordEnd)
		s.St = stObjNext
		return true
	}
	return s.endWord()
}
