// Package jsonstr reads the escapes in JSON strings, including escapes that JSON does not have.
package jsonstr

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// End says how the text of a string ends, and thus how to handle an escape that is cut off.
type End uint8

const (
	Whole End = iota // with its quote
	Cut              // cut off for good: the rest of an escape is dropped
	Open             // it continues: an escape that may become longer is not read yet
)

// Unescape resolves the escapes in the content of a string, and counts those that JSON does not have.
func Unescape(s string, end End) (string, int) {
	i := strings.IndexByte(s, '\\')
	if i < 0 {
		return s, 0
	}
	b, _, bad := AppendUnescaped(make([]byte, 0, len(s)), s, i, end)
	return string(b), bad
}

// AppendUnescaped appends the content of a string whose first escape is at i. It never appends more than len(s)
// bytes. It returns how many bytes at the end of s were not read, and how many escapes are bad.
func AppendUnescaped(b []byte, s string, i int, end End) (out []byte, left, bad int) {
	for {
		b = append(b, s[:i]...)
		s = s[i+1:]
		if s == "" { // the text ends in the backslash
			if end == Open {
				return b, 1, bad
			}
			if end == Whole || end == Cut && len(b) == 0 { // a final backslash stays if the string is whole or holds nothing else
				b = append(b, '\\')
			}
			return b, 0, bad
		}
		c := s[0]
		s = s[1:]
		switch c {
		case '"', '\\', '/':
			b = append(b, c)
		case 'n', 't', 'r', 'b', 'f':
			b = append(b, "\n\t\r\b\f"[strings.IndexByte("ntrbf", c)])
		case 'u', 'U':
			r, n := hexRunes(s)
			cut := n == 0 && len(s) < 4 && isHex(s) || n == 4 && r == utf8.RuneError && mayPair(s[4:])
			if end == Open && (cut && c == 'u' || mayBeLong(c, s)) {
				return b, len(s) + 2, bad
			}
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
			case cut && end == Cut:
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
		case '\n': // a continued line
			bad++
		case '\'', '_', '*', '`', '#', '$', '&', '~', '!', '<', '>', '@', '%', '-', ' ', ':', ';', ',', '=':
			// Other languages and Markdown escape these: the backslash is dropped.
			bad++
			b = append(b, c)
		default: // \d, \w, \.: a regular expression or a path whose backslash was not doubled
			bad++
			b = append(b, '\\', c)
		}
		if i = strings.IndexByte(s, '\\'); i < 0 {
			return append(b, s...), 0, bad
		}
	}
}

// longRune reads the digits of JavaScript's \u{1F600} and Python's \U0001F600.
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
	r, ok := hexRune(digits)
	if !ok || !utf8.ValidRune(r) {
		return 0, 0
	}
	return r, n
}

// mayBeLong reports whether s, which follows \ and c, may become the digits of such an escape.
func mayBeLong(c byte, s string) bool {
	if c == 'U' {
		return len(s) < 8 && (s == "" || isHex(s))
	}
	return c == 'u' && len(s) < 8 && strings.HasPrefix(s, "{") && (len(s) == 1 || isHex(s[1:]))
}

// hexRunes reads the digits of \uXXXX, and a second \uXXXX if the first is half of a surrogate pair. A half without
// its counterpart becomes the replacement character.
func hexRunes(s string) (r rune, n int) {
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

// mayPair reports whether s may become the second half of a surrogate pair.
func mayPair(s string) bool {
	return len(s) < 6 && strings.HasPrefix(`\u`, s[:min(len(s), 2)]) && (len(s) < 3 || isHex(s[2:]))
}

func hex4(s string) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	return hexRune(s[:4])
}

// isHex reports whether a text consists of hexadecimal digits.
func isHex(s string) bool { return strings.Trim(s, "0123456789abcdefABCDEF") == "" }

// hexRune returns the rune with the number that the digits represent.
func hexRune(digits string) (rune, bool) {
	n, err := strconv.ParseUint(digits, 16, 32)
	return rune(n), err == nil
}
