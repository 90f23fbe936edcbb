package generable

import "strings"

// candidate is a region of the text that was read as a value.
type candidate struct {
	node       int // its root on the tape
	start, end int // offsets in the text
	repairs    int // its first repair
	repairsEnd int
	cost       int // of its repairs; while it is read, the cost before it
	fence      int // index of the fence it stands in, or -1
	deepAt     int // offset where it got too deep
	items      int // of a list that stands for neighbouring candidates
	tooDeep    bool
	broken     bool // some repair was needed
	think      bool // it stands in a reasoning region
	adjacent   bool // only blanks and commas separate it from the candidate before
	bare       bool // it began in the middle of prose
}

// fenceMark is a fenced block.
type fenceMark struct {
	start, body, end int // of the opening ticks, of the content, of the closing ticks
	n                int // number of ticks
	tick             byte
	tag              string
}

// thinkMark is a reasoning region, tags included.
type thinkMark struct{ start, end int }

// prose reads on to the next thing of interest outside of values: an opening bracket, a
// fence, a reasoning tag.
func (s *scanner) prose() bool {
	src := s.src
	for s.pos < len(src) {
		c := src[s.pos]
		k := class[c]
		switch {
		case k&isProseStop == 0:
			if k&isBlank == 0 && c != ',' {
				s.text()
			}
			s.pos++
			continue
		case c == '\n':
			s.lineStart = true
			s.pos++
			continue
		case c == '{' || c == '[':
			s.begin(c)
			return true
		case c == 0xef:
			if !s.wants(3) {
				return false
			}
			if f := s.fold(s.pos); f == '{' || f == '[' {
				s.begin(f)
				return true
			}
			if !s.has(s.pos, "\ufeff") {
				s.text()
			}
			s.pos++
			continue
		case c == '<':
			return s.tag()
		default: // a tick or a tilde
			return s.ticks(c)
		}
	}
	return true
}

// text notes that something other than blanks stands in the prose.
func (s *scanner) text() {
	s.adjacent, s.lineStart, s.seenText = false, false, true
}

// begin starts a candidate at the opening bracket at the current position.
func (s *scanner) begin(c byte) {
	s.cand = candidate{
		node: len(s.tape), start: s.pos, repairs: len(s.repairs), cost: s.cost,
		fence: -1, think: s.noThink, adjacent: s.adjacent && len(s.cands) > 0,
	}
	if s.inFence {
		s.cand.fence = len(s.fences) - 1
	}
	s.soft = !s.inFence && s.seenText && !s.cand.adjacent && !s.announced()
	s.cand.bare = s.soft
	s.concat, s.inner = -1, 0
	s.hoist.parent, s.wrapAt = -1, -1
	if !s.cand.adjacent { // room for a list of this candidate and its neighbours
		s.tape = append(s.tape, node{kind: nodeNull, span: 1})
		s.cand.node++
	}
	if s.src[s.pos] != c { // a wide bracket
		s.widened(c)
	}
	if c == '{' {
		s.push(nodeObj)
	} else {
		s.push(nodeArr)
	}
}

// announced reports whether the current bracket begins a line and a colon ends the one before:
// "The answer is:". It looks at a bounded number of blanks.
func (s *scanner) announced() bool {
	lines := 0
	for p := s.pos - 1; p >= 0 && s.pos-p < 64; p-- {
		switch c := s.src[p]; {
		case c == '\n':
			lines++
		case class[c]&isBlank == 0:
			return lines > 0 && c == ':'
		}
	}
	return false
}

// endCandidate completes the candidate whose root was closed just now.
func (s *scanner) endCandidate() {
	c := s.cand
	c.end = int(s.tape[c.node].end)
	c.repairsEnd = len(s.repairs)
	c.cost = s.cost - c.cost
	if root := &s.tape[c.node]; root.kind == nodeObj && root.flags&flagOpen == 0 && s.pos == c.end {
		s.cand, s.st = c, stRootAfter
		return
	}
	s.accept(c)
}

// accept adds a complete candidate.
func (s *scanner) accept(c candidate) {
	if len(s.cands) == cap(s.cands) {
		s.cands = append(make([]candidate, 0, s.room(len(s.cands))), s.cands...)
	}
	s.cands = append(s.cands, c)
	s.st = stProse
	s.adjacent, s.lineStart, s.seenText = true, false, true
}

// dismiss gives up the current candidate: what began like one is prose.
func (s *scanner) dismiss() {
	s.tape = s.tape[:s.cand.node]
	s.stack = s.stack[:0]
	s.opens = [3]int{}
	s.repairs, s.cost = s.repairs[:s.cand.repairs], s.cand.cost
	s.forget()
	s.soft = false
	s.st = stProse
	s.text()
}

// endRegion ends the current candidate at offset at, with all that is still open in it.
func (s *scanner) endRegion(at int) {
	if s.soft {
		s.dismiss()
		return
	}
	if s.noComma { // no comma is missing: there is no next item
		s.repairs, s.cost = s.repairs[:s.bare.repairs], int(s.bare.cost)
	}
	if at < s.pos && !s.back(at) {
		at = s.pos
	}
	if s.st == stColon || s.st == stObjValue {
		s.missingValue()
	}
	s.repair(repTruncated, at, at)
	for len(s.stack) > 0 {
		s.tape[s.stack[len(s.stack)-1].node].flags |= flagOpen
		s.closeTop(at)
	}
}

