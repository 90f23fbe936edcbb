package conformance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// figure matches a row of the performance page.
var figure = regexp.MustCompile("(?m)^\\| ([^|]+) \\| ([^|]+) \\| ([^|]+) \\| `([^`|]+)` \\|$")

// Promise 12.7 (performance): each figure of the performance page names the benchmark that produces it.
func TestPromise_12_7_Figures(t *testing.T) {
	page, err := os.ReadFile(repository("docs/performance.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := figure.FindAllStringSubmatch(string(page), -1)
	if len(rows) < 12 || strings.Count(string(page), "\n| ")-strings.Count(string(page), "\n| what ")-strings.Count(string(page), "\n| --") != len(rows) {
		t.Errorf("%d rows with what, bar, figure and command", len(rows))
	}
	bench := regexp.MustCompile(`^go test -run '\^\$' -bench '([^']+)'(?: -\S+)* (\./\S*|\.)$`)
	for _, row := range rows {
		what, command := row[1], row[4]
		if m := bench.FindStringSubmatch(command); m != nil {
			if !hasBenchmark(t, m[2], m[1]) {
				t.Errorf("%s: %s has no benchmark %s", what, m[2], m[1])
			}
			continue
		}
		if !strings.HasPrefix(command, "make ") {
			t.Errorf("%s: %q is no benchmark", what, command)
		}
	}
	for _, what := range []string{"chain", "loop", "fan-out", "Starlark", "100 nodes", "1000 lines", "parked", "journal", "agent", "decod", "start of the command", "stripped"} {
		named := false
		for _, row := range rows {
			named = named || strings.Contains(row[1], what)
		}
		if !named {
			t.Errorf("no figure for %q", what)
		}
	}
}

// hasBenchmark reports whether a package has a benchmark whose name matches the first part of a
// pattern.
func hasBenchmark(t *testing.T, pkg, pattern string) bool {
	t.Helper()
	first, _, _ := strings.Cut(pattern, "/")
	want, err := regexp.Compile(first)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(repository(filepath.Join(pkg, "*_test.go")))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && strings.HasPrefix(f.Name.Name, "Benchmark") && want.MatchString(f.Name.Name) {
				return true
			}
		}
	}
	return false
}
