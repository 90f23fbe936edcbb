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

// names are similar to those of the real table of builtins.
var names = Names{
	Builtins: strings.Fields(`str int float bool list dict any schema field union enum ref agent skill tool model budget file
		knowledge template then par forum loop branch when each pick fn attempt
		match isinstance`),
	TypeMakers:  strings.Fields("schema union enum ref"),
	NodeMakers:  strings.Fields("agent fn pick then par forum loop branch each"),
	FieldMakers: []string{"field"},
}

// TestLint compares the rendered findings of a script with its golden file. In every script, the functions named
// innocent have none.
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
			f, found := Parse(name, src, nil)
			if f == nil {
				t.Fatal(found)
			}
			found = f.Lint(names, nil)
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

// TestFixes applies every fix separately: its finding disappears, and no other appears.
func TestFixes(t *testing.T) {
	files, err := filepath.Glob("testdata/lint/*.star")
	if err != nil {
		t.Fatal(err)
	}
	applied := map[diag.Code]int{}
	for _, path := range files {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, _ := Parse(path, src, nil)
		found := f.Lint(names, nil)
		for _, d := range found {
			for _, fix := range d.Fixes {
				applied[d.Code]++
				lines := strings.Split(string(src), "\n")
				line := []rune(lines[fix.Span.Line-1])
				from := fix.Span.Col - 1
				lines[fix.Span.Line-1] = string(line[:from]) + fix.Replacement + string(line[from+fix.Span.Len:])
				g, left := Parse(path, []byte(strings.Join(lines, "\n")), nil)
				if g == nil {
					t.Errorf("%v: %q does not parse: %v", d, lines[fix.Span.Line-1], left)
					continue
				}
				if left = g.Lint(names, nil); len(left) != len(found)-1 {
					t.Errorf("%v: %d findings before, %d after %q", d, len(found), len(left), lines[fix.Span.Line-1])
				}
			}
		}
	}
	for _, code := range []diag.Code{diag.TruthValue, diag.CapturedLoopVariable, diag.TypeComparison, diag.UnknownArgument} {
		if applied[code] == 0 {
			t.Errorf("no fix for %s", code)
		}
	}
}

// functionOfLine returns the outermost def around a line.
func (f *File) functionOfLine(line int) string {
	for _, b := range f.bodies {
		if int(b.start.line) <= line && line <= int(b.end.line) {
			return b.name
		}
	}
	return ""
}
