package arch

import "testing"

func TestCodeLines(t *testing.T) {
	for text, want := range map[string]int{
		"":                           0,
		"// Package p.\npackage p\n": 1,
		"package p\n\n/* a\nb */\nvar x = 1 // one\n": 2,
		"package p; var x = `a\n\nb`\n":               3,
		"package p\nvar x = `a\nb` + `c\nd`\n":        4,
		"package p\n\nfunc f() {\n\t// nothing\n}\n":  3,
	} {
		if got := CodeLines([]byte(text)); got != want {
			t.Errorf("%q has %d lines of code, want %d", text, got, want)
		}
	}
}
