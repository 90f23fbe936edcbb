package testrun

import (
	"bytes"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/agentscript/agentscript/engine/double"
	"github.com/agentscript/agentscript/generable"
)

// difference describes how two values differ as a diff of their lines, "" if that says no more than the values.
func difference(got, want generable.Value) string {
	a, b := []byte(double.Lines(want)+"\n"), []byte(double.Lines(got)+"\n")
	if bytes.Count(a, []byte("\n")) < 2 && bytes.Count(b, []byte("\n")) < 2 {
		return ""
	}
	return string(diff.Diff("want", a, "got", b))
}
