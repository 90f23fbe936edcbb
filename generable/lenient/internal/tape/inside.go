package tape

import (
	"strings"

	"github.com/agentscript/agentscript/generable/lenient/internal/lex"
)

// This file decides whether a quote or a closer belongs to the string before it: answers quote objects, programs or
// patterns without a backslash before each quote.

// brackets tracks the open brackets in the text of a string.
type brackets struct {
	node, upTo int // the string, and the offset up to which it was examined
	open       lex.Brackets
}

// unclosed returns the closer of the innermost bracket that opens in the string of node n before offset p, or 0
// without one. A closer that does not match is treated like any other character.
func (s *Scanner) unclosed(n *Node, p int) byte {
	b := &s.within
	if start := int(n.Start); b.node != start || b.upTo > p {
		*b = brackets{node: start, upTo: start}
	}
	if s.rewound+p-b.upTo > s.Pos+maxMember || !s.pay(p-b.upTo) {
		return 0
	}
	for ; b.upTo < p; b.upTo++ {
		b.open.Step(s.Src[b.upTo])
	}
	return b.open.Due()
}

// quotesInside continues string n, which holds a quote like its own, after the quote of w bytes at p if what follows
// cannot come after a value, or belongs to brackets that opened in the string.
func (s *Scanner) quotesInside(n *Node, p, w int) bool {
	src := s.upTo(p + w + maxBalanced)
	next := lex.SkipBlanks(src, p+w)
	if next == len(src) {
		return false
	}
	inside := false
	switch c := src[next]; c {
	case ',':
		inside = s.closesBehind(n, p, next) || s.top().obj && !s.memberFollows(next+1)
	case ';':
		inside = s.unclosed(n, p) != 0
	case '}', ']', ')':
		inside = s.quoteBehindClosers(src, next) || c == s.unclosed(n, p) &&
			s.stringEnds(src, next+1) && (c != s.top().closer || !s.endsToken(next+1))
	}
	if inside {
		s.repair(RepInnerQuote, p, p+w)
	}
	return inside
}

// closesBehind reports whether a bracket that opened in string n before p is closed after offset next, where a comma
// is, and the string continues after it.
func (s *Scanner) closesBehind(n *Node, p, next int) bool {
	c := s.unclosed(n, p)
	if c == 0 {
		return false
	}
	src := s.upTo(p + maxBalanced)
	end := lex.CloserAt(src, next, c)
	if end < 0 {
		return false
	}
	end = lex.SkipBlanks(src, end+1)
	return end < len(src) && strings.IndexByte(",}]", src[end]) < 0 && s.stringEnds(src, end)
}

// stringEnds reports whether a text contains, at or after offset p, a quote that is followed by a comma, a closer,
// the end of the text or, after a blank, a key.
func (s *Scanner) stringEnds(src string, p int) bool {
	for ; p < len(src); p++ {
		if kind, w := s.QuoteAt(p); kind == QuoteFence {
			p += w - 1
		} else if w > 0 {
			if next := lex.SkipBlanks(src, p+w); s.endsToken(p+w) || (len(s.Stack) == 0 || s.top().obj) && next > p+w && s.isKeyAt(next) {
				return true
			}
		}
	}
	return false
}

// memberFollows reports whether the comma before offset p separates members: it is followed by a key, a comment, a
// closer or nothing.
func (s *Scanner) memberFollows(p int) bool {
	q := lex.PastGap(s.upTo(p+maxBalanced), p)
	return q >= len(s.Src) || s.Src[q] == ',' || s.Src[q] == '{' && s.inList() || s.goesOn(p) || s.memberAt(q) || s.has(q, "...") || s.has(q, "…")
}

// quoteBehindClosers reports whether a quote directly follows the closers at p, where values would be separated by a
// comma.
func (s *Scanner) quoteBehindClosers(src string, p int) bool {
	for p < len(src) && strings.IndexByte("}])", src[p]) >= 0 {
		p++
	}
	return p < len(src) && (src[p] == '"' || src[p] == '\'') && !s.isKeyAt(p)
}

// closerInside reports whether closer c, which directly follows the last string and does not match the innermost
// bracket, belongs to that string.
func (s *Scanner) closerInside(c byte) bool {
	src := s.upTo(s.Pos + maxBalanced)
	if s.quoteBehindClosers(src, s.Pos) {
		return true
	}
	next := lex.SkipBlanks(src, s.Pos+1)
	return next < len(src) && strings.IndexByte(",}]", src[next]) < 0 && s.unclosed(&s.Tape[s.LastStr.Node], int(s.LastStr.quote)) == c && s.stringEnds(src, next)
}

// fenceInside reports whether the ticks at the current position close a fence that opens in the last string.
func (s *Scanner) fenceInside() bool {
	n := &s.Tape[s.LastStr.Node]
	return s.pay(int(n.End-n.Start)) && strings.Count(s.Src[n.Start:n.End], "```")%2 == 1
}

// poppedEnd remembers a container that ended directly after a string.
type poppedEnd struct {
	str   marker
	frame scanFrame
	end   int // offset after its closer
}

// unpop takes back the closer of the container that was closed last. The closer belongs to the string before it if
// that holds the matching bracket or a quote directly follows, and if the string is closed later. The second result
// reports that more text is needed.
func (s *Scanner) unpop() (done, more bool) {
	u := s.popped
	if u.end == 0 || u.end > s.Pos || s.lastClosed != int(u.frame.node) || int(s.Tape[s.lastClosed].End) != u.end || len(s.Tape) != int(u.str.Node)+1 {
		return false, false
	}
	gap := s.Src[u.end:s.Pos]
	n := &s.Tape[u.str.Node]
	quote := gap == "" && s.Pos < len(s.Src) && (s.Src[s.Pos] == '"' || s.Src[s.Pos] == '\'')
	switch {
	case strings.Trim(gap, " \t") != "" || s.inFence && s.has(s.Pos, "```") || !quote && s.unclosed(n, int(u.str.quote)) != u.frame.closer:
		return false, false
	case !s.wants(maxBalanced):
		return false, true
	case quote && s.isKeyAt(s.Pos) || !s.stringEnds(s.upTo(s.Pos+maxBalanced), s.Pos+1) || !s.back(int(u.str.next)):
		return false, false
	}
	if len(s.Stack) > 0 {
		s.Tape[s.top().node].Count--
	} else {
		s.Cand.Cost, s.Cand.End = s.cost-s.Cand.Cost, 0
	}
	s.Rewrites++
	s.enterAs(u.frame)
	s.Tape[u.frame.node].End, s.Tape[u.frame.node].Span = 0, 0
	s.popped.end = 0
	return s.reopen(u.str), false
}
