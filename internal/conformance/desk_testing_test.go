package conformance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/internal/testrun"
)

// Promise 27.32 (desk): `t.reply`, `t.on`, `t.fail`, `t.tool` and `t.approve` provide answers in the test, including
// failures, pieces and tool calls. Waiting takes no time.
func TestPromise_27_32_Answers(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "flow.star", askedScript+`
def pay(amount = int):
    """Pays."""
    return "paid %d" % amount

clerk = agent(prompt = "Serve.", tools = [pay], policy = policy(ask = ["pay"]))
teller = agent(prompt = "Tell.", on_token = lambda token: print("[" + token.text + "]"))
`)
	write(t, dir, "flow_test.star", `load("flow.star", "clerk", "coder", "teller")

def test_order(t):
    t.reply("coder", "about cats", when = "cats")
    t.reply("coder", "one", "two")
    t.eq([coder("x"), coder("cats"), coder("y")], ["one", "about cats", "two"])

def test_any_number(t):
    t.on("coder", {"n": 1})
    t.eq([coder("x"), coder("y"), coder("z")], ['{"n":1}'] * 3)

def test_failures(t):
    t.fail("coder", "rate_limit", times = 3, retry_after = "50s")
    t.reply("coder", "after two minutes and a half", delay = "10h")
    t.eq(coder("x"), "after two minutes and a half")
    t.fail("coder", "auth", "no such key", status = 401)
    e = t.failed(attempt(coder, "x"), kind = "auth")
    t.contains(e.message, "no such key")

def test_calls(t):
    t.reply("coder", t.call("search", q = "a"), [t.call("search", q = "b"), t.call("search", q = "c")], "done")
    t.tool("search", lambda args: "for " + args["q"])
    t.eq(coder("x"), "done")
    t.eq([c.answer for c in t.calls("search")], ["for a", "for b", "for c"])

def test_tool_fails(t):
    t.reply("coder", t.call("search", q = "a"), "sorry")
    t.tool("search", fail = "it is down")
    t.eq(coder("x"), "sorry")
    t.contains(t.request("coder", 1).messages[-1].text, "it is down")

def test_people(t):
    t.reply("clerk", t.call("pay", amount = 5), t.call("pay", amount = 6), "done")
    t.approve("pay", edit = {"amount": 1})
    t.approve("pay", False, reason = "enough")
    t.eq(clerk("x"), "done")
    t.eq([c.args for c in t.calls("pay")], [{"amount": 1}])
    t.contains(t.request("clerk", -1).messages[-1].text, "enough")

def test_pieces(t):
    t.reply("teller", t.pieces("Once ", "up", "on"))
    t.eq(teller("x"), "Once upon")
`)
	got := runTests(t, dir, "-v")
	if got.code != 0 || !strings.HasSuffix(got.stdout, "7 passed\n") {
		t.Errorf("exit %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if !strings.Contains(got.stdout, "[Once ]\n        [up]\n        [on]\n") {
		t.Errorf("the pieces are not those of the test:\n%s", got.stdout)
	}
}

// Promise 27.33 (desk): assertions on values and events show the source line, both sides, a structural difference and
// the last events.
func TestPromise_27_33_Assertions(t *testing.T) {
	oneFailed(t, offline(t, "test", file(t, "look_test.star", askedScript+`
def test_values(t):
    t.reply("coder", "code")
    coder("x")
    t.eq({"code": "a", "lines": [1, 2]}, {"code": "a", "lines": [1, 3]}, "the draft")
`)), "AS801", "the draft: got", "look_test.star:11:5", `t.eq({"code"`, "-    3", "+    2", "the last events are", "main/agent:coder#0/llm0: code")
	for assertion, want := range map[string]string{
		`t.called("coder", times = 2)`:                           "coder was called once, want 2 times",
		`t.never("coder")`:                                       "coder was called once, want never",
		`t.called("search")`:                                     "search was never called",
		`t.order("search", "coder")`:                             "the order of the first calls is coder, want search, coder",
		`t.eq(t.request("coder").user, "y")`:                     `got "x", want "y"`,
		`t.eq(t.request("coder", 1).user, "y")`:                  "coder was called once, and call 1 is asked for",
		`t.contains(t.calls("coder")[0].system, "tests")`:        `"tests" is not in`,
		`t.matches("abc", "^b")`:                                 "does not match ^b",
		`t.ne(1, 1)`:                                             "got 1, want another value",
		`t.true([])`:                                             "got [], want a value that is true",
		`t.false("x")`:                                           `got "x", want a value that is false`,
		`t.failed(attempt(coder, "x"))`:                          "it did not fail",
		`t.failed(attempt(lambda: fail("no")), kind = "budget")`: `the kind of the error is "script", want "budget"`,
		`t.failed(attempt(lambda: fail("no")), message = "yes")`: `the message of the error is "no", want "yes"`,
	} {
		script := file(t, "look_test.star", askedScript+"\ndef test_it(t):\n    t.on(\"coder\", \"code\")\n    coder(\"x\")\n    "+assertion+"\n")
		oneFailed(t, offline(t, "test", script), "AS801", want, "look_test.star:11:")
	}
}

