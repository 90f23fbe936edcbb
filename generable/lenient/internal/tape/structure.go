package tape

import (
	"strings"

	"github.com/agentscript/agentscript/generable/lenient/internal/lex"
)

// structure reads what is between the tokens of a value. It and [Scanner.token] contain the grammar of JSON; the
// repairs handle every byte that the grammar does not allow.
func (s *Scanner) structure() bool {
	for s.St >= stArrFirst && s.St <= stWordQuote {
		src, p := s.Src, s.Pos
		p = lex.SkipBlanks(src, p)
		s.Pos = p
		if p == len(src) {
			return true
		}
		if !s.token(src[p]) {
			return false
		}
		if s.St == StString && s.Quote == QuoteDouble && !s.scanString() {
			return false
		}
	}
	return true
}

// token reads the byte c, which is not a blank, at the beginning or end of a token.
func (s *Scanner) token(c byte) bool {
	switch s.St {
	case stArrFirst, stArrNext, stObjValue:
		switch c {
		case '"':
			return s.openString(QuoteDouble, 1, 0)
		case '{':
			return s.push(NodeObj)
		case '[':
			return s.push(NodeArr)
		case ']':
			if s.St == stArrFirst && s.closes(']') {
				return s.pop()
			}
		case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			return s.number()
		case 't':
			return s.literal("true", NodeTrue)
		case 'f':
			return s.literal("false", NodeFalse)
		case 'n':
			return s.literal("null", NodeNull)
		}
	case stArrAfter:
		switch c {
		case ',':
			return s.comma(stArrNext)
		case ']':
			if s.closes(']') {
				return s.pop()
			}
		}
	case stObjFirst, stObjNext:
		switch {
		case c == '"':
			return s.openString(QuoteDouble, 1, FlagKey)
		case c == '}' && s.St == stObjFirst && s.closes('}'):
			return s.pop()
		}
	case stColon:
		if c == ':' {
			return s.colon(1)
		}
	case stObjAfter:
		switch c {
		case ',':
			return s.comma(stObjNext)
		case '}':
			if s.closes('}') {
				return s.pop()
			}
		}
	case stConcat:
		return s.oddConcat()
	case stWordQuote:
		return s.wordQuote(c)
	}
	return s.odd(c)
}

// closes reports whether c is the closer of the innermost bracket.
func (s *Scanner) closes(c byte) bool { return s.top().closer == c }

// top returns the innermost open container.
func (s *Scanner) top() *scanFrame { return &s.Stack[len(s.Stack)-1] }

// comma skips a comma and enters the state after it.
func (s *Scanner) comma(next scanState) bool {
	s.Pos++
	s.St = next
	return true
}

// colon skips n bytes after the current key, which is now certainly a key.
func (s *Scanner) colon(n int) bool {
	s.Pos += n
	if key := &s.Tape[len(s.Tape)-1]; key.Kind == NodeWord {
		s.repair(RepMissingQuotes, int(key.Start), int(key.End))
	}
	s.forget()
	s.Soft = false
	s.St = stObjValue
	return true
}

// forget drops the ways back to earlier strings, because what follows them is certain.
func (s *Scanner) forget() {
	s.LastStr.Node, s.TentStr.Node = -1, -1
	s.lastConcat = -1
	s.NoComma = false
}

// push opens a container at the current position.
func (s *Scanner) push(kind nodeKind) bool {
	s.forget()
	if len(s.Stack) >= s.MaxDepth {
		s.St, s.deep, s.deepStr = stTooDeep, 0, false
		s.Cand.TooDeep = true
		s.Cand.DeepAt = int32(s.Pos)
		return true
	}
	s.St = stArrFirst
	if kind == NodeObj {
		s.St = stObjFirst
	}
	s.enterAs(frameOf(len(s.Tape), kind == NodeObj))
	s.add(Node{Kind: kind, Start: uint32(s.Pos)})
	s.Pos++
	return true
}

// add appends a node to the tape.
func (s *Scanner) add(n Node) { s.Tape = append(room(s, s.Tape), n) }

// room returns a list with room for one more entry.
func room[T any](s *Scanner, list []T) []T {
	if len(list) < cap(list) {
		return list
	}
	return append(make([]T, 0, s.capacity(len(list))), list...)
}

// capacity returns how many entries to make room for when room for n is not enough. If the whole text is there, it
// extrapolates, so that a text of brackets allocates its memory once.
func (s *Scanner) capacity(n int) int {
	if s.Whole && n > 1<<10 {
		all := float64(n) * float64(len(s.Src)) / float64(max(s.Pos, 1))
		return max(n+n/8, int(all+all/32))
	}
	if n > 1<<14 {
		return n + n/4
	}
	return max(8, 2*n)
}

// due reports whether some open bracket has the closer c.
func (s *Scanner) due(c byte) bool { return s.opens[lex.CloserIndex(c)] > 0 }

// expect changes the closer of the innermost bracket.
func (s *Scanner) expect(c byte) {
	top := s.top()
	s.opens[lex.CloserIndex(top.closer)]--
	s.opens[lex.CloserIndex(c)]++
	top.closer = c
}

