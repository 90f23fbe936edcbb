package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A package holds one idea: one with more files or lines than these holds several.
const (
	MaxPackageFiles = 16
	MaxPackageLines = 4500
)

// Sizes returns the packages with more non-test files or lines than allowed. Those in except have a reason.
func Sizes(sources []*Source, except map[string]string) []Finding {
	files, lines := map[string]int{}, map[string]int{}
	for _, s := range sources {
		if !s.Test() {
			files[s.Dir()]++
			lines[s.Dir()] += bytes.Count(s.Text, []byte("\n"))
		}
	}
	var found []Finding
	for dir, n := range files {
		if _, reasoned := except[dir]; reasoned || n <= MaxPackageFiles && lines[dir] <= MaxPackageLines {
			continue
		}
		found = append(found, Finding{dir, fmt.Sprintf("%d files and %d lines, more than %d or %d: it holds more than one idea", n, lines[dir], MaxPackageFiles, MaxPackageLines)})
	}
	slices.SortFunc(found, func(a, b Finding) int { return strings.Compare(a.Where, b.Where) })
	return found
}

// largePackages are those that may be larger than others, and why.
var largePackages = map[string]string{
	"engine/llm/internal/wire": "a file for each form of a provider's requests and answers",
}

// Promise 25.1 (packages): a package implements one idea: it has at most 16 files and 4,500 lines, unless it has a
// reason to be larger.
func TestPromise_25_1_PackageSizes(t *testing.T) {
	fail(t, Sizes(sources(t), largePackages))
}

func TestSizes(t *testing.T) {
	var all []*Source
	file := func(rel string, lines int) {
		all = append(all, &Source{Rel: rel, File: &ast.File{}, Text: []byte(strings.Repeat("x\n", lines))})
	}
	for i := range 17 {
		file("many/"+string(rune('a'+i))+".go", 1)
		file("fine/"+string(rune('a'+i))+"_test.go", 1000)
	}
	for i := range 16 {
		file("fine/"+string(rune('a'+i))+".go", 281)
		file("fine/deeper/"+string(rune('a'+i))+".go", 281)
	}
	file("long/a.go", 4501)
	file("old/a.go", 9000)
	var got []string
	for _, f := range Sizes(all, map[string]string{"old": "for a reason"}) {
		got = append(got, f.Where)
	}
	if strings.Join(got, " ") != "long many" {
		t.Errorf("got %q", got)
	}
}

// Promise 25.9 (packages): make test runs the tests of the examples, then those of the packages with -short; make race
// runs the tests that use goroutines under the race detector; make check runs all tests at their full size. Continuous
// integration runs all three, and the modules of the benchmarks.
func TestPromise_25_9_TwoSizes(t *testing.T) {
	for command, want := range map[string]string{
		"make -n test":  `(?s)^go run \./cmd/agentscript test --cover --threshold lines=100,parts=100,edges=90 examples\ngo test -short -vet=off -timeout \w+ +\./.* \./\.\.\.\n`,
		"make -n race":  `(?s)^GORACE=\S+ CGO_ENABLED=1 go test -race -short -vet=off -timeout \w+ .*\$\(go list \./.* \./\.\.\. \| grep -v -x -E `,
		"make -n check": `(?m)^go test -timeout \w+ +\./.* \./\.\.\.$`,
	} {
		out, err := shell(t, command)
		if err != nil || !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
	untested, err := shell(t, `make --eval 'print: ; @$(GO) list $(ALL) | grep -x -E "$P/($(SEQUENTIAL))"' print`)
	if err != nil || !strings.Contains(untested, "/generable/lenient\n") || strings.Contains(untested, "/engine") {
		t.Fatalf("make race leaves out %v\n%s", err, untested)
	}
	starts := regexp.MustCompile(`(?m)^\s*go (func\b|[\w.]+\()`)
	for _, pkg := range strings.Fields(untested) {
		dir := strings.TrimPrefix(pkg, "github.com/agentscript/agentscript/")
		files, err := filepath.Glob(filepath.Join(root(t), dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(pkg, err)
		}
		for _, name := range files {
			if !strings.HasSuffix(name, "_test.go") && starts.MatchString(read(t, filepath.Join(dir, filepath.Base(name)))) {
				t.Errorf("%s starts a goroutine, and make race leaves it out", name)
			}
		}
	}
	all := read(t, ".ci/run")
	for _, target := range []string{"make race", "make check", "make bench-test", "make bench-peers", "make bench-flows", "make sdks", "make temporal-test", "make temporal-race"} {
		if !regexp.MustCompile("(?m)^(tests )?" + target + "( |$)").MatchString(all) {
			t.Errorf(".ci/run does not run %s", target)
		}
	}
}
