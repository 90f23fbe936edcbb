package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine/llm/llmtest"
)

// An answer to a name reaches the only step that waits for it: if several wait for it, it is rejected, and one that a
// step has taken is not kept for the next.
func TestAnswersByName(t *testing.T) {
	h := newHome(t, "def go(x):\n    return x + wait(\"ok\", str)\n\ndef main(xs = list[str]):\n    return parallel(go, xs)\n")
	if out := h.run(nil, "run", "flow.star", `["a", "b"]`, "-q"); out.code != 5 || !strings.Contains(out.stderr, "wait:ok") || strings.Contains(out.stderr, " ok --result") {
		t.Fatalf("exit %d\n%s", out.code, out.stderr)
	}
	if out := h.run(nil, "runs", "answer", "last", "ok", "--result", `"1"`); out.code != 2 || !strings.Contains(out.stderr, "several steps that wait are called ok") {
		t.Errorf("exit %d\n%s", out.code, out.stderr)
	}
	h = newHome(t, "def main(x = str):\n    return x + wait(\"ok\", str) + wait(\"more\", str)\n")
	if out := h.run(nil, "run", "flow.star", "a", "-q"); out.code != 5 {
		t.Fatal(out.stderr)
	}
	if out := h.run(nil, "runs", "answer", "last", "ok", "--result", `"1"`); out.code != 0 {
		t.Fatal(out.stderr)
	}
	if out := h.run(nil, "runs", "show", "last"); !strings.Contains(out.stdout, "main/wait:ok#0 was answered by ") {
		t.Error(out.stdout)
	}
	if out := h.run(nil, "runs", "answer", "last", "--result", `"1"`); out.code != 2 || !strings.Contains(out.stderr, "was answered by") || !strings.Contains(out.stderr, "continues with it") {
		t.Errorf("exit %d\n%s", out.code, out.stderr)
	}
	if out := h.run(nil, "runs", "resume", "last", "-q"); out.code != 5 {
		t.Fatal(out.stderr)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"ok", "--result", `"1"`}, 0, "was answered so before: nothing changes"},
		{[]string{"ok", "--result", `"2"`}, 2, "was answered by"},
		{[]string{"nope", "--again"}, 2, "only a value can be sent before one does"},
	} {
		out := h.run(nil, append([]string{"runs", "answer", "last"}, c.args...)...)
		if out.code != c.code || !strings.Contains(out.stdout+out.stderr, c.want) {
			t.Errorf("%v: exit %d: %s%s", c.args, out.code, out.stdout, out.stderr)
		}
	}
}

// A value that a person decides about cannot be replaced by a value of another kind.
func TestApprovedValue(t *testing.T) {
	h := newHome(t, "def main(x = str):\n    return approve(\"Send it?\", x).data\n")
	if out := h.run(nil, "run", "flow.star", "a", "-q"); out.code != 5 {
		t.Fatal(out.stderr)
	}
	if out := h.run(nil, "runs", "answer", "last", "--result", "5"); out.code != 2 || !strings.Contains(out.stderr, "decides about a value that is a text, and got a number") {
		t.Errorf("exit %d\n%s", out.code, out.stderr)
	}
	if out := h.run(nil, "runs", "answer", "last", "--result", `"b"`); out.code != 0 {
		t.Error(out.stderr)
	}
	if out := h.run(nil, "runs", "resume", "last", "-q"); out.code != 0 || out.stdout != "b\n" {
		t.Errorf("exit %d: %s\n%s", out.code, out.stdout, out.stderr)
	}
}

// Arguments of a fork that are not given are those of the run.
func TestForkKeepsOtherArguments(t *testing.T) {
	h := newHome(t, "def main(topic = str, loud = True, n = 1):\n    return [topic, loud, n, wait(\"go\", str)]\n")
	if out := h.run(nil, "run", "flow.star", "tea", "--no-loud", "--n", "3", "-q"); out.code != 5 {
		t.Fatal(out.stderr)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, `"args":["tea",false,3]`},
		{[]string{"--n", "4"}, `"args":["tea",false,4]`},
		{[]string{"coffee"}, `"args":["coffee",false,3]`},
		{[]string{"--loud", "--topic", "milk"}, `"args":["milk",true,3]`},
		{[]string{"--input-json", `{"n": 5}`}, `"args":["tea",false,5]`},
	} {
		out := h.run(nil, append([]string{"runs", "fork", first(t, h), "-q"}, c.args...)...)
		if made := h.run(nil, "runs", "export", "last"); out.code != 5 || !strings.Contains(made.stdout, c.want) {
			t.Errorf("%v: exit %d: %s\n%.300s", c.args, out.code, out.stderr, made.stdout)
		}
	}
	h.write("other.star", "def main(topic = str, loud = True, n = 1):\n    return wait(\"come\", str)\n")
	if out := h.run(nil, "runs", "fork", first(t, h), "--script", "other.star", "--n", "4", "-q"); out.code != 2 || !strings.Contains(out.stderr, "main needs --topic") {
		t.Errorf("exit %d\n%s", out.code, out.stderr)
	}
}