// atFenceEnd reports whether the closing fence around the candidate stands at p.
func (s *scanner) atFenceEnd(p int) bool {
	if !s.has(p, "```") && !s.has(p, "~~~") {
		return false
	}
	switch s.st {
	case stArrFirst, stArrNext, stObjValue: // ticks may open a value here
		return s.inFence && s.beginsLine(p)
	}
	return s.src[p] == '`' || s.inFence
}

// beginsLine reports whether only a few blanks stand between the last line end and p.
func (s *scanner) beginsLine(p int) bool {
	for i := p - 1; i >= 0 && p-i < 64; i-- {
		switch s.src[i] {
		case '\n':
			return true
		case ' ', '\t', '\r':
		default:
			return false
		}
	}
	return false
}

// ticks reads a run of ticks or tildes in prose, which may open or close a fence.
func (s *scanner) ticks(c byte) bool {
	if !s.wants(4) {
		return false
	}
	if (c == '`' && !s.has(s.pos, "```")) || (c == '~' && (!s.has(s.pos, "~~~") || !s.lineStart)) {
		s.text()
		s.pos++
		return true
	}
	s.tok = s.pos
	s.st = stFenceTicks
	return true
}

// fenceTicks counts the run and decides what it means.
func (s *scanner) fenceTicks() {
	c := s.src[s.tok]
	for s.pos < len(s.src) && s.src[s.pos] == c {
		s.pos++
	}
	if s.pos == len(s.src) && !s.eof {
		return
	}
	n := s.pos - s.tok
	s.st = stProse
	if s.inFence {
		f := &s.fences[len(s.fences)-1]
		if c != f.tick || n < f.n {
			s.text()
			return
		}
		f.end = s.tok
		s.inFence = false
		// A language name directly behind it: this is rather the opening of the next one.
		if s.pos == len(s.src) || class[s.src[s.pos]]&isIdent == 0 {
			return
		}
	}
	s.fences = append(s.fences, fenceMark{start: s.tok, end: -1, n: n, tick: c})
	s.st = stFenceInfo
}

// fenceInfo reads the rest of the line that opens a fence.
func (s *scanner) fenceInfo() bool {
	f := &s.fences[len(s.fences)-1]
	for ; s.pos < len(s.src); s.pos++ {
		c := s.src[s.pos]
		if (c == '`' || c == f.tick) && !s.wants(3) {
			return false
		}
		if c == '\n' || c == '{' || c == '[' || c == f.tick && s.has(s.pos, string([]byte{c, c, c})) {
			f.tag = strings.TrimSpace(s.src[f.start+f.n : s.pos])
			f.body = s.pos
			s.inFence = true
			s.st = stProse
			s.adjacent = false
			return true
		}
	}
	return true
}

// reasoningTags are the names of elements that hold thoughts, not answers.
var reasoningTags = [...]string{"think", "thinking", "thought", "thoughts", "reasoning", "reflection", "scratchpad"}

// maxTag bounds the bytes looked at to recognise a tag.
const maxTag = 16

// tag reads < in prose, which may open or close a reasoning region.
func (s *scanner) tag() bool {
	if !s.wants(maxTag) {
		return false
	}
	p := s.pos + 1
	closing := p < len(s.src) && s.src[p] == '/'
	if closing {
		p++
	}
	name := s.tagName(p)
	if name == "" || (!closing && s.noThink) {
		s.text()
		s.pos++
		return true
	}
	if closing { // the opening tag is missing: all before it was reasoning
		s.thought = len(s.cands)
		s.pos = p + len(name)
		if s.pos < len(s.src) {
			s.pos++
		}
		s.thinks = append(s.thinks[:0], thinkMark{0, s.pos})
		s.noThink = false
		s.adjacent, s.seenText = false, false
		return true
	}
	s.tok = s.pos
	s.thinkName = name
	s.pos = p + len(name)
	s.st = stThink
	return true
}

// tagName recognises the name of a reasoning tag at p.
func (s *scanner) tagName(p int) string {
	for _, name := range reasoningTags {
		end := p + len(name)
		if end < len(s.src) && (s.src[end] == '>' || s.src[end] == ' ') && strings.EqualFold(s.src[p:end], name) {
			return name
		}
	}
	return ""
}

// think looks for the end of the reasoning region.
func (s *scanner) think() bool {
	for {
		n := strings.IndexByte(s.src[s.pos:], '<')
		if n < 0 {
			s.pos = len(s.src)
			return true
		}
		s.pos += n
		if !s.wants(maxTag) {
			return false
		}
		if s.has(s.pos, "</") && s.tagName(s.pos+2) == s.thinkName {
			s.pos += 2 + len(s.thinkName) + 1
			s.thinks = append(s.thinks, thinkMark{s.tok, s.pos})
			s.st = stProse
			s.adjacent = false
			return true
		}
		s.pos++
	}
}
