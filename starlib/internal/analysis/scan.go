package analysis

import "strings"

// scanner follows brackets and strings through a text, and ignores everything else. It can stop anywhere and continue.
type scanner struct {
	src   string
	pos   int
	open  []byte // unclosed brackets
	at    []int  // their offsets
	quote string // the delimiter that ends the current string; "" outside of strings
	begun int    // where the content of that string begins

	comment bool // whether the last step passed a comment
}

// to continues to an offset, or past it to the end of a token of several bytes.
func (s *scanner) to(end int) {
	for s.pos < end {
		s.step()
	}
}

func (s *scanner) step() {
	c := s.src[s.pos]
	if s.quote != "" {
		s.inString(c)
		return
	}
	s.pos++
	s.comment = c == '#'
	switch c {
	case '#':
		for s.pos < len(s.src) && s.src[s.pos] != '\n' {
			s.pos++
		}
	case '"', '\'':
		s.quote = string(c)
		if long := strings.Repeat(s.quote, 3); strings.HasPrefix(s.src[s.pos-1:], long) {
			s.quote = long
			s.pos += 2
		}
		s.begun = s.pos
	case '(', '[', '{':
		s.open, s.at = append(s.open, c), append(s.at, s.pos-1)
	case ')', ']', '}':
		if len(s.open) > 0 {
			s.open, s.at = s.open[:len(s.open)-1], s.at[:len(s.at)-1]
		}
	}
}

func (s *scanner) inString(c byte) {
	switch {
	case c == '\\':
		s.pos = min(s.pos+2, len(s.src))
	case strings.HasPrefix(s.src[s.pos:], s.quote):
		s.pos += len(s.quote)
		s.quote = ""
	case c == '\n' && len(s.quote) == 1: // it was never closed
		s.quote = ""
		s.pos++
	default:
		s.pos++
	}
}

// closed reports whether no bracket and no string is open.
func (s *scanner) closed() bool { return s.quote == "" && len(s.open) == 0 }

// opened returns the start of the outermost open bracket or string.
func (s *scanner) opened() int {
	if len(s.at) > 0 {
		return s.at[0]
	}
	return s.begun
}

// closers returns the closing brackets for the open ones, innermost first.
func (s *scanner) closers() string {
	var out []byte
	for i := len(s.open) - 1; i >= 0; i-- {
		out = append(out, closer(s.open[i]))
	}
	return string(out)
}

func closer(open byte) byte {
	switch open {
	case '(':
		return ')'
	case '[':
		return ']'
	}
	return '}'
}

// isWord reports whether a byte can be part of a name. The bytes of characters beyond ASCII can.
func isWord(c byte) bool {
	return c == '_' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// wordAround returns the bounds of the name at an offset. The offset may be at either end of the name.
func wordAround(text string, at int) (from, to int) {
	for from = at; from > 0 && isWord(text[from-1]); from-- {
	}
	for to = at; to < len(text) && isWord(text[to]); to++ {
	}
	return from, to
}
