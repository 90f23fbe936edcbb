package pythonisms_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib/internal/pythonisms"
)

var update = flag.Bool("update", false, "rewrite the rendered part of the test data")

// options are the options of agentscript's dialect.
var options = syntax.FileOptions{Set: true, While: true, TopLevelControl: true, Recursion: true}

func check(name, src string) diag.List {
	_, err := options.Parse(name, src, 0)
	return pythonisms.Check(name, []byte(src), err, 0, nil)
}

func render(t *testing.T, name, src string) string {
	t.Helper()
	var b bytes.Buffer
	if err := diag.Render(&b, check(name, src), diag.SourceMap{name: src}, diag.Options{Width: 100}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Each file of testdata contains a script, a separator, and the expected findings.
func TestGolden(t *testing.T) {
	const separator = "-- rendered --\n"
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(err, "no test data")
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".txt")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			script, want, _ := strings.Cut(string(text), separator)
			got := render(t, name+".star", script)
			if *update {
				if err := os.WriteFile(path, []byte(script+separator+got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			gotLines, wantLines := strings.Split(got, "\n"), strings.Split(want, "\n")
			for i := range min(len(gotLines), len(wantLines)) {
				if gotLines[i] != wantLines[i] {
					t.Fatalf("line %d of the rendered part:\n got %s\nwant %s\n(-update rewrites the file)", i+1, gotLines[i], wantLines[i])
				}
			}
			if got != want {
				t.Errorf("got %d lines, want %d", len(gotLines), len(wantLines))
			}
		})
	}
}
