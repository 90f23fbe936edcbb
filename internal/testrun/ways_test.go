package testrun_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine/cover"
	"github.com/agentscript/agentscript/internal/testrun"
	"github.com/agentscript/agentscript/starlib"
)

// Ways counts what the tests of a file, including failed ones, pass through in the files that it loads; runs with
// changed answers do not count.
func TestWays(t *testing.T) {
	fsys := fstest.MapFS{
		"flow.star": {Data: []byte(`
Grade = enum("low", "high")
grade = agent(output = Grade, prompt = "Grade.")
main = branch(grade, {"low": fn(lambda g: "again", input = Grade, output = str), "high": fn(lambda g: "done", input = Grade, output = str)})
`)},
		"flow_test.star": {Data: []byte(`
load("flow.star", "main")

own = agent(prompt = "Only of the test.")

def test_low(t):
    t.reply("grade", "low")
    t.eq(main("x"), "again")

def test_fails(t):
    t.reply("grade", "low")
    t.eq(main("x"), "done")
`)}}
	ways := func(o testrun.Options) []cover.Item {
		f := testrun.Load(t.Context(), fsys, "flow_test.star", o)
		if f.Broken {
			t.Fatal(f.Found)
		}
		passed := f.Run(t.Context(), f.Tests[0], nil)
		f.Run(t.Context(), f.Tests[1], nil)
		var mutated testrun.Mutations
		mutated.Add(t.Context(), f, passed, nil, 1)
		if len(mutated.Cases) == 0 {
			t.Fatalf("%+v", mutated.Left)
		}
		return f.Ways()
	}
	var got []string
	for _, it := range ways(testrun.Options{Ways: true}) {
		got = append(got, fmt.Sprintf("%s %s %d", it.Family, it, it.Count))
	}
	if want := strings.TrimSpace(`
agent flow.star:3:9: agent grade: called 2
variant flow.star:4:8: branch main: "low" 2
variant flow.star:4:8: branch main: "high" 0
edge flow.star:4:23: branch main: "low" 2
edge flow.star:4:82: branch main: "high" 0
`); strings.Join(got, "\n") != want {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	if got := ways(testrun.Options{}); got != nil {
		t.Errorf("nobody asked for %v", got)
	}
}

// With Apart, each test has what it ran itself, however many run concurrently, and with loading they add up to the
// usual counts.
func TestRan(t *testing.T) {
	fsys := fstest.MapFS{"flow.star": {Data: []byte(`
grade = agent(output = bool, prompt = "Grade.")
nodes = [branch(grade, {True: fn(lambda g: "yes"), False: fn(lambda g: "no")})]
def main(x):
    if x > 7:
        return fallback([lambda: fail("no"), lambda: nodes[0]("x")])
    return x
`)}}
	tests, names := "load(\"flow.star\", \"main\")\n", []string{""}
	for i := range 20 {
		names = append(names, fmt.Sprintf("test_%d", i))
		tests += fmt.Sprintf("def test_%d(t):\n    t.on(\"grade\", %s)\n    main(%d)\n", i, []string{"False", "True"}[i%2], i)
	}
	fsys["flow_test.star"] = &fstest.MapFile{Data: []byte(tests)}
	run := func(apart bool) *testrun.File {
		f := testrun.Load(t.Context(), fsys, "flow_test.star", testrun.Options{Ways: true, Apart: apart, Engine: []agentscript.Option{agentscript.WithCoverage()}})
		if f.Broken {
			t.Fatal(f.Found)
		}
		s := testrun.Selection{AtOnce: 4}
		s.RunAll(t.Context(), []*testrun.File{f}, func(*testrun.Report) {})
		return f
	}
	f, whole := run(true), run(false)
	sum := map[starlib.Place]int64{}
	add := func(places []starlib.Place) {
		for _, p := range places {
			n := p.Count
			if p.Count = 0; n > 0 && !testrun.IsTest(p.File) {
				sum[p] += n
			}
		}
	}
	items := [][]cover.Item{f.Ways()}
	var order []string
	for _, ran := range f.Ran() {
		order = append(order, ran.Test)
		add(ran.Places)
		items = append(items, ran.Ways)
		var lines []int
		for _, p := range ran.Places {
			if p.Kind == starlib.StatementPlace {
				lines = append(lines, p.Line)
			}
		}
		var n int
		want := []int{2, 3, 4}
		if _, err := fmt.Sscanf(ran.Test, "test_%d", &n); err == nil {
			if want = []int{5, 7}; n > 7 {
				want = []int{5, 6}
			}
		}
		if !slices.Equal(lines, want) {
			t.Errorf("%q ran lines %v, want %v", ran.Test, lines, want)
		}
		if ways := fmt.Sprint(ran.Ways); n > 7 && strings.Contains(ways, "True") != (n%2 == 1) {
			t.Errorf("%s went %s", ran.Test, ways)
		}
	}
	if !slices.Equal(order, names) {
		t.Errorf("noted are %q, want %q", order, names)
	}
	want := maps.Clone(sum)
	clear(sum)
	if add(whole.Module.Coverage()); !maps.Equal(sum, want) {
		t.Errorf("together the tests ran %v, want %v", want, sum)
	}
	if got, want := cover.Merge(items...), whole.Ways(); !slices.Equal(got, want) {
		t.Errorf("%v\nwant %v", got, want)
	}
	if whole.Ran() != nil {
		t.Error("nobody asked for what each test ran")
	}
}
