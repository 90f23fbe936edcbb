package conformance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
)

// file writes a script or an input into a new directory and returns its path.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// prints requires a run's stdout and exit code.
func prints(t *testing.T, got output, want string) {
	t.Helper()
	if got.code != 0 || got.stdout != want+"\n" {
		t.Errorf("exit %d, stdout %q, want %q\n%s", got.code, got.stdout, want, got.stderr)
	}
}

// stops requires an exit code, nothing on stdout, and words on stderr.
func stops(t *testing.T, got output, code int, words ...string) {
	t.Helper()
	if got.code != code || got.stdout != "" {
		t.Errorf("exit %d, want %d; stdout %q\n%s", got.code, code, got.stdout, got.stderr)
	}
	for _, w := range words {
		if !strings.Contains(got.stderr, w) {
			t.Errorf("stderr lacks %q:\n%s", w, got.stderr)
		}
	}
	if strings.Contains(got.stderr, "goroutine ") {
		t.Errorf("a Go stack is shown:\n%s", got.stderr)
	}
}

const greets = `
def main(name = str, times = field(int, "how often", default = 1, ge = 1), loud = False):
    """Greets somebody.

    Args:
      name: whom to greet
    """
    text = " ".join(["hello " + name for _ in range(times)])
    return text.upper() if loud else text
`

// Promise 8.1 (command line): only the result goes to stdout; progress and diagnostics go to stderr.
func TestPromise_8_1_Streams(t *testing.T) {
	got := offline(t, "run", "-v", "examples/shapes.star", "circle")
	prints(t, got, "circle r=6.0")
	if !strings.Contains(got.stderr, "main/circle") {
		t.Errorf("no progress on stderr: %q", got.stderr)
	}
	prints(t, offline(t, "run", "-q", file(t, "j.star", `main = fn(lambda n: {"n": n, "half": n / 2}, input = int)`), "3"), `{"n":3,"half":1.5}`)
	stops(t, offline(t, "run", file(t, "bad.star", "main = nothing\n"), "x"), 3, "error[AS201]", "bad.star:1:8")
}

// Promise 8.2 (command line): input comes from the argument, `--input-json`, `--input-file` or
// stdin, and is converted by the type of `main`.
func TestPromise_8_2_Inputs(t *testing.T) {
	sum := file(t, "sum.star", "P = schema(\"a pair\", a = int, b = float)\nmain = fn(lambda p: p.a + p.b, input = P, output = float)\n")
	const pair = `{"a": 1, "b": 2}`
	for _, how := range [][]string{{pair}, {"--input-json", pair}, {"--input-file", file(t, "in.json", pair)}, {"```json\n" + pair + "\n```"}} {
		prints(t, offline(t, append([]string{"run", "-q", sum}, how...)...), "3.0")
	}
	stops(t, offline(t, "run", "-q", sum, `{"a": "x"}`), 2, "AS716", "a", "b")
}

// Promise 8.3 (command line): the parameters of `def main` are flags, with their types, defaults and
// help.
func TestPromise_8_3_Flags(t *testing.T) {
	script := file(t, "greet.star", greets)
	prints(t, offline(t, "run", "-q", script, "--name", "Ada"), "hello Ada")
	prints(t, offline(t, "run", "-q", script, "--name=Ada", "--times", "2", "--loud"), "HELLO ADA HELLO ADA")
	stops(t, offline(t, "run", "-q", script, "--nam", "Ada"), 2, `--name`)
	stops(t, offline(t, "run", "-q", script, "--name", "Ada", "--times", "many"), 2, "times", "whole number")
	help := offline(t, "run", script, "--help")
	for _, w := range []string{"Greets somebody", "--name", "whom to greet", "--times", "how often", "--loud"} {
		if !strings.Contains(help.stdout+help.stderr, w) {
			t.Errorf("the help lacks %q", w)
		}
	}
}

// Promise 8.4 (command line): `--model` overrides the model of all agents or of the agent it names.
func TestPromise_8_4_ModelFlag(t *testing.T) {
	script := file(t, "m.star", "a = agent(model = \"openai/one\", prompt = \"A\")\nb = agent(prompt = \"B\")\nmain = a >> b\n")
	stops(t, offline(t, "run", "-q", script, "x", "--model", "nowhere/two"), 6, "AS708", "nowhere/two")
	stops(t, offline(t, "run", "-q", script, "x", "--model", "b=nowhere/three", "--model", "ollama/x"), 6, "AS708", "nowhere/three")
	stops(t, offline(t, "run", "-q", script, "x", "--model", "c=ollama/x"), 2, `c`)
}

