package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/internal/cli"
	console "github.com/agentscript/agentscript/internal/cli/term"
)

// runNames matches names that no two runs share.
var runNames = regexp.MustCompile(`"run":"[0-9a-f]+"`)

// inside runs the command in this process, in the directory of the repository.
func inside(t *testing.T, args ...string) output {
	t.Helper()
	var stdout, stderr strings.Builder
	code := cli.Execute(&console.Process{
		Args: args, Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr,
		LookupEnv: os.LookupEnv,
		Signals:   func() (<-chan os.Signal, func()) { return nil, func() {} },
		Kill:      func(code int) { t.Errorf("killed with %d", code) },
	})
	return output{code, stdout.String(), runNames.ReplaceAllString(stderr.String(), `"run":"…"`)}
}

// same runs a command repeatedly and requires the same result and events each time.
func same(t *testing.T, times int, args ...string) output {
	t.Helper()
	first := inside(t, args...)
	for n := range times - 1 {
		if again := inside(t, args...); again != first {
			t.Errorf("%s: run %d differs: exit code %d, then %d\n%s\n%s\n%s", strings.Join(args, " "), n+2, first.code, again.code, first.stdout, again.stdout, differing(first.stderr, again.stderr))
			break
		}
	}
	return first
}

// differing returns the first lines in which two texts differ.
func differing(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return fmt.Sprintf("line %d:\n%s\n%s", i+1, as[i], bs[i])
		}
	}
	return "one is longer"
}

