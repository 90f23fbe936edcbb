package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"
)

// output is a stream of this process as texts are written to it: at a terminal what would steer it is
// shown instead; in a pipe or a file bytes stay what they are.
func output(f *os.File) io.Writer {
	if terminal(f) {
		return &legibleWriter{w: f}
	}
	return f
}

// legibleWriter writes what [legible] makes of a text. A character that is cut in two waits for its rest.
type legibleWriter struct {
	w    io.Writer
	rest []byte
}

func (s *legibleWriter) Write(p []byte) (int, error) {
	text := append(s.rest, p...)
	whole := len(text)
	for at := max(whole-utf8.UTFMax+1, 0); at < whole; at++ {
		if utf8.RuneStart(text[at]) && !utf8.FullRune(text[at:]) || at == whole-1 && text[at] == '\r' {
			whole = at
		}
	}
	if _, err := io.WriteString(s.w, legible(string(text[:whole]))); err != nil {
		return 0, err
	}
	s.rest = append(s.rest[:0], text[whole:]...)
	return len(p), nil
}

// legible keeps a text from steering a terminal: line ends and tabs stay, and so does all that letters of
// any language need; what moves the cursor, sets titles or the clipboard, turns the direction of
// letters round or is not seen at all is written out.
func legible(s string) string { return escaped(strings.ReplaceAll(s, "\r\n", "\n"), steersNot) }

func steersNot(r rune) bool {
	switch {
	case r == '\n', r == '\t', r == '\u200c', r == '\u200d', r == '\u00ad': // joiners, and the hyphen of a word that is broken
		return true
	case r == '\u2028', r == '\u2029', unicode.Is(unicode.Cc, r):
		return false
	}
	return !unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// visible writes a text so that what is read is what is there, in one line: as [legible], but without
// exceptions. What is decided on is written so.
func visible(s string) string {
	return escaped(s, func(r rune) bool { return r == ' ' || unicode.IsPrint(r) })
}

// escaped writes out what is not to be kept, and what is no text.
func escaped(s string, keeps func(rune) bool) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case keeps(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// lineWidth is how many cells a line of what is decided on has at most.
const lineWidth = 76

// folded breaks a text into lines that no terminal of 80 cells breaks itself: what is behind a break is
// indented, so that nothing in the text looks like a line of the question. Characters that may be two
// cells wide count as two.
func folded(s string) string {
	var b strings.Builder
	cells := 0
	for _, r := range s {
		wide := 1
		if r > 0x7e {
			wide = 2
		}
		if cells+wide > lineWidth {
			b.WriteString("\n    | ")
			cells = len("    | ")
		}
		b.WriteRune(r)
		cells += wide
	}
	return b.String()
}
