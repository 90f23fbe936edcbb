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

// ledger is a journal that lists what is recorded; what models answer is in the events.
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

// traced runs a module and writes down all that can be seen of the run.
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

// Promise 27.53 (desk): a covered run has the digests, results and steps of a plain run.
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
		// One parsed tree serves both: it is left as it was written.
		grants, parsed := agentscript.WithUngranted(), agentscript.WithParsed(agentscript.NewParsed())
		covered := loadedFile(t, agentscript.New(grants, parsed, agentscript.WithCoverage()), "examples/"+ex.file)
		plain := loadedFile(t, agentscript.New(grants, parsed), "examples/"+ex.file)
		answers, _ := os.ReadFile(repository("examples/" + strings.TrimSuffix(ex.file, ".star") + ".jsonl"))
		run := func(mod *agentscript.Module, limit int64) string {
			models, err := scripted.Read(strings.NewReader(string(answers)), ex.file)
			if err != nil {
				t.Fatal(err)
			}
			limits := engine.Limits{Steps: engine.AtMost(limit)}
			return traced(t, mod, append(ex.options(t), agentscript.HandlerFor(engine.EffectModel, models), agentscript.RunLimits(limits))...)
		}
		for _, limit := range []int64{0, 1, 40, 100, 200, 300, 500, 700, 1000, 10_000, 20_000, agentscript.DefaultSteps} {
			if diff := firstDifference(run(plain, limit), run(covered, limit)); diff != "" {
				t.Errorf("%s with %d steps: %s", ex.name(), limit, diff)
			}
		}
	}
}

// countingFlow computes in branches, with budgets of steps that run out in the middle.
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

// A covered run stops at the same instruction as a plain one, whichever its budget.
func TestCoveredBudgets(t *testing.T) {
	plain, covered := loaded(t, agentscript.New(), countingFlow), loaded(t, agentscript.New(agentscript.WithCoverage()), countingFlow)
	for limit := int64(1); limit < 60_000; limit += 997 {
		limits := agentscript.RunLimits(engine.Limits{Steps: engine.AtMost(limit)})
		if diff := firstDifference(traced(t, plain, limits), traced(t, covered, limits)); diff != "" {
			t.Fatalf("with %d steps: %s", limit, diff)
		}
	}
}

// Branches count at once. The race detector looks on.
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
