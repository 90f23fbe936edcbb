package testrun_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agentscript/agentscript/engine/cover"
	"github.com/agentscript/agentscript/internal/testrun"
)

// Ways counts what the tests of a file go through, the failed ones too, in the files that it loads; runs with changed
// answers do not count.
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
		for _, test := range f.Tests {
			f.Run(t.Context(), test, nil)
		}
		if _, err := f.Mutate(t.Context(), f.Tests[0], 1); err != nil {
			t.Fatal(err)
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
