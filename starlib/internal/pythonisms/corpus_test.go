package pythonisms_test

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib/internal/pythonisms"
)

// starlarkDir returns the directory of the interpreter's source and test data.
func starlarkDir(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "go.starlark.net").Output()
	if err != nil {
		t.Skipf("cannot find the interpreter's test data: %v", err)
	}
	return strings.TrimSpace(string(out))
}

// chunks returns every script of the interpreter's test data; its files contain several, separated by lines of "---".
func chunks(t testing.TB) map[string]string {
	t.Helper()
	out := map[string]string{}
	dir := starlarkDir(t)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".star" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for i, chunk := range strings.Split(string(text), "\n---") {
			out[path[len(dir)+1:]+"#"+strconv.Itoa(i)] = chunk
		}
		return nil
	})
	if err != nil || len(out) < 100 {
		t.Fatalf("%d scripts, %v", len(out), err)
	}
	return out
}

// Nothing is reported about a script that Starlark accepts, unless it contains a format string that fails when it is
// used.
func TestNothingOnValidScripts(t *testing.T) {
	valid := 0
	for name, src := range chunks(t) {
		if _, err := options.Parse(name, src, 0); err != nil {
			continue
		}
		valid++
		for _, d := range pythonisms.Check(name, []byte(src), nil, 0, nil) {
			line := strings.Split(src, "\n")[d.Span.Line-1]
			// These lines test that the interpreter rejects the format.
			if d.Code == diag.FormatSpec && strings.Contains(line, "assert.fails(") {
				continue
			}
			t.Errorf("%v\n%s", d, line)
		}
	}
	t.Logf("%d valid scripts", valid)
}

// The scripts of the reference examples that must be accepted, and those that must be rejected for their syntax.
func TestExplainedExamples(t *testing.T) {
	for _, e := range diag.Entries() {
		family := e.Code[:3]
		for _, d := range check("right.star", e.Right) {
			t.Errorf("%s: its accepted example gets %v", e.Code, d)
		}
		if e.Wrong == "" {
			continue
		}
		l := check("wrong.star", e.Wrong)
		switch {
		case family == "AS1" && len(l) == 0:
			t.Errorf("%s: its refused example is accepted", e.Code)
		case family != "AS1" && len(l) > 0:
			t.Errorf("%s: its refused example gets %v", e.Code, l[0])
		}
		for _, d := range l {
			if family == "AS1" && d.Code != e.Code {
				t.Errorf("%s: its refused example gets %v", e.Code, d)
			}
		}
	}
}

// Scripts similar to valid ones: a token dropped, doubled, or moved. If the parser still accepts them, so does Check.
func TestMutations(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	tried, parsed, rounds := 0, 0, 60
	if testing.Short() {
		rounds = 15
	}
	for name, src := range chunks(t) {
		if _, err := options.Parse(name, src, 0); err != nil {
			continue
		}
		words := regexp.MustCompile(`\w+|\s+|[^\w\s]`).FindAllString(src, -1)
		for range rounds {
			// Forty words from the start of a line, which is often a separate script.
			from := r.IntN(len(words))
			for from > 0 && !strings.HasSuffix(words[from-1], "\n") {
				from--
			}
			m := slices.Clone(words[from:min(len(words), from+40)])
			i, other := r.IntN(len(m)), words[r.IntN(len(words))]
			switch r.IntN(3) {
			case 0:
				m = slices.Delete(m, i, i+1)
			case 1:
				m[i] = other
			case 2:
				m = slices.Insert(m, i, other)
			}
			mutant := strings.Join(m, "")
			tried++
			if _, err := options.Parse(name, mutant, 0); err != nil {
				if l := pythonisms.Check(name, []byte(mutant), err, 0, nil); !l.HasErrors() {
					t.Errorf("nothing about %v in\n%s", err, mutant)
				}
				continue
			}
			parsed++
			for _, d := range pythonisms.Refused(name, mutant) {
				t.Errorf("%v\n%s", d, strings.Split(mutant, "\n")[d.Span.Line-1])
			}
		}
	}
	t.Logf("%d of %d mutants parse", parsed, tried)
}
