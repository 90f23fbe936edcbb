package starlib_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestManyUnknownNames: each is told of, and suggestions end before they become most of the work.
func TestManyUnknownNames(t *testing.T) {
	const n = 1500
	var src strings.Builder
	for i := range n {
		fmt.Fprintf(&src, "x%d = undefined%d\n", i, i)
	}
	src.WriteString("undefined = 1\n")
	_, found := load(src.String())
	if len(found) != n {
		t.Fatalf("%d findings, want %d", len(found), n)
	}
	if help := strings.Join(found[0].Help, ""); !strings.Contains(help, "did you mean") {
		t.Errorf("the first has the help %q", help)
	}
	if help := strings.Join(found[n-1].Help, ""); strings.Contains(help, "did you mean") {
		t.Errorf("the last is compared with all names as well: %q", help)
	}
}

// TestNULByte: the interpreter's scanner takes it for the end of the file.
func TestNULByte(t *testing.T) {
	_, found := load("x = 1\ny = \"a\x00\"\nz = 2\n")
	if codes(found) != "AS101" || found[0].Span.Line != 2 || found[0].Span.Col != 7 || !strings.Contains(found[0].Message, "NUL") {
		t.Errorf("got %v", found)
	}
}
