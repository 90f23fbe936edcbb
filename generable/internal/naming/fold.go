package naming

import (
	"unicode"
	"unicode/utf8"

	"github.com/agentscript/agentscript/generable/internal/message"
)

// Folding says what a name is reduced to for comparison.
type Folding uint8

const (
	// Keys keeps only letters and digits, in lower case, without accents.
	Keys Folding = iota
	// Values also keeps the signs that change a value: C++ is not C, 1.5 not 15, <5 not >5, A- not A.
	Values
)

// appendFold appends a text reduced to its essential characters.
func appendFold(b []byte, s string, how Folding) []byte {
	from := len(b)
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			switch {
			case c >= 'A' && c <= 'Z':
				b = append(b, c+'a'-'A')
			case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
				b = append(b, c)
			case how == Values && keepsSign(s, i, b[from:]):
				b = append(b, c)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		b = appendBase(b, unicode.ToLower(r))
	}
	return b
}

// keepsSign reports whether the sign at s[i] is part of the value whose beginning is in b.
func keepsSign(s string, i int, b []byte) bool {
	digitNext := i+1 < len(s) && digit(s[i+1])
	switch c := s[i]; c {
	case '+', '#': // C++, C#, A+
		return i > 0 && (message.IsAlnum(s[i-1]) || s[i-1] == c) && (i+1 == len(s) || !message.IsAlnum(s[i+1])) && len(b) < 4
	case '.', ',':
		return digitNext && i > 0 && digit(s[i-1])
	case '-':
		return digitNext && len(b) == 0 || len(b) == 1 && i+1 == len(s) && !digitNext && !digit(b[0])
	case '<', '>', '=':
		return digitNext || i+2 < len(s) && (s[i+1] == ' ' || s[i+1] == '=')
	}
	return false
}

// appendBase appends a non-ASCII letter, in lower case and without its accent; other runes are dropped.
func appendBase(b []byte, r rune) []byte {
	switch {
	case r >= 'ａ' && r <= 'ｚ': // full width
		return append(b, byte(r-'ａ')+'a')
	case r >= '０' && r <= '９':
		return append(b, byte(r-'０')+'0')
	case r >= accentsFrom && int(r-accentsFrom) < len(accents):
		if base := accents[r-accentsFrom]; base != "" {
			return append(b, base...)
		}
	case unicode.Is(unicode.Mn, r): // a separate accent
		return b
	case r == 'ș' || r == 'ț': // with a comma below
		return append(b, "st"[(r-'ș')/2])
	}
	if unicode.IsLetter(r) || unicode.IsDigit(r) {
		return utf8.AppendRune(b, r)
	}
	return b
}

// accents lists the base letters of the lower case letters of European languages, starting at accentsFrom.
var accents = [...]string{
	"ss", "a", "a", "a", "a", "a", "a", "ae", "c", "e", "e", "e", "e", "i", "i", "i", "i", // ß to ï
	"d", "n", "o", "o", "o", "o", "o", "", "o", "u", "u", "u", "u", "y", "th", "y", // ð to ÿ
	"", "a", "", "a", "", "a", "", "c", "", "c", "", "c", "", "c", "", "d", "", "d", // ā to đ
	"", "e", "", "e", "", "e", "", "e", "", "e", "", "g", "", "g", "", "g", "", "g", // ē to ģ
	"", "h", "", "h", "", "i", "", "i", "", "i", "", "i", "", "i", "", "ij", // ĥ to ĳ
	"", "j", "", "k", "", "", "l", "", "l", "", "l", "", "l", "", "l", // ĵ to ł
	"", "n", "", "n", "", "n", "n", "", "n", "", "o", "", "o", "", "o", "", "oe", // ń to œ
	"", "r", "", "r", "", "r", "", "s", "", "s", "", "s", "", "s", // ŕ to š
	"", "t", "", "t", "", "t", "", "u", "", "u", "", "u", "", "u", "", "u", "", "u", // ţ to ų
	"", "w", "", "y", "", "", "z", "", "z", "", "z", // ŵ to ž
}

const accentsFrom = 'ß'

// fold reduces a text like [appendFold].
func fold(s string, how Folding) string {
	var buf [64]byte
	return string(appendFold(buf[:0], s, how))
}

// Same reports whether two names are the same after folding.
func Same(a, b string) bool {
	var x, y [64]byte
	return string(appendFold(x[:0], a, Keys)) == string(appendFold(y[:0], b, Keys))
}

func digit(c byte) bool { return '0' <= c && c <= '9' }
