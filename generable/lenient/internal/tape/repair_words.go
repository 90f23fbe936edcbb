package tape

import (
	"strings"

	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/lenient/internal/lex"
)

// This file repairs words behind a value that lacks quotes for them: 5 to 6, true or false.

// maxWords bounds the words behind a value that are looked at.
const maxWords = 256

// wordsAfter reads several words directly behind a number, a literal or a container, when the
// innermost container goes on or is closed behind them. A number or literal is one text with
// them; behind a container they are junk. A name and its colon do not belong to these words.
func (s *Scanner) wordsAfter() bool {
	top, last := int(s.top().node), len(s.Tape)-1
	if s.LastStr.Node >= 0 || s.Soft || last <= top || !s.beginsWords(s.Pos) {
		return false
	}
	if list := !s.top().obj; list && len(s.Stack) == 1 && s.Cand.Bare {
		return false // brackets in a sentence: [5 and 6] is not a list
	}
	v := &s.Tape[last]
	container := s.lastClosed > top && s.lastClosed+int(s.Tape[s.lastClosed].Span) == last+1
	if container {
		v = &s.Tape[s.lastClosed]
	} else if v.Kind >= NodeStr || v.Flags&FlagKey != 0 || s.furtherIn(last) {
		return false
	}
	if strings.Trim(s.Src[v.End:s.Pos], " \t") != "" { // what is on another line is not meant
		return false
	}
	end := s.wordsEnd()
	if end < 0 {
		return false
	}
	first, _, several := strings.Cut(s.Src[s.Pos:end], " ")
	if kind, _ := ClassifyWord(first); kind != NodeWord || !several && s.top().obj {
		return false
	}
	if container {
		s.skip(end - s.Pos)
		return true
	}
	v.Kind, v.End, v.Flags = NodeWord, uint32(end), FlagRepaired|FlagHigh|FlagEscape
	s.repair(RepMissingQuotes, int(v.Start), end)
	s.Pos = end
	return true
}

// strayWords reads words between a string and the closer of its container, as they are not part
// of it while no quote is open: an item that lacks its comma, and else junk.
func (s *Scanner) strayWords() bool {
	if int(s.LastStr.next) == s.Pos || s.Soft || s.quotesOpen() || !s.beginsWords(s.Pos) {
		return false
	}
	if strings.Trim(s.Src[s.LastStr.next:s.Pos], " \t") != "" {
		return false
	}
	end := s.wordsEnd()
	if end < 0 || s.isMember(s.Pos) {
		return false
	}
	if behind := strings.TrimLeft(s.upTo(end + MaxGap)[end:], " \t\r\n"); behind == "" || behind[0] != '}' && behind[0] != ']' {
		return false
	}
	if s.top().obj {
		s.skip(end - s.Pos)
	} else {
		s.separator(0)
	}
	return true
}

// beginsWords reports whether a word that is not a number, or a dash alone, begins at offset p.
func (s *Scanner) beginsWords(p int) bool {
	switch c := s.Src[p]; c {
	case '-', '+':
		return p+1 < len(s.Src) && s.Src[p+1] == ' '
	case '.':
		return false
	default:
		return lex.Class[c]&lex.IsIdent != 0 && lex.Class[c]&lex.IsDigit == 0
	}
}

// wordsEnd returns where the words at the current position end, if what follows shows that
// the innermost container goes on or is closed there, else -1.
func (s *Scanner) wordsEnd() int {
	top := s.top()
	src := s.upTo(s.Pos + maxWords)
	end := -1 // of an item, where a comma follows it
	for p := s.Pos; p < len(src); p++ {
		switch c := src[p]; c {
		case '"', '{', '[':
			if end >= 0 {
				return end
			}
			return -1
		case '`', '\\', '=':
			return -1
		case ':':
			if lex.Class[src[p-1]]&lex.IsDigit == 0 || p+1 == len(src) || lex.Class[src[p+1]]&lex.IsDigit == 0 {
				return -1
			}
		case ')', '}', ']':
			if c != top.closer && (c == ')' || !s.due(c)) {
				continue
			}
			if end >= 0 {
				return end
			}
			return s.trimBefore(s.Pos, p)
		case ',':
			switch {
			case top.obj && s.goesOn(p+1):
				return s.trimBefore(s.Pos, p)
			case !top.obj && end < 0:
				end = s.trimBefore(s.Pos, p)
			}
		case '/', '#':
			if lex.Class[src[p-1]]&lex.IsBlank == 0 {
				continue
			}
			if s.has(p, "/*") {
				n := strings.Index(src[p:], "*/")
				if n < 0 || end >= 0 {
					return -1
				}
				if n += p + 2; s.goesOnBehind(n) {
					return s.trimBefore(s.Pos, p)
				}
				continue
			}
			if c == '/' && !s.has(p, "//") {
				continue
			}
			line := strings.IndexByte(src[p:], '\n')
			if line >= 0 && end < 0 && s.goesOnBehind(p+line+1) {
				return s.trimBefore(s.Pos, p)
			}
			return -1
		case '\n':
			if end < 0 && s.goesOnBehind(p+1) {
				return s.trimBefore(s.Pos, p)
			}
			return -1
		}
	}
	return -1
}

