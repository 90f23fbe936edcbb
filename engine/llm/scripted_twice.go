package llm

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// validUpTo gives the offset of the first byte that is no UTF-8, len(text) when there is none.
func validUpTo(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return len(text)
}

// twice names the first member of a row, or of what a row is made of, that is given twice, of which
// decoding would drop one. An answer and the arguments of a call are the script's own affair: models
// do write such things. The row is valid JSON.
func twice(row []byte) string {
	seen := map[string]bool{}
	where := ""
	members(row, func(key string, value json.RawMessage) bool {
		if seen[key] {
			where = key
			return false
		}
		seen[key] = true
		switch key {
		case "error", "usage":
			if in := twice(value); in != "" {
				where = key + "." + in
			}
		case "calls":
			var calls []json.RawMessage
			if json.Unmarshal(value, &calls) != nil { // which decoding tells
				return true
			}
			for _, call := range calls {
				if in := twice(call); in != "" {
					where = "calls." + in
				}
			}
		}
		return where == ""
	})
	return where
}

// members gives the members of a JSON object in their order until do returns false; nothing of what
// is no object.
func members(object []byte, do func(key string, value json.RawMessage) bool) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return
	}
	for dec.More() {
		key, err := dec.Token()
		name, ok := key.(string)
		var value json.RawMessage
		if err != nil || !ok || dec.Decode(&value) != nil || !do(name, value) {
			return
		}
	}
}