// pop closes the innermost container with the closer at the current position.
func (s *Scanner) pop() bool {
	top := s.top()
	s.Pos++
	if s.LastStr.Node >= 0 {
		s.popped = poppedEnd{s.LastStr, *top, s.Pos}
	}
	s.forget()
	if top.extra > 0 {
		top.extra--
		s.St = stObjAfter
		return true
	}
	return s.closeTop(s.Pos)
}

// closeTop closes the innermost container at offset end and continues after it.
func (s *Scanner) closeTop(end int) bool {
	top := s.Stack[len(s.Stack)-1]
	s.Stack = s.Stack[:len(s.Stack)-1]
	n := &s.Tape[top.node]
	n.End = uint32(end)
	n.Span = uint32(len(s.Tape)) - top.node
	s.opens[lex.CloserIndex(top.closer)]--
	s.Soft = false
	s.lastClosed = int(top.node)
	if s.wrapAt == s.lastClosed {
		s.wrapAt = -1
	}
	if top.wrap != wrapNone && n.Count == 1 && !top.obj && (top.wrap == wrapCall || s.St != stArrNext) && s.pay(int(n.Span)) {
		copy(s.Tape[top.node:], s.Tape[top.node+1:])
		s.Tape = s.Tape[:len(s.Tape)-1]
		s.forget() // its nodes have moved
		s.lastClosed, s.popped.end = -1, 0
	}
	return s.attached()
}

// attached counts a completed value in its container, or ends the candidate.
func (s *Scanner) attached() bool {
	if len(s.Stack) == 0 {
		return s.endCandidate()
	}
	s.Tape[s.top().node].Count++
	return s.afterValue()
}

// leaf adds a scalar over the bytes from start to end and continues after it.
func (s *Scanner) leaf(kind nodeKind, start, end int, flags uint8) bool {
	s.forget()
	s.Soft = false
	s.add(Node{Kind: kind, Flags: flags, Start: uint32(start), End: uint32(end), Span: 1})
	return s.attached()
}

// literal reads true, false or null; anything else that begins like them is a word.
func (s *Scanner) literal(text string, kind nodeKind) bool {
	if !s.wants(len(text) + 1) {
		return false
	}
	p := s.Pos
	if s.has(p, text) {
		end := p + len(text)
		if end == len(s.Src) || lex.Class[s.Src[end]]&lex.IsNumEnd != 0 {
			s.Pos = end
			return s.leaf(kind, p, end, 0)
		}
	}
	return s.prefixOrWord(0)
}

// number reads a JSON number; anything else that begins like one is a word. The whole number is read in one step: if
// it is not complete yet it is read as a word, which may end at any byte.
func (s *Scanner) number() bool {
	start := s.Pos
	end, kind := lex.NumberEnd(s.Src, start)
	if kind == NodeWord || end == len(s.Src) || lex.Class[s.Src[end]]&lex.IsNumEnd == 0 {
		return s.openWord(0)
	}
	s.Pos = end
	return s.leaf(kind, start, end, 0)
}

// tooDeep skips what is nested beyond the limit.
func (s *Scanner) tooDeep() bool {
	for s.Pos < len(s.Src) {
		c := s.Src[s.Pos]
		switch {
		case s.deepStr && c == '\\':
			if !s.wants(2) {
				return false
			}
			s.Pos = min(s.Pos+2, len(s.Src))
			continue
		case c == '"':
			s.deepStr = !s.deepStr
		case s.deepStr:
		case c == '{' || c == '[':
			s.deep++
		case c == '}' || c == ']':
			if s.deep--; s.deep == 0 {
				s.Pos++
				return s.leaf(NodeNull, int(s.Cand.DeepAt), s.Pos, FlagRepaired)
			}
		}
		s.Pos++
	}
	return true
}

// comment begins a comment at the current position, if one is there.
func (s *Scanner) comment() bool {
	switch {
	case s.Src[s.Pos] == '#', s.has(s.Pos, "//"):
		s.ret, s.St = s.St, stLineComment
	case s.has(s.Pos, "/*"):
		s.ret, s.St = s.St, stBlockComment
		s.Pos++
	default:
		return false
	}
	s.tok = s.Pos
	s.repair(RepComment, s.Pos, s.Pos+1)
	s.Pos++
	return true
}

func (s *Scanner) lineComment() bool {
	if s.until('\n') {
		s.St = s.ret
	}
	return true
}

func (s *Scanner) blockComment() bool {
	for s.until('*') {
		if !s.wants(2) {
			return false
		}
		if s.has(s.Pos, "*/") {
			s.Pos += 2
			s.St = s.ret
			return true
		}
		s.Pos++
	}
	return true
}

// until moves to the next byte c, or to the end of the text that has arrived, and reports whether it found one.
func (s *Scanner) until(c byte) bool {
	n := strings.IndexByte(s.Src[s.Pos:], c)
	if n < 0 {
		s.Pos = len(s.Src)
		return false
	}
	s.Pos += n
	return true
}
