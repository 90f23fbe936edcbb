package testrun

import (
	"bytes"
	"encoding/json"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/agentscript/agentscript/generable"
)

// difference describes how two values differ as a diff of their lines, "" if that says no more than the values.
func difference(got, want generable.Value) string {
	a, b := lines(want), lines(got)
	if bytes.Count(a, []byte("\n")) < 2 && bytes.Count(b, []byte("\n")) < 2 {
		return ""
	}
	return string(diff.Diff("want", a, "got", b))
}

// lines writes a value as lines: a text as it is, everything else as indented JSON.
func lines(v generable.Value) []byte {
	if s, ok := v.AsStr(); ok {
		return []byte(s + "\n")
	}
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(generable.JSON(v, nil)), "", "  "); err != nil {
		return []byte(generable.JSON(v, nil) + "\n")
	}
	out.WriteByte('\n')
	return out.Bytes()
}
