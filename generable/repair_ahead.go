package generable

import "strings"

// This file looks at what stands before and behind a place where a value ended. Each looks at a
// bounded number of bytes.

// quotesOpen reports whether one of the quotes inside of the last string has no partner, so that
// the one that closed it may rather be that.
func (s *scanner) quotesOpen() bool {
	n := s.tape[s.lastStr.node]
	if n.flags&flagRepaired == 0 {
		return false
	}
	open := false
	for i := len(s.repairs) - 1; i >= 0 && i >= len(s.repairs)-maxPops; i-- {
		r := s.repairs[i]
		if r.off < n.start || r.kind != repInnerQuote && r.kind != repControl {
			break
		}
		open = open != (r.kind == repInnerQuote)
	}
	return open
}

// endsToken reports whether a comma, a closer or the end of the text follows offset p.
func (s *scanner) endsToken(p int) bool {
	for end := p + maxGap - 1; p < len(s.src) && p < end && class[s.src[p]]&isBlank != 0; {
		p++
	}
	return p == len(s.src) || s.src[p] == ',' || s.src[p] == '}' || s.src[p] == ']'
}

// isItem reports whether a number or a literal stands at offset p, and what may follow an item
// stands behind it. It looks at a bounded number of bytes.
func (s *scanner) isItem(p int) bool {
	src := s.src[:min(len(s.src), p+maxLiteral+maxGap)]
	first, next, _ := cutItem(src[p:])
	if kind, _ := classifyWord(first); kind == nodeWord {
		return false
	}
	if next == "" {
		return true
	}
	switch next[0] {
	case ',', ']', '"', '{', '[':
		return true
	}
	second, _, blank := cutItem(next)
	kind, _ := classifyWord(second)
	return blank && kind != nodeWord
}

// cutItem cuts a text behind its first word and the blanks behind that, and tells whether there
// are such.
func cutItem(text string) (word, rest string, blank bool) {
	p := 0
	for p < len(text) && class[text[p]]&(isBlank|isNumEnd) == 0 && text[p] != '"' && text[p] != '{' && text[p] != '[' {
		p++
	}
	rest = strings.TrimLeft(text[p:], " \t\r\n")
	return text[:p], rest, len(rest) < len(text)-p || rest == "" || class[rest[0]]&isNumEnd != 0
}

// paragraph returns where the text before the current position ends, if a blank line separates
// the two, else -1. It looks at a bounded number of blanks.
func (s *scanner) paragraph() int {
	p, lines := s.pos, 0
	for ; p > 0 && s.pos-p < 64 && class[s.src[p-1]]&isBlank != 0; p-- {
		if s.src[p-1] == '\n' {
			lines++
		}
	}
	if lines < 2 {
		return -1
	}
	return p
}

// isMember reports whether a name without quotes and a colon stand at offset p.
func (s *scanner) isMember(p int) bool {
	src := s.src[:min(len(s.src), p+maxLiteral+maxGap)]
	q := skipName(src, p, false)
	end := q
	for q < len(src) && class[src[q]]&isBlank != 0 {
		q++
	}
	return q < len(src) && src[q] == ':' && isWord(src[p:end])
}

// memberAt reports whether a name, with a quote behind it or without, a colon and what begins a
// value stand at offset p.
func (s *scanner) memberAt(p int) bool {
	src := s.src[:min(len(s.src), p+maxLiteral+2*maxGap)]
	q := skipName(src, p, false)
	if !isWord(src[p:q]) {
		return false
	}
	if q < len(src) && src[q] == '"' {
		q++
	}
	for q < len(src) && class[src[q]]&isBlank != 0 {
		q++
	}
	if q == len(src) || src[q] != ':' {
		return false
	}
	for q++; q < len(src) && class[src[q]]&isBlank != 0; {
		q++
	}
	return q < len(src) && beginsValue(src[q])
}

// endsBefore finds where a string ends whose closing quote is missing: before the comma, or
// the line end, that stands directly before the quote at q. It looks at a bounded number of
// blanks.
func (s *scanner) endsBefore(start, q int) (int, bool) {
	p, line := q, false
	for p > start && q-p < 64 && class[s.src[p-1]]&isBlank != 0 {
		p--
		line = line || s.src[p] == '\n'
	}
	switch {
	case p > start && (s.src[p-1] == ',' || s.src[p-1] == ';'):
		for p > start+1 && q-p < 64 && s.src[p-2] == ',' {
			p--
		}
		return p - 1, true
	case line && p > start:
		return p, true
	}
	return 0, false
}

// endsInside finds where a string ends that ran over brackets, because its closing quote is
// missing: before the run of blanks and punctuation, closers among it, that stands directly
// before the quote at q. It looks at a bounded number of bytes.
func (s *scanner) endsInside(start, q int) (int, bool) {
	p, closers := q, 0
	for p > start && q-p < 2*maxAhead {
		switch c := s.src[p-1]; {
		case c == '}' || c == ']':
			if !s.due(c) {
				return 0, false
			}
			closers++
		case class[c]&isBlank == 0 && c != ',' && c != '{' && c != '[':
			return p, closers > 0 && p > start
		}
		p--
	}
	return 0, false
}