// files writes files into a directory and returns it.
func files(t *testing.T, namesAndTexts ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i+1 < len(namesAndTexts); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, namesAndTexts[i]), []byte(namesAndTexts[i+1]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// times returns how often to run what must be the same each time.
func times() int {
	if testing.Short() {
		return 10
	}
	return 100
}

// Promise 26.50 (sound): 100 of 100 scripted runs have equal results and events, for every example whose
// tools are pure or recorded, and so have 100 of 100 replays of a recorded race.
func TestPromise_26_50_SameEveryTime(t *testing.T) {
	var lines [][]string // determined in the directory where the answers are found
	var want []string
	for i := range examples {
		if line := examples[i].Line(repository("")); slices.Contains(line, "--scripted") {
			lines, want = append(lines, line), append(want, examples[i].Want)
		}
	}
	if len(lines) < 20 {
		t.Errorf("%d examples have answers", len(lines))
	}
	t.Chdir(repository(""))
	for i, line := range lines {
		if out := same(t, times(), slices.Insert(line, 1, "--json")...); out.code != 0 || out.stdout != want[i]+"\n" {
			t.Errorf("%s: exit code %d, %s", strings.Join(line, " "), out.code, out.stdout)
		}
	}
	t.Chdir(files(t, "race.star", racing, "answers.jsonl", racers, "shared.star", sharing, "any.jsonl", `{"agent": "*", "text": "ok", "repeat": true}`))
	if shared := same(t, times(), "run", "shared.star", "--json", "--scripted", "any.jsonl", "--max-model-calls", "100"); shared.code != 0 {
		t.Errorf("exit code %d, %s\n%s", shared.code, shared.stdout, shared.stderr)
	}
	recorded := same(t, times(), "run", "race.star", "x", "--json", "--scripted", "answers.jsonl", "--record", "calls.jsonl", "--force")
	if recorded.code != 0 || recorded.stdout != "[\"quick\",\"first\",\"mended: the second is broken\"]\n" {
		t.Errorf("exit code %d, %s\n%s", recorded.code, recorded.stdout, recorded.stderr)
	}
	replayed := same(t, times(), "run", "race.star", "x", "--json", "--replay", "calls.jsonl")
	if replayed.code != 0 || replayed.stdout != recorded.stdout || strings.Contains(replayed.stderr, "did not make") {
		t.Errorf("exit code %d, %s\n%s", replayed.code, replayed.stdout, replayed.stderr)
	}
}

// sharing has branches that share notes and a budget.
const sharing = `
notes = memory("notes", shared = True)

def work(n):
    return agent(name = "w%d" % n, prompt = "Work.", memory = notes)

workers = [work(n) for n in range(8)]

def one(n):
    before = budget.remaining().model_calls
    answer = workers[n]("go")
    notes.append("%d %s, %d then %d" % (n, answer, before, budget.remaining().model_calls))
    return notes.read()

def main():
    return parallel(one, [n for n in range(8)])
`

// racing has races decided by the delays of answers, by source order, and by a failure that ends others.
const racing = `
slow = agent(prompt = "Be thorough.")
quick = agent(prompt = "Be quick.")
after = agent(prompt = "Go on.")
first = agent(prompt = "Say it.")
second = agent(prompt = "Say it as well.")
whole = agent(prompt = "Say all.")
broken = agent(prompt = "Say nothing.")
never = agent(prompt = "This is not asked.")
mend = fn(lambda s: "mended: the second is broken", input = str, output = str)

main = race(slow >> after, quick) / race(first, second) / fallback((whole >> never) / broken >> fn(lambda l: l[0], input = list[str], output = str), mend)
`

// racers answer it. The answers of the agents that follow slow and whole, and of second, are never used.
const racers = `{"agent": "slow", "text": "slow", "delay": 2}
{"agent": "after", "text": "slow and sure"}
{"agent": "quick", "text": "quick", "delay": 1}
{"agent": "second", "text": "second"}
{"agent": "first", "text": "first"}
{"agent": "whole", "text": "whole", "delay": 5}
{"agent": "never", "text": "never"}
{"agent": "broken", "error": {"kind": "refused"}, "delay": 3}
`

// Promise 26.51 (sound): a scripted run uses virtual time: answer delays, wall budgets and tool timeouts
// pass instantly; --timeout, Ctrl-C and a real tool's own timeout stay real.
func TestPromise_26_51_VirtualTime(t *testing.T) {
	t.Chdir(files(t, "wall.star", `
slow = agent(prompt = "Be slow.", budget = budget(wall = "2h"))
main = attempt(slow) >> fn(lambda a: a.error.message if a.error else a.value, input = Attempt[str], output = str)
`, "tool.star", `
helper = agent(prompt = "Help.")

def ask(question = str):
    """Asks."""
    return helper(question)

main = agent(prompt = "Ask your helper.", tools = [tool(ask, effect = "read", timeout = "1m")])
`, "shell.star", `
def main():
    a = attempt(lambda: sh.run(["sleep", "7200"], timeout = "50ms"))
    return a.error.kind
`, "late.jsonl", `{"agent": "slow", "text": "late", "delay": "2h1s"}`,
		"in_time.jsonl", `{"agent": "slow", "text": "in time", "delay": "1h59m"}`,
		"tool.jsonl", `{"agent": "main", "calls": [{"name": "ask", "args": {"question": "q"}}]}
{"agent": "helper", "text": "x", "delay": "61s"}
{"agent": "main", "text": "no help"}`,
		"no.jsonl", ""))
	for _, tt := range []struct {
		args           []string
		stdout, stderr string
	}{
		{[]string{"wall.star", "x", "--scripted", "late.jsonl"}, "agent \"slow\" used up its time of 2h0m0s\n", "120m00s"},
		{[]string{"wall.star", "x", "--scripted", "in_time.jsonl"}, "in time\n", "119m00s"},
		{[]string{"tool.star", "x", "--scripted", "tool.jsonl"}, "no help\n", `did not end within 1m0s`},
		{[]string{"--allow-exec", "sleep", "shell.star", "--scripted", "no.jsonl"}, "timeout\n", ""},
	} {
		out := same(t, 5, append([]string{"run"}, tt.args...)...)
		if out.code != 0 || out.stdout != tt.stdout || !strings.Contains(out.stderr, tt.stderr) {
			t.Errorf("%s: exit code %d, %q\n%s", tt.args, out.code, out.stdout, out.stderr)
		}
	}
	if out := inside(t, "run", "--allow-exec", "sleep", "shell.star", "--scripted", "no.jsonl", "--timeout", "1ms"); out.code != console.ExitTimeout {
		t.Errorf("--timeout: exit code %d\n%s", out.code, out.stderr)
	}
}

// Promise 26.52 (sound): in virtual time real effects run concurrently, can be cancelled, take no virtual time, and
// are delivered in written order; rows of cancelled losers do not count as left over. In Go it is a run
// option.
func TestPromise_26_52_RealEffects(t *testing.T) {
	const src = `
def work(n):
    return agent(name = "w%d" % n, prompt = "Work.", tools = [nap])

quick = agent(prompt = "Be quick.")
long = agent(prompt = "Sleep.", tools = [nap])
after = agent(prompt = "Go on.")
main = work(0) / work(1) / work(2) / work(3) / race(quick, long >> after)
`
	var rows []scripted.Row
	answer := func(agent, text string, delay time.Duration) {
		rows = append(rows, scripted.Row{Agent: agent, Text: &text, Delay: delay})
	}
	call := func(agent string, seconds int) {
		rows = append(rows, scripted.Row{Agent: agent, Calls: []scripted.Call{{Name: "nap", Args: fmt.Appendf(nil, `{"seconds": %d}`, seconds)}}})
	}
	for n := range 4 {
		call(fmt.Sprint("w", n), 10-n)
		answer(fmt.Sprint("w", n), fmt.Sprint("worked ", n), time.Minute)
	}
	call("long", 3600)
	answer("long", "never", 0)
	answer("after", "never", 0)
	answer("quick", "quick", 0)
	var first []string
	for range times() {
		synctest.Test(t, func(t *testing.T) {
			var cancelled atomic.Int32
			nap, err := agentscript.ToolFunc("nap", "Naps.", func(ctx context.Context, a struct {
				Seconds int `json:"seconds"`
			}) (string, error) {
				select {
				case <-ctx.Done():
					cancelled.Add(1)
					return "", ctx.Err()
				case <-time.After(time.Duration(a.Seconds) * time.Second):
					return fmt.Sprint(a.Seconds, " seconds"), nil
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			models := scripted.New(rows)
			mod := loaded(t, agentscript.New(agentscript.WithModels(models), agentscript.WithTool(nap), agentscript.WithDefaultModel("scripted/one")), src)
			var events []string
			begun := time.Now()
			res, err := mod.Start(t.Context(), input("x"), agentscript.ID("same"), agentscript.VirtualTime(), agentscript.OnEvent(engine.EventAll, func(e engine.Event) {
				line, err := json.Marshal(e)
				if err != nil {
					t.Error(err)
				}
				events = append(events, string(line))
			})).Wait()
			if want := `["worked 0","worked 1","worked 2","worked 3","quick"]`; err != nil || res.JSON() != want || models.Err() != nil {
				t.Errorf("%s, %v, left over: %v", res.JSON(), err, models.Err())
			}
			if took := time.Since(begun); took != 10*time.Second || cancelled.Load() > 1 {
				t.Errorf("it took %s of the machine's time, and %d naps were cancelled", took, cancelled.Load())
			}
			if first == nil {
				first = events
			}
			if !slices.Equal(events, first) {
				t.Errorf("the events differ: %s", differing(strings.Join(events, "\n"), strings.Join(first, "\n")))
			}
			var ends []string // of the naps
			for _, line := range events {
				if strings.Contains(line, `"kind":"tool"`) && strings.Contains(line, `"phase":"end"`) {
					ends = append(ends, regexp.MustCompile(`agent:(\w+)`).FindStringSubmatch(line)[1])
				}
			}
			if !slices.IsSorted(ends) || len(ends) < 4 {
				t.Errorf("the naps ended in the order %v", ends)
			}
		})
		if t.Failed() {
			break
		}
	}
}

// For a branch that was cut off in code, only the rows of agents that it may call do not count as unused, whether it
// is in a function or in a tool that it refers to.
func TestRowsOfCutOffCode(t *testing.T) {
	t.Chdir(files(t, "flow.star", `
helper = agent("helper", prompt = "x")
def ask(x = str):
    """Asks."""
    return helper(x)
quick = agent("quick", prompt = "x")
slow = agent("slow", prompt = "x", tools = [ask])
other = agent("other", prompt = "x")
def main(s = str):
    return race([quick, lambda x: slow(x)], s) + other(s)
`, "composed.star", `
load("flow.star", "quick", "slow", "other")
main = race([quick, slow]) >> other
`))
	rows := `{"agent": "quick", "text": "quick "}
{"agent": "slow", "calls": [{"name": "ask", "args": {"x": "1"}}], "delay": 1}
{"agent": "helper", "text": "never"}
{"agent": "slow", "text": "never"}
{"agent": "other", "text": "done"}
`
	if err := errors.Join(os.WriteFile("rows.jsonl", []byte(rows), 0o666), os.WriteFile("more.jsonl", []byte(rows+`{"agent": "other", "text": "again"}`), 0o666)); err != nil {
		t.Fatal(err)
	}
	for _, script := range [][]string{{"flow.star", "--s", "x"}, {"composed.star", "x"}} {
		for rows, want := range map[string]string{"rows.jsonl": "", "more.jsonl": `line 6, agent "other"`} {
			out := inside(t, append([]string{"run", "-q", "--scripted", rows}, script...)...)
			if (out.code == 0) != (want == "") || !strings.Contains(out.stderr, want) {
				t.Errorf("%s, %s: exit code %d\n%s", script, rows, out.code, out.stderr)
			}
		}
	}
}

// Promise 26.53 (sound): the error for a call without a row shows a skeleton row of the agent's type and mentions
// "repeat": true; a row for an unknown agent is reported by name.
func TestPromise_26_53_Skeleton(t *testing.T) {
	t.Chdir(files(t, "flow.star", `
Finding = schema("A finding", text = str, line = field(int, ge = 1), tags = field(list[str], default = []))
Fine = schema("It is fine")
Bad = schema("It is bad", findings = list[Finding], grade = field(enum("low", "high")))
Verdict = union("What it is", Fine, Bad)
critic = agent(output = Verdict, prompt = "Judge.")
teller = agent(prompt = "Tell it.")
lister = agent(output = list[Bad], prompt = "List.")
main = critic >> fn(lambda v: "x", input = Verdict, output = str) >> teller >> lister
`, "none.jsonl", "", "one.jsonl", `{"agent": "critic", "json": {"type": "Fine"}}`,
		"typo.jsonl", `{"agent": "critik", "json": {"type": "Fine"}}`+"\n"+`{"agent": "teller", "text": "x"}`+"\n"+`{"agent": "tell#0", "text": "x"}`))
	for _, tt := range []struct {
		file string
		says []string
	}{
		{"none.jsonl", []string{"AS714", `{"agent": "critic", "json": {"type": "Fine"}}`, `"repeat": true`}},
		{"one.jsonl", []string{"AS714", `{"agent": "teller", "text": "…"}`, `"repeat": true`}},
		{"typo.jsonl", []string{"AS714", `typo.jsonl:1`, `"critik"`, `did you mean "critic"?`, "typo.jsonl:3", `"tell"`}},
	} {
		out := inside(t, "run", "-q", "flow.star", "x", "--scripted", tt.file)
		if out.code != 1 && out.code != 2 {
			t.Errorf("%s: exit code %d", tt.file, out.code)
		}
		for _, says := range tt.says {
			if !strings.Contains(out.stderr, says) {
				t.Errorf("%s: stderr lacks %q:\n%s", tt.file, says, out.stderr)
			}
		}
	}
	rows := ""
	for range 3 { // what is shown is a row that answers
		if err := os.WriteFile("none.jsonl", []byte(rows), 0o666); err != nil {
			t.Fatal(err)
		}
		shown := regexp.MustCompile(`add (\{.*\}) to none.jsonl`).FindStringSubmatch(inside(t, "run", "-q", "flow.star", "x", "--scripted", "none.jsonl").stderr)
		if shown == nil {
			t.Fatalf("no row is shown after\n%s", rows)
		}
		rows += shown[1] + "\n"
	}
	if err := os.WriteFile("none.jsonl", []byte(rows), 0o666); err != nil {
		t.Fatal(err)
	}
	if out := inside(t, "run", "-q", "flow.star", "x", "--scripted", "none.jsonl"); out.code != 0 || out.stdout != `[{"findings":[{"text":"…","line":1,"tags":["…"]}],"grade":"low"}]`+"\n" {
		t.Errorf("exit code %d, %s\n%s\n%s", out.code, out.stdout, out.stderr, rows)
	}
}
