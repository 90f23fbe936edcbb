package starlib_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
)

// apply applies the edits of fixes to a text. Positions count runes.
func apply(text string, fixes []diag.Fix) string {
	lines := strings.Split(text, "\n")
	slices.SortFunc(fixes, func(a, b diag.Fix) int { return b.Span.Col - a.Span.Col }) // from the right, so that columns stay valid
	for _, f := range fixes {
		line := []rune(lines[f.Span.Line-1])
		from := f.Span.Col - 1
		lines[f.Span.Line-1] = string(line[:from]) + f.Replacement + string(line[from+f.Span.Len:])
	}
	return strings.Join(lines, "\n")
}

// TestFixesMend applies fixes as a tool would and requires that the diagnostics are gone.
func TestFixesMend(t *testing.T) {
	files, err := filepath.Glob("testdata/errors/*.star")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	applied := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		main, more := parts(string(data))
		_, found := load(main, more...)
		mended := map[string]bool{}
		var fixes []diag.Fix
		for _, d := range found {
			for _, f := range d.Fixes {
				if f.Span.File == "main.star" {
					fixes = append(fixes, f)
					mended[fmt.Sprint(d.Code, d.Span.Line, d.Message)] = true
				}
			}
		}
		if applied += len(fixes); len(fixes) == 0 {
			continue
		}
		_, left := load(apply(main, fixes), more...)
		for _, d := range left {
			if mended[fmt.Sprint(d.Code, d.Span.Line, d.Message)] {
				t.Errorf("%s: after the fix there is still %v", file, d)
			}
		}
	}
	if applied < 10 {
		t.Errorf("only %d fixes in the whole corpus", applied)
	}
}
