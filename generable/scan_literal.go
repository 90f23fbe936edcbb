package generable

import "strings"

// maxLiteral is the length beyond which a word is no literal but text. Longer numbers are
// read by the strict path, or as digits alone.
const maxLiteral = 48

// classifyWord tells what an unquoted word stands for, and which repair that takes.
func classifyWord(w string) (nodeKind, repairKind) {
	if w == "" {
		return nodeWord, repNone
	}
	switch c := w[0]; {
	case c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.':
		return classifyNumber(w)
	}
	if len(w) > 9 {
		return nodeWord, repNone
	}
	switch w {
	case "true":
		return nodeTrue, repNone
	case "false":
		return nodeFalse, repNone
	case "null":
		return nodeNull, repNone
	case "True", "TRUE":
		return nodeTrue, repLiteral
	case "False", "FALSE":
		return nodeFalse, repLiteral
	case "None", "NULL", "Null", "nil", "undefined":
		return nodeNull, repLiteral
	case "tru":
		return nodeTrue, repTruncated
	case "fals":
		return nodeFalse, repTruncated
	case "nul":
		return nodeNull, repTruncated
	case "NaN", "nan", "Infinity", "inf":
		return nodeNaN, repLiteral
	}
	switch c := w[0] | 0x20; {
	case c == 't' && strings.EqualFold(w, "true"):
		return nodeTrue, repLiteral
	case c == 'f' && strings.EqualFold(w, "false"):
		return nodeFalse, repLiteral
	case c == 'n' && strings.EqualFold(w, "null"):
		return nodeNull, repLiteral
	}
	return nodeWord, repNone
}

// classifyNumber tells whether a word is a number as JSON writes it, as another language
// does, or none.
func classifyNumber(w string) (nodeKind, repairKind) {
	if kind := strictNumber(w); kind != nodeWord {
		return kind, repNone
	}
	body := w
	if body[0] == '+' || body[0] == '-' {
		body = body[1:]
	}
	switch body {
	case "Infinity", "inf", "NaN":
		return nodeNaN, repLiteral
	}
	if len(w) > maxLiteral || !looseNumber(body) {
		return nodeWord, repNone
	}
	return nodeNumber, repNumber
}

// strictNumber returns nodeInt or nodeFloat for a number of JSON, else nodeWord.
func strictNumber(w string) nodeKind {
	p := 0
	digits := func() bool {
		from := p
		for p < len(w) && class[w[p]]&isDigit != 0 {
			p++
		}
		return p > from
	}
	if p < len(w) && w[p] == '-' {
		p++
	}
	lead := p
	if !digits() || (w[lead] == '0' && p > lead+1) {
		return nodeWord
	}
	kind := nodeInt
	if p < len(w) && w[p] == '.' {
		kind = nodeFloat
		p++
		if !digits() {
			return nodeWord
		}
	}
	if p < len(w) && w[p]|0x20 == 'e' {
		kind = nodeFloat
		p++
		if p < len(w) && (w[p] == '+' || w[p] == '-') {
			p++
		}
		if !digits() {
			return nodeWord
		}
	}
	if p < len(w) {
		return nodeWord
	}
	return kind
}

// looseNumber recognises an unsigned number as other languages write it: .5 and 2., 0x1F,
// 0b1, 0o7, 1_000, 5n. Leading zeros do not make one: 007 is rather a code.
func looseNumber(w string) bool {
	if w == "" || w[0] != '.' && class[w[0]]&isDigit == 0 {
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
	return strictNumber(completeNumber(plain)) != nodeWord
}

// completeNumber adds the digits that .5, 2. and 2e leave out.
func completeNumber(w string) string {
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

// strictString reports whether text is one valid JSON string.
func strictString(text string) bool {
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
				if _, ok := hex4(text[p+1 : len(text)-1]); !ok {
					return false
				}
			default:
				return false
			}
		}
	}
	return true
}
