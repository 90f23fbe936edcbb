package tape

import (
	"strings"

	"github.com/agentscript/agentscript/generable/internal/jsonstr"
)

// MaxLiteral is the length beyond which a word is not a literal but text. Longer numbers
// are read by the strict path, or as digits alone.
const MaxLiteral = 48

// ClassifyWord reports what an unquoted word stands for, and which repair that takes.
func ClassifyWord(w string) (nodeKind, RepairKind) {
	if w == "" {
		return NodeWord, RepNone
	}
	if c := w[0]; c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' {
		return ClassifyNumber(w)
	}
	if len(w) > maxLiteralName {
		return NodeWord, RepNone
	}
	if l, ok := literals[w]; ok {
		return l.kind, l.repair
	}
	for _, name := range [...]string{"true", "false", "null"} {
		if strings.EqualFold(w, name) {
			return literals[name].kind, RepLiteral
		}
	}
	return NodeWord, RepNone
}

// literals are the words that are not text, in JSON and in other languages.
var literals = map[string]struct {
	kind   nodeKind
	repair RepairKind
}{
	"true": {NodeTrue, RepNone}, "tru": {NodeTrue, RepTruncated},
	"false": {NodeFalse, RepNone}, "fals": {NodeFalse, RepTruncated},
	"null": {NodeNull, RepNone}, "None": {NodeNull, RepLiteral}, "nul": {NodeNull, RepTruncated},
	"nil": {NodeNull, RepLiteral}, "undefined": {NodeNull, RepLiteral},
	"NaN": {NodeNaN, RepLiteral}, "nan": {NodeNaN, RepLiteral}, "Infinity": {NodeNaN, RepLiteral}, "inf": {NodeNaN, RepLiteral},
}

// maxLiteralName is the length of the longest of them.
const maxLiteralName = len("undefined")

// ClassifyNumber reports whether a word is a number as JSON writes it, as another
// language does, or no number.
func ClassifyNumber(w string) (nodeKind, RepairKind) {
	if kind := StrictNumber(w); kind != NodeWord {
		return kind, RepNone
	}
	body := w
	if body[0] == '+' || body[0] == '-' {
		body = body[1:]
	}
	switch body {
	case "Infinity", "inf", "NaN":
		return NodeNaN, RepLiteral
	}
	if len(w) > MaxLiteral || !LooseNumber(body) {
		return NodeWord, RepNone
	}
	return NodeNumber, RepNumber
}

// StrictNumber returns NodeInt or NodeFloat for a number of JSON, else NodeWord.
func StrictNumber(w string) nodeKind {
	if end, kind := numberEnd(w, 0); end == len(w) {
		return kind
	}
	return NodeWord
}

// numberEnd returns where the number of JSON at offset p of a text ends, and its kind: NodeWord when
// there is none.
func numberEnd(text string, p int) (int, nodeKind) {
	if p < len(text) && text[p] == '-' {
		p++
	}
	end, kind := skipDigits(text, p), NodeInt
	if end == p || text[p] == '0' && end > p+1 {
		return end, NodeWord
	}
	if end < len(text) && text[end] == '.' {
		kind = NodeFloat
		p = end + 1
		if end = skipDigits(text, p); end == p {
			return end, NodeWord
		}
	}
	if end < len(text) && text[end]|0x20 == 'e' {
		kind = NodeFloat
		p = end + 1
		if p < len(text) && (text[p] == '+' || text[p] == '-') {
			p++
		}
		if end = skipDigits(text, p); end == p {
			return end, NodeWord
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

// LooseNumber recognises an unsigned number as other languages write it: .5 and 2., 0x1F,
// 0b1, 0o7, 1_000, 5n. Leading zeros do not make one: 007 is rather a code.
func LooseNumber(w string) bool {
	if w == "" || w[0] != '.' && Class[w[0]]&IsDigit == 0 {
		return false // nothing, or a second sign
	}
	w = strings.TrimSuffix(w, "n")
	if len(w) > 2 && w[0] == '0' {
		base := ""
		switch w[1] | 0x20 {
		case 'x':
			base = "0123456789abcdefABCDEF_"
		case 'o':
			base = "01234567_"
		case 'b':
			base = "01_"
		}
		if base != "" {
			return strings.Trim(w[2:], base) == "" && w[2] != '_'
		}
	}
	plain := strings.ReplaceAll(w, "_", "")
	if plain == "" || w[0] == '_' || w[len(w)-1] == '_' || strings.Contains(w, "__") {
		return false
	}
	return StrictNumber(CompleteNumber(plain)) != NodeWord
}

// CompleteNumber adds the digits that .5, 2. and 2e leave out.
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
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return false
	}
	for p := 1; p < len(text)-1; p++ {
		switch c := text[p]; {
		case c == '"' || c < 0x20:
			return false
		case c == '\\':
			p++
			if p == len(text)-1 {
				return false
			}
			switch text[p] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if _, ok := jsonstr.Hex4(text[p+1 : len(text)-1]); !ok {
					return false
				}
			default:
				return false
			}
		}
	}
	return true
}