// askedScript is the script that the tests of this page test.
const askedScript = `
def search(q = str):
    """Searches."""
    return "found " + q

coder = agent(prompt = "Write code.", tools = [search])
`

// oneFailed requires that a test failed, and words of its report.
func oneFailed(t *testing.T, got output, words ...string) {
	t.Helper()
	if got.code != 8 || !strings.HasSuffix(got.stdout, "\n1 failed\n") {
		t.Errorf("exit code %d, %q\n%s", got.code, got.stdout, got.stderr)
	}
	for _, w := range words {
		if !strings.Contains(got.stderr, w) {
			t.Errorf("stderr lacks %q:\n%s", w, got.stderr)
		}
	}
}

// Promise 27.34 (desk): `t.snapshot()` compares values, prompts and event trees without ids and times. `--update`
// writes the snapshots, and a snapshot that no test uses is an error in CI.
func TestPromise_27_34_Snapshots(t *testing.T) {
	dir := t.TempDir()
	const flow = "P = schema(\"P\", x = int, y = str)\ncoder = agent(name = \"coder\", prompt = \"Write.\", output = P)\n"
	write(t, dir, "flow.star", flow)
	write(t, dir, "flow_test.star", `load("flow.star", "P", "coder")

def test_it(t):
    t.reply("coder", P(x = 1, y = "-- a marker --\\nmore"))
    t.snapshot(coder("x"))
    t.snapshot(t.request("coder").system, "prompt")
    t.snapshot(t.events(), "events")
`)
	if got := runTests(t, dir); got.code != 8 || !strings.Contains(got.stderr, `AS805`) || !strings.Contains(got.stderr, "store it with --update") {
		t.Errorf("without snapshots: exit %d\n%s", got.code, got.stderr)
	}
	if got := runTests(t, dir, "--update"); got.code != 0 {
		t.Fatal(got.stderr)
	}
	stored, err := os.ReadFile(filepath.Join(dir, "flow_test.snap"))
	if err != nil || !strings.Contains(string(stored), "-- test_it/prompt --\nWrite.") || !strings.Contains(string(stored), "start main/agent:coder#0") {
		t.Errorf("%v\n%s", err, stored)
	}
	for range 5 { // it contains no ids and no times
		if got := runTests(t, dir); got.code != 0 {
			t.Fatalf("a second run: %s", got.stderr)
		}
	}
	write(t, dir, "flow.star", strings.Replace(flow, "Write.", "Write more.", 1))
	if got := runTests(t, dir); got.code != 8 || !strings.Contains(got.stderr, "-Write.") || !strings.Contains(got.stderr, "+Write more.") {
		t.Errorf("after a change: exit %d\n%s", got.code, got.stderr)
	}
	write(t, dir, "flow.star", flow)
	write(t, dir, "flow_test.star", "def test_it(t):\n    t.eq(1, 1)\n")
	if got := runTests(t, dir); got.code != 8 || strings.Count(got.stderr, "no test uses the snapshot") != 3 {
		t.Errorf("unused: exit %d\n%s", got.code, got.stderr)
	}
	if got := runTests(t, dir, "--update"); got.code != 0 {
		t.Errorf("removing them: %s", got.stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "flow_test.snap")); err == nil {
		t.Error("the empty file of snapshots is still there")
	}
}

