// Package lex says what can be said of a piece of a text without knowing where it is: classes of bytes, blanks, names,
// brackets, numbers and literals.
package lex

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentscript/agentscript/generable/internal/message"
)

// Classes of bytes.
const (
	IsBlank     uint8 = 1 << iota // blank, tab, line ends
	IsPlain                       // may be in a string as it is
	IsProseStop                   // may begin something of interest in prose
	IsWordStop                    // may end an unquoted text
	IsNumEnd                      // may follow a number in JSON
	IsIdent                       // may be in an unquoted key
	IsDigit
	IsUnquoted // may be in any string as it is: plain, and no quote
)

var Class = makeClasses()

func makeClasses() (t [256]uint8) {
	set := func(s string, flag uint8) {
		for i := 0; i < len(s); i++ {
			t[s[i]] |= flag
		}
	}
	set(" \t\n\r", IsBlank|IsNumEnd)
	for c := 0x20; c < 0x80; c++ {
		if c != '"' && c != '\\' {
			t[c] |= IsPlain
			if c != '\'' && c != '`' {
				t[c] |= IsUnquoted
			}
		}
	}
	set("{[<`~\n\xef", IsProseStop)
	set(" \t\n\r,;[]{}\":=/#()\xc2\xe1\xe2\xe3\xef", IsWordStop)
	set(",]}", IsNumEnd)
	set("0123456789", IsDigit|IsIdent)
	set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$-.+", IsIdent)
	for c := 0x80; c < 0x100; c++ {
		t[c] |= IsIdent
	}
	return t
}

// SkipBlanks returns the offset of the first byte from p on that is not a blank.
func SkipBlanks(src string, p int) int {
	for p < len(src) && Class[src[p]]&IsBlank != 0 {
		p++
	}
	return p
}

// PastGap returns the offset of the first byte from p on that belongs to no blank of any kind and to no comment.
func PastGap(src string, p int) int {
	for p < len(src) {
		c, n := src[p], 1
		switch {
		case Class[c]&IsBlank != 0:
		case c >= 0x80:
			if n = OddBlankAt(src, p); n == 0 {
				return p
			}
		case c == '/' || c == '#':
			end := "\n"
			switch open := src[p:min(p+2, len(src))]; open {
			case "/*":
				end = "*/"
			case "//", "# ":
			default:
				return p
			}
			if n = strings.Index(src[p:], end); n < 0 {
				return p
			}
			n += len(end)
		default:
			return p
		}
		p += n
	}
	return p
}

// TrimGap cuts blanks of any kind, comments and commas off the end of a text, and reports whether commas were among them,
// and line ends or comments.
func TrimGap(text string) (rest string, comma, line bool) {
	for text != "" {
		r, n := utf8.DecodeLastRuneInString(text)
		switch {
		case r == ',' || r == ';' || r == '，':
			comma = true
		case r == '/' && strings.HasSuffix(text, "*/") && strings.LastIndex(text, "/*") > 0:
			n = len(text) - strings.LastIndex(text, "/*")
			line = true
		case r == '\n':
			line = true
			last := text[strings.LastIndexByte(text[:len(text)-1], '\n')+1:]
			for _, sign := range [...]string{"//", "# "} {
				if i := strings.Index(last, sign); i > 0 && (last[i-1] == ' ' || last[i-1] == ',') {
					n = max(n, len(last)-i)
				}
			}
		case r > ' ' && OddBlankAt(text, len(text)-n) == 0:
			return text, comma, line
		}
		text = text[:len(text)-n]
	}
	return text, comma, line
}

// OddBlankAt returns the length of the blank at p that JSON does not allow, 0 when there is none.
func OddBlankAt(src string, p int) int {
	r, n := utf8.DecodeRuneInString(src[p:])
	switch {
	case r < 0x80, !unicode.IsSpace(r) && (r < '\u200b' || r > '\u200d') && r != '\u2060' && r != '\u180e' && r != '\ufeff':
		return 0
	}
	return n
}

// wideSigns are the wide forms of narrowSigns, of three bytes each.
const (
	wideSigns   = "｛｝［］（），、：；＝"
	narrowSigns = "{}[](),,:;="
)

