package tree

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// JSON writes a tree as standard JSON: all members in their order, and numbers as written.
func (v *Value) JSON() []byte { return v.append(nil) }

func (v *Value) append(b []byte) []byte {
	switch v.Kind {
	case Array:
		b = append(b, '[')
		for i, item := range v.Items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.append(b)
		}
		return append(b, ']')
	case Object:
		b = append(b, '{')
		for i, m := range v.Members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendText(b, m.Key), ':')
			b = m.Value.append(b)
		}
		return append(b, '}')
	case String:
		return appendText(b, v.Text)
	case Number:
		return appendNumber(b, v.Text)
	case Null:
		return append(b, "null"...)
	}
	return append(b, v.Text...)
}

// appendNumber writes a number; the parser accepts more forms than the standard, such as 1. and +1.
func appendNumber(b []byte, text string) []byte {
	if json.Valid([]byte(text)) {
		return append(b, text...)
	}
	n, _ := strconv.ParseFloat(text, 64) // it was parsed as a number
	return strconv.AppendFloat(b, n, 'g', -1, 64)
}

func appendText(b []byte, text string) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(strings.ToValidUTF8(text, "\ufffd")) // encoding a text cannot fail
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}
