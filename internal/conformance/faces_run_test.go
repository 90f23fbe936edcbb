package conformance

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// halving returns a flow of two agents with tools that fail in several ways, and its scripted answers: two runs of the
// first agent's tools, and an answer that must be repaired.
func halving(t *testing.T) (flow, answers string) {
	t.Helper()
	flow = file(t, "half.star", `
def half(n = int):
    """Halves a number."""
    if n % 2:
        fail("%d is odd, and this tool halves even numbers alone: multiply it by two first, or choose another number, because nothing else that you might come up with is going to help here, whatever it may be or come to in the end" % n)
    return n // 2

def deep(n = int):
    """Goes deep."""
    return json.decode("{}")["b"]

Out = schema("Out", a = int, b = int, c = str)
first = agent(name = "first", model = "openai/gpt-5", prompt = "Halve.", tools = [half, deep])
second = agent(name = "second", prompt = "Say.", output = Out)
main = first >> second
`)
	answers = file(t, "half.jsonl", `{"agent": "first", "calls": [{"name": "half", "args": {"n": 3}}, {"name": "deep", "args": {"n": 3}}, {"name": "half", "args": {"n": 4}}]}
{"agent": "first", "text": "done"}
{"agent": "second", "text": "Here you are: {a: 1, b: 2, c: 'x',}"}
`)
	return flow, answers
}

// lines returns the lines of a text, without what differs between runs.
func lines(text string) []string {
	return strings.Split(strings.TrimSuffix(regexp.MustCompile(`[0-9.]+m?s( |$)`).ReplaceAllString(text, "0s$1"), "\n"), "\n")
}

// Promise 26.80 (sound): progress is one line per agent, with its calls, folded repairs and failures, unless `-v` is
// given; it reports connections to servers, and shows scripted answers as scripted, not as the provider.
func TestPromise_26_80_Progress(t *testing.T) {
	flow, answers := halving(t)
	out := offline(t, "run", flow, "x", "--scripted", answers)
	got := lines(out.stderr)
	if out.code != 0 || len(got) != 5 {
		t.Fatalf("exit code %d\n%s", out.code, out.stderr)
	}
	agents := regexp.MustCompile(`^done   main/(first  \S+  scripted  2 calls  about \S+ tokens  2 of 3 tool calls failed|second  \S+  scripted  about \S+ tokens  repaired: .*unquoted ×3.*)$`)
	n := 0
	for _, line := range got {
		if agents.MatchString(line) {
			n++
		} else if !strings.HasPrefix(line, "failed main/first  ") && !strings.HasPrefix(line, "done   run  ") {
			t.Errorf("an odd line: %s", line)
		}
	}
	if n != 2 || strings.Contains(out.stderr, "gpt-5") {
		t.Errorf("%d lines of agents\n%s", n, out.stderr)
	}
	verbose := offline(t, "run", "-v", flow, "x", "--scripted", answers)
	for _, want := range []string{"start  main/first\n", "call   main/first  scripted for openai/gpt-5\n", "call   main/second  scripted\n", "tool   main/first  half {\"n\": 3}\n", "repair main/second  unquoted ×3: "} {
		if !strings.Contains(verbose.stderr, want) {
			t.Errorf("-v lacks %q:\n%s", want, verbose.stderr)
		}
	}
	stops(t, offline(t, "run", "-v", "--json", flow, "x"), 2, "--verbose")

	// A server that takes long to start.
	server := file(t, "server.star", "s = mcp(\"sleep\", name = \"files\", args = [\"60\"], timeout = \"50ms\")\nmain = agent(prompt = \"P.\", model = \"ollama/x\", tools = [s])\n")
	slow := offline(t, "run", server, "x", "--allow-exec", "sleep", "--scripted", answers)
	if slow.code == 0 || lines(slow.stderr)[0] != "wait   main  connecting to MCP server files…" {
		t.Errorf("exit code %d\n%s", slow.code, slow.stderr)
	}
}

