package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestChanges(t *testing.T) {
	const src = `package p

func f(n int) int {
	defer g()
	if n < 10 && n != 3 {
		g()
		n = 4
		_ = append(make([]int, 0, 8), len(make(map[int]int, 8)))
	}
	return n + 1 // not covered
}
`
	found, err := changesIn("p.go", []byte(src), map[int][]string{4: {"m"}, 5: {"m"}, 6: {"m"}, 7: {"m"}, 8: {"m"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range found {
		got = append(got, c.String())
		if bytes.Equal(c.text, []byte(src)) {
			t.Errorf("%s changes nothing", c)
		}
	}
	want := []string{
		"p.go:4: defer g() is left out",
		"p.go:5: 10 becomes one more",
		"p.go:5: 3 becomes one more",
		"p.go:5: != becomes == in n != 3",
		"p.go:5: && becomes || in n < 10 && n != 3",
		"p.go:5: < becomes <= in n < 10",
		"p.go:5: the condition n < 10 && n != 3 is negated",
		"p.go:6: g() is left out",
		"p.go:7: 4 becomes one more",
		"p.go:7: n = 4 is left out",
		"p.go:8: 0 becomes one more",
		"p.go:8: _ = append(make([]int, 0, 8), len(make(map[int]int, 8))) is left out",
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

func TestSuitesAreNotChanged(t *testing.T) {
	text := "package m\n\nimport \"testing\"\n\nfunc Suite(t *testing.T) {\n\tif 1 < 2 {\n\t\tt.Log()\n\t}\n}\n"
	if found, err := changesIn("m.go", []byte(text), map[int][]string{6: {"m"}}); err != nil || len(found) != 0 {
		t.Errorf("%v, %v", found, err)
	}
}

func TestLines(t *testing.T) {
	lines := coverage{}
	err := lines.read("x/y", "mode: set\nx/y/a.go:3.20,5.2 2 1\nx/y/a.go:7.1,7.9 1 0\nx/y/b.go:1.1,1.9 1 3\n")
	if err == nil {
		err = lines.read("x", "mode: set\nx/y/a.go:5.1,5.2 1 1\nx/y/a.go:5.1,5.2 1 1\n")
	}
	a := lines["x/y"]["a.go"]
	if err != nil || len(a) != 3 || !slices.Equal(a[4], []string{"x/y"}) || !slices.Equal(a[5], []string{"x/y", "x"}) || lines["x/y"]["b.go"][1] == nil {
		t.Errorf("%v, %v", lines, err)
	}
	if err := lines.read("x", "mode: set\nwhat is this\n"); err == nil {
		t.Error("a line that is none is read")
	}
}

func TestOrder(t *testing.T) {
	c := change{tests: []string{"slow", "quick", "own"}}
	c.order("own", map[string]time.Duration{"slow": 3, "quick": 1, "own": 2})
	if !slices.Equal(c.tests, []string{"own", "quick", "slow"}) {
		t.Error(c.tests)
	}
}

// A module whose tests check only one of two functions.
func TestSample(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":     "module m\n\ngo 1.24\n",
		"m.go":       "package m\n\nfunc Least(a, b int) int {\n\tif a < b {\n\t\treturn a\n\t}\n\treturn b\n}\n\nfunc Far(n int) bool {\n\treturn n > 99\n}\n",
		"low/low.go": "package low\n\nfunc Twice(n int) int {\n\treturn n + n\n}\n",
		"m_test.go":  "package m\n\nimport (\n\t\"m/low\"\n\t\"testing\"\n)\n\nfunc TestM(t *testing.T) {\n\tFar(0)\n\tif low.Twice(2) != 4 || Least(1, 2) != 1 || Least(4, 3) != 3 {\n\t\tt.Error()\n\t}\n}\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	var out bytes.Buffer
	r := runner{out: &out, progress: io.Discard, tests: ".", timeout: 1 << 40, workers: 2}
	if err := r.sample(100, 1, []string{"."}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"m.go:4: < becomes <= in a < b\n", "m.go:11: > becomes >= in n > 99\n", "m.go:11: 99 becomes one more\n", "1 of 4 changes noticed, of 4 that could be made\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "negated") {
		t.Errorf("what is noticed is printed:\n%s", &out)
	}
	out.Reset()
	if err := r.sample(100, 1, []string{"./low"}); err != nil || out.String() != "1 of 1 changes noticed, of 1 that could be made\n" {
		t.Errorf("the tests of another package: %v\n%s", err, &out)
	}
	out.Reset()
	r.tests = "./low"
	if err := r.sample(100, 1, []string{"./low"}); err != nil || out.String() != "0 of 0 changes noticed, of 0 that could be made\n" {
		t.Errorf("no test covers it: %v\n%s", err, &out)
	}
	if err := r.sample(1, 1, nil); err == nil {
		t.Error("no package is named, and there is no error")
	}
}
