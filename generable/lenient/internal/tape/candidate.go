package tape

import (
	"strings"

	"github.com/agentscript/agentscript/generable/lenient/internal/lex"
)

// Candidate is a region of the text that was read as a value. A text of lines has many candidates, so the struct is
// kept small.
type Candidate struct {
	Node       int   // index of its root on the tape
	Start, End int   // offsets in the text
	Cost       int   // of its repairs; while it is being read, the cost before it
	Repairs    int32 // its first repair
	RepairsEnd int32
	Fence      int32 // index of the enclosing fence, or -1
	DeepAt     int32 // offset where it became too deep
	Items      int32 // number of items of a list that stands for neighbouring candidates
	TooDeep    bool
	Broken     bool // some repair was needed
	Think      bool // it is in a reasoning region
	Adjacent   bool // only blanks, commas and semicolons separate it from the previous candidate
	Bare       bool // it began in the middle of prose
}

// FenceMark is a fenced block.
type FenceMark struct {
	Start, Body, End int // start of the opening ticks, the content and the closing ticks
	N                int // number of ticks
	tick             byte
	Tag              string
}

// thinkMark is a reasoning region, tags included.
type thinkMark struct{ Start, End int }

// prose skips to the next thing of interest outside values: an opening bracket, a fence, a reasoning tag.
func (s *Scanner) prose() bool {
	src := s.Src
	for s.Pos < len(src) {
		c := src[s.Pos]
		k := lex.Class[c]
		switch {
		case k&lex.IsProseStop == 0:
			if k&lex.IsBlank == 0 && c != ',' && c != ';' {
				s.text()
			}
			s.Pos++
			continue
		case c == '\n':
			s.lineStart = true
			s.Pos++
			continue
		case c == '{' || c == '[':
			return s.begin(c)
		case c == 0xef:
			if !s.wants(3) {
				return false
			}
			if f := s.Fold(s.Pos); f == '{' || f == '[' {
				return s.begin(f)
			}
			if !s.has(s.Pos, "\ufeff") {
				s.text()
			}
			s.Pos++
			continue
		case c == '<':
			return s.tag()
		default: // a tick or a tilde
			return s.ticks(c)
		}
	}
	return true
}

// text notes that the prose holds something other than blanks.
func (s *Scanner) text() {
	s.adjacent, s.lineStart, s.seenText = false, false, true
}

// begin starts a candidate at the opening bracket at the current position.
func (s *Scanner) begin(c byte) bool {
	s.Cand = Candidate{
		Node: len(s.Tape), Start: s.Pos, Repairs: int32(len(s.Repairs)), Cost: s.cost,
		Fence: -1, Think: s.noThink, Adjacent: s.adjacent && len(s.Cands) > 0,
	}
	if s.inFence {
		s.Cand.Fence = int32(len(s.Fences)) - 1
	}
	s.Soft = !s.inFence && s.seenText && !s.Cand.Adjacent && !s.announced()
	s.Cand.Bare = s.Soft
	s.Concat, s.inner = -1, 0
	s.wrapAt = -1
	if !s.Cand.Adjacent { // a placeholder for a list of this candidate and its neighbours
		s.Tape = append(s.Tape, Node{Kind: NodeNull, Span: 1})
		s.Cand.Node++
	}
	if s.Src[s.Pos] != c { // a wide bracket
		s.widened(c)
	}
	if c == '{' {
		return s.push(NodeObj)
	}
	return s.push(NodeArr)
}

// announced reports whether the current bracket begins a line after a line that ends in a colon, "The answer is:", or
// whether it is assigned or an argument, x = { or f({. It looks at a bounded number of blanks.
func (s *Scanner) announced() bool {
	if p := s.Pos - 1; p > 0 && s.Src[p] == '(' && lex.Class[s.Src[p-1]]&lex.IsIdent != 0 {
		return true // the argument of a call
	}
	p := s.trimBefore(max(0, s.Pos-maxMember), s.Pos)
	sign := s.upTo(p)[max(0, p-1):]
	if strings.Contains(s.Src[p:s.Pos], "\n") {
		return sign == ":"
	}
	return sign == "="
}

// endCandidate completes the candidate whose root has just been closed.
func (s *Scanner) endCandidate() bool {
	c := s.Cand
	c.End = int(s.Tape[c.Node].End)
	c.RepairsEnd = int32(len(s.Repairs))
	c.Cost = s.cost - c.Cost
	if root := &s.Tape[c.Node]; root.Flags&FlagOpen == 0 && s.Pos == c.End && (root.Kind == NodeObj || s.popped.end == c.End && s.unclosed(&s.Tape[s.popped.str.Node], int(s.popped.str.quote)) == ']') {
		s.Cand, s.St = c, StRootAfter
		return true
	}
	return s.accept(c)
}

// accept adds a complete candidate.
func (s *Scanner) accept(c Candidate) bool {
	s.Cands = append(room(s, s.Cands), c)
	s.St = StProse
	s.adjacent, s.lineStart, s.seenText = true, false, true
	return true
}

// dismiss drops the current candidate: what looked like a value is prose.
func (s *Scanner) dismiss() bool {
	s.Tape = s.Tape[:s.Cand.Node]
	s.Stack = s.Stack[:0]
	s.opens = [3]int{}
	s.Repairs, s.cost = s.Repairs[:s.Cand.Repairs], s.Cand.Cost
	s.forget()
	s.Soft = false
	s.St = StProse
	s.text()
	return true
}