// Fold returns the ASCII sign that a wide one at offset p stands for, 0 when there is none.
func Fold(src string, p int) byte {
	if len(src)-p < 3 {
		return 0
	}
	i := strings.Index(wideSigns, src[p:p+3])
	if i < 0 || i%3 != 0 {
		return 0
	}
	return narrowSigns[i/3]
}

// SkipName passes over the name of a key and the quote behind it.
func SkipName(src string, p int, quoted bool) int {
	for p < len(src) && (Class[src[p]]&IsIdent != 0 || quoted && src[p] == ' ') {
		p++
	}
	if quoted && p < len(src) && src[p] == '"' {
		p++
	}
	return p
}

// BeginsValue reports whether c begins a value of JSON.
func BeginsValue(c byte) bool { return strings.IndexByte("\"{[-tfn0123456789", c) >= 0 }

// CutItem cuts a text behind its first word and the blanks behind that, and reports whether
// there are any.
func CutItem(text string) (word, rest string, blank bool) {
	p := 0
	for p < len(text) && Class[text[p]]&(IsBlank|IsNumEnd) == 0 && text[p] != '"' && text[p] != '{' && text[p] != '[' {
		p++
	}
	rest = strings.TrimLeft(text[p:], " \t\r\n")
	return text[:p], rest, len(rest) < len(text)-p || rest == "" || Class[rest[0]]&IsNumEnd != 0
}

// CutEllipsis cuts the dots off the end of a word.
func CutEllipsis(text string) (string, bool) {
	short, ok := strings.CutSuffix(text, "...")
	if !ok {
		short, ok = strings.CutSuffix(text, "…")
	}
	return strings.TrimRight(short, " \t"), ok
}

// IsCallee reports whether a word may name what is called: ObjectId, datetime.date, new Date.
func IsCallee(w string) bool {
	for name := range strings.SplitSeq(strings.TrimPrefix(w, "new "), ".") {
		if !message.IsWord(name) {
			return false
		}
	}
	return true
}

// CloserOf returns the closer of an opening bracket.
func CloserOf(c byte) byte { return ")]}"[strings.IndexByte("([{", c)] }

// Brackets are those that are open in a text.
type Brackets struct {
	Depth   int
	closers [16]byte
}

// Step takes the next byte. It reports false, and takes nothing, for a closer that does not fit the innermost bracket,
// and where too many are open.
func (b *Brackets) Step(c byte) bool {
	switch c {
	case '{', '[', '(':
		if b.Depth == len(b.closers) {
			return false
		}
		b.closers[b.Depth] = CloserOf(c)
		b.Depth++
	case '}', ']', ')':
		if b.Due() != c {
			return false
		}
		b.Depth--
	}
	return true
}

// Due is the closer that the innermost bracket waits for, 0 when none is open.
func (b *Brackets) Due() byte {
	if b.Depth == 0 {
		return 0
	}
	return b.closers[b.Depth-1]
}

// Unopened returns where the first closer of a list or an object is in a text that no bracket opens for, -1 when there
// is none.
func Unopened(text string) int {
	open := 0
	for p := 0; p < len(text); p++ {
		switch text[p] {
		case '{', '[':
			open++
		case '}', ']':
			if open--; open < 0 {
				return p
			}
		}
	}
	return -1
}

// CloserAt returns where closer c is in a text from offset p on that no bracket opens for, -1 when another
// one is before it.
func CloserAt(src string, p int, c byte) int {
	for open := (Brackets{}); p < len(src); p++ {
		if open.Step(src[p]) {
			continue
		}
		if open.Depth == 0 && src[p] == c {
			return p
		}
		break
	}
	return -1
}

// PrefixAt returns the length of the letters at offset p that Python writes before the quote of a
// string, r"…", u'…', 0 when there are none.
func PrefixAt(src string, p int) int {
	text := src[p:min(p+3, len(src))]
	n := len(text) - len(strings.TrimLeft(text, "rRbBfFuU"))
	if n == len(text) || text[n] != '"' && text[n] != '\'' {
		return 0
	}
	return n
}

// IsJSONTag reports whether a fence's language says that its content is a value.
func IsJSONTag(tag string) bool {
	switch strings.ToLower(tag) {
	case "", "json", "json5", "jsonc", "javascript", "js":
		return true
	}
	return false
}

// CloserIndex is the place of a closer among the three: they differ in their upper bits.
func CloserIndex(c byte) int { return int(c>>5) - 1 }
