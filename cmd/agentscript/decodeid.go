package main

import (
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/internal/text"
)

const (
	noID    = "null"
	notJSON = "the row is no JSON"
)

// noRow tells what makes the text of a line other than one JSON value, and where.
func noRow(text string, line int) lenient.Result {
	e := &generable.FieldError{Expected: "one JSON value on the line", Got: "none", Offset: len(text), Line: line, Hint: notJSON}
	var row json.RawMessage
	var at *json.SyntaxError
	if err := json.Unmarshal([]byte(text), &row); errors.As(err, &at) && int(at.Offset) <= len(text) && at.Offset > 0 {
		rest := text[at.Offset-1:]
		switch msg := at.Error(); {
		case strings.HasSuffix(msg, "end of JSON input"):
			e.Got = "one that ends too soon"
		case strings.HasSuffix(msg, "after top-level value"):
			e.Offset, e.Got = int(at.Offset)-1, "more behind it: "+shown(rest)
		default:
			e.Offset, e.Got = int(at.Offset)-1, shown(rest)
		}
	}
	e.Col = utf8.RuneCountInString(text[:e.Offset]) + 1
	return lenient.Result{Errors: generable.FieldErrors{e}}
}

// shown is the beginning of a text, quoted.
func shown(s string) string {
	const most = 40
	return text.Quote(text.ClipBytes(s, most))
}

// brokenID finds the id of a row that is no JSON: that of the object it begins with, else that
// of what can be made out of it.
func brokenID(text string) string {
	var first json.RawMessage
	if json.NewDecoder(strings.NewReader(text)).Decode(&first) == nil {
		if first[0] != '{' {
			return noID
		}
		return rawID(string(first))
	}
	if row, ok := lenient.Decode(nil, text, generable.Options{}).Value.AsMap(); ok {
		if id, has := row.Get("id"); has {
			return generable.JSON(id, nil)
		}
	}
	return noID
}

// rawID is the id of a row, a JSON object, as it is written there: an id has to match, also
// where it holds what no text can, or a number in a form of its own. Of several it is the last,
// as with other keys.
func rawID(row string) string {
	id := noID
	key, depth, begin := "", 0, -1
	for i := 0; i < len(row); i++ {
		switch row[i] {
		case '"':
			end := quotedEnd(row, i)
			if depth == 1 && begin < 0 {
				key = row[i:end]
			}
			i = end - 1
		case '{', '[':
			depth++
		case ':':
			if depth == 1 && begin < 0 {
				begin = i + 1
			}
		case ',', '}', ']':
			if depth == 1 && begin >= 0 {
				if isID(key) {
					id = strings.Trim(row[begin:i], " \t\r")
				}
				begin = -1
			}
			if row[i] != ',' {
				depth--
			}
		}
	}
	return strings.ToValidUTF8(strings.ReplaceAll(id, "\r", " "), "\ufffd")
}

// quotedEnd is the place behind the JSON string that begins at i.
func quotedEnd(s string, i int) int {
	for i++; i < len(s) && s[i] != '"'; i++ {
		if s[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// isID reports whether a JSON string says id.
func isID(quoted string) bool {
	var key string
	return quoted == `"id"` || strings.Contains(quoted, `\`) && json.Unmarshal([]byte(quoted), &key) == nil && key == "id"
}