// endRegion ends the current candidate at offset at, and everything that is still open in it.
func (s *Scanner) endRegion(at int) bool {
	if s.Soft {
		return s.dismiss()
	}
	if s.NoComma { // no comma is missing, since no next item exists
		s.Repairs, s.cost = s.Repairs[:s.bare.repairs], int(s.bare.cost)
	}
	if at < s.Pos && !s.back(at) {
		at = s.Pos
	}
	if s.St == stColon || s.St == stObjValue {
		s.missingValue()
	}
	s.repair(RepTruncated, at, at)
	for len(s.Stack) > 0 {
		s.Tape[s.top().node].Flags |= FlagOpen
		s.closeTop(at)
	}
	return true
}

// atFenceEnd reports whether the closing fence around the candidate is at p.
func (s *Scanner) atFenceEnd(p int) bool {
	if !s.has(p, "```") && !s.has(p, "~~~") {
		return false
	}
	switch s.St {
	case stArrFirst, stArrNext, stObjValue: // ticks may open a value here
		return s.inFence && s.beginsLine(p)
	}
	return s.inFence || s.Src[p] == '`' && (s.beginsLine(p) || p+3 >= len(s.Src) || s.Src[p+3] == '\n')
}

// beginsLine reports whether only a few blanks separate p from the previous line end.
func (s *Scanner) beginsLine(p int) bool {
	before := s.Src[max(0, p-maxMember):p]
	line := strings.LastIndexByte(before, '\n')
	return line >= 0 && strings.Trim(before[line:], " \t\r\n") == ""
}

// ticks reads a run of ticks or tildes in prose, which may open or close a fence.
func (s *Scanner) ticks(c byte) bool {
	if !s.wants(4) {
		return false
	}
	if (c == '`' && !s.has(s.Pos, "```")) || (c == '~' && (!s.has(s.Pos, "~~~") || !s.lineStart)) {
		s.text()
		s.Pos++
		return true
	}
	s.tok = s.Pos
	s.St = stFenceTicks
	return true
}

// fenceTicks counts a run of ticks and decides what it means.
func (s *Scanner) fenceTicks() bool {
	c := s.Src[s.tok]
	for s.Pos < len(s.Src) && s.Src[s.Pos] == c {
		s.Pos++
	}
	if s.Pos == len(s.Src) && !s.Eof {
		return true
	}
	n := s.Pos - s.tok
	s.St = StProse
	if s.inFence {
		f := &s.Fences[len(s.Fences)-1]
		if c != f.tick || n < f.N {
			s.text()
			return true
		}
		f.End = s.tok
		s.inFence = false
		// A language name follows directly: this is more likely the opening of the next fence.
		if s.Pos == len(s.Src) || lex.Class[s.Src[s.Pos]]&lex.IsIdent == 0 {
			return true
		}
	}
	s.Fences = append(s.Fences, FenceMark{Start: s.tok, End: -1, N: n, tick: c})
	s.St = stFenceInfo
	return true
}

// fenceInfo reads the rest of the line that opens a fence.
func (s *Scanner) fenceInfo() bool {
	f := &s.Fences[len(s.Fences)-1]
	for ; s.Pos < len(s.Src); s.Pos++ {
		c := s.Src[s.Pos]
		if (c == '`' || c == f.tick) && !s.wants(3) {
			return false
		}
		if c == '\n' || c == '{' || c == '[' || c == f.tick && s.has(s.Pos, string([]byte{c, c, c})) {
			f.Tag = strings.TrimSpace(s.Src[f.Start+f.N : s.Pos])
			f.Body = s.Pos
			s.inFence = true
			s.St = StProse
			s.adjacent = false
			return true
		}
	}
	return true
}

// reasoningTags are the names of elements that contain reasoning, not answers.
var reasoningTags = [...]string{"think", "thinking", "thought", "thoughts", "reasoning", "reflection", "scratchpad"}

// MaxTag bounds the bytes that are examined to recognise a tag.
const MaxTag = 16

// tag reads < in prose, which may open or close a reasoning region.
func (s *Scanner) tag() bool {
	if !s.wants(MaxTag) {
		return false
	}
	p := s.Pos + 1
	closing := p < len(s.Src) && s.Src[p] == '/'
	if closing {
		p++
	}
	name := s.tagName(p)
	if name == "" || (!closing && s.noThink) {
		s.text()
		s.Pos++
		return true
	}
	if closing { // the opening tag is missing: everything before it was reasoning
		s.Thought = len(s.Cands)
		s.Pos = min(p+len(name)+1, len(s.Src))
		s.Thinks = append(s.Thinks[:0], thinkMark{0, s.Pos})
		s.noThink = false
		s.adjacent, s.seenText = false, false
		return true
	}
	s.tok = s.Pos
	s.thinkName = name
	s.Pos = p + len(name)
	s.St = StThink
	return true
}

// tagName recognises the name of a reasoning tag at p.
func (s *Scanner) tagName(p int) string {
	for _, name := range reasoningTags {
		end := p + len(name)
		if end < len(s.Src) && (s.Src[end] == '>' || s.Src[end] == ' ') && strings.EqualFold(s.Src[p:end], name) {
			return name
		}
	}
	return ""
}

// think looks for the end of the reasoning region.
func (s *Scanner) think() bool {
	for s.until('<') {
		if !s.wants(MaxTag) {
			return false
		}
		if s.has(s.Pos, "</") && s.tagName(s.Pos+2) == s.thinkName {
			s.Pos += 2 + len(s.thinkName) + 1
			s.Thinks = append(s.Thinks, thinkMark{s.tok, s.Pos})
			s.St = StProse
			s.adjacent = false
			return true
		}
		s.Pos++
	}
	return true
}
