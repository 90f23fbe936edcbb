package conformance

import (
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// kept are the keys whose values are part of a shape.
var kept = map[string]bool{
	"kind": true, "phase": true, "path": true, "id": true, "name": true, "from": true, "code": true, "severity": true, "op": true, "status": true, "confidence": true,
	"file": true, "uri": true, "ruleId": true, "level": true, "version": true, "$schema": true, "role": true, "finish": true, "errors": true, "warnings": true, "n": true,
	"line": true, "col": true, "len": true, "startLine": true, "startColumn": true, "endLine": true, "endColumn": true, "in": true, "out": true, "turns": true, "attempt": true,
}

// shapes returns the shape of each JSON document of a text: keys in their order, and the values of kept keys. between
// is written before the members of the outer two levels.
func shapes(t *testing.T, text, between string) string {
	t.Helper()
	var b strings.Builder
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	for {
		doc, err := shapeOf(dec, "", between)
		if err == io.EOF {
			return b.String()
		}
		if err != nil {
			t.Fatalf("no JSON: %v\n%s", err, text)
		}
		b.WriteString(doc + "\n")
	}
}

func shapeOf(dec *json.Decoder, key, between string) (string, error) {
	token, err := dec.Token()
	if err != nil {
		return "", err
	}
	switch token := token.(type) {
	case json.Delim:
		var parts []string
		for dec.More() {
			name := ""
			if token == '{' {
				k, err := dec.Token()
				if err != nil {
					return "", err
				}
				name = k.(string)
			}
			part, err := shapeOf(dec, name, between)
			if err != nil {
				return "", err
			}
			if token == '{' && part != "" {
				name += ":"
			}
			if part = name + part; token == '{' || len(parts) == 0 || parts[len(parts)-1] != part {
				parts = append(parts, part)
			}
		}
		end, err := dec.Token()
		if err != nil {
			return "", err
		}
		sep := " "
		if joined := strings.Join(parts, sep); between != "" && len(joined) > 80 {
			sep = between
		}
		return token.String() + strings.Join(parts, sep) + end.(json.Delim).String(), nil
	case string:
		if kept[key] {
			return strconv.Quote(token), nil
		}
	case json.Number:
		if kept[key] {
			return token.String(), nil
		}
	case bool:
		return strconv.FormatBool(token), nil
	case nil:
		return "null", nil
	}
	return "", nil
}

// byPath sorts events by their paths, which no scheduler determines, and keeps the order of events with one path.
// Consecutive equal lines are reduced to one.
func byPath(events string) string {
	lines := slices.Collect(strings.Lines(events))
	slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(pathOf(a), pathOf(b)) })
	return strings.Join(slices.Compact(lines), "")
}

func pathOf(line string) string {
	_, path, _ := strings.Cut(line, ` path:"`)
	path, _, _ = strings.Cut(path, `"`)
	return path
}
