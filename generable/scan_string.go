package generable

// quoteKind tells what opened a string, and so what closes it.
type quoteKind uint8

const (
	quoteDouble    quoteKind = iota // "…"
	quoteSingle                     // '…'
	quoteTick                       // `…`
	quoteSmart                      // “…” and the like
	quoteSmartOne                   // ‘…’ and the like
	quoteTriple                     // """…"""
	quoteTripleOne                  // '''…'''
	quoteFence                      // ```…```
	quoteTwice                      // ""…""
	quoteTwiceOne                   // ''…''
	quoteEscaped                    // \"…\" in a document that was escaped as a whole
)

// quoteAt tells which quote stands at offset p and how many bytes it takes; 0 when there is
// none. It looks at no more than 3 bytes.
func (s *scanner) quoteAt(p int) (quoteKind, int) {
	switch s.src[p] {
	case '"':
		return quoteDouble, 1
	case '\'':
		return quoteSingle, 1
	case '`':
		if s.has(p, "```") {
			return quoteFence, 3
		}
		return quoteTick, 1
	case 0xc2:
		switch {
		case s.has(p, "´"):
			return quoteSmartOne, 2
		case s.has(p, "«"), s.has(p, "»"):
			return quoteSmart, 2
		}
	case 0xe2:
		switch {
		case s.has(p, "“"), s.has(p, "”"), s.has(p, "„"), s.has(p, "‟"):
			return quoteSmart, 3
		case s.has(p, "‘"), s.has(p, "’"), s.has(p, "‚"), s.has(p, "‛"):
			return quoteSmartOne, 3
		}
	case 0xef:
		switch {
		case s.has(p, "＂"):
			return quoteSmart, 3
		case s.has(p, "＇"):
			return quoteSmartOne, 3
		}
	case '\\':
		if s.has(p, `\"`) {
			return quoteEscaped, 2
		}
	}
	return 0, 0
}

// openString begins a string whose opening quote of n bytes is at the current position.
func (s *scanner) openString(kind quoteKind, n int, flags uint8) {
	switch kind {
	case quoteEscaped:
		flags |= flagDouble | flagRepaired
	case quoteFence:
		flags |= flagFenced | flagRepaired
	}
	s.cur = len(s.tape)
	s.pos += n
	s.add(node{kind: nodeStr, flags: flags, start: uint32(s.pos)})
	s.quote = kind
	s.tentStr.node = -1
	s.fenceCut = -1
	s.st = stString
}

// scanString reads on to the end of the current string.
func (s *scanner) scanString() bool {
	if s.quote != quoteDouble {
		return s.scanOddString()
	}
	src, p := s.src, s.pos
	n := &s.tape[s.cur]
	for {
		for p < len(src) && class[src[p]]&isPlain != 0 {
			p++
		}
		if p == len(src) {
			s.pos = p
			return true
		}
		switch c := src[p]; {
		case c == '"':
			s.pos = p
			s.closeString(p, 1)
			return true
		case c == '\\':
			if p+1 == len(src) && !s.eof {
				s.pos = p
				return false
			}
			n.flags |= flagEscape
			p = min(p+2, len(src))
			if src[p-1] >= 0x80 {
				n.flags |= flagHigh
			}
		case c < 0x20:
			s.pos = p
			if c == '\n' && s.inFence && !s.lineInString(p) {
				return false
			}
			if n.flags&flagRepaired == 0 {
				n.flags |= flagRepaired
				s.repair(repControl, p, p+1)
			}
			p++
		default:
			n.flags |= flagHigh
			p++
		}
	}
}

// lineInString looks at the line that begins after the line feed at p, inside a string inside
// a fence: it may be the fence's end, should the string turn out never to be closed.
func (s *scanner) lineInString(p int) bool {
	if s.fenceCut >= 0 {
		return true
	}
	if !s.wants(4) {
		return false
	}
	if s.has(p+1, "```") || s.has(p+1, "~~~") {
		s.fenceCut = p
	}
	return true
}

// scanOddString reads a string that does not stand between plain double quotes.
func (s *scanner) scanOddString() bool {
	src, p := s.src, s.pos
	n := &s.tape[s.cur]
	for p < len(src) {
		c := src[p]
		s.pos = p
		switch {
		case c == '\\':
			if !s.wants(4) {
				return false
			}
			if s.quote == quoteEscaped {
				if s.has(p, `\"`) {
					s.closeString(p, 2)
					return true
				}
				n.flags |= flagEscape | flagHigh
				if s.has(p, `\\\"`) {
					p += 4
					continue
				}
			}
			n.flags |= flagEscape | flagHigh
			p = min(p+2, len(src))
			continue
		case c == '"' && s.quote == quoteEscaped:
			// The document was not escaped after all, or ends here.
			s.closeString(p, 1)
			return true
		case c == '\n' && s.inFence:
			if !s.lineInString(p) {
				return false
			}
		case c >= 0x80 || c == '"' || c == '\'' || c == '`':
			if c >= 0x80 {
				n.flags |= flagHigh
			}
			if !s.wants(3) {
				return false
			}
			if w := s.quoteEnds(p); w > 0 {
				s.closeString(p, w)
				return true
			}
		}
		p++
	}
	s.pos = p
	return true
}

