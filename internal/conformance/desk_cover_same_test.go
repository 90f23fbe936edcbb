package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/starlib"
)

// ledger is a journal that lists what is recorded; the answers of models are in the events.
type ledger struct {
	mu    sync.Mutex
	lines []string
}

func (l *ledger) Answer(string) (engine.Outcome, bool) { return engine.Outcome{}, false }

func (l *ledger) Commit(_ context.Context, id string, e *engine.Effect, out engine.Outcome) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf("%s %v %s %v", id, e.Kind, agentscript.Result{Value: out.Value}.JSON(), out.Err))
	return nil
}

var clockText = regexp.MustCompile(`"(time|at|elapsed|duration)":("[^"]*"|[0-9.e+-]+)`)

// traced runs a module and returns everything observable of the run.
func traced(t *testing.T, mod *agentscript.Module, opts ...agentscript.RunOption) string {
	t.Helper()
	var seen strings.Builder
	l := &ledger{}
	res, err := mod.Start(t.Context(), append(opts, agentscript.ID("run"), agentscript.Cooperative(1), agentscript.RunJournal(l),
		agentscript.OnEvent(engine.EventAll, func(e engine.Event) {
			line, err := json.Marshal(e)
			if err != nil {
				line = []byte(err.Error())
			}
			fmt.Fprintf(&seen, "%s\n", clockText.ReplaceAll(line, nil))
		}))...).Wait()
	fmt.Fprintf(&seen, "%s\n%v\n%s\n", strings.Join(l.lines, "\n"), err, res.Text())
	return seen.String()
}

func firstDifference(plain, covered string) string {
	a, b := strings.Split(plain, "\n"), strings.Split(covered, "\n")
	for i := range max(len(a), len(b)) {
		if lineAt(a, i) != lineAt(b, i) {
			return "plain\n" + lineAt(a, i) + "\ncovered\n" + lineAt(b, i)
		}
	}
	return ""
}

// Promise 27.53 (desk): a run with coverage has the same digests, results and steps as a plain run.
func TestPromise_27_53_SameRun(t *testing.T) {
	files, err := filepath.Glob(repository("examples/*.star"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.star") {
			continue
		}
		rel := "examples/" + filepath.Base(file)
		grants := agentscript.WithUngranted()
		plain, covered := loadedFile(t, agentscript.New(grants), rel), loadedFile(t, agentscript.New(grants, agentscript.WithCoverage()), rel)
		if plain.Hash() != covered.Hash() {
			t.Errorf("%s: another hash", rel)
		}
		if a, b := fmt.Sprint(plain.Names(), plain.Diagnostics()), fmt.Sprint(covered.Names(), covered.Diagnostics()); a != b {
			t.Errorf("%s: plain %s, covered %s", rel, a, b)
		}
		for _, p := range covered.TakeCoverage() {
			if p.Kind == starlib.StatementPlace && p.Function == "" && p.Count == 0 {
				t.Errorf("%v: a statement that loading executes is not counted", p.Pos)
			}
		}
	}
	for i := range examples {
		ex := &examples[i]
		// One parsed tree serves both: it is unchanged.
		grants, parsed := agentscript.WithUngranted(), agentscript.WithParsed(agentscript.NewParsed())
		covered := loadedFile(t, agentscript.New(grants, parsed, agentscript.WithCoverage()), "examples/"+ex.File)
		plain := loadedFile(t, agentscript.New(grants, parsed), "examples/"+ex.File)
		answers, _ := os.ReadFile(repository("examples/" + strings.TrimSuffix(ex.File, ".star") + ".jsonl"))
		run := func(mod *agentscript.Module, limit int64) string {
			models, err := scripted.Read(strings.NewReader(string(answers)), ex.File)
			if err != nil {
				t.Fatal(err)
			}
			limits := engine.Limits{Steps: engine.AtMost(limit)}
			return traced(t, mod, append(ex.Options(t, repository("")), agentscript.HandlerFor(engine.EffectModel, models), agentscript.RunLimits(limits))...)
		}
		for _, limit := range []int64{0, 1, 40, 100, 200, 300, 500, 700, 1000, 10_000, 20_000, agentscript.DefaultSteps} {
			if diff := firstDifference(run(plain, limit), run(covered, limit)); diff != "" {
				t.Errorf("%s with %d steps: %s", ex.Name(), limit, diff)
			}
		}
	}
}

// countingFlow computes in branches, with budgets of steps that are exhausted in the middle.
const countingFlow = `
def work(n):
    t = 0
    for i in range(n * 37):
        if i % 3 == 0 and i > 7:
            continue
        elif i % 5 == 0:
            pass
        else:
            t += i if i % 2 else (lambda x: x - 1)(i)
        while t > 1000:
            t -= 999
            if t == 7:
                break
    return t + len([x for x in range(n) if x % 2])

a = fn(work, input = int, output = int)
b = fn(lambda n: work(n + 1), input = int, output = int)
c = fn(lambda n: work(n) if n > 3 else 0, input = int, output = int)
all = a / b / c

def main():
    out = []
    for n in range(1, 12):
        print(n, out)
        got = attempt(all, n)
        out.append(got.value if got.ok else got.error.message)
    return str(out)
`

