package generable

// This file repairs what stands where a key or a colon should.

// oddKey reads a key that does not begin as a key of JSON does.
func (s *scanner) oddKey(c byte) bool {
	p := s.pos
	if !s.wants(4) {
		return false
	}
	if c >= 0x80 {
		if s.oddBlank() {
			return true
		}
		if f := s.fold(p); f != 0 && !s.soft {
			return s.wide(f)
		}
	}
	top := &s.stack[len(s.stack)-1]
	switch c {
	case '}', ')', ']':
		switch {
		case c == top.closer:
			s.trailingComma()
			s.pop()
			return true
		case s.due(c) || (c == ']' && s.hoisted()):
			if !s.wants(maxAhead) {
				return false
			}
			s.trailingComma()
			s.afterValue()
			return s.closer(c)
		case c != ')':
			s.skipAs(repExtraCloser, 1)
			return true
		}
	case ',':
		s.skipAs(repExtraComma, 1)
		return true
	case '{':
		if s.st == stObjNext && s.inList() { // the object before it was not closed
			s.repair(repMissingCloser, p, p)
			s.closeTop(p)
			s.st = stArrNext
			s.push(nodeObj)
			return true
		}
		s.repair(repBraces, p, p+1)
		if top.extra < 1<<15 {
			top.extra++
		}
		s.pos++
		return true
	case '[':
		if s.st == stObjNext && s.rejoinList() {
			return true
		}
	case '`':
		switch ok, more := s.innerFence(); {
		case more:
			return false
		case ok:
			return true
		}
	case '/', '#':
		if s.comment() {
			return true
		}
	case '.':
		if s.ellipsis() {
			return true
		}
	}
	switch c {
	case ':', ';', ')', '[', '(', '=':
		if s.soft {
			s.dismiss()
			return true
		}
		s.skip(1)
		return true
	case '<':
		if s.has(p, "</") {
			s.endRegion(p)
			return true
		}
	}
	if s.atFenceEnd(p) {
		s.endRegion(p)
		return true
	}
	if kind, w := s.quoteAt(p); w > 0 && kind != quoteFence {
		s.oddQuote(kind, p, w)
		s.openString(kind, w, flagKey)
		s.tape[s.cur].flags |= flagRepaired
		return true
	}
	switch {
	case s.has(p, "…"):
		s.skipAs(repEllipsis, 3)
		return true
	case s.soft && class[c]&isIdent == 0:
		s.dismiss()
		return true
	}
	if n := s.prefixAt(p); n > 0 && !s.soft {
		if !s.wants(n + 2 + maxGap) {
			return false
		}
		if s.prefixed(p, n) {
			s.skipAs(repQuotes, n)
			return true
		}
	}
	s.openWord(flagKey)
	return true
}

