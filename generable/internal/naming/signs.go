package naming

import (
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/generable/internal/message"
	"github.com/agentscript/agentscript/internal/lazy"
)

// sameSigns maps signs of other alphabets to ASCII.
var sameSigns = strings.NewReplacer(
	"−", "-", "–", "-", "—", "-", "‐", "-", "‑", "-", "‒", "-", "﹣", "-", "－", "-",
	"＋", "+", "＃", "#", "＜", "<", "＞", ">", "！", "!", "～", "~", "？", "?",
	"≤", "<=", "≥", ">=", "≈", "~", "≠", "!=", "¬", "!",
)

// signBytes are the signs that change a value, or negate it.
const signBytes = "+-#!~<>?"

var blanksAtSigns = lazy.Regexp(` *([-+#!~<>?]) *`)

// plainSigns replaces the signs of a text by ASCII signs and, with tight, removes the blanks around them: - 1 is -1,
// C # is C#.
func plainSigns(s string, tight bool) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		negation := strings.Contains(s, "¬")
		s = sameSigns.Replace(s)
		if negation {
			s = strings.ReplaceAll(s, "! ", "!")
		}
	}
	s = strings.Trim(s, " \t\r\n\"'`*")
	if !tight || !strings.ContainsAny(s, signBytes) {
		return s
	}
	return blanksAtSigns().ReplaceAllString(s, "$1")
}

// appendSigns appends the significant signs of a text, as [plainSigns] writes it: not the dash between two words, and
// not the mark at the end of a sentence.
func appendSigns(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		before := i > 0 && message.IsAlnum(s[i-1])
		after := i+1 < len(s) && message.IsAlnum(s[i+1])
		switch c := s[i]; c {
		case '+', '#', '~', '<', '>':
			b = append(b, c)
		case '-':
			if !before && after && digit(s[i+1]) || before && i+1 == len(s) {
				b = append(b, c)
			}
		case '!':
			if denies(s, i) {
				b = append(b, c)
			}
		}
	}
	return b
}

// denies reports whether the exclamation mark at s[i] negates the text after it: !high, != high.
func denies(s string, i int) bool {
	return i+1 < len(s) && (s[i+1] == '=' || message.IsAlnum(s[i+1]) && (i == 0 || !message.IsAlnum(s[i-1])))
}

// doubted reports whether a text negates a value, or is a question about it.
func doubted(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] == '!' && denies(s, i) {
			return true
		}
	}
	return strings.HasSuffix(s, "?")
}