// A covered run stops at the same instruction as a plain one, for any budget.
func TestCoveredBudgets(t *testing.T) {
	plain, covered := loaded(t, agentscript.New(), countingFlow), loaded(t, agentscript.New(agentscript.WithCoverage()), countingFlow)
	for limit := int64(1); limit < 60_000; limit += 997 {
		limits := agentscript.RunLimits(engine.Limits{Steps: engine.AtMost(limit)})
		if diff := firstDifference(traced(t, plain, limits), traced(t, covered, limits)); diff != "" {
			t.Fatalf("with %d steps: %s", limit, diff)
		}
	}
}

// shapesFlow makes calls in every way, out of closures, comprehensions, arms, short circuits and recursion.
const shapesFlow = `
load("lib.star", "fact", lib = "count")
load("./lib.star", again = "count")

one = agent("one", input = int, output = int, run = lambda n: fail("no") if n % 3 == 0 else n)
two = agent("two", input = int, output = int, run = lambda n: n + 1)

def chosen(n):
    if n < 0: return -1
    for i in range(n):
        if i == 3: return i
        if i % 2: continue
    return (n > 2 and fact(n)) or [x for x in [n] if x][:1] and n

def closures(n):
    fs = [lambda x = i: x * n for i in range(3)]
    def inner(k):
        def deeper():
            return k + sum([f() for f in fs])
        return deeper if k else lambda: 0
    return inner(n)() + {k: v for k, v in [("a", n)]}["a"]

def tried(n):
    got = attempt(lambda: retry(one, n, max = 2))
    return got.value if got.ok else fallback([(one, n), lambda: fail("x" * n), lambda: two(n)])

def main():
    out = []
    for n in range(6):
        out.append(tried(n))
        out.append(race([one, two], n) if n % 3 == 0 else chosen(n))
        out.extend([a.ok for a in parallel(one, range(n), on_error = "keep")])
        out.extend(stream([n, n + 1], one, two, on_error = "drop"))
        out.append([lib(n), again(n), closures(n)])
        print(n, out[-1])
    return str(out)
`

// The results, ids, digests and steps of every form of code are those of a plain run, wherever it stops.
func TestCoveredShapes(t *testing.T) {
	const lib = `
def fact(n):
    return 1 if n < 2 else n * fact(n - 1)

count = lambda n: len([1 for a in range(n) for b in range(a) if a % 2 or b % 2])
`
	parsed := agentscript.WithParsed(agentscript.NewParsed())
	plain, covered := loaded(t, agentscript.New(parsed), shapesFlow, "lib.star", lib), loaded(t, agentscript.New(parsed, agentscript.WithCoverage()), shapesFlow, "lib.star", lib)
	if plain.Hash() != covered.Hash() {
		t.Error("another hash")
	}
	for limit := int64(1); limit < 6000; limit = limit*11/10 + 1 {
		limits := agentscript.RunLimits(engine.Limits{Steps: engine.AtMost(limit)})
		if diff := firstDifference(traced(t, plain, limits), traced(t, covered, limits)); diff != "" {
			t.Fatalf("with %d steps: %s", limit, diff)
		}
	}
	covered.TakeCoverage()
	if seen := traced(t, covered); !strings.Contains(seen, "[0, 0, 0]") {
		t.Errorf("the flow ends with %s", seen)
	}
	files, ways := map[string]int{}, 0
	for _, p := range covered.Coverage() {
		if files[p.File]++; p.Kind == starlib.WayPlace {
			ways++
		}
	}
	if len(files) != 2 || ways != 10 {
		t.Errorf("%d ways in the files %v", ways, files)
	}
}

// A file of ten thousand lines is counted line by line.
func TestCoveredLongFile(t *testing.T) {
	var src strings.Builder
	src.WriteString("def main(n = int):\n    x = 0\n")
	const blocks = 3333
	for i := range blocks {
		fmt.Fprintf(&src, "    if n == %d:\n        x += attempt(lambda: %d).value\n    x += 1\n", i, i)
	}
	src.WriteString("    return x\n")
	plain, covered := loaded(t, agentscript.New(), src.String()), loaded(t, agentscript.New(agentscript.WithCoverage()), src.String())
	args := agentscript.Args(map[string]any{"n": 77})
	if diff := firstDifference(traced(t, plain, args), traced(t, covered, args)); diff != "" {
		t.Fatal(diff)
	}
	missed := 0
	for _, p := range covered.Coverage() {
		if p.Count > 1 {
			t.Fatalf("%v: %d", p.Pos, p.Count)
		}
		if p.Kind == starlib.StatementPlace && p.Count == 0 {
			missed++
		}
	}
	if missed != blocks-1 {
		t.Errorf("%d statements did not run, want %d", missed, blocks-1)
	}
}

// Branches count concurrently, under the race detector.
func TestCoveredBranches(t *testing.T) {
	mod := loaded(t, agentscript.New(agentscript.WithCoverage()), countingFlow)
	var wait sync.WaitGroup
	const runs = 8
	for range runs {
		wait.Go(func() {
			if _, err := mod.Start(t.Context()).Wait(); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	for _, p := range mod.Coverage() {
		if p.Line == 3 && p.Count != runs*11*3-runs*3 {
			t.Errorf("t = 0 ran %d times", p.Count)
		}
	}
}
