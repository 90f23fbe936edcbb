package tape

import (
	"strings"

	"github.com/agentscript/agentscript/generable/lenient/internal/lex"
)

// This file decides what a closer means that does not match the innermost bracket.

const (
	maxClosers = 12  // consecutive closers that a decision considers
	maxAhead   = 128 // bytes that they span
	maxPops    = 32  // brackets that one closer may close
)

// closer reads the closer c, which does not match the innermost bracket, or follows a comma. It may close an outer
// bracket, be the wrong closer, or be superfluous: the closers and the sign that follow decide.
func (s *Scanner) closer(c byte) bool {
	if s.closes(c) {
		return s.pop()
	}
	if !s.wants(maxLeft) {
		return false
	}
	if s.LastStr.Node >= 0 && s.closerInside(c) && s.reopen(s.LastStr) {
		return true
	}
	if c == ')' && !s.due(c) && s.LastStr.Node >= 0 {
		behind := strings.TrimLeft(s.upTo(s.Pos + MaxGap)[s.Pos+1:], "); \t\r")
		if behind != "" && strings.IndexByte(",}]\n", behind[0]) < 0 && s.reopen(s.LastStr) {
			return true
		}
	}
	run, next, n := s.closersAhead(c)
	if !s.pay(n) {
		run, next = run[:1], followsOther
	}
	best, cost := closeOuter, s.afterClosing(run, next, closeOuter)
	for _, how := range [...]closing{closeWrong, closeNothing} {
		k := s.afterClosing(run, next, how)
		// What a reading would close more likely stays open, if closers follow for everything that is open.
		closed := c
		if best == closeWrong {
			closed = s.top().closer
		}
		if k < cost || k == cost && s.closedBehind(closed) >= s.opens[lex.CloserIndex(closed)] {
			best, cost = how, k
		}
	}
	switch best {
	case closeNothing:
		s.skipAs(RepExtraCloser, 1)
		return s.afterValue()
	case closeWrong:
		s.skipAs(RepWrongCloser, 1)
		s.forget()
		return s.closeTop(s.Pos)
	}
	for !s.closes(c) {
		s.repair(repMissingCloser, s.Pos, s.Pos)
		s.closeTop(s.Pos)
	}
	return s.pop()
}

// closerNext reads a closer in place of a key or an item.
func (s *Scanner) closerNext(c byte) bool {
	switch {
	case !s.due(c):
		return s.skipAs(RepExtraCloser, 1)
	case !s.closes(c) && !s.wants(2*maxAhead):
		return false
	}
	if s.St == stArrNext || s.St == stObjNext { // nothing follows the last comma
		s.repair(RepTrailingComma, s.Pos, s.Pos)
	}
	if s.top().obj {
		s.afterValue()
	}
	return s.closer(c)
}

// maxLeft bounds the rest of a text in which closers are counted.
const maxLeft = 512

// closedBehind returns how many brackets with the closer c are closed after the current position, if the rest of the
// text is short; else -1.
func (s *Scanner) closedBehind(c byte) int {
	rest := s.Src[s.Pos+1:]
	if len(rest) >= maxLeft || c == ')' || !s.pay(len(rest)) {
		return -1
	}
	n, quoted := 0, false
	for i := 0; i < len(rest); i++ {
		switch b := rest[i]; {
		case b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == c:
			n++
		case b == c-2: // its opener
			n--
		}
	}
	return n
}

// closing is a reading of a closer that does not match.
type closing uint8

const (
	closeOuter   closing = iota // it closes an outer bracket
	closeWrong                  // it replaces the matching closer
	closeNothing                // it is superfluous
)

// follows says what comes after a run of closers.
type follows uint8

const (
	followsOther follows = iota
	followsEnd           // of the text
	followsComma
	followsKey  // a comma, then a key
	followsOpen // a comma, then a bracket
)

// closersAhead returns the current closer c and the closers after it, separated only by blanks, what follows them,
// and the number of bytes they span.
func (s *Scanner) closersAhead(c byte) ([]byte, follows, int) {
	src := s.upTo(s.Pos + maxAhead)
	run := append(make([]byte, 0, maxClosers), c)
	p := s.Pos + 1
	for p < len(src) {
		c, n := src[p], 1
		if f := s.Fold(p); c >= 0x80 && f != 0 {
			c, n = f, 3
		}
		switch {
		case lex.Class[c]&lex.IsBlank != 0:
		case c != '}' && c != ']' && c != ')':
			return run, s.followsAt(p), p - s.Pos
		case len(run) == maxClosers:
			return run, followsOther, p - s.Pos
		default:
			run = append(run, c)
		}
		p += n
	}
	return run, s.followsAt(p), p - s.Pos
}

// followsAt reports what is at offset p, within the range that may be examined.
func (s *Scanner) followsAt(p int) follows {
	src := s.upTo(s.Pos + maxAhead)
	if p >= len(s.Src) {
		return followsEnd
	}
	switch {
	case p >= len(src):
		return followsOther
	case src[p] == ',' || src[p] == ';':
	case s.Fold(p) == ',':
		p += 2
	default:
		return followsOther
	}
	p = lex.PastGap(src, p+1)
	if p >= len(src) {
		return followsComma
	}
	if c := src[p]; c == '{' || c == '[' {
		return followsOpen
	}
	if behind, _ := s.keyAt(p); behind >= 0 {
		return followsKey
	}
	return followsComma
}

// afterClosing counts what is wrong when the first closer of a run is read as how says, and each closer after it as
// the closer of the nearest matching bracket.
func (s *Scanner) afterClosing(run []byte, next follows, how closing) int {
	depth, cost := len(s.Stack), 0
	for i, c := range run {
		switch {
		case i == 0 && how == closeNothing:
			cost++
			continue
		case i == 0 && how == closeWrong:
			cost++
			depth--
			continue
		}
		at := depth - 1
		for at >= 0 && depth-at <= maxPops && s.Stack[at].closer != c {
			at--
		}
		if at < 0 || s.Stack[at].closer != c {
			cost++
			if i == 0 {
				return 1 << 20 // no such bracket is open
			}
			continue
		}
		cost += depth - 1 - at
		depth = at
	}
	switch {
	case next == followsEnd:
		return cost + min(depth, 8)
	case next == followsOther:
		return cost
	case depth == 0:
		return cost + 3
	case next == followsKey && !s.Stack[depth-1].obj, next == followsOpen && s.Stack[depth-1].obj:
		return cost + 2
	}
	return cost
}