// Promise 8.5 (command line): `--scripted` answers every model call from a file, without keys or
// network.
func TestPromise_8_5_ScriptedFlag(t *testing.T) {
	prints(t, offline(t, "run", "-q", "examples/review.star", "x", "--scripted", "examples/review.jsonl"), "Deployed with confidence 0.95")
	stops(t, offline(t, "run", "-q", "examples/review.star", "x", "--scripted", file(t, "none.jsonl", "")), 1, "AS714", "reviewer")
	left := offline(t, "run", "-q", "examples/count.star", "0", "--scripted", "examples/review.jsonl")
	if left.code != 1 || !strings.Contains(left.stderr, "AS714") {
		t.Errorf("answers left over: exit %d\n%s", left.code, left.stderr)
	}
	// A command that fails because of unused answers leaves its session unchanged.
	store, chat := t.TempDir(), file(t, "chat.star", "main = agent(name = \"a\", prompt = \"P.\", history = \"shared\")\n")
	for _, rows := range []string{`{"agent": "a", "text": "one"}` + "\n" + `{"agent": "a", "text": "two"}` + "\n", `{"agent": "a", "text": "fine"}` + "\n"} {
		offline(t, "run", "-q", chat, "x", "--scripted", file(t, "rows.jsonl", rows), "--session", "s", "--session-store", store)
	}
	shown := offline(t, "sessions", "show", "s", "--session-store", store)
	if shown.code != 0 || strings.Contains(shown.stdout, "one") || !strings.Contains(shown.stdout, "fine") {
		t.Errorf("the session holds, exit %d:\n%s%s", shown.code, shown.stdout, shown.stderr)
	}
}

// Promise 8.6 (command line): distinct exit codes report success, a failed run, wrong usage, a check error, a budget,
// a provider or key, a timeout and an interruption.
func TestPromise_8_6_ExitCodes(t *testing.T) {
	spin := file(t, "spin.star", "def main():\n    while True:\n        pass\n")
	for code, args := range map[int][]string{
		0: {"run", "-q", "examples/count.star", "0"},
		1: {"run", "-q", file(t, "f.star", "def main():\n    fail(\"no\")\n")},
		2: {"run"},
		3: {"check", file(t, "c.star", "main = a >> b\n")},
		4: {"run", "-q", spin, "--max-steps", "100000"},
		6: {"run", "-q", "examples/review.star", "x", "--model", "openai/gpt-5"},
		7: {"run", "-q", spin, "--timeout", "200ms"},
	} {
		if got := offline(t, args...); got.code != code {
			t.Errorf("%s: exit %d, want %d\n%s", strings.Join(args, " "), got.code, code, got.stderr)
		}
	}
	if got := interrupted(t); got.code != 130 {
		t.Errorf("interrupted: exit %d, want 130\n%s", got.code, got.stderr)
	}
}

// Promise 8.7 (command line): `check` reports on all files given and calls no model.
func TestPromise_8_7_Check(t *testing.T) {
	good, bad, worse := "examples/review.star", file(t, "one.star", "main = aa\n"), file(t, "two.star", "x = agent(promt = \"x\")\n")
	got := offline(t, "check", good, bad, worse)
	if got.code != 3 {
		t.Errorf("exit %d", got.code)
	}
	for _, w := range []string{"one.star:1:8", "AS201", "two.star:1:", "AS202", `did you mean "prompt"`} {
		if !strings.Contains(got.stderr, w) {
			t.Errorf("check lacks %q:\n%s", w, got.stderr)
		}
	}
	var doc struct {
		Errors      int
		Diagnostics []struct{ Code diag.Code }
	}
	asJSON := offline(t, "check", "--format", "json", bad, worse)
	if err := json.Unmarshal([]byte(asJSON.stdout), &doc); err != nil || doc.Errors < 2 || len(doc.Diagnostics) < 2 {
		t.Errorf("the JSON form: %v, %+v\n%s", err, doc, asJSON.stdout)
	}
}

// Promise 8.8 (command line): `graph` draws a flow as Mermaid or DOT.
func TestPromise_8_8_Graph(t *testing.T) {
	if got := offline(t, "graph", "examples/review.star"); got.code != 0 || !strings.HasPrefix(got.stdout, "flowchart") || !strings.Contains(got.stdout, "Approved") {
		t.Errorf("exit %d\n%s", got.code, got.stdout)
	}
	if got := offline(t, "graph", "--format", "dot", "examples/review.star"); got.code != 0 || !strings.HasPrefix(got.stdout, "digraph") || !strings.Contains(got.stdout, "Rejected") {
		t.Errorf("exit %d\n%s", got.code, got.stdout)
	}
}

