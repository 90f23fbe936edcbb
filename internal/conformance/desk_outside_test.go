package conformance

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
)

// Promise 27.30 (desk): `agentscript test` runs each `def test_…(t)` of `*_test.star` files on fresh state, several at
// once, with output in the order of the files. `todo_…` is skipped. The command exits with 0, with 8 for failed tests
// and with 3 for broken files, which do not keep the other files from running.
func TestPromise_27_30_Files(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "flow.star", "notes = memory(\"notes\")\nhelper = agent(prompt = \"Help.\", memory = notes)\n")
	// Each test finds the notes empty, and does not see answers that another one prepares.
	fresh := "load(\"flow.star\", \"helper\", \"notes\")\n\ndef one(t):\n    t.eq(notes.read(slot = \"helper\"), \"\")\n    notes.write(\"full\", slot = \"helper\")\n    t.reply(\"helper\", t.name)\n    t.eq(helper(\"x\"), t.name)\n"
	var tests, want strings.Builder
	for _, name := range []string{"zebra", "apple", "middle", "echo", "last"} {
		tests.WriteString("\ndef test_" + name + "(t):\n    one(t)\n")
		want.WriteString("passed  a_test.star test_" + name + "\n")
	}
	write(t, dir, "a_test.star", fresh+tests.String()+"\ndef todo_more(t):\n    fail(\"it ran\")\n\ndef helps(t):\n    fail(\"it is no test\")\n")
	want.WriteString("skipped a_test.star todo_more: todo\n5 passed, 1 skipped\n")
	for range 5 {
		if got := runTests(t, dir, "-v"); got.code != 0 || got.stdout != want.String() {
			t.Fatalf("exit %d\n%s%s\nwant\n%s", got.code, got.stdout, got.stderr, want.String())
		}
	}
	write(t, dir, "b_test.star", "def test_b(t)\n    pass\n")
	if got := runTests(t, dir); got.code != 3 || !strings.Contains(got.stdout, "5 passed") || !strings.Contains(got.stderr, "b_test.star:1:") {
		t.Errorf("beside a broken file: exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	write(t, dir, "b_test.star", "def test_b(t):\n    t.eq(1, 2)\n")
	if got := runTests(t, dir); got.code != 8 || !strings.Contains(got.stdout, "1 failed, 5 passed") {
		t.Errorf("a failed test: exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

// Promise 27.31 (desk): a test reaches no model, server, Go tool, command, network, file, memory or person. A request
// that the test does not answer fails and names the agent, the path, the rendered prompt and the nearest answer.
// `--live` and the grants of a run open them one by one, and `t.dir()` is a directory for one test.
func TestPromise_27_31_NothingOutside(t *testing.T) {
	var asked atomic.Int32
	canary := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write([]byte("alive"))
	}))
	defer canary.Close()
	dir := t.TempDir()
	write(t, dir, "flow.star", `
helper = agent(prompt = "Help.", model = "compat/x")
clerk = agent(prompt = "Serve.", tools = [mcp("touch", args = ["started"], name = "files")])

def get():
    return http.get("`+canary.URL+`").text

def run():
    return sh.run(["touch", "ran"]).stdout

def save():
    fs.write("saved", "x")

def load_it():
    return fs.read("flow.star")

def var():
    return env.get("HOME")

def ask():
    return approve("Publish?", "x")

def keep(dir = str):
    fs.write(dir + "/kept", "x")
    return fs.read(dir + "/kept")
`)
	write(t, dir, "flow_test.star", `load("flow.star", "ask", "clerk", "get", "helper", "keep", "load_it", "run", "save", "var")

def test_model(t):
    t.reply("helper", "no", when = "something else")
    helper("What is it?")

def test_server(t):
    clerk("x")

def test_network(t):
    get()

def test_command(t):
    run()

def test_write(t):
    save()

def test_read(t):
    load_it()

def test_env(t):
    var()

def test_person(t):
    ask()

def test_caught(t):
    attempt(get)
    fallback([run, lambda: "x"])

def test_dir(t):
    t.eq(keep(t.dir()), "x")
    t.ne(t.dir(), "")
`)
	env := []string{"COMPAT_API_KEY=hush-canary-key", "AGENTSCRIPT_COMPAT_URL=" + canary.URL, "XDG_CACHE_HOME=" + filepath.Join(dir, ".cache")}
	got := runCommandIn(t, dir, env, "test")
	if got.code != 8 || !strings.Contains(got.stdout, "9 failed, 1 passed") || strings.Count(got.stderr, "error[AS802]") != 9 {
		t.Errorf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	for _, want := range []string{
		`for agent "helper" at main/agent:helper#0/llm0`, `"What is it?"`, `when = "something else"`, `t.reply("helper", "…")`,
		"the MCP server files", "http.get of 127.0.0.1", "sh.run of touch", "fs.write of saved", "fs.read of flow.star", "env.get of HOME", `the question "Publish?"`,
	} {
		if !strings.Contains(got.stderr, want) {
			t.Errorf("stderr lacks %s\n%s", want, got.stderr)
		}
	}
	untouched := func(names ...string) {
		t.Helper()
		for _, name := range names {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				t.Errorf("%s was made", name)
			}
		}
	}
	untouched("ran", "saved", "started", "kept")
	if n := asked.Load(); n != 0 {
		t.Errorf("the network was reached %d times", n)
	}
	// Each grant allows what it grants, and nothing else.
	if got := runCommandIn(t, dir, env, "test", "--run", "test_command", "--allow-exec", "touch"); got.code != 0 {
		t.Errorf("--allow-exec: exit %d\n%s", got.code, got.stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "ran")); err != nil {
		t.Errorf("the granted command did not run: %v", err)
	}
	if got := runCommandIn(t, dir, env, "test", "--run", "test_network|test_write", "--allow-exec", "touch"); !strings.Contains(got.stdout, "2 failed") || asked.Load() != 0 {
		t.Errorf("beside --allow-exec: %s%s", got.stdout, got.stderr)
	}
	host := regexp.MustCompile(`^http://`).ReplaceAllString(canary.URL, "")
	if got := runCommandIn(t, dir, env, "test", "--run", "test_network", "--allow-net", host); got.code != 0 || asked.Load() != 1 {
		t.Errorf("--allow-net: exit %d, %d requests\n%s", got.code, asked.Load(), got.stderr)
	}
	untouched("saved", "started")
}

// Promise 27.35 (desk): `t.replay(FILE)` answers from a record. A miss names the first message and field that differ,
// and how to record again.
func TestPromise_27_35_Replays(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "flow.star", "coder = agent(prompt = \"Write.\", model = \"openai/gpt-5-mini\")\nmain = coder\n")
	write(t, dir, "rows.jsonl", `{"agent": "coder", "text": "code"}`)
	write(t, dir, "flow_test.star", "load(\"flow.star\", \"coder\")\n\ndef test_it(t):\n    t.replay(\"good.jsonl\")\n    t.eq(coder(\"x\"), \"code\")\n")
	if got := runTests(t, dir); got.code != 8 || !strings.Contains(got.stderr, "agentscript run FILE --record good.jsonl") {
		t.Errorf("without a record: exit %d\n%s", got.code, got.stderr)
	}
	if got := runCommandIn(t, dir, nil, "run", "flow.star", "x", "--scripted", "rows.jsonl", "--record", "good.jsonl"); got.code != 0 {
		t.Fatal(got.stderr)
	}
	if got := runTests(t, dir); got.code != 0 {
		t.Errorf("from the record: exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	write(t, dir, "flow.star", "coder = agent(prompt = \"Write code.\", model = \"openai/gpt-5-mini\")\nmain = coder\n")
	got := runTests(t, dir)
	for _, want := range []string{"AS718", "it differs in the system text", `recorded: "Write."`, `asked:    "Write code."`, "record the calls again with --record"} {
		if got.code != 8 || !strings.Contains(got.stderr, want) {
			t.Errorf("after a change: exit %d, no %q\n%s", got.code, want, got.stderr)
		}
	}
}