// oddColon reads what follows a key and is no colon.
func (s *scanner) oddColon(c byte) bool {
	p := s.pos
	if !s.wants(4) {
		return false
	}
	if c >= 0x80 {
		if s.oddBlank() {
			return true
		}
		if f := s.fold(p); f == ':' || f == '=' {
			return s.wide(':')
		}
	}
	key := &s.tape[len(s.tape)-1]
	switch {
	case s.has(p, "=>"), s.has(p, "->"):
		s.skipAs(repOddColon, 2)
		s.colon()
		return true
	case c == '=':
		if s.lastStr.node >= 0 && key.kind == nodeWord && s.tape[s.lastStr.node].flags&flagRepaired != 0 && s.reopen(s.lastStr) {
			return true // an attribute inside of a string with quotes
		}
		s.skipAs(repOddColon, 1)
		s.colon()
		return true
	case c == '/' || c == '#':
		if key.kind == nodeStr && int(key.end)+1 == p && s.src[p-1] == '"' && s.src[key.end-1] == ':' && key.end > key.start && s.cutKey(key) {
			return true
		}
		if s.comment() {
			return true
		}
	}
	word := key.kind == nodeWord
	if c == '"' && !word && s.quote == quoteDouble && int(key.end)+1 == p && key.end > key.start {
		if !s.wants(maxGap) {
			return false
		}
		if s.colonAt(p + 1) { // "a"": the second quote is one too many
			s.skipAs(repQuotes, 1)
			return true
		}
	}
	if c == '"' && word && int(key.end) == p && s.soft {
		if !s.wants(maxGap) {
			return false
		}
		if s.colonAt(p + 1) { // its first quote is missing
			s.repair(repMissingQuote, int(key.start), int(key.start))
			key.kind, s.quote = nodeStr, quoteDouble
			s.pos++
			return true
		}
	}
	if c == '"' && word && !s.noComma && isWord(s.src[key.start:key.end]) {
		if !s.wants(maxLiteral) {
			return false
		}
		if s.isKeyAt(p) { // a word alone before a key
			s.repair(repJunk, int(key.start), int(key.end))
			s.dropKey()
			return true
		}
	}
	if !word && key.end == key.start && int(key.end)+1 == p && (c == '"' && s.quote == quoteDouble || c == '\'' && s.quote == quoteSingle) {
		// "" before a key: it is quoted twice or three times.
		return s.quoteAgain(len(s.tape)-1, p)
	}
	if !word && key.end == key.start && int(key.end)+1 == p && (s.quote == quoteDouble || s.quote == quoteSingle) && class[c]&isIdent != 0 {
		return s.quoteAgain(len(s.tape)-1, p)
	}
	if s.soft && c != ',' && c != '}' && (word || !beginsValue(c)) {
		if !word && s.cutKey(key) {
			return true
		}
		s.dropKey()
		s.dismiss()
		return true
	}
	if !word && s.cutKey(key) {
		return true
	}
	if c == ']' {
		if !s.wants(maxAhead) {
			return false
		}
		if s.openList() {
			return true
		}
	}
	valueStart := c == '"' || c == '{' || c == '[' || c == '-' || class[c]&isDigit != 0
	if !word && !valueStart {
		if !s.wants(maxLiteral) {
			return false
		}
		first, _, _ := cutItem(s.src[p:min(len(s.src), p+maxLiteral)])
		kind, _ := classifyWord(first)
		valueStart = kind != nodeWord
	}
	if s.tentStr.node >= 0 && s.reopen(s.tentStr) {
		return true
	}
	lone := !word && !s.noComma && s.isName(key) && (c == '}' || (c == ',' && s.lastStr.node >= 0 && s.tape[s.lastStr.node].flags&flagRepaired == 0))
	if s.lastStr.node >= 0 && !lone && (!valueStart || word || s.noComma) && s.reopen(s.lastStr) {
		return true
	}
	if c == ',' || c == '}' || c == ']' || s.atFenceEnd(p) {
		return s.loneKey(word, c)
	}
	if word && (s.noComma || s.soft || !valueStart) {
		// Words without a colon: this is prose, and the value ended before it.
		at := int(key.start)
		soft := s.soft
		s.dropKey()
		if soft {
			s.dismiss()
		} else if c == '"' {
			s.repair(repJunk, at, p)
			s.st = stObjNext
		} else {
			s.endRegion(p)
		}
		return true
	}
	s.repair(repMissingColon, p, p)
	s.colon()
	return true
}

// colonAt reports whether a colon stands at offset p, behind blanks. It looks at a bounded number of
// bytes.
func (s *scanner) colonAt(p int) bool {
	for end := p + maxGap - 2; p < len(s.src) && p < end && class[s.src[p]]&isBlank != 0; {
		p++
	}
	return p < len(s.src) && s.src[p] == ':'
}

// isName reports whether a key reads like the name of a field.
func (s *scanner) isName(key *node) bool {
	return key.end-key.start < maxLiteral && isWord(s.src[key.start:key.end])
}

// dropKey takes the last key off the tape.
func (s *scanner) dropKey() {
	s.tape = s.tape[:len(s.tape)-1]
	s.st = stObjNext
}

// cutKey ends a key at the colon inside of it, where its closing quote is missing:
// {"a: 1, "b": 2}.
func (s *scanner) cutKey(key *node) bool {
	for p := key.start; p < key.end && p < key.start+maxLiteral; p++ {
		if s.src[p] == ':' && p > key.start {
			if !s.back(int(p)) {
				return false
			}
			key.end = p
			key.flags |= flagRepaired
			s.repair(repMissingQuote, int(p), int(p))
			return true
		}
		if class[s.src[p]]&isIdent == 0 {
			return false
		}
	}
	return false
}

// quoteAgain reopens the empty string at tape index i, whose quotes turn out to be the first
// of two or three opening ones. The current position is behind them.
func (s *scanner) quoteAgain(i, p int) bool {
	kind, w := quoteTwice, 0
	if s.src[p-1] == '\'' {
		kind = quoteTwiceOne
	}
	if s.src[p] == '"' || s.src[p] == '\'' {
		kind, w = quoteTriple, 1
		if s.src[p] == '\'' {
			kind = quoteTripleOne
		}
	}
	flags := s.tape[i].flags
	s.tape = s.tape[:i]
	s.repair(repQuotes, p-2, p+w)
	s.openString(kind, w, flags)
	s.tape[s.cur].flags |= flagRepaired
	return true
}