// quoteEnds returns the length of the closing quote at p, 0 when none is there that closes
// the current string.
func (s *scanner) quoteEnds(p int) int {
	kind, w := s.quoteAt(p)
	if w == 0 {
		return 0
	}
	switch s.quote {
	case quoteSingle:
		if kind == quoteSingle {
			return w
		}
	case quoteTick:
		if kind == quoteTick || s.has(p, "´") {
			return w
		}
	case quoteSmart:
		if kind == quoteSmart || kind == quoteDouble {
			return w
		}
	case quoteSmartOne:
		if kind == quoteSmartOne || kind == quoteSingle {
			return w
		}
	case quoteTriple:
		if s.has(p, `"""`) {
			return 3
		}
	case quoteTripleOne:
		if s.has(p, `'''`) {
			return 3
		}
	case quoteFence:
		if kind == quoteFence {
			return 3
		}
	case quoteTwiceOne:
		if s.has(p, "''") {
			return 2
		}
		if kind == quoteSingle {
			return 1
		}
	case quoteTwice:
		if s.has(p, `""`) {
			return 2
		}
		if kind == quoteDouble {
			return 1
		}
	}
	return 0
}

// closeString ends the current string with the quote of w bytes at p.
func (s *scanner) closeString(p, w int) {
	n := &s.tape[s.cur]
	n.end = uint32(p)
	n.span = 1
	s.pos = p + w
	if n.flags&flagKey != 0 {
		s.st = stColon
		return
	}
	if s.concat >= 0 {
		s.closePart()
		return
	}
	s.lastStr = marker{node: int32(s.cur), quote: int32(p), next: int32(s.pos), kind: s.quote, repairs: int32(len(s.repairs)), cost: int32(s.cost)}
	s.soft = false
	s.attached()
}

// reopen takes back the end of the string that m remembers: the quote belongs to its content.
func (s *scanner) reopen(m marker) bool {
	if m.node < 0 || !s.back(int(m.next)) {
		return false
	}
	holder := &s.tape[s.stack[len(s.stack)-1].node]
	holder.count--
	if s.lastStr.node > m.node { // the string that m's end gave rise to is undone as well
		holder.count--
	}
	s.tape = s.tape[:m.node+1]
	n := &s.tape[m.node]
	n.end, n.span = 0, 0
	n.flags |= flagRepaired
	if m.kind == quoteEscaped {
		n.flags |= flagEscape
	}
	s.repairs, s.cost = s.repairs[:m.repairs], int(m.cost)
	s.repair(repInnerQuote, int(m.quote), int(m.next))
	if (m.kind == quoteTwice || m.kind == quoteTwiceOne) && class[s.src[m.quote-1]]&isBlank == 0 {
		// ""Hello," she said.": the second of the opening quotes is the partner of this one.
		n.start--
		if m.kind == quoteTwice {
			m.kind = quoteDouble
		} else {
			m.kind = quoteSingle
		}
	}
	s.hoist.parent = -1
	s.cur, s.quote, s.st = int(m.node), m.kind, stString
	s.lastStr, s.tentStr = noMarker, noMarker
	s.noComma = false
	return true
}

// oddConcat reads what follows "a" +.
func (s *scanner) oddConcat() bool {
	if !s.wants(3) {
		return false
	}
	if c := s.src[s.pos]; (c == '/' || c == '#') && s.commentInside() {
		return true
	}
	kind, w := s.quoteAt(s.pos)
	if w == 0 || kind == quoteFence {
		s.repair(repJunk, s.tok, s.tok+1)
		s.afterValue()
		return true
	}
	s.repair(repConcat, s.tok, s.tok+1)
	at := s.lastConcat
	if at < 0 { // the first +: the string becomes the first part
		at = int(s.lastStr.node)
		part := s.tape[at]
		s.tape[at] = node{kind: nodeConcat, flags: flagRepaired, start: part.start, count: 1}
		s.tape = append(s.tape, part)
		s.lastStr = noMarker
	}
	s.openString(kind, w, 0)
	s.concat = at
	return true
}

// commentInside begins a comment between the parts of a concatenation.
func (s *scanner) commentInside() bool {
	plus := s.tok
	ok := s.comment()
	s.tok = plus
	return ok
}

// closePart ends one part of a concatenation.
func (s *scanner) closePart() {
	n := &s.tape[s.concat]
	n.count++
	n.end = uint32(s.pos)
	n.span = uint32(len(s.tape) - s.concat)
	s.lastConcat, s.concat = s.concat, -1
	s.afterValue()
}

// afterValue goes to the state after a value of the innermost container.
func (s *scanner) afterValue() {
	if s.stack[len(s.stack)-1].obj {
		s.st = stObjAfter
	} else {
		s.st = stArrAfter
	}
}
