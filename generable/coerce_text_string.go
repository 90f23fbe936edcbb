package generable

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// raw is the text of a node as it stands.
func (c *coercer) raw(n *node) string { return c.docs[n.doc][n.start:n.end] }

// str is the string that a node holds.
func (c *coercer) str(at int) string {
	n := &c.tape[at]
	s := c.raw(n)
	if n.flags&(flagEscape|flagHigh|flagFenced|flagDouble) == 0 && n.kind != nodeConcat {
		return s
	}
	c.visits += len(s)
	switch n.kind {
	case nodeConcat:
		var b strings.Builder
		for i := range int(n.count) {
			b.WriteString(c.str(at + 1 + i))
		}
		return b.String()
	case nodeWord:
		return c.valid(at, s)
	}
	if n.flags&flagFenced != 0 {
		return c.valid(at, fenceText(s))
	}
	bad := 0
	if n.flags&flagEscape != 0 {
		end := endWhole
		if n.flags&flagOpen != 0 {
			end = endCut
			if c.partial {
				end = endGrows
			}
		}
		s, bad = c.unescape(s, end)
		if n.flags&flagDouble != 0 {
			s, bad = c.unescape(s, end)
		}
	}
	if bad > 0 {
		c.repair(repEscape, at, c.raw(n), s)
	}
	return c.valid(at, s)
}

// valid makes s valid UTF-8.
func (c *coercer) valid(at int, s string) string {
	n := &c.tape[at]
	if n.flags&flagHigh == 0 || utf8.ValidString(s) {
		return s
	}
	if n.flags&flagOpen != 0 { // perhaps only the last rune is cut off
		for i := 1; i < utf8.UTFMax && i <= len(s); i++ {
			if utf8.RuneStart(s[len(s)-i]) {
				if !utf8.FullRuneInString(s[len(s)-i:]) {
					s = s[:len(s)-i]
				}
				break
			}
		}
		if utf8.ValidString(s) {
			return s
		}
	}
	c.repair(repUTF8, at, "", "")
	b := make([]byte, 0, len(s)+2*utf8.UTFMax)
	for _, r := range s { // each bad byte counts as one
		b = utf8.AppendRune(b, r)
	}
	return string(b)
}

// fenceText is the content of a block between ticks: without the language name on the first
// line and the line end before the closing ticks.
func fenceText(s string) string {
	if i := strings.IndexByte(s, '\n'); i >= 0 && i < maxLiteral && strings.Trim(s[:i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+#-_. \r") == "" {
		s = s[i+1:]
	}
	return strings.TrimRight(s, " \t\r\n")
}

// textEnd tells how the text of a string ends, and so what to do with an escape that is cut.
type textEnd uint8

const (
	endWhole textEnd = iota // by its quote
	endCut                  // for good: what is left of an escape is dropped
	endGrows                // for now: what may become an escape is not shown yet
)

// unescape resolves the escapes in the content of a string, and counts those that JSON does
// not have.
func unescape(s string, end textEnd) (string, int) {
	i := strings.IndexByte(s, '\\')
	if i < 0 {
		return s, 0
	}
	b, bad := appendUnescaped(make([]byte, 0, len(s)), s, i, end)
	return string(b), bad
}

// unescape does the same with a string from the room.
func (r *room) unescape(s string, end textEnd) (string, int) {
	i := strings.IndexByte(s, '\\')
	if i < 0 {
		return s, 0
	}
	b, bad := appendUnescaped(r.text(len(s)), s, i, end)
	return r.keep(b), bad
}

// appendUnescaped appends the content of a string, of which the first escape is at i. It is
// never longer than s.
func appendUnescaped(b []byte, s string, i int, end textEnd) ([]byte, int) {
	bad := 0
	for {
		b = append(b, s[:i]...)
		s = s[i+1:]
		if s == "" { // the text ends in the backslash
			if end == endWhole || end == endCut && len(b) == 0 { // one that is all there is stays
				b = append(b, '\\')
			}
			return b, bad
		}
		c := s[0]
		s = s[1:]
		switch c {
		case '"', '\\', '/':
			b = append(b, c)
		case 'n':
			b = append(b, '\n')
		case 't':
			b = append(b, '\t')
		case 'r':
			b = append(b, '\r')
		case 'b':
			b = append(b, '\b')
		case 'f':
			b = append(b, '\f')
		case 'u', 'U':
			r, n := hexRune(s)
			if long, k := longRune(c, s); k > 0 {
				bad++
				b = utf8.AppendRune(b, long)
				s = s[k:]
				break
			}
			switch {
			case c == 'U':
				bad++
				b = append(b, '\\', c)
			case n == 0 && len(s) < 4 && end != endWhole && isHex(s):
				s = ""
			case n == 4 && end != endWhole && r == utf8.RuneError && mayPair(s[4:]):
				s = ""
			case n == 0:
				bad++
				if len(b) > 0 { // C:\users
					b = append(b, '\\')
				}
				b = append(b, 'u')
			default:
				b = utf8.AppendRune(b, r)
				s = s[n:]
			}
		case '\n': // a line that goes on
			bad++
		case '\'', '_', '*', '`', '#', '$', '&', '~', '!', '<', '>', '@', '%', '-', ' ', ':', ';', ',', '=':
			// Other languages and Markdown escape these: the backslash is none.
			bad++
			b = append(b, c)
		default: // \d, \w, \.: a regular expression or a path whose backslash was not doubled
			bad++
			b = append(b, '\\', c)
		}
		if i = strings.IndexByte(s, '\\'); i < 0 {
			return append(b, s...), bad
		}
	}
}

// longRune reads the digits of \u{1F600}, as JavaScript has it, and of \U0001F600, as Python does.
func longRune(c byte, s string) (r rune, n int) {
	digits := ""
	if c == 'u' && s != "" && s[0] == '{' {
		end := strings.IndexByte(s[:min(len(s), 8)], '}')
		if end < 2 {
			return 0, 0
		}
		digits, n = s[1:end], end+1
	} else if c == 'U' && len(s) >= 8 {
		digits, n = s[:8], 8
	}
	if digits == "" || !isHex(digits) {
		return 0, 0
	}
	for i := range len(digits) {
		r = r<<4 | rune(hexDigit(digits[i]))
	}
	if !utf8.ValidRune(r) {
		return 0, 0
	}
	return r, n
}

// hexRune reads the digits of \uXXXX, and a second \uXXXX where the first is half of a pair.
// A half without its other becomes the replacement character.
func hexRune(s string) (r rune, n int) {
	r, ok := hex4(s)
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 4
	}
	if len(s) >= 10 && s[4] == '\\' && s[5] == 'u' {
		if low, ok := hex4(s[6:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 10
			}
		}
	}
	return utf8.RuneError, 4
}

// mayPair reports whether s may grow into the second half of a surrogate pair.
func mayPair(s string) bool {
	return len(s) < 6 && strings.HasPrefix(`\u`, s[:min(len(s), 2)]) && (len(s) < 3 || isHex(s[2:]))
}

func hex4(s string) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	var r rune
	for i := range 4 {
		d := hexDigit(s[i])
		if d < 0 {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

func isHex(s string) bool {
	for i := range len(s) {
		if hexDigit(s[i]) < 0 {
			return false
		}
	}
	return true
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