// Promise 26.81 (sound): a tool's error has its position in the script: in progress, clipped after a whole word, in
// the error of the run, in full, and as `pos` in JSON. The error of a call that a rule or a person denied does not suggest
// `on_tool_error`.
func TestPromise_26_81_ToolErrors(t *testing.T) {
	flow, answers := halving(t)
	out := offline(t, "run", flow, "x", "--scripted", answers)
	for _, want := range []string{flow + ":5:13: 3 is odd, and this tool halves even numbers alone: ", " nothing else that you … ", flow + ":10:29: key \"b\" not in dict  AS701\n"} {
		if want == " nothing else that you … " {
			if !regexp.MustCompile(`3 is odd, .*\w …  AS701\n`).MatchString(out.stderr) {
				t.Errorf("the line is not cut at a word:\n%s", out.stderr)
			}
		} else if !strings.Contains(out.stderr, want) {
			t.Errorf("progress lacks %q:\n%s", want, out.stderr)
		}
	}
	ends := file(t, "ends.star", "def half(n = int):\n    \"\"\"Halves.\"\"\"\n    fail(\"odd \" * 100 + \"end\")\n\nmain = agent(prompt = \"P.\", tools = [half], on_tool_error = give_up(\"no more\"))\n")
	one := file(t, "one.jsonl", `{"agent": "*", "calls": [{"name": "half", "args": {"n": 3}}]}`+"\n"+`{"agent": "*", "text": "done"}`+"\n")
	stops(t, offline(t, "run", "-q", ends, "x", "--scripted", one), 1, "AS732", "cause at "+ends+":3:9: odd odd", "odd odd end\n")
	var tool struct {
		Error struct {
			Message string
			Pos     struct{ Line, Col int }
		}
	}
	for line := range strings.Lines(offline(t, "run", "--json", ends, "x", "--scripted", one).stderr) {
		if strings.HasPrefix(line, `{"kind":"tool","phase":"end"`) {
			if err := json.Unmarshal([]byte(line), &tool); err != nil {
				t.Fatal(err)
			}
		}
	}
	if tool.Error.Pos.Line == 0 {
		t.Errorf("the event is %+v", tool)
	}

	asks := file(t, "asks.star", "def half(n = int):\n    \"\"\"Halves.\"\"\"\n    return n\n\nmain = agent(prompt = \"P.\", tools = [half])\n")
	denied := offline(t, "run", "-q", asks, "x", "--scripted", one, "--deny", "half")
	if denied.code != 0 || !strings.Contains(denied.stderr, "warning: 1 of 1 tool call denied, and the run has a result\n") || strings.Contains(denied.stderr, "on_tool_error") {
		t.Errorf("exit code %d\n%s", denied.code, denied.stderr)
	}
	for line := range strings.Lines(offline(t, "run", "--json", asks, "x", "--scripted", one, "--deny", "half").stderr) {
		if strings.Contains(line, "on_error") || strings.Contains(line, "on_tool_error") {
			t.Errorf("a denied call is told %s", line)
		}
	}
	broken := offline(t, "run", "-q", flow, "x", "--scripted", file(t, "all.jsonl", `{"agent": "first", "calls": [{"name": "half", "args": {"n": 3}}]}`+"\n"+`{"agent": "first", "text": "done"}`+"\n"+`{"agent": "second", "text": "{\"a\": 1, \"b\": 2, \"c\": \"\"}"}`+"\n"))
	if !strings.Contains(broken.stderr, "1 of 1 tool call failed, and the run has a result: on_tool_error = give_up") {
		t.Errorf("of a call that failed:\n%s", broken.stderr)
	}
	if !strings.Contains(broken.stderr, "\n  half: "+flow+":5:13: 3 is odd, and this tool halves even numbers alone") {
		t.Errorf("the tool and the reason are not named:\n%s", broken.stderr)
	}
}