// Promise 8.9 (command line): `explain` explains every code.
func TestPromise_8_9_Explain(t *testing.T) {
	words := func(text string) string { return strings.Join(strings.Fields(text), " ") } // however they are wrapped
	var codes []string
	for _, e := range diag.Entries() {
		codes = append(codes, string(e.Code))
	}
	got := offline(t, append([]string{"explain"}, codes...)...)
	if got.code != 0 || len(codes) < 100 {
		t.Errorf("%d codes: exit %d\n%s", len(codes), got.code, got.stderr)
	}
	shown := words(got.stdout)
	for _, e := range diag.Entries() {
		for _, part := range []string{string(e.Code), e.Title, e.Explain, e.Wrong, e.Right} {
			if !strings.Contains(shown, words(part)) {
				t.Errorf("explain %s does not print %q", e.Code, part)
			}
		}
	}
	stops(t, offline(t, "explain", "AS3O1"), 2, "AS301")
}

// Promise 8.10 (command line): `fmt` formats a script; formatting it again changes nothing, and the script's meaning
// stays the same.
func TestPromise_8_10_Fmt(t *testing.T) {
	ugly := file(t, "ugly.star", "a=agent(run=lambda s:s.upper( ))   # loud\nmain=a\n")
	prints(t, offline(t, "run", "-q", ugly, "x"), "X")
	if got := offline(t, "fmt", "-w", ugly); got.code != 0 {
		t.Fatalf("fmt: exit %d\n%s", got.code, got.stderr)
	}
	once, _ := os.ReadFile(ugly)
	if !strings.Contains(string(once), "a = agent(run = lambda s: s.upper())  # loud") {
		t.Errorf("formatted:\n%s", once)
	}
	if got := offline(t, "fmt", "--check", ugly); got.code != 0 {
		t.Errorf("formatting again changes it: exit %d", got.code)
	}
	prints(t, offline(t, "run", "-q", ugly, "x"), "X")
}

// Promise 8.11 (command line): `version --json` prints the version, the Go version and the ABI.
func TestPromise_8_11_Version(t *testing.T) {
	var v struct {
		Version, Go string
		ABI         int
	}
	got := offline(t, "version", "--json")
	if err := json.Unmarshal([]byte(got.stdout), &v); err != nil || v.Version == "" || v.Go != runtime.Version() || v.ABI < 1 {
		t.Errorf("%v %+v\n%s", err, v, got.stdout)
	}
}

// Promise 8.12 (command line): `--json` writes one JSON object per event, and `--trace` keeps them in a file.
func TestPromise_8_12_JSONEvents(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "trace.jsonl")
	got := offline(t, "run", "--json", "--trace", trace, "examples/review.star", "x", "--scripted", "examples/review.jsonl")
	prints(t, got, "Deployed with confidence 0.95")
	kept, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"stderr": got.stderr, "the trace": string(kept)} {
		kinds := map[string]int{}
		for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
			var e struct{ Kind, Path, ID string }
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("%s: %v: %q", name, err, line)
			}
			kinds[e.Kind]++
		}
		for _, k := range []string{"run", "node", "effect", "repair"} {
			if kinds[k] == 0 {
				t.Errorf("%s has no %s event", name, k)
			}
		}
	}
}

// Promise 8.13 (command line): `--timeout` ends a run in time, with a distinct exit code.
func TestPromise_8_13_Timeout(t *testing.T) {
	stops(t, offline(t, "run", "-q", file(t, "s.star", "def spin(s):\n    while True:\n        pass\nmain = agent(run = spin)\n"), "x", "--timeout", "300ms"), 7, "AS711", "--timeout")
	stops(t, offline(t, "run", "-q", file(t, "l.star", "def spin():\n    n = 0\n    while True:\n        n += 1\nx = spin()\nmain = agent(run = lambda s: s)\n"), "x", "--timeout", "30ms"), 7, "AS711")
}

// Promise 8.14 (command line): `--env-file` passes keys to providers and nothing to scripts.
func TestPromise_8_14_EnvFile(t *testing.T) {
	env := file(t, "keys.env", "# keys\nOPENAI_API_KEY=\"sk-canary-0123456789\"\nOPENAI_BASE_URL=http://127.0.0.1:9/v1\n")
	got := offline(t, "run", "-q", "examples/review.star", "x", "--model", "openai/gpt-5", "--env-file", env, "--retries", "0")
	stops(t, got, 6, "AS710", "127.0.0.1:9")
	if strings.Contains(got.stderr, "canary") {
		t.Errorf("the key is shown:\n%s", got.stderr)
	}
	stops(t, offline(t, "run", "-q", "examples/count.star", "0", "--env-file", file(t, "bad.env", "A=1\nnonsense\n")), 2, "bad.env:2")
}
