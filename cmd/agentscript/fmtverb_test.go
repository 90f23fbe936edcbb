package main

import (
	"strings"
	"testing"
)

// What is nested too deeply is refused by fmt in the words of check.
func TestFmtRefusesWhatCheckRefuses(t *testing.T) {
	file := written(t, "deep.star", "x = "+strings.Repeat("1+", 30_000)+"1\n")
	code, _, want := inProcess(t, nil, "check", file)
	if code != exitCheck || !strings.Contains(want, "error[AS101]") {
		t.Fatalf("check: exit code %d, stderr:\n%.300s", code, want)
	}
	code, stdout, got := inProcess(t, nil, "fmt", file)
	if code != exitCheck || stdout != "" || got != want {
		t.Errorf("fmt: exit code %d, %d bytes on stdout, stderr:\n%.300s\nwant\n%.300s", code, len(stdout), got, want)
	}
}
