package tape

import (
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/generable/lenient/internal/lex"
)

// quoteKind identifies the opening quote of a string, and thereby its closing quote.
type quoteKind uint8

const (
	QuoteDouble    quoteKind = iota // "…"
	quoteSingle                     // '…'
	quoteTick                       // `…`
	quoteSmart                      // “…” and similar
	quoteSmartOne                   // ‘…’ and similar
	quoteTriple                     // """…"""
	quoteTripleOne                  // '''…'''
	QuoteFence                      // ```…```
	quoteTwice                      // ""…""
	quoteTwiceOne                   // ''…''
	QuoteEscaped                    // \"…\" in a document that was escaped as a whole
)

// QuoteAt returns the kind of the quote at offset p and its length in bytes, which is 0 without a quote. It looks at
// no more than 3 bytes.
func (s *Scanner) QuoteAt(p int) (quoteKind, int) {
	switch r, n := utf8.DecodeRuneInString(s.Src[p:]); r {
	case '"':
		return QuoteDouble, n
	case '\'':
		return quoteSingle, n
	case '`':
		if s.has(p, "```") {
			return QuoteFence, 3
		}
		return quoteTick, n
	case '«', '»', '“', '”', '„', '‟', '＂':
		return quoteSmart, n
	case '´', '‘', '’', '‚', '‛', '＇':
		return quoteSmartOne, n
	case '\\':
		if s.has(p, `\"`) {
			return QuoteEscaped, 2
		}
	}
	return 0, 0
}

// openString begins a string whose opening quote of n bytes is at the current position.
func (s *Scanner) openString(kind quoteKind, n int, flags uint8) bool {
	switch kind {
	case QuoteEscaped:
		flags |= FlagDouble | FlagRepaired
	case QuoteFence:
		for s.has(s.Pos+n, "`") && n < MaxGap { // the same number closes it
			n++
		}
		s.tickRun = n
		flags |= FlagFenced | FlagRepaired
	}
	s.Cur = len(s.Tape)
	s.Pos += n
	s.add(Node{Kind: NodeStr, Flags: flags, Start: uint32(s.Pos)})
	s.Quote = kind
	s.TentStr.Node = -1
	s.FenceCut = -1
	s.St = StString
	return true
}

// scanString reads on to the end of the current string.
func (s *Scanner) scanString() bool {
	src, p := s.Src, s.Pos
	n := &s.Tape[s.Cur]
	json, plain := s.Quote == QuoteDouble, lex.IsUnquoted
	if json {
		plain = lex.IsPlain
	}
	for {
		for p < len(src) && lex.Class[src[p]]&plain != 0 {
			p++
		}
		s.Pos = p
		if p == len(src) {
			return true
		}
		switch c := src[p]; {
		case c == '\\':
			if !s.wants(2) || !json && !s.wants(4) {
				return false
			}
			if s.Quote == QuoteEscaped && s.has(p, `\"`) {
				return s.closeString(p, 2)
			}
			n.Flags |= FlagEscape
			if s.Quote == QuoteEscaped && s.has(p, `\\\"`) {
				p += 2
			}
			p = min(p+2, len(src))
			if src[p-1] >= 0x80 {
				n.Flags |= FlagHigh
			}
			continue
		case c == '"' && (json || s.Quote == QuoteEscaped): // an escaped document may end like this
			return s.closeString(p, 1)
		case c == '\n' && s.inFence && !s.lineInString(p):
			return false
		case c < 0x20:
			if json && n.Flags&FlagRepaired == 0 {
				n.Flags |= FlagRepaired
				s.repair(repControl, p, p+1)
			}
		default:
			if c >= 0x80 {
				n.Flags |= FlagHigh
			}
			if json {
				break
			}
			if !s.wants(max(3, s.tickRun)) {
				return false
			}
			if w := s.QuoteEnds(p); w > 0 {
				return s.closeString(p, w)
			}
		}
		p++
	}
}

// lineInString examines the line after the line feed at p, inside a string inside a fence: it may be the end of the
// fence, if the string turns out never to be closed.
func (s *Scanner) lineInString(p int) bool {
	if s.FenceCut >= 0 {
		return true
	}
	if !s.wants(4) {
		return false
	}
	if s.has(p+1, "```") || s.has(p+1, "~~~") {
		s.FenceCut = p
	}
	return true
}

// quoteEnds lists, by opening quote, what closes a string in addition to a quote of the same kind.
var quoteEnds = [...]struct {
	text string
	kind quoteKind
}{
	quoteSingle: {"", quoteSingle}, quoteTick: {"´", quoteTick}, QuoteFence: {"", QuoteFence},
	quoteSmart: {"", QuoteDouble}, quoteSmartOne: {"", quoteSingle},
	quoteTriple: {`"""`, quoteTriple}, quoteTripleOne: {"'''", quoteTripleOne},
	quoteTwice: {`""`, QuoteDouble}, quoteTwiceOne: {"''", quoteSingle},
	QuoteEscaped: {"", QuoteEscaped},
}

