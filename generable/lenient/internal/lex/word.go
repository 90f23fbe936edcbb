package lex

import (
	"strings"

	"github.com/agentscript/agentscript/generable/internal/jsonstr"
)

// Kind says what an unquoted word stands for.
type Kind uint8

const (
	Null Kind = iota
	True
	False
	Int    // as JSON writes it, without fraction and exponent
	Float  // as JSON writes it, with fraction or exponent
	Number // a number that JSON writes differently: +1, .5, 0x1F, 1_000
	NaN    // NaN and the infinities
	Quoted // a text in quotes
	Word   // a text without quotes
)

// Oddity says how a word differs from JSON.
type Oddity uint8

const (
	Plain     Oddity = iota
	Foreign          // a literal of another language
	OddNumber        // a number of another language
	Cut              // a literal without its end
)

// MaxLiteral is the length beyond which a word is text rather than a literal. Longer numbers are read only if they
// are JSON numbers.
const MaxLiteral = 48

// Classify reports what an unquoted word stands for, and how it differs from JSON.
func Classify(w string) (Kind, Oddity) {
	if w == "" {
		return Word, Plain
	}
	if c := w[0]; c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' {
		return ClassifyNumber(w)
	}
	if len(w) > maxLiteralName {
		return Word, Plain
	}
	if l, ok := literals[w]; ok {
		return l.kind, l.odd
	}
	for _, name := range [...]string{"true", "false", "null"} {
		if strings.EqualFold(w, name) {
			return literals[name].kind, Foreign
		}
	}
	return Word, Plain
}

// literals are the words that are not text, in JSON and in other languages.
var literals = map[string]struct {
	kind Kind
	odd  Oddity
}{
	"true": {True, Plain}, "tru": {True, Cut},
	"false": {False, Plain}, "fals": {False, Cut},
	"null": {Null, Plain}, "None": {Null, Foreign}, "nul": {Null, Cut},
	"nil": {Null, Foreign}, "undefined": {Null, Foreign},
	"NaN": {NaN, Foreign}, "nan": {NaN, Foreign}, "Infinity": {NaN, Foreign}, "inf": {NaN, Foreign},
}

// maxLiteralName is the length of the longest literal.
const maxLiteralName = len("undefined")

// ClassifyNumber reports whether a word is a number as JSON or another language writes it, or no number.
func ClassifyNumber(w string) (Kind, Oddity) {
	if kind := StrictNumber(w); kind != Word {
		return kind, Plain
	}
	body := w
	if body[0] == '+' || body[0] == '-' {
		body = body[1:]
	}
	switch body {
	case "Infinity", "inf", "NaN":
		return NaN, Foreign
	}
	if len(w) > MaxLiteral || !LooseNumber(body) {
		return Word, Plain
	}
	return Number, OddNumber
}

// StrictNumber returns Int or Float for a JSON number, else Word.
func StrictNumber(w string) Kind {
	if end, kind := NumberEnd(w, 0); end == len(w) {
		return kind
	}
	return Word
}

// NumberEnd returns the end of the JSON number at offset p of a text, and its kind, or Word without a number.
func NumberEnd(text string, p int) (int, Kind) {
	if p < len(text) && text[p] == '-' {
		p++
	}
	end, kind := skipDigits(text, p), Int
	if end == p || text[p] == '0' && end > p+1 {
		return end, Word
	}
	if end < len(text) && text[end] == '.' {
		kind = Float
		p = end + 1
		if end = skipDigits(text, p); end == p {
			return end, Word
		}
	}
	if end < len(text) && text[end]|0x20 == 'e' {
		kind = Float
		p = end + 1
		if p < len(text) && (text[p] == '+' || text[p] == '-') {
			p++
		}
		if end = skipDigits(text, p); end == p {
			return end, Word
		}
	}
	return end, kind
}

func skipDigits(text string, p int) int {
	for p < len(text) && Class[text[p]]&IsDigit != 0 {
		p++
	}
	return p
}

// LooseNumber recognises an unsigned number as other languages write it: .5 and 2., 0x1F, 0b1, 0o7, 1_000, 5n.
// Leading zeros alone do not make one: 007 is more likely a code.
func LooseNumber(w string) bool {
	if w == "" || w[0] != '.' && Class[w[0]]&IsDigit == 0 {
		return false // nothing, or a second sign
	}
	w = strings.TrimSuffix(w, "n")
	if base := bases[w[:min(2, len(w))]]; base != "" {
		return len(w) > 2 && strings.Trim(w[2:], base+"_") == "" && w[2] != '_'
	}
	plain := strings.ReplaceAll(w, "_", "")
	if plain == "" || w[0] == '_' || w[len(w)-1] == '_' || strings.Contains(w, "__") {
		return false
	}
	return StrictNumber(CompleteNumber(plain)) != Word
}

// bases maps the prefix of integers in a base other than ten to the digits of that base.
var bases = map[string]string{"0x": hexDigits, "0X": hexDigits, "0o": "01234567", "0O": "01234567", "0b": "01", "0B": "01"}

const hexDigits = "0123456789abcdefABCDEF"

// IsBased reports whether a number that [LooseNumber] recognises has a base other than ten.
func IsBased(w string) bool { return bases[w[:min(2, len(w))]] != "" }

// CompleteNumber adds the digits that .5, 2. and 2e omit.
func CompleteNumber(w string) string {
	if w[0] == '.' {
		w = "0" + w
	}
	if i := strings.IndexByte(w, '.'); i >= 0 && (i+1 == len(w) || w[i+1]|0x20 == 'e') {
		w = w[:i+1] + "0" + w[i+1:]
	}
	if e := strings.TrimRight(w, "+-"); e != "" && e[len(e)-1]|0x20 == 'e' && len(w)-len(e) < 2 {
		w += "0"
	}
	return w
}

// StrictString reports whether text is one valid JSON string.
func StrictString(text string) bool {
	if text == "" || text[0] != '"' || PastString(text, 0) != len(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' }) {
		return false
	}
	_, bad := jsonstr.Unescape(text[1:len(text)-1], jsonstr.Whole)
	return bad == 0
}

// PastString returns the offset after the string whose opening quote is at p, or -1 without a closing quote.
func PastString(text string, p int) int {
	for q := p + 1; q < len(text); q++ {
		switch text[q] {
		case '\\':
			q++
		case text[p]:
			return q + 1
		}
	}
	return -1
}

// IsLiteral reports whether a word stands for something other than text.
func IsLiteral(w string) bool {
	kind, _ := Classify(w)
	return kind != Word
}

// CutLiteral completes a literal of which only the first letters are present.
func CutLiteral(w string) Kind {
	switch {
	case strings.HasPrefix("true", w), strings.HasPrefix("True", w):
		return True
	case strings.HasPrefix("false", w), strings.HasPrefix("False", w):
		return False
	case strings.HasPrefix("null", w), strings.HasPrefix("None", w), len(w) > 2 && strings.HasPrefix("undefined", w):
		return Null
	}
	return Word
}
