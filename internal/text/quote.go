package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quote returns s as a JSON string; see [AppendQuoted].
func Quote(s string) string { return string(AppendQuoted(nil, s)) }

const hexDigits = "0123456789abcdef"

// AppendQuoted appends s as a JSON string. Invalid UTF-8 becomes the replacement character. The line separators U+2028
// and U+2029, which JavaScript did not always accept in strings, are escaped.
func AppendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' {
				i++
				continue
			}
			b = append(b, s[start:i]...)
			switch c {
			case '"', '\\':
				b = append(b, '\\', c)
			case '\n':
				b = append(b, '\\', 'n')
			case '\r':
				b = append(b, '\\', 'r')
			case '\t':
				b = append(b, '\\', 't')
			default:
				b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			}
			i++
			start = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if (r == utf8.RuneError && n == 1) || r == '\u2028' || r == '\u2029' {
			b = append(b, s[start:i]...)
			switch {
			case r == utf8.RuneError:
				b = append(b, "\ufffd"...)
			default:
				b = append(b, '\\', 'u', '2', '0', '2', hexDigits[r&15])
			}
			i += n
			start = i
			continue
		}
		i += n
	}
	return append(append(b, s[start:]...), '"')
}

// Terminal returns s such that it cannot control a terminal. Line ends, tabs and all characters that a written language
// needs stay. It escapes everything that moves the cursor, sets titles or the clipboard, reverses the direction of
// letters or is invisible.
func Terminal(s string) string { return TerminalBehind(0, s) }

// TerminalBehind is like [Terminal] for a text that continues another one. before is the last character of that one.
func TerminalBehind(before rune, s string) string {
	return escape(before, strings.ReplaceAll(s, "\r\n", "\n"), func(before, r rune) bool {
		return r == '\n' || r == '\t' || !unicode.Is(unicode.Cc, r) && !Unseen(before, r)
	})
}

// Visible returns s as one line that shows every character that s has. It is like [Terminal], but without exceptions.
// Texts that a person decides on must be shown with it.
func Visible(s string) string {
	return escape(0, s, func(_, r rune) bool { return r == ' ' || unicode.IsPrint(r) && !ignored(r) })
}

// escape escapes the characters that keep rejects, and bytes that are not valid UTF-8.
func escape(before rune, s string, keep func(before, r rune) bool) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case keep(before, r):
			b.WriteRune(r)
		default:
			b.WriteString(Escaped(r))
		}
		before = r
	}
	return b.String()
}

// Escaped returns the escape sequence of a character, such as \u200b or \U000e0041.
func Escaped(r rune) string {
	if r > 0xffff {
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}
