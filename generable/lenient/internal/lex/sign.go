// Package lex classifies pieces of a text independently of their position: classes of bytes, blanks, names, brackets,
// numbers and literals.
package lex

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agentscript/agentscript/generable/internal/message"
)

// Classes of bytes.
const (
	IsBlank     uint8 = 1 << iota // space, tab, line ends
	IsPlain                       // may be in a string verbatim
	IsProseStop                   // may begin something of interest in prose
	IsWordStop                    // may end an unquoted text
	IsNumEnd                      // may follow a number in JSON
	IsIdent                       // may be in an unquoted key
	IsDigit
	IsUnquoted // may be in any string verbatim: plain, and not a quote
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

// SkipBlanks returns the offset of the first non-blank byte at or after p.
func SkipBlanks(src string, p int) int {
	for p < len(src) && Class[src[p]]&IsBlank != 0 {
		p++
	}
	return p
}

// PastGap returns the offset of the first byte at or after p that is neither in a blank of any kind nor in a comment.
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

// TrimGap removes blanks of any kind, comments and commas from the end of a text, and reports whether it removed
// commas, and line ends or comments.
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

// OddBlankAt returns the length of the blank at p that JSON does not allow, or 0 without one.
func OddBlankAt(src string, p int) int {
	r, n := utf8.DecodeRuneInString(src[p:])
	switch {
	case r < 0x80, !unicode.IsSpace(r) && (r < '\u200b' || r > '\u200d') && r != '\u2060' && r != '\u180e' && r != '\ufeff':
		return 0
	}
	return n
}

// wideSigns are the full-width forms of narrowSigns, three bytes each.
const (
	wideSigns   = "｛｝［］（），、：；＝"
	narrowSigns = "{}[](),,:;="
)

// Fold returns the ASCII sign for the full-width sign at offset p, or 0 without one.
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

// SkipName skips the name of a key and the quote after it.
func SkipName(src string, p int, quoted bool) int {
	for p < len(src) && (Class[src[p]]&IsIdent != 0 || quoted && src[p] == ' ') {
		p++
	}
	if quoted && p < len(src) && src[p] == '"' {
		p++
	}
	return p
}

// BeginsValue reports whether c begins a JSON value.
func BeginsValue(c byte) bool { return strings.IndexByte("\"{[-tfn0123456789", c) >= 0 }

// CutItem splits a text after its first word and the blanks that follow, and reports whether such blanks exist or the
// word is at the end of an item.
func CutItem(text string) (word, rest string, blank bool) {
	p := 0
	for p < len(text) && Class[text[p]]&(IsBlank|IsNumEnd) == 0 && text[p] != '"' && text[p] != '{' && text[p] != '[' {
		p++
	}
	rest = strings.TrimLeft(text[p:], " \t\r\n")
	return text[:p], rest, len(rest) < len(text)-p || rest == "" || Class[rest[0]]&IsNumEnd != 0
}

// CutEllipsis removes the dots from the end of a word.
func CutEllipsis(text string) (string, bool) {
	short, ok := strings.CutSuffix(text, "...")
	if !ok {
		short, ok = strings.CutSuffix(text, "…")
	}
	return strings.TrimRight(short, " \t"), ok
}

// IsCallee reports whether a word may name something that is called: ObjectId, datetime.date, new Date.
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

// Brackets tracks the open brackets of a text.
type Brackets struct {
	Depth   int
	closers [16]byte
}

// Step processes the next byte. It reports false, and changes nothing, for a closer that does not match the innermost
// bracket and when too many brackets are open.
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

// Due returns the closer of the innermost open bracket, or 0 without one.
func (b *Brackets) Due() byte {
	if b.Depth == 0 {
		return 0
	}
	return b.closers[b.Depth-1]
}

// Unopened returns the offset of the first closer of a list or object in a text that has no opener there, or -1
// without one.
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

// CloserAt returns the offset, at or after p, of the closer c without an opener there, or -1 if another one precedes
// it.
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

// PrefixAt returns the length of the letters at offset p that Python writes before the quote of a string, r"…", u'…',
// or 0 without any.
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

// CloserIndex returns the index of a closer among the three, which differ in their upper bits.
func CloserIndex(c byte) int { return int(c>>5) - 1 }
