package tape

import (
	"strings"

	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/generable/lenient/internal/lex"
)

// This file examines the words after a value, and what follows them.

// maxWords bounds the words after a value that are examined.
const maxWords = 256

// wordGoesOn continues a number or a literal as an unquoted text if words follow it on its line: 5 to 6, true or
// false. After a container they are junk. A name and its colon do not belong to these words.
func (s *Scanner) wordGoesOn() bool {
	top, last := s.top(), len(s.Tape)-1
	v := s.Tape[last]
	closed := s.lastClosed > int(top.node) && s.lastClosed+int(s.Tape[s.lastClosed].Span) == last+1
	if closed {
		v = s.Tape[s.lastClosed]
	} else if v.Kind >= NodeStr || v.Flags&FlagKey != 0 || s.furtherIn(last) {
		return false
	}
	if s.LastStr.Node >= 0 || s.Soft || !top.obj && len(s.Stack) == 1 && s.Cand.Bare || // [5 and 6] in a sentence
		strings.Trim(s.Src[v.End:s.Pos], " \t") != "" || !s.beginsWords(s.Pos) || s.isMember(s.Pos) {
		return false
	}
	words := s.upTo(s.Pos + maxWords)[s.Pos:]
	first, _, _ := lex.CutItem(words)
	n := strings.IndexAny(words, ",}]")
	if lex.IsLiteral(first) || n < 0 {
		return false
	}
	if closed {
		return !strings.ContainsAny(words[:n], "\":{[") && s.skip(s.trimBefore(s.Pos, s.Pos+n)-s.Pos)
	}
	s.takeBack()
	s.Tape = s.Tape[:last]
	s.openWord(0)
	s.tok, s.wordEnd, s.blank = int(v.Start), int(v.End), true
	return true
}

// strayWords reads words between a string and the closer of its container. They do not belong to the string as long
// as no quote is open: in a list they are an item that lacks its comma, otherwise junk.
func (s *Scanner) strayWords() bool {
	if int(s.LastStr.next) == s.Pos || s.Soft || s.quotesOpen() || !s.beginsWords(s.Pos) {
		return false
	}
	if strings.Trim(s.Src[s.LastStr.next:s.Pos], " \t") != "" {
		return false
	}
	src := s.upTo(s.Pos + maxWords)
	n := strings.IndexAny(src[s.Pos:], "\"`\\={}[]():,\n")
	if n < 0 || src[s.Pos+n] != '}' && src[s.Pos+n] != ']' {
		return false
	}
	if s.top().obj {
		s.skip(s.trimBefore(s.Pos, s.Pos+n) - s.Pos)
	} else {
		s.separator(0)
	}
	return true
}

// beginsWords reports whether a word that is not a number, or a single dash, begins at offset p.
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

// goesOn reports whether the innermost container continues or is closed at offset p, after blanks and comments: with
// a key and its colon, with an item that is not a word, or with a closer.
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

// maxMember bounds the bytes of a key, and of the text before it, that are examined.
const maxMember = 64

// keyAt returns the offset after the colon, or its substitute, of the key at offset p, and whether the key is quoted.
// The offset is -1 without a key. The name of a key may lack its closing quote if a value follows the colon.
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
					continue // a quote inside the name
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
	return lex.IsLiteral(word)
}

// isKeyAt reports whether a key in quotes and its colon are at offset p.
func (s *Scanner) isKeyAt(p int) bool {
	behind, quoted := s.keyAt(p)
	return quoted && behind >= 0
}

// isMember reports whether an unquoted name and a colon are at offset p.
func (s *Scanner) isMember(p int) bool {
	behind, quoted := s.keyAt(p)
	return !quoted && behind >= 0
}

// memberAt reports whether an unquoted name, or one with only a closing quote, a colon and the beginning of a value
// are at offset p.
func (s *Scanner) memberAt(p int) bool {
	behind, quoted := s.keyAt(p)
	if quoted || behind < 0 {
		return false
	}
	value := lex.SkipBlanks(s.upTo(behind+MaxGap), behind)
	return value < len(s.Src) && lex.BeginsValue(s.Src[value])
}