// first returns the id of the oldest run.
func first(t *testing.T, h *home) string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(h.run(nil, "runs", "ls").stdout), "\n")
	return strings.Fields(lines[len(lines)-1])[0]
}

// A sleep is shown with its end.
func TestSleepIsShown(t *testing.T) {
	h := newHome(t, "def main(x = str):\n    sleep(\"10ms\")\n    return x\n")
	if out := h.run(nil, "run", "flow.star", "a", "-q"); out.code != 0 {
		t.Fatal(out.stderr)
	}
	if out := h.run(nil, "runs", "show", "last"); !strings.Contains(out.stdout, "main/sleep0  sleep until 2") {
		t.Error(out.stdout)
	}
}

// That a run is done is reported before anything else it lacks.
func TestResumeOfADoneRun(t *testing.T) {
	h := newHome(t, "def main(x = str):\n    return sh.run([\"echo\", x]).stdout\n")
	if out := h.run(nil, "run", "flow.star", "a", "-q", "--allow-exec", "echo", "--record", "r.run"); out.code != 0 {
		t.Fatal(out.stderr)
	}
	for _, word := range []string{"last", "r.run"} {
		if out := h.run(nil, "runs", "resume", word); out.code != 2 || !strings.Contains(out.stderr, "AS784") || !strings.Contains(out.stderr, "--from main runs it again") {
			t.Errorf("%s: exit %d\n%s", word, out.code, out.stderr)
		}
	}
}

// The plan of a fork touches nothing: no grants and no keys are needed.
func TestPlanNeedsNoGrants(t *testing.T) {
	h := newHome(t, "def main(n = str):\n    return wait(\"go\", str)\n")
	h.want(nil, strings.Fields("run flow.star q -q"), 5)
	h.write("other.star", "a = agent(model = \"openai/x\", prompt = \"A.\")\n\ndef main(n = str):\n    fs.write(\"new/f\", n)\n    return a(sh.run([\"touch\", \"f\"]).stdout)\n")
	h.env = append(h.env, "OPENAI_API_KEY=")
	h.want(nil, strings.Fields("runs fork last --script other.star --plan"), 0, "runs main/fs:write#0")
	h.want(nil, strings.Fields("runs fork last --script other.star --plan --allow-fs gone:rw"), 0, "runs main/fs:write#0")
	h.want(nil, strings.Fields("runs fork last --script other.star"), 3, "--allow-fs", "--allow-exec")
	if h.lines("f") != 0 {
		t.Error("the plan was carried out")
	}
}

// A word that is meant as a file is not taken for a run.
func TestNoSuchFileIsNoRun(t *testing.T) {
	h := newHome(t, waitFlow)
	for range 2 { // without a store, and with one
		for _, word := range []string{"nofile.jsonl", "./x"} {
			for _, verb := range []string{"show", "resume", "fork", "cost", "export", "answer --again", "rm", "cancel"} {
				h.want(nil, append(append([]string{"runs"}, strings.Fields(verb)...), word), 2, word+": there is no such file", "!there is no run")
			}
		}
		h.want(nil, strings.Fields("runs show ./"), 2, "./: it is a directory")
		h.want(nil, strings.Fields("runs show abc"), 2, "!no such file")
		h.write("wait.star", "def main(n = str):\n    return wait(\"go\", str)\n")
		h.want(nil, strings.Fields("run wait.star q -q"), 5)
	}
}

// The directory of a named store must exist.
func TestNamedStoreMakesNoDirectory(t *testing.T) {
	h := newHome(t, "def main(n = str):\n    return wait(\"go\", str)\n")
	h.want(nil, strings.Fields("run flow.star q -q --record r.run --ephemeral"), 5)
	for _, args := range []string{"run flow.star q -q --store no/d/x.db", "runs import r.run --store no/d/x.db", "runs resume r.run --store no/d/x.db"} {
		h.want(nil, strings.Fields(args), 2, "--store no/d/x.db: there is no directory no/d")
	}
	h.env = append(h.env, "AGENTSCRIPT_STORE=no/d/x.db")
	h.want(nil, strings.Fields("run flow.star q -q"), 2, "AGENTSCRIPT_STORE no/d/x.db: there is no directory no/d")
	if _, err := os.Stat(filepath.Join(h.dir, "no")); err == nil {
		t.Error("the directory is made")
	}
}

