package testrun_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"testing/fstest"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/testrun"
)

const raceFlow = `
left = agent(name = "left", prompt = "Left.")
right = agent(name = "right", prompt = "Right.")
both = left / right
`

const raceTest = `
load("flow.star", "both")

def test_race(t):
    t.reply("*", "one", "two")
    t.eq(both("x")[0], "one")

def test_same(t):
    t.on("left", "one", delay = "2s")
    t.on("right", "two", delay = "1s")
    t.dir()
    t.eq(both("x")[0], "one")

def test_quiet_race(t):
    t.reply("*", "one", "two")
    both("x")
`

func load(t *testing.T, o testrun.Options, files map[string]string) *testrun.File {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	f := testrun.Load(t.Context(), fsys, "flow_test.star", o)
	if f.Broken {
		t.Fatal(f.Found)
	}
	return f
}

// A test that passes only in one order of its branches is flaky; one whose branches wait for themselves is not.
func TestRepeat(t *testing.T) {
	files := map[string]string{"flow.star": raceFlow, "flow_test.star": raceTest}
	f := load(t, testrun.Options{Repeat: 50}, files)
	var ends []testrun.Status
	var race *testrun.Flake
	for _, test := range f.Tests {
		r := f.Run(t.Context(), test, nil)
		t.Logf("%s: %s %v", r.Name, r.Status, r.Err)
		ends = append(ends, r.Status)
		if r.Name == "test_race" {
			race = r.Flake
		}
	}
	if ends[0] != testrun.Flaky || ends[1] != testrun.Passed || ends[2] != testrun.Flaky {
		t.Fatalf("the tests end %v", ends)
	}
	if race.Path == "" || race.Events[0] == race.Events[1] {
		t.Errorf("the flake does not say where the runs part: %+v", race)
	}
	for i, seed := range race.Seeds { // either seed alone repeats its run
		one := load(t, testrun.Options{Seed: seed}, files)
		if r := one.Run(t.Context(), one.Tests[0], nil); r.Status != race.Ends[i] {
			t.Errorf("with seed %d it is %s, and was %s", seed, r.Status, race.Ends[i])
		}
	}
}

// The directory of a test has the same path for each seed, and each run finds it empty: writing there makes no test
// flaky.
func TestRepeatWithDirectory(t *testing.T) {
	f := load(t, testrun.Options{Repeat: 3}, map[string]string{
		"flow.star": `
sort = agent(name = "sort", prompt = "Sort the files.")

def save(where = str, text = str):
    sort("the files in " + where)
    fs.write(where + "/a.txt", text)
    return fs.read(where + "/a.txt")
`,
		"flow_test.star": `
load("flow.star", "save")

def test_save(t):
    t.on("sort", "done")
    t.eq(fs.list(t.dir()), [])
    t.eq(save(t.dir(), "x"), "x")
    t.eq(t.dir(), "")
`,
	})
	r := f.Run(t.Context(), f.Tests[0], nil)
	if r.Status != testrun.Failed || r.Runs != 3 || r.Flake != nil {
		t.Fatalf("the test is %s after %d runs: %v, %+v", r.Status, r.Runs, r.Err, r.Flake)
	}
	dir := regexp.MustCompile(`agentscript-test-\d+`).FindString(r.Err.Error())
	if dir == "" {
		t.Fatalf("the test did not get to its end: %v", r.Err)
	}
	if _, err := os.Stat(filepath.Join(os.TempDir(), dir)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory %s is not removed: %v", dir, err)
	}
}

// A test whose tool ignores its context ends with its timeout, in virtual time and on a seed; the others run.
func TestTimeoutOfDeafTool(t *testing.T) {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	deaf := engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		<-release
		return engine.Outcome{}
	})
	files := map[string]string{"flow_test.star": `
def test_deaf(t):
    sh.run(["sleep", "1"])

def test_short(t):
    t.eq(1, 1)
`}
	for _, seed := range []uint64{0, 1} {
		f := load(t, testrun.Options{Seed: seed, Timeout: 20 * time.Millisecond, Live: engine.Handlers{engine.EffectExec: deaf}}, files)
		var results []*testrun.Result
		(&testrun.Selection{}).RunAll(t.Context(), []*testrun.File{f}, func(r *testrun.Report) { results = r.Results })
		if len(results) != 2 || results[0].Status != testrun.Failed || results[1].Status != testrun.Passed {
			t.Fatalf("with seed %d the tests end %+v", seed, results)
		}
		if e, ok := errors.AsType[*engine.Error](results[0].Err); !ok || e.Code != diag.Timeout {
			t.Errorf("with seed %d the test fails with %v", seed, results[0].Err)
		}
	}
}
