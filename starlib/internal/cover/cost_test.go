package cover_test

import (
	"maps"
	"testing"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript/internal/testenv"
	"github.com/agentscript/agentscript/starlib/internal/bounds"
	"github.com/agentscript/agentscript/starlib/internal/cover"
)

// scripts are a loop that only computes, and one that works on data.
var scripts = map[string]string{
	"loop": `
def run(n):
    x = 0
    y = 0
    for i in range(n):
        x = x + i
        if x > 1000:
            x = x - 1000
        y = y + 1
        z = x * 2
        x = z // 3
        y = 1
    return x
`,
	"data": `
def clean(row):
    name = row["name"].strip().lower()
    tags = [t.upper() for t in row["tags"] if t]
    return {"name": name, "tags": sorted(tags), "key": "%s:%d" % (name, len(tags))}

def run(n):
    rows = [{"name": " Row %d " % i, "tags": ["a", "", "b%d" % i, "c"]} for i in range(n // 100)]
    seen = {}
    for row in rows:
        made = clean(row)
        seen[made["key"]] = ",".join(made["tags"])
    return len(seen)
`,
}

func compiledRun(t testing.TB, src string, covered bool) starlark.Value {
	t.Helper()
	tree, err := options.Parse("x.star", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	env := bounds.Guards(64 << 20)
	undo := bounds.Rewrite(tree, starlark.Universe.Has)
	prog, err := starlark.FileProgram(tree, env.Has)
	undo()
	if err != nil {
		t.Fatal(err)
	}
	if covered {
		file := (&cover.Counters{}).Add(tree)
		undo := bounds.Rewrite(tree, starlark.Universe.Has)
		probes, unprobe := file.Insert(tree, starlark.Universe.Has)
		maps.Copy(env, probes)
		probed, err := starlark.FileProgram(tree, env.Has)
		unprobe()
		undo()
		if err != nil {
			t.Fatal(err)
		}
		if prog, err = file.Aligned(prog, probed); err != nil {
			t.Fatal(err)
		}
	}
	globals, err := prog.Init(&starlark.Thread{}, env)
	if err != nil {
		t.Fatal(err)
	}
	return globals["run"]
}

func runs(t testing.TB, run starlark.Value, n int) (steps uint64) {
	thread := &starlark.Thread{}
	if _, err := starlark.Call(thread, run, starlark.Tuple{starlark.MakeInt(n)}, nil); err != nil {
		t.Fatal(err)
	}
	return thread.Steps
}

// Promise 27.54 (desk): a plain run contains no probes; a tight loop with coverage costs at most 1.7 times the plain
// loop.
//
// The test measures no time: the probes of a loop are created when it begins and then allocate nothing, and the loop
// with coverage takes the same steps as the plain one. BenchmarkCover measures the times.
func TestPromise_27_54_Cost(t *testing.T) {
	plain, covered := compiledRun(t, scripts["loop"], false), compiledRun(t, scripts["loop"], true)
	allocs := func(run starlark.Value, n int) float64 { return testenv.LeastAllocs(3, func() { runs(t, run, n) }) }
	few, many := allocs(covered, 100)-allocs(plain, 100), allocs(covered, 10_000)-allocs(plain, 10_000)
	if few > 60 || many > few+5 {
		t.Errorf("probes allocate %v times in 100 rounds, %v times in 10,000", few, many)
	}
	if a, b := runs(t, plain, 1000), runs(t, covered, 1000); a != b {
		t.Errorf("plain %d steps, covered %d", a, b)
	}
}
