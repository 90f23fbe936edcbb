package generable

import "strings"

// finish completes what is open at the end of the text. It reports whether there is more to
// read, because completing went back.
func (s *scanner) finish() bool {
	switch s.st {
	case stProse:
		return s.pos < len(s.src)
	case stFenceTicks:
		s.fenceTicks()
	case stFenceInfo:
		s.inFence, s.st = true, stProse
		f := &s.fences[len(s.fences)-1]
		f.tag, f.body = strings.TrimSpace(s.src[f.start+f.n:]), s.pos
	case stThink:
		// The region never ended: what stands in it is all there is.
		s.rewound += s.pos - s.tok
		s.pos = s.tok + 1
		s.noThink = true
		s.st = stProse
		s.text()
	case stLineComment, stBlockComment:
		s.st = s.ret
	case stRootAfter:
		s.accept(s.cand)
	case stString:
		s.finishString()
	case stWord:
		s.finishWord()
	case stWordQuote:
		s.wordQuote(0)
	case stConcat:
		s.repair(repJunk, s.tok, s.tok+1)
		s.afterValue()
	case stTooDeep:
		s.leaf(nodeNull, s.cand.deepAt, s.pos, flagRepaired)
	default:
		s.endRegion(s.pos)
	}
	return true
}

// finishString completes a string that the text ends in.
func (s *scanner) finishString() {
	n := &s.tape[s.cur]
	n.span = 1
	n.end = uint32(len(s.src))
	if end := s.urlEnd(int(n.start)); end >= 0 && n.flags&flagKey == 0 && s.concat < 0 && s.back(end) {
		s.unquoted(n, end, flagRepaired)
		return
	}
	if s.concat >= 0 {
		n.flags |= flagOpen
		s.closePart()
		return
	}
	if n.flags&flagKey != 0 {
		s.st = stColon
		if !s.cutKey(n) {
			s.dropKey()
			s.st = stObjNext
			s.endRegion(s.pos)
		}
		return
	}
	if last := len(s.src) - 1; s.quote == quoteEscaped && last > int(n.start) && s.src[last] == '\\' && s.src[last-1] != '\\' {
		n.end-- // half of its closing quote
	}
	if end := s.lineBeforeCloser(int(n.start)); end >= 0 && s.back(end) {
		s.unquoted(n, end, flagRepaired)
		return
	}
	if s.fenceCut >= int(n.start) {
		s.unquoted(n, s.fenceCut, 0)
		s.endRegion(s.fenceCut)
		return
	}
	if end := s.closersAtEnd(int(n.start)); end >= 0 && s.back(end) {
		s.unquoted(n, end, 0)
		return
	}
	if end := s.itemsBehind(int(n.start)); end >= 0 && s.back(end) {
		s.unquoted(n, end, flagRepaired)
		return
	}
	n.flags |= flagOpen
	s.soft = false
	s.attached()
}

// unquoted ends a string where its closing quote is missing.
func (s *scanner) unquoted(n *node, end int, flags uint8) {
	n.end = uint32(end)
	n.flags |= flags
	s.repair(repMissingQuote, end, end)
	s.soft = false
	s.attached()
}

// urlEnd returns where the string that began at start ends, if it is an address that lacks its
// closing quote: before the first sign that none has, when the text goes on with a comma or ends
// with the closer of the innermost bracket. Else it returns -1.
func (s *scanner) urlEnd(start int) int {
	text := s.src[start:]
	scheme, rest, ok := strings.Cut(text[:min(len(text), maxGap)], "://")
	if !ok || !isWord(scheme) || rest == "" {
		return -1
	}
	p := len(scheme) + len("://")
	for p < len(text) && text[p] > ' ' && text[p] < 0x7f && strings.IndexByte(",\"]}[{<>`\\|^", text[p]) < 0 {
		p++
	}
	if p == len(text) || !s.pay(p) {
		return -1
	}
	if c := text[p]; c != ',' && c != s.stack[len(s.stack)-1].closer {
		return -1
	}
	return start + p
}

// itemsBehind returns where the string that began at start ends, if it runs to the end of the
// text for want of its closing quote, but either its first line ends in a comma, values follow on
// the next and the text ends as the value does; or it holds all the closers that are due, with
// prose behind them. Else it returns -1.
func (s *scanner) itemsBehind(start int) int {
	text := s.src[start:]
	if !s.pay(len(text)) {
		return -1
	}
	trimmed := strings.TrimRight(text, " \t\r\n;)`")
	if line, rest, ok := strings.Cut(text, "\n"); ok && trimmed != "" && trimmed[len(trimmed)-1] == s.stack[0].closer {
		line = strings.TrimRight(line, " \t\r")
		rest = strings.TrimLeft(rest, " \t\r\n")
		if short, comma := strings.CutSuffix(line, ","); comma && short != "" && rest != "" && beginsValue(rest[0]) && !s.stack[len(s.stack)-1].obj {
			return start + len(short)
		}
	}
	open := 0
	for p := 0; p < len(text); p++ {
		switch c := text[p]; c {
		case '{', '[':
			open++
		case '}', ']':
			if open > 0 {
				open--
				continue
			}
			end := p
			for k := len(s.stack) - 1; k >= 0; k-- {
				for p < len(text) && class[text[p]]&isBlank != 0 {
					p++
				}
				if p == len(text) || text[p] != s.stack[k].closer {
					return -1
				}
				p++
			}
			behind := strings.TrimLeft(text[p:], " \t")
			if behind == "" || strings.IndexByte("\n\r;)`", behind[0]) >= 0 || len(s.stack) > 1 && behind[0] != ',' && strings.IndexByte(behind, '"') < 0 {
				return start + len(strings.TrimRight(text[:end], " \t\r\n,"))
			}
			return -1
		}
	}
	return -1
}

