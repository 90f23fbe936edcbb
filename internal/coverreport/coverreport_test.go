package coverreport_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/coverreport"
	"github.com/agentscript/agentscript/starlib"
)

func at(kind string, line, col, end int, function string, defined int, count int64) starlib.Place {
	p := starlib.Place{Pos: diag.Pos{File: "./a/../flow.star", Line: line, Col: col}, EndLine: end, EndCol: 20, Function: function, FunctionLine: defined, Count: count}
	p.Kind = starlib.StatementPlace
	switch kind {
	case "lambda":
		p.Kind = starlib.LambdaPlace
	case "arm":
		p.Kind = starlib.ArmPlace
	}
	return p
}

func places() []starlib.Place {
	return []starlib.Place{
		at("", 1, 1, 1, "", 0, 1),
		at("", 3, 5, 3, "f", 1, 2), at("", 3, 15, 3, "f", 1, 0), // if x: y
		at("", 4, 5, 5, "f", 1, 0), at("", 8, 5, 9, "f", 1, 0),
		at("", 10, 5, 10, "f", 1, 2), at("arm", 10, 9, 10, "f", 1, 2), at("arm", 10, 19, 10, "f", 1, 0),
		at("", 12, 5, 12, "f", 11, 0), at("lambda", 12, 9, 12, "f", 11, 0),
	}
}

// Promise 27.52 (desk): coverage is reported as text with the uncovered lines, as JSON and as LCOV, merged over all
// tests, including failed ones. Thresholds outside 0 to 100 are errors.
//
// testdata/script/cover.txtar tests the command: its flags, its files and tests that fail.
func TestPromise_27_52_Reports(t *testing.T) {
	r := coverreport.New()
	r.Add("", places())
	r.AddGroup("edges", []coverreport.Item{{Name: "branch: \x1b[31mA", Pos: diag.Pos{File: "flow.star", Line: 2, Col: 1}}, {Name: "branch: B", Count: 4}})
	want := `lines      33.3%  2 of 6
parts      33.3%  1 of 3
edges      50.0%  1 of 2
flow.star: not run: lines 3-9, 12
flow.star:10:19: not run: this arm of the condition
flow.star:2:1: not run: branch: \u001b[31mA
`
	if got := r.Text(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	r.Add("", places())
	if got := r.Document().Files[0].Lines[4]; got.Line != 10 || got.Count != 4 {
		t.Errorf("after a second load line 10 has %+v", got)
	}
}

// The records of LCOV agree with each other: each function has a count, and the totals are those of the lines.
func TestLCOV(t *testing.T) {
	r := coverreport.New()
	r.Add("", places())
	lcov := r.LCOV()
	count := func(pattern string) int { return len(regexp.MustCompile("(?m)^"+pattern+"$").FindAllString(lcov, -1)) }
	total := func(name string) int {
		n, _ := strconv.Atoi(regexp.MustCompile("(?m)^" + name + `:(\d+)$`).FindStringSubmatch(lcov)[1])
		return n
	}
	for _, c := range []struct {
		name string
		want int
	}{
		{"LF", count(`DA:\d+,\d+`)}, {"LH", count(`DA:\d+,[1-9]\d*`)}, {"FNF", count(`FN:\d+,.+`)}, {"FNF", count(`FNDA:\d+,.+`)},
		{"FNH", count(`FNDA:[1-9]\d*,.+`)}, {"BRF", count(`BRDA:\d+,0,\d+,(\d+|-)`)}, {"BRH", count(`BRDA:\d+,0,\d+,[1-9]\d*`)},
	} {
		if got := total(c.name); got != c.want {
			t.Errorf("%s is %d, and there are %d\n%s", c.name, got, c.want, lcov)
		}
	}
	if !strings.Contains(lcov, "FN:1,f\nFN:11,f:11\n") {
		t.Errorf("functions of one name are one\n%s", lcov)
	}
	for line := range strings.Lines(lcov) {
		if !regexp.MustCompile(`^(TN:|SF:.+|FN:.+|FNDA:.+|FN[FH]:\d+|BRDA:.+|BR[FH]:\d+|DA:.+|L[FH]:\d+|end_of_record)\n$`).MatchString(line) {
			t.Errorf("no record of LCOV: %q", line)
		}
	}
}

func FuzzParseThresholds(f *testing.F) {
	for _, s := range []string{"lines=80,edges=100", "lines=101", "lines=", "=", "lines=1e2", "lines=NaN", " edges = 3 ", "lines=0x1p3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		all, err := coverreport.ParseThresholds(s, []string{"lines", "edges"})
		seen := map[string]bool{}
		for _, th := range all {
			if seen[th.Name] || !(th.Min >= 0 && th.Min <= 100) {
				t.Errorf("%q gives %v", s, all)
			}
			seen[th.Name] = true
		}
		if (err == nil) == (all == nil) {
			t.Errorf("%q gives %v and %v", s, all, err)
		}
	})
}
