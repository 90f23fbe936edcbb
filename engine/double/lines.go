package double

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/agentscript/agentscript/generable"
)

// Lines returns a value as lines to store or to compare: a text unchanged, everything else as indented JSON. A text
// that would look like another value, or whose end would not be visible, is written as JSON too: different values have
// different lines.
func Lines(v generable.Value) string {
	s, isText := v.AsStr()
	if isText && s != "" && !strings.HasSuffix(s, "\n") && !strings.Contains(s, "\r") && !json.Valid([]byte(s)) {
		return s
	}
	data := generable.AppendJSON(nil, v, nil)
	var out bytes.Buffer
	if isText || json.Indent(&out, data, "", "  ") != nil {
		return string(data)
	}
	return out.String()
}