// lineBeforeCloser returns where the first line of the string that began at start ends, if the
// closer of the innermost bracket follows on the next: the string lacks its end quote, and ran
// over what follows. Else it returns -1.
func (s *scanner) lineBeforeCloser(start int) int {
	n := strings.IndexByte(s.src[start:], '\n')
	if n < 0 || !s.pay(n) {
		return -1
	}
	p := start + n
	for p < len(s.src) && class[s.src[p]]&isBlank != 0 {
		p++
	}
	if p == len(s.src) || s.src[p] != s.stack[len(s.stack)-1].closer && !((s.src[p] == '}' || s.src[p] == ']') && strings.TrimSpace(s.src[p+1:min(len(s.src), p+maxGap)]) == "") {
		return -1
	}
	for p = start + n; p > start && class[s.src[p-1]]&isBlank != 0; {
		p--
	}
	return p
}

// closersAtEnd looks whether the text ends in just the closers that are missing, so that
// they belong to the containers rather than to the string that began at start. It returns
// where the string ends then, else -1.
func (s *scanner) closersAtEnd(start int) int {
	p, n := len(s.src), len(s.stack)
	blanks := func() {
		for p > start && class[s.src[p-1]]&isBlank != 0 {
			p--
		}
	}
	run := 0 // closers at the end, some of them perhaps too many
	q := p
	for ; q > start; q-- {
		if c := s.src[q-1]; c == '}' || c == ']' || c == ')' {
			run++
		} else if class[c]&isBlank == 0 {
			break
		}
	}
	if !s.pay(p - q) {
		return -1
	}
	for ; run > n; run-- {
		blanks()
		p--
	}
	for _, f := range s.stack {
		blanks()
		if p == start {
			return -1
		}
		if s.src[p-1] != f.closer {
			return -1
		}
		p--
	}
	blanks()
	for p > start+1 && (s.src[p-1] == ',' || s.src[p-1] == ';') {
		p--
		blanks()
	}
	// Brackets that open inside the string close there too.
	text := s.src[start:p]
	s.rewound += len(text)
	if strings.Count(text, "{")+strings.Count(text, "[") > strings.Count(text, "}")+strings.Count(text, "]") {
		return -1
	}
	return p
}

// finishWord completes an unquoted text that the text ends in: a literal or a number may be
// cut off.
func (s *scanner) finishWord() {
	w := s.src[s.tok:s.wordEnd]
	if cut := strings.TrimRight(w, "}] \t\r\n"); cut != "" && len(cut) < len(w) && !s.wordKey && !s.soft && !strings.ContainsAny(cut, "{[") {
		s.repair(repExtraCloser, s.tok+len(cut), s.wordEnd) // they close nothing, but are no part of the word
		s.wordEnd = s.tok + len(cut)
		w = cut
	}
	if s.wordKey {
		switch {
		case s.blank && !s.soft && s.reopen(s.lastStr):
		case s.soft:
			s.dismiss()
		default:
			s.st = stObjNext
			s.endRegion(s.tok)
		}
		return
	}
	if kind, _ := classifyWord(w); kind == nodeWord && w != "" {
		if kind := cutLiteral(w); kind != nodeWord {
			s.repair(repTruncated, s.tok, s.wordEnd)
			s.leaf(kind, s.tok, s.wordEnd, flagRepaired|flagOpen)
			return
		}
		if c := w[0]; c == '-' || c == '+' || c == '.' || class[c]&isDigit != 0 {
			number := strings.TrimRight(w, "eE+-.")
			if kind, _ := classifyWord(number); kind != nodeWord {
				s.repair(repTruncated, s.tok, s.wordEnd)
				s.leaf(kind, s.tok, s.tok+len(number), flagRepaired|flagOpen)
				return
			}
			if number == "" {
				if s.soft {
					s.dismiss()
					return
				}
				s.toValue()
				s.endRegion(s.pos)
				return
			}
		}
	}
	last := len(s.tape)
	if s.endWord(); len(s.tape) > last {
		s.tape[last].flags |= flagOpen
	}
}

// cutLiteral completes a literal of which only the first letters are there.
func cutLiteral(w string) nodeKind {
	switch {
	case strings.HasPrefix("true", w), strings.HasPrefix("True", w):
		return nodeTrue
	case strings.HasPrefix("false", w), strings.HasPrefix("False", w):
		return nodeFalse
	case strings.HasPrefix("null", w), strings.HasPrefix("None", w), len(w) > 2 && strings.HasPrefix("undefined", w):
		return nodeNull
	}
	return nodeWord
}