// goesOnBehind does what goesOn does, and also where the comma is on the line at p.
func (s *Scanner) goesOnBehind(p int) bool {
	q := lex.SkipBlanks(s.upTo(p+MaxGap), p)
	if q < len(s.Src) && s.Src[q] == ',' {
		return s.goesOn(q + 1)
	}
	return s.goesOn(p)
}

// goesOn reports whether the innermost container goes on or is closed at offset p, behind
// blanks and comments: with a key and its colon, with an item that is not a word, or with a closer.
func (s *Scanner) goesOn(p int) bool {
	p = lex.PastGap(s.upTo(p+maxMember), p)
	if p >= len(s.Src) {
		return false
	}
	top := s.top()
	switch c := s.Src[p]; {
	case c == top.closer || (c == '}' || c == ']') && s.due(c):
		return true
	case !top.obj:
		_, w := s.QuoteAt(p)
		return w > 0 || c == '{' || c == '[' || lex.Class[c]&lex.IsDigit != 0
	}
	behind, quoted := s.keyAt(p)
	if key := s.pastWord(s.upTo(p+maxMember), p); key > p { // a word before the key
		behind, _ = s.keyAt(key)
		value := lex.SkipBlanks(s.upTo(behind+MaxGap), behind)
		return value < len(s.Src) && s.valueAt(value)
	}
	return behind >= 0 && (quoted || !s.inText() || s.Names.Known(s.Src[p:lex.SkipName(s.Src, p, false)]))
}

// maxMember bounds the bytes of a key, and those of what is before it, that are looked at.
const maxMember = 64

// keyAt returns the offset behind the colon, or what stands for it, of the key at offset p, and whether that has
// quotes; -1 when there is none. The name of a key may lack its last quote, where a value is behind the colon.
func (s *Scanner) keyAt(p int) (behind int, quoted bool) {
	src := s.upTo(p + maxMember)
	if p >= len(src) {
		return -1, false
	}
	kind, w := s.QuoteAt(p)
	if w == 0 || kind == QuoteFence {
		q := lex.SkipName(src, p, false)
		if !message.IsWord(src[p:min(q, len(src))]) {
			return -1, false
		}
		if q < len(src) && src[q] == '"' { // it lacks its first quote
			q++
		}
		return s.pastColon(q, false), false
	}
	name := true
	p += s.quoteRun(p, w)
	for q := p; q < len(src); q++ {
		switch c := src[q]; {
		case strings.IndexByte("\n{}[]", c) >= 0:
			return -1, true
		case c == ':' && name && q > p:
			if at := lex.SkipBlanks(src, q+1); at < len(src) && s.valueAt(at) {
				return q + 1, true
			}
		case lex.Class[c]&lex.IsIdent == 0 || c >= 0x80:
			if end, n := s.QuoteAt(q); n > 0 && (end == kind || kind != QuoteEscaped && end == quoteEnds[kind].kind) {
				end := q + s.quoteRun(q, n)
				behind := s.pastColon(end, true)
				if behind < 0 && name && end < len(src) && lex.Class[src[end]]&lex.IsIdent != 0 {
					continue // a quote inside of the name
				}
				if behind >= 0 || !message.IsWord(src[p:q]) {
					return behind, true
				}
				// It may lack its colon.
				value := end
				for value < end+MaxGap && s.has(value, " ") {
					value++
				}
				if value > end && value < len(s.Src) && s.valueAt(value) && (s.Src[value] != '"' || s.quoteEndsToken(value)) {
					return value, true
				}
				return -1, true
			}
			name = name && c >= 0x80
		}
	}
	return -1, true
}

// valueAt reports whether a string, a number, a literal or a bracket begins at offset p.
func (s *Scanner) valueAt(p int) bool {
	if strings.IndexByte("\"{[", s.Src[p]) >= 0 {
		return true
	}
	word, _, _ := lex.CutItem(s.upTo(p + MaxGap)[p:])
	kind, _ := ClassifyWord(word)
	return kind != NodeWord
}

// isKeyAt reports whether a key in quotes and its colon are at offset p.
func (s *Scanner) isKeyAt(p int) bool {
	behind, quoted := s.keyAt(p)
	return quoted && behind >= 0
}

// isMember reports whether a name without quotes and a colon are at offset p.
func (s *Scanner) isMember(p int) bool {
	behind, quoted := s.keyAt(p)
	return !quoted && behind >= 0
}

// memberAt reports whether a name without quotes, or with one behind it, a colon and what begins a value are at offset p.
func (s *Scanner) memberAt(p int) bool {
	behind, quoted := s.keyAt(p)
	if quoted || behind < 0 {
		return false
	}
	value := lex.SkipBlanks(s.upTo(behind+MaxGap), behind)
	return value < len(s.Src) && lex.BeginsValue(s.Src[value])
}