// Promise 26.83 (sound): the last line of a run's JSON has its usage and the numbers of calls, of failed and of denied
// ones; JSON input that is truncated or followed by a second value is refused.
func TestPromise_26_83_Ends(t *testing.T) {
	flow, answers := halving(t)
	last := func(args ...string) (sums map[string]any) {
		all := lines(offline(t, append([]string{"run", "--json", flow, "x", "--scripted", answers}, args...)...).stderr)
		for _, line := range all {
			if strings.HasPrefix(line, `{"kind":"summary"`) {
				if err := json.Unmarshal([]byte(line), &sums); err != nil {
					t.Fatal(err)
				}
			}
		}
		if line := all[len(all)-1]; !strings.HasPrefix(line, `{"kind":"summary","run":"`) && !strings.HasPrefix(line, `{"diagnostics":`) {
			t.Errorf("the last line is %s", line)
		}
		return sums
	}
	for _, row := range []struct {
		args                         []string
		calls, tools, failed, denied float64
	}{
		{nil, 3, 3, 2, 0},
		{[]string{"--deny", "deep"}, 3, 3, 1, 1},
		{[]string{"--max-model-calls", "1"}, 1, 3, 2, 0}, // and fails
	} {
		got := last(row.args...)
		usage, _ := got["usage"].(map[string]any)
		if got["model_calls"] != row.calls || got["tool_calls"] != row.tools || got["failed_tool_calls"] != row.failed || got["denied_tool_calls"] != row.denied || got["failed_model_calls"] != 0.0 || usage["in"] == 0.0 {
			t.Errorf("%s: %v", row.args, got)
		}
	}
	fails := file(t, "fails.jsonl", `{"agent": "first", "error": {"kind": "overloaded", "message": "busy"}}`+"\n")
	if got := last("--scripted", fails); got["model_calls"] != 1.0 || got["failed_model_calls"] != 1.0 {
		t.Errorf("of a call that failed: %v", got)
	}

	points := file(t, "p.star", "P = schema(\"P\", topic = str, n = field(int, \"n\", default = 1), tags = field(list[str], \"t\", default = []))\nmain = fn(lambda p: p, input = P, output = P)\n")
	named := file(t, "named.star", "P = schema(\"P\", topic = str)\ndef main(p = P, tag = list[str]):\n    return p.topic\n")
	for in, place := range map[string]string{
		`{"topic": "x", n: 3`:                   "it is cut off at line 1, column 20",
		`{"topic": "x`:                          "it is cut off",
		`{"topic": "x",`:                        "it is cut off",
		`{"topic": "x", "n":`:                   "a value is missing",
		`{"topic": "x", "tags": ["a", "b"}`:     "a bracket is not closed",
		"{\"topic\": \"x\",\n \"tags\": [\"a\"": "it is cut off at line 2, column 14",
		`{"topic": "x", "tags": ["a", ...]}`:    "something is left out",
		`{"topic": "x"} {"topic": "y"}`:         "2 values",
	} {
		for _, args := range [][]string{{points, in}, {points, "--input-json", in}, {points, "--input-file", file(t, "in.json", in)}} {
			stops(t, offline(t, append([]string{"run", "-q"}, args...)...), 2, "AS716", place)
		}
	}
	stops(t, offline(t, "run", "-q", named, "--p", `{"topic": "x`, "--tag", "a"), 2, "it is cut off")
	stops(t, offline(t, "run", "-q", named, "--p", `{"topic": "x"}`, "--tag", `["a", "b"`), 2, "it is cut off")
	stops(t, offline(t, "run", "-q", named, "--input-json", `{"p": {"topic": "x"}, "tag": ["a", "b"`), 2, "it is cut off")
	prints(t, offline(t, "run", "-q", points, "{topic: 'x', n: '3',}"), `{"topic":"x","n":3,"tags":[]}`)
}
