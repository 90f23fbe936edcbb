package source

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// names are like those of the real table of builtins.
var names = Names{
	Builtins: strings.Fields(`str int float bool list dict any schema field union enum ref agent skill tool model budget file
		knowledge template then par forum loop branch when each fallback retry race vote pick fn attempt graph edge
		match isinstance parallel stream phase`),
	TypeMakers: strings.Fields("schema union enum ref"),
	NodeMakers: strings.Fields("agent fn pick then par forum loop branch each fallback retry race vote attempt graph"),
}

// TestLint compares the rendered findings of a script with its golden file. In
// every script the functions named innocent have none.
func TestLint(t *testing.T) {
	files, err := filepath.Glob("testdata/lint/*.star")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Base(path)
			f, found := Parse(name, src)
			if f == nil {
				t.Fatal(found)
			}
			found = f.Lint(names)
			found.Sort()
			for _, d := range found {
				if fn := f.functionOfLine(d.Span.Line); fn == "innocent" {
					t.Errorf("a finding where there is none: %v", d)
				}
			}
			var out bytes.Buffer
			if err := diag.Render(&out, found, diag.SourceMap{name: string(src)}, diag.Options{}); err != nil {
				t.Fatal(err)
			}
			golden := strings.TrimSuffix(path, ".star") + ".golden"
			if *update {
				if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(out.Bytes(), want) {
				t.Errorf("findings differ from %s (-update rewrites it):\n%s", golden, out.Bytes())
			}
		})
	}
}

// functionOfLine gives the outermost def around a line.
func (f *File) functionOfLine(line int) string {
	for _, b := range f.bodies {
		if int(b.start.line) <= line && line <= int(b.end.line) {
			return b.name
		}
	}
	return ""
}