// QuoteEnds returns the length of the quote at p that closes the current string, or 0 without one.
func (s *Scanner) QuoteEnds(p int) int {
	if s.Quote == QuoteFence {
		if strings.HasPrefix(s.Src[p:], "````````````````"[:max(3, s.tickRun)]) {
			return max(3, s.tickRun)
		}
		return 0
	}
	end := &quoteEnds[s.Quote]
	if end.text != "" && s.has(p, end.text) {
		return len(end.text)
	}
	if kind, w := s.QuoteAt(p); w > 0 && (kind == s.Quote || kind == end.kind) {
		return w
	}
	return 0
}

// closeString ends the current string with the quote of w bytes at p.
func (s *Scanner) closeString(p, w int) bool {
	n := &s.Tape[s.Cur]
	if n.Flags&(FlagQuoted|FlagKey) == FlagQuoted && s.Concat < 0 {
		if !s.wants(maxBalanced + 3*maxMember) {
			return false
		}
		if s.quotesInside(n, p, w) {
			s.Pos = p + w
			return true
		}
	}
	n.End = uint32(p)
	n.Span = 1
	s.Pos = p + w
	if n.Flags&FlagKey != 0 {
		s.St = stColon
		return true
	}
	if s.Concat >= 0 {
		return s.closePart()
	}
	s.lastConcat = -1
	s.LastStr = marker{Node: int32(s.Cur), quote: int32(p), next: int32(s.Pos), kind: s.Quote, repairs: int32(len(s.Repairs)), cost: int32(s.cost)}
	s.Soft = false
	return s.attached()
}

// reopen takes back the end of the string that m remembers: the quote belongs to its content.
func (s *Scanner) reopen(m marker) bool {
	if m.Node < 0 || !s.back(int(m.next)) {
		return false
	}
	holder := &s.Tape[s.top().node]
	holder.Count--
	if s.LastStr.Node > m.Node { // the string that began because of m's end is undone, too
		holder.Count--
	}
	s.Tape = s.Tape[:m.Node+1]
	n := &s.Tape[m.Node]
	n.End, n.Span = 0, 0
	n.Flags |= FlagRepaired | FlagQuoted
	if m.kind == QuoteEscaped {
		n.Flags |= FlagEscape
	}
	s.Repairs, s.cost = s.Repairs[:m.repairs], int(m.cost)
	s.repair(RepInnerQuote, int(m.quote), int(m.next))
	if (m.kind == quoteTwice || m.kind == quoteTwiceOne) && lex.Class[s.Src[m.quote-1]]&lex.IsBlank == 0 {
		// ""Hello," she said.": the second opening quote is the partner of this one.
		n.Start--
		m.kind -= quoteTwice
	}
	s.Cur, s.Quote, s.St = int(m.Node), m.kind, StString
	s.LastStr, s.TentStr = noMarker, noMarker
	s.NoComma = false
	return true
}

// oddConcat reads what follows "a" +.
func (s *Scanner) oddConcat() bool {
	if !s.wants(3) {
		return false
	}
	plus := s.tok
	if c := s.Src[s.Pos]; (c == '/' || c == '#') && s.comment() {
		s.tok = plus
		return true
	}
	kind, w := s.QuoteAt(s.Pos)
	if w == 0 || kind == QuoteFence {
		s.repair(repJunk, s.tok, s.tok+1)
		return s.afterValue()
	}
	s.repair(repConcat, s.tok, s.tok+1)
	at := s.lastConcat
	if at < 0 { // the first +: the string becomes the first part
		at = int(s.LastStr.Node)
		part := s.Tape[at]
		s.Tape[at] = Node{Kind: NodeConcat, Flags: FlagRepaired, Start: part.Start, Count: 1}
		s.Tape = append(s.Tape, part)
		s.LastStr = noMarker
	}
	s.openString(kind, w, 0)
	s.Concat = at
	return true
}

// closePart ends one part of a concatenation.
func (s *Scanner) closePart() bool {
	n := &s.Tape[s.Concat]
	n.Count++
	n.End = uint32(s.Pos)
	n.Span = uint32(len(s.Tape) - s.Concat)
	s.lastConcat, s.Concat = s.Concat, -1
	return s.afterValue()
}

// afterValue enters the state after a value of the innermost container.
func (s *Scanner) afterValue() bool { return s.goTo(stArrAfter, stObjAfter) }

// toNext enters the state after a comma in the innermost container.
func (s *Scanner) toNext() bool { return s.goTo(stArrNext, stObjNext) }

// toValue enters the state that expects a value of the innermost container.
func (s *Scanner) toValue() bool { return s.goTo(stArrNext, stObjValue) }

// goTo enters one state in a list, and another in an object.
func (s *Scanner) goTo(list, obj scanState) bool {
	if s.St = list; s.top().obj {
		s.St = obj
	}
	return true
}