// Promise 27.39 (desk): `t.each(rows, f)` names its rows, and `--run name/row` runs a single row.
func TestPromise_27_39_Rows(t *testing.T) {
	script := file(t, "rows_test.star", askedScript+`
def test_rows(t):
    def row(t, r):
        t.true(r["good"])

    t.each([{"name": "first one", "good": True}, {"good": False}], row)
    t.each({"third": {"good": True}, 4: {"good": True}}, row)
`)
	got := offline(t, "test", "-v", script)
	for _, line := range []string{"passed  " + script + " test_rows/first_one", "failed  " + script + " test_rows/1", "passed  " + script + " test_rows/third", "passed  " + script + " test_rows/4", "1 failed, 3 passed"} {
		if !strings.Contains(got.stdout, line+"\n") {
			t.Errorf("no %q in\n%s", line, got.stdout)
		}
	}
	one := offline(t, "test", "-v", "--run", "rows/^third$", script)
	if one.code != 0 || !strings.HasSuffix(one.stdout, "\n1 passed\n") || strings.Contains(one.stdout, "first_one") {
		t.Errorf("exit code %d\n%s%s", one.code, one.stdout, one.stderr)
	}
}

// Promise 27.41 (desk): a file without tests, an unused snapshot, a threshold over 100 and an unknown test are errors
// that say what to do.
func TestPromise_27_41_BadInput(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a_test.star", "def test_one(t):\n    t.snapshot(1)\n")
	if got := runTests(t, dir, "--update"); got.code != 0 {
		t.Fatal(got.stderr)
	}
	write(t, dir, "a_test.star", "def test_one(t):\n    t.eq(1, 1)\n")
	write(t, dir, "empty_test.star", "x = 1\n")
	for _, c := range []struct {
		code int
		want []string
		args []string
	}{
		{3, []string{"AS806", "empty_test.star", "it has no tests", "def test_review(t):"}, []string{"empty_test.star"}},
		{8, []string{"AS805", `no test uses the snapshot "test_one/1"`, "--update removes it"}, []string{"a_test.star"}},
		{2, []string{"--threshold", "100"}, []string{"--threshold", "lines=101", "a_test.star"}},
		{2, []string{"--threshold", "lines"}, []string{"--threshold", "linse=80", "a_test.star"}},
		{2, []string{`"test_two"`, "--list"}, []string{"--run", "test_two", "a_test.star"}},
		{2, []string{"nowhere_test.star", "there is no such file"}, []string{"nowhere_test.star"}},
		{2, []string{"--shard"}, []string{"--shard", "3/2", "a_test.star"}},
		{2, []string{"--timeout"}, []string{"--timeout", "0s", "a_test.star"}},
		{2, []string{"--repeat"}, []string{"--repeat", "0", "a_test.star"}},
	} {
		got := runTests(t, dir, c.args...)
		if got.code != c.code {
			t.Errorf("%v: exit %d, want %d\n%s%s", c.args, got.code, c.code, got.stdout, got.stderr)
		}
		for _, want := range c.want {
			if !strings.Contains(got.stderr, want) {
				t.Errorf("%v: stderr lacks %s\n%s", c.args, want, got.stderr)
			}
		}
	}
}

// Promise 27.43 (desk): each example has a test next to it. All tests pass and cover every statement and at least 90 %
// of the edges.
func TestPromise_27_43_Examples(t *testing.T) {
	flows, err := filepath.Glob(repository("examples/*.star"))
	if err != nil || len(flows) == 0 {
		t.Fatal("there are no examples", err)
	}
	for _, flow := range flows {
		if testrun.IsTest(flow) {
			continue
		}
		if _, err := os.Stat(strings.TrimSuffix(flow, ".star") + testrun.Suffix); err != nil {
			t.Error(err)
		}
	}
	got := offline(t, "test", "--cover", "--threshold", "lines=100,parts=100,edges=90,variants=90,tools=90", "examples")
	if got.code != 0 || !strings.Contains(got.stdout, " passed\n") || strings.Contains(got.stdout, "skipped") {
		t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}
