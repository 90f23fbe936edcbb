package tape

import (
	"strings"

	"github.com/agentscript/agentscript/generable/lenient/internal/lex"
)

// This file decides whether a quote or a closer belongs to the string before it: an answer quotes an
// object, a program or a pattern without a backslash before each quote.

// brackets are those that are open in the text of a string.
type brackets struct {
	node, upTo int // which string, and up to which offset it was looked at
	open       lex.Brackets
}

// unclosed returns the closer that the innermost bracket waits for which opens in the string of node n
// before offset p, 0 when there is none. A closer that does not fit counts as a sign like others.
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

// quotesInside goes on with string n, which holds a quote like its own, behind the quote of w bytes at p
// if what follows cannot come after a value, or belongs to brackets that opened in the string.
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

// closesBehind reports whether a bracket that opened in string n before p is closed behind offset next, where a
// comma is, and the string goes on after it.
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

// stringEnds reports whether a quote that a comma, a closer, the end of the text or, behind a blank, a key follows is in
// a text from offset p on.
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

// memberFollows reports whether a comma at the byte before offset p separates members: a key, a comment, a
// closer or nothing is behind it.
func (s *Scanner) memberFollows(p int) bool {
	q := lex.PastGap(s.upTo(p+maxBalanced), p)
	return q >= len(s.Src) || s.Src[q] == ',' || s.Src[q] == '{' && s.inList() || s.goesOn(p) || s.memberAt(q) || s.has(q, "...") || s.has(q, "…")
}

// quoteBehindClosers reports whether a quote is directly behind the closers at p, where a comma would be
// between values.
func (s *Scanner) quoteBehindClosers(src string, p int) bool {
	for p < len(src) && strings.IndexByte("}])", src[p]) >= 0 {
		p++
	}
	return p < len(src) && (src[p] == '"' || src[p] == '\'') && !s.isKeyAt(p)
}

// closerInside reports whether closer c, which is directly behind the last string and does not fit the innermost
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

// poppedEnd remembers a container that ended directly behind a string.
type poppedEnd struct {
	str   marker
	frame scanFrame
	end   int // offset behind its closer
}

// unpop takes back the closer of the container that was closed last: it belongs to the string before it, if that
// holds the bracket which it closes, or a quote is directly behind it, and if the string is closed later. The second
// result says that more text is needed.
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