// A replay chooses the models as the recorded run did.
func TestReplayKnowsTheModels(t *testing.T) {
	h := newHome(t, "a = agent(prompt = \"A.\")\nb = agent(model = \"fast\", prompt = \"B.\")\nmain = a >> b\n")
	p := llmtest.New(llmtest.Reply{Text: "one"}, llmtest.Reply{Text: "two"})
	h.want(p, strings.Fields("run flow.star q -q --model a=openai/x --model-alias fast=openai/y --record r.run"), 0, "two")
	p.Close()
	for _, run := range []string{"r.run", h.last()} {
		h.want(nil, []string{"run", "flow.star", "q", "-q", "--replay", run}, 0, "two")
		h.want(nil, []string{"run", "flow.star", "q", "-q", "--replay", run, "--model", "a=openai/z"}, 9)
	}
	h.want(nil, strings.Fields("runs export last -o carried.run"), 0)
	h.want(nil, strings.Fields("run flow.star q -q --replay carried.run"), 0, "two")
}

// What a person puts in place of arguments is denied if a rule denies it, and the denial is shown.
func TestEditThatARuleDenies(t *testing.T) {
	h := newHome(t, "def pay(n = int):\n    \"\"\"Pay.\"\"\"\n    return \"paid %d\" % n\n\na = agent(model = \"openai/x\", prompt = \"A.\", tools = [pay], policy = policy(ask = [\"pay\"], deny = [\"pay(n>20)\"]))\n\ndef main(x = str):\n    said = a(x)\n    return said + wait(\"go\", str)\n")
	p := llmtest.New(llmtest.Reply{Calls: []llmtest.Call{{Name: "pay", Args: `{"n":1}`}}}, llmtest.Reply{Text: "one"})
	defer p.Close()
	h.want(p, strings.Fields("run flow.star q -q"), 5)
	h.want(nil, []string{"runs", "answer", "last", "--result", `{"n": 99}`}, 0)
	h.want(p, strings.Fields("runs resume last -q --trace t.jsonl"), 5)
	h.want(nil, strings.Fields("runs show last"), 0, "done approval pay", ": denied: the rule deny pay(n>20)", "!approved")
	trace, err := os.ReadFile(filepath.Join(h.dir, "t.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for _, no := range []string{`"approved":true`, "approved with changes"} {
		if strings.Contains(string(trace), no) {
			t.Errorf("the trace has %s", no)
		}
	}
	if !strings.Contains(string(trace), `denied`) || !strings.Contains(string(trace), `the rule deny pay(n\u003e20)`) {
		t.Errorf("the trace does not say that a rule denies it:\n%s", trace)
	}
	asked := func() string { return string(p.Requests()[len(p.Requests())-1].Body) }
	if n := len(p.Requests()); n != 2 || !strings.Contains(asked(), "with these arguments is not allowed") {
		t.Errorf("%d calls, the last\n%s", n, asked())
	}
	h.want(nil, []string{"runs", "answer", "last", "go", "--result", `"!"`}, 0)
	h.want(nil, strings.Fields("runs resume last -q"), 0, "one!\n")
}

// A run in which a person replaced the arguments of a call can be resumed more than once.
func TestEditedCallIsReadAgain(t *testing.T) {
	h := newHome(t, "def pay(n = int):\n    \"\"\"Pay.\"\"\"\n    return \"paid %d\" % n\n\na = agent(model = \"openai/x\", prompt = \"A.\", tools = [pay], policy = policy(ask = [\"pay\"]))\n\ndef main(x = str):\n    said = a(x)\n    return said + wait(\"go\", str)\n")
	p := llmtest.New(llmtest.Reply{Calls: []llmtest.Call{{Name: "pay", Args: `{"n":1}`}}}, llmtest.Reply{Text: "one"})
	defer p.Close()
	h.want(p, strings.Fields("run flow.star q -q"), 5)
	h.want(nil, []string{"runs", "answer", "last", "--result", `{"n": 15}`}, 0)
	h.want(p, strings.Fields("runs resume last -q"), 5, "AS780")
	h.want(nil, strings.Fields("runs show last"), 0, `: approved with {"n":15}`)
	h.want(nil, []string{"runs", "answer", "last", "go", "--result", `"!"`}, 0)
	h.want(nil, strings.Fields("runs resume last -q"), 0, "one!\n")
}
