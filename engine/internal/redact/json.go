package redact

import (
	"encoding/json"
	"strings"
)

// JSON returns a JSON text without keys. It is still JSON, since the marker only appears inside strings.
func (s *Set) JSON(text json.RawMessage) json.RawMessage {
	if !s.Holds(string(text)) {
		return text
	}
	var out strings.Builder
	rest := string(text)
	for {
		before, literal, after := cutLiteral(rest)
		out.WriteString(before)
		if literal == "" {
			return json.RawMessage(out.String())
		}
		var said string
		if err := json.Unmarshal([]byte(literal), &said); err == nil && s.Holds(said) {
			quoted, _ := json.Marshal(s.String(said)) // a text can always be marshalled
			literal = string(quoted)
		}
		out.WriteString(literal)
		rest = after
	}
}

// cutLiteral cuts a JSON text around its first string literal, which is empty if there is none.
func cutLiteral(text string) (before, literal, after string) {
	from := strings.IndexByte(text, '"')
	if from < 0 {
		return text, "", ""
	}
	for i := from + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return text[:from], text[from : i+1], text[i+1:]
		}
	}
	return text, "", ""
}
