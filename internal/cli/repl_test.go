package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/internal/cli/term"
)

// piped runs the prompt on entries from a pipe.
func piped(t *testing.T, dir, entries string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	t.Chdir(dir)
	var out, wrong strings.Builder
	s := &term.Process{Args: append([]string{"repl"}, args...), Stdin: strings.NewReader(entries), StdinPiped: true, Stdout: &out, Stderr: &wrong,
		LookupEnv: func(string) (string, bool) { return "", false }, Kill: func(int) {},
		Signals: func() (<-chan os.Signal, func()) { return nil, func() {} }}
	code = Execute(s)
	return code, out.String(), wrong.String()
}

// gives checks the output of entries, and that there are no errors.
func gives(t *testing.T, dir, entries, want string, args ...string) {
	t.Helper()
	if code, stdout, stderr := piped(t, dir, entries, args...); code != 0 || stdout != want {
		t.Errorf("%s\nends with %d and writes\n%s%s\nnot\n%s", entries, code, stdout, stderr, want)
	}
}

// refuses checks that entries end with an error.
func refuses(t *testing.T, dir, entries string, want ...string) {
	t.Helper()
	code, _, stderr := piped(t, dir, entries, "--mock")
	for _, w := range want {
		if code != 1 || !strings.Contains(stderr, w) {
			t.Errorf("%.200s\nends with %d and says\n%.2000s\nnot %q", entries, code, stderr, w)
		}
	}
}

// Promise 27.12 (desk): functions use the new value of a name that is defined again after them. The places that its old
// value held, and those of an expression without a name, become free. An agent that is part of a named composition is
// not rebound, and the error names that composition.
func TestPromise_27_12_Rebinding(t *testing.T) {
	const agents = "a = agent(prompt = \"A.\")\nb = agent(prompt = \"B.\")\n"
	dir := t.TempDir()
	gives(t, dir, "def f(x):\n    return g(x)\ndef g(x):\n    return 1\n\nf(0)\ndef g(x):\n    return 2\n\nf(0)\n", "1\n2\n")
	gives(t, dir, agents+"p = a >> b\np = None\nq = b >> a\n", "", "--mock")
	gives(t, dir, agents+"a >> b\nq = b >> a\n:type q\n", "pipeline: str → str\n├─ agent a: str → str\n└─ agent b: str → str\npipeline: str → str\n", "--mock")
	refuses(t, dir, agents+"p = a >> b\na = agent(prompt = \"Other.\")\n", "error[AS401]: a has a place in p", "drop p first: p = None")
}

// TestListsOfRuns checks that what a run binds keeps its identity: other names hold it too, a tuple stays a tuple, and
// it can be changed. A list of tuples survives the restart of its statement.
func TestListsOfRuns(t *testing.T) {
	const agents = "a = agent(prompt = \"A.\")\n"
	gives(t, t.TempDir(), agents+"xs = [\"s\"]\nys = xs\nys += [a(\"b\")]\nxs[0] = \"q\"\nys\n", "[\"q\", \"[mock] a\"]\n", "--mock")
	gives(t, t.TempDir(), agents+"xs = [1]\nd = {\"k\": xs, \"v\": a(\"b\")}\nxs.append(2)\nd[\"k\"]\n", "[1, 2]\n", "--mock")
	gives(t, t.TempDir(), agents+"p = (1, a(\"b\"))\ntype(p)\n", "\"tuple\"\n", "--mock")
	gives(t, t.TempDir(), agents+"xs = [(1, 2)]\nx = a(\"b\")\nxs.append(3)\nlen(xs)\n", "2\n", "--mock")
}

// TestCallsInPlace checks that retry, fallback and race make calls at the prompt as in a running function, and compose
// as in a file.
func TestCallsInPlace(t *testing.T) {
	const agents = "a = agent(prompt = \"A.\")\nb = agent(prompt = \"B.\")\n"
	gives(t, t.TempDir(), agents+"retry(a, \"x\", max = 3)\nfallback([a, b], \"x\")\nfallback([(a, \"x\"), (b, \"y\")])\nv = race([a, a], \"x\")\nlen(v) > 0\n",
		"\"[mock] a\"\n\"[mock] a 2\"\n\"[mock] a 3\"\nTrue\n", "--mock")
	gives(t, t.TempDir(), agents+"p = retry(a, 2)\n:type p\nfallback([b])\n", "retry: str → str\nfallback: str → str\n└─ agent b: str → str\n", "--mock")
	refuses(t, t.TempDir(), agents+"retry(a, \"3\")\n", "error[AS204]: max: want int, got str \"3\"")
	refuses(t, t.TempDir(), agents+"fallback(a, \"x\")\n", "error[AS310]: nodes: want node or list of nodes, got str \"x\"")
}

// TestRunsMakeData checks that a statement that calls a node and makes an agent or a type from the answer says what to
// write.
func TestRunsMakeData(t *testing.T) {
	const agents = "a = agent(prompt = \"A.\")\nb = agent(prompt = \"B.\")\n"
	for entry, name := range map[string]string{"q = agent(prompt = a(\"x\"))": "q: the agent q", "enum(a(\"x\"), b(\"y\"))": "the type enum("} {
		refuses(t, t.TempDir(), agents+entry+"\n", "a statement that calls a node may only return data: "+name, "bind the call's result first")
	}
	gives(t, t.TempDir(), agents+"x = a(\"x\")\nq = agent(prompt = x)\nq(\"y\")\n", "\"[mock] q\"\n", "--mock")
}

// Promise 27.15 (desk): records are shown as aligned fields, lists of records as tables, and nodes as their type and
// tree, truncated to the screen.
func TestPromise_27_15_Values(t *testing.T) {
	gives(t, t.TempDir(), `P = schema("P", name = str, of = list[int])
p = P(name = "x", of = [1, 2])
p
[p, P(name = "long\nname", of = [])]
{"a": None, "b": True}
"a\nb"
P
a = agent(prompt = "A.", output = P)
a / agent(name = "c", prompt = "C.", output = P)
None
`, `P
  name  "x"
  of    [1, 2]
name          of
"x"           [1, 2]
"long\nname"  []
{"a": None, "b": True}
a
b
P
  name  str
  of    list[int]
parallel: str → list[P]
├─ agent a: str → P
└─ agent c: str → P
`)
}

// Promise 27.19 (desk): `:reload` keeps data, reports which names changed, and does not run anything again.
func TestPromise_27_19_Reload(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "flow.star"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const before = "a = agent(prompt = \"A.\")\nxs = [1]\nsaid = a(\"x\")\np = a >> agent(name = \"z\", prompt = \"Z.\")\n"
	write(before)
	gives(t, dir, "xs.append(2)\n:reload\nxs\n:budget\n", "nothing changed\n[1, 2]\nspent: 1 model call, 1+2 tokens\n", "flow.star", "--mock")
	edits := edit(func() {
		write(strings.Replace(before, "A.", "Another.", 1) + "again = p(\"y\")\ndef f():\n    return 1\n")
	})
	write(before)
	stdin := io.MultiReader(strings.NewReader("xs.append(2)\nsaid = \"mine\"\n"), edits, strings.NewReader(":reload\n[xs, said]\nf()\n:budget\n"))
	code, stdout, stderr := inProcess(t, func(s *term.Process) { s.Stdin, s.StdinPiped = stdin, true }, "repl", "flow.star", "--mock")
	if want := "changed: a, f\nnot run again: said, again\n[[1, 2], \"mine\"]\n1\nspent: 1 model call, 1+2 tokens\n"; code != 0 || stdout != want {
		t.Errorf("it ends with %d and writes\n%s%s\nnot\n%s", code, stdout, stderr, want)
	}
}

// edit is a reader without content that first does something.
type edit func()

func (e edit) Read([]byte) (int, error) {
	e()
	return 0, io.EOF
}

// Promise 27.21 (desk): without a terminal the input is read without prompts and escapes, and the first error ends the
// command with exit code 1.
func TestPromise_27_21_Piped(t *testing.T) {
	dir := t.TempDir()
	gives(t, dir, "x = 3\n\ndef f(y):\n    z = y\n\n    return z\n\nf(x)\nfor i in [1, 2]:\n    x = x + i\nx", "3\n6\n")
	for _, wrong := range []string{"y\n", "1 + \"a\"\n", "(1\n", ":none\n", "a = agent(prompt = \"A.\")\na(\"x\") + 1\n", ":load none.star\n"} {
		if code, stdout, stderr := piped(t, dir, "1\n"+wrong+"2\n", "--mock"); code != 1 || stdout != "1\n" || !strings.HasPrefix(stderr, "error") || strings.Contains(stderr+stdout, "\x1b") {
			t.Errorf("%q ends with %d, %q, %q", wrong, code, stdout, stderr)
		}
	}
}

// Promise 27.14 (desk): each command of the prompt does what `:help` says, and an unknown command is an error that
// names the nearest one. The commands for files and for the last error have separate tests.
func TestPromise_27_14_Commands(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "more.star"), []byte("loaded = 7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const agent = "a = agent(prompt = \"A.\")\n"
	for _, row := range []struct{ entries, want string }{
		{"?len\n", "builtin len"},
		{"?a\n", "agent a: str -> str"},
		{"x = 1\n?x\n", "x is int 1"},
		{"x = 1 + 2\n??x\n", "x = 1 + 2"},
		{":type a\n", "agent: str → str"},
		{":type [1]\n", "list"},
		{":graph a\n", "flowchart TD"},
		{":run a hello\n", "[mock] a"},
		{":cost a\n", "model call"},
		{":model\n", "made-up answers"},
		{":mock\n:mock off\n:mock\n", "mock is on\nmock is off\nmock is off\n"},
		{":trace\n:trace on\n:trace\n", "trace is off\ntrace is on\ntrace is on\n"},
		{":time\n:time on\n:time off\n", "time is off\ntime is on\ntime is off\n"},
		{":cost a >> agent(name = \"b\", prompt = \"B.\")\n", "at most 4 model calls"},
		{":graph a >> agent(name = \"b\", prompt = \"B.\")\n:graph a\n", "flowchart TD"},
		{"1\n:type \"x\"\n_\n", "1\nstr\n1\n"},
		{"a(\"x\")\n:budget calls=5\n", "spent: 1 model call, 1+2 tokens\ncalls of an entry: at most 5"},
		{":budget model_calls=5 tool_calls=2\n", "calls of an entry: at most 5\ntools of an entry: at most 2\n"},
		{"V = schema(\"V.\", ok = bool, n = int)\nj = agent(prompt = \"J.\", output = V)\n:type j(\"x\")\n:type (a >> j)(\"x\").n\n:type a(\"x\") + \"!\"\n", "V\nint\nknown when it runs\n"},
		{":load more.star\nloaded\n", "7"},
		{"x = a(\"x\")\n:replay\nx\n", "x = \"[mock] a\"\nno model was asked, and the result is that of the run\n\"[mock] a\"\n"},
		{"a(\"x\")\n:replay\n", "\"[mock] a\"\n\"[mock] a\"\nno model was asked, and the result is that of the run\n"},
		{"x = a(\"x\")\nx = 3\n:replay\nx\n", "no model was asked, and the result is that of the run\n3\n"},
		{"k = 1\ndef f(): return a(\"x\") + str(k)\n\nf()\nk = 2\n:replay\n", "\"[mock] a2\"\nno model was asked, and the result differs from that of the run:\n--- the run\n+++ its replay\n@@ -1,1 +1,1 @@\n-[mock] a1\n+[mock] a2\n"},
		{":model a=openai/gpt-5\n:mock off\n:model\n", "a=openai/gpt-5\n"},
		{"P = schema(\"P.\", n = int)\nc = agent(prompt = \"C.\", output = list[P])\ndef f(p = P): return p\n\nP = schema(\"P.\", m = int)\n", "c still answers the earlier P: to change that, enter the statement of c again, which ??c shows\nf still takes the earlier P"},
		{"P = schema(\"P.\", n = int)\nc = agent(prompt = \"C.\", output = P)\nP = schema(\"P.\", n = int)\n", ""},
		{":budget usd=0.001 tokens=1e3\n:budget usd=off\n", "tokens of an entry: at most 1000\nusd of an entry: at most $0.0010\nspent: 0 model calls, 0+0 tokens\ntokens of an entry: at most 1000\n"},
		{":more\n", "there is no more"},
		{":time 1 + 1\n", "2\ntook "},
		{":quit\n1\n", ""},
	} {
		code, stdout, stderr := piped(t, dir, agent+row.entries, "--mock")
		if code != 0 || !strings.Contains(stdout, row.want) || row.want == "" && stdout != "" {
			t.Errorf("%q ends with %d and writes %q, %q, not %q", row.entries, code, stdout, stderr, row.want)
		}
	}
	refuses(t, dir, ":grap a\n", "there is no command :grap", "did you mean :graph?")
	refuses(t, dir, agent+":budget calls=1\n[a(\"x\"), a(\"y\")]\n", "error[AS704]", "raise it with :budget calls=N", "      the entry at entry 2:1:11\n")
	for entry, want := range map[string]string{
		":reload now":            ":reload takes nothing, and got \"now\"",
		":mock maybe":            ":mock takes on or off, and got \"maybe\"",
		":budget calls=1.5":      "calls takes a whole number that is not negative, and got \"1.5\"",
		":budget usd=-1":         "usd takes an amount that is not negative, and got \"-1\"",
		":budget usd=nan":        "usd takes an amount that is not negative, and got \"nan\"",
		":budget usd=inf":        "usd takes an amount that is not negative, and got \"inf\"",
		":budget calls=inf":      "calls takes a whole number",
		":budget calls=1 cash=2": "there is no limit \"cash\"",
		":cost 3":                ":cost takes a node, and 3 is int",
		":graph a(\"x\")":        ":graph takes a node, and a(\"x\") is what only a run knows",
		":type x = 3":            ":type takes an expression",
		":diff":                  ":diff takes two values that are data",
		":diff 1":                ":diff takes two values that are data",
		":run":                   ":run takes the name of a node or function",
		":run a":                 ":run a takes a text, and got no input",
		":model foo":             "model \"foo\" names no provider",
		":model opnai/gpt-5":     "did you mean \"openai/gpt-5\"?",
		":save gone/x.star":      "gone/x.star: there is no directory gone",
		":model b=openai/gpt-5":  "the script has no agent \"b\"",
		":model =openai/gpt-5":   "names no model",
		"D = schema(\"D.\", x = int)\nj = agent(prompt = \"J.\", input = D)\n:run j":       ":run j takes D as JSON, and got no input",
		"D = schema(\"D.\", x = int)\nj = agent(prompt = \"J.\", input = D)\n:run j hello": ":run j takes D as JSON, and got \"hello\"",
		"def f(x, y): return x\n\n:run f":                                                  ":run f takes x, y as JSON, and got no input",
		"def f(x = int): return x\n\n:run f no":                                            ":run f takes int as JSON, and got \"no\"",
		"??":                                                                               "?? takes a name",
		":fix":                                                                             ":fix is for a terminal: the first error ends a pipe",
		":quit!":                                                                           "there is no command :quit!",
	} {
		refuses(t, dir, agent+entry+"\n", want)
	}
	_, help, _ := piped(t, dir, ":help\n")
	for _, command := range []string{":help", "?NAME", "??NAME", ":type", ":graph", ":run", ":cost", ":diff", ":model", ":mock", ":trace", ":budget", ":load", ":reload", ":save[!]", ":save-test[!]", ":replay", ":fix", ":more", ":time", ":quit"} {
		if !strings.Contains(help, command) {
			t.Errorf("the help has no %s:\n%s", command, help)
		}
	}
}

// TestResults checks that the last three values that are not None are kept, and that :diff compares values.
func TestResults(t *testing.T) {
	gives(t, t.TempDir(), `P = schema("P", x = int, y = str)
1
P(x = 1, y = "u")
P(x = 1, y = "v")
:diff
None
[_.y, _2.y, _3]
:diff _2.x, 1
:diff "a\nb", "a\nc"
`, `1
P
  x  1
  y  "u"
P
  x  1
  y  "v"
--- _2, the value before
+++ _, the last value
@@ -1,4 +1,4 @@
 {
   "x": 1,
-  "y": "u"
+  "y": "v"
 }
["v", "u", 1]
they are equal
--- "a\nb"
+++ "a\nc"
@@ -1,2 +1,2 @@
 a
-b
+c
`)
}

// TestSaved writes a script and a test that do what the session did, even if a statement refers to a result, or to an
// earlier value of a name.
func TestSaved(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	const session = `1 + 2
x = _ * 2
a = agent(prompt = "A.")
a("q")
_ + "!"
b = [_2, _]
[0 for _ in b]
x = x + 1
y = x
x = 9
`
	gives(t, dir, session+":save s.star\n:save! s.star\n:save-test s_test.star\n:save-test! s_test.star\n", `3
"[mock] a"
"[mock] a!"
[0, 0]
wrote s.star
wrote s.star
wrote s_test.star
wrote s_test.jsonl
wrote s_test.star
wrote s_test.jsonl
`, "--mock")
	const composed = `result = 1 + 2

x_1 = result * 2

a = agent(prompt = "A.")

x_2 = x_1 + 1

y = x_2

x = 9

`
	for file, want := range map[string]string{
		"s.star": composed + `def main():
    result_1 = a("q")
    result_2 = result_1 + "!"
    b = [result_1, result_2]
    return [0 for _ in b]
`,
		"s_test.star": composed + `def test_session(t):
    t.replay("s_test.jsonl")
    result_1 = a("q")
    t.eq(result_1, "[mock] a")
    result_2 = result_1 + "!"
    t.eq(result_2, "[mock] a!")
    b = [result_1, result_2]
    t.eq([0 for _ in b], [0, 0])
`,
	} {
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%s, %v:\n%s\nnot\n%s", file, err, got, want)
		}
	}
	if code, stdout, stderr := inProcess(t, nil, "test"); code != 0 || stdout != "1 passed\n" {
		t.Errorf("the test: exit %d, %q\n%s", code, stdout, stderr)
	}
	refuses(t, dir, "1\n:save s.star\n", "s.star is there already", "write over it: :save! s.star")
	refuses(t, dir, "a = agent(prompt = \"A.\")\na(\"x\")\n:save-test s_test.star\n", "s_test.star is there already", ":save-test! s_test.star")
}

// TestQuietPrompt checks that only values are written, and nothing about what commands did; --verbose is :trace on.
func TestQuietPrompt(t *testing.T) {
	dir := t.TempDir()
	gives(t, dir, "b = 3\n:save x.star\n:mock on\n:budget calls=2\nb\n:mock\n", "3\nmock is on\n", "-q")
	gives(t, dir, ":trace\n", "trace is on\n", "-v")
	for _, flag := range []string{"--watch", "--progress=plain", "--trace=x", "--json"} {
		if code, _, stderr := piped(t, dir, "1\n", flag); code != term.ExitUsage {
			t.Errorf("%s does nothing at a prompt, and ends with %d\n%s", flag, code, stderr)
		}
	}
}

// TestWideTables aligns wide and combining characters in columns, as a terminal shows them.
func TestWideTables(t *testing.T) {
	gives(t, t.TempDir(), "P = schema(\"P\", name = str, n = int)\n[P(name = \"日本\", n = 1), P(name = \"e\u0301te\u0301\", n = 2), P(name = \"👩‍👩‍👧\", n = 3), P(name = \"abcd\", n = 4)]\n",
		"name    n\n\"日本\"  1\n\"e\u0301te\u0301\"   2\n\"👩‍👩‍👧\"    3\n\"abcd\"  4\n")
}

// TestValuesOfThemselves shows a list or dict that contains itself.
func TestValuesOfThemselves(t *testing.T) {
	gives(t, t.TempDir(), "x = []\nx.append(x)\nx\n[x]\nd = {}\nd[\"me\"] = d\nd\n:type d\n", "[[...]]\n[[[...]]]\n{\"me\": {...}}\ndict\n")
	refuses(t, t.TempDir(), "x = []\nx.append(x)\nx\n:diff _, 1\n", ":diff takes two values that are data")
}

// Promise 27.20 (desk): every run of a session is recorded: `:replay` repeats it without a model, `:save` writes the
// session as a script, and `:save-test` as a test with its answers.
func TestPromise_27_20_Recorded(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	const said = "V = schema(\"A\", n = int, s = str)\ncoder = agent(prompt = \"Write.\", output = V)\nx = coder(\"a\")\ncoder(\"b \" + x.s).n\n"
	gives(t, dir, said+":mock off\n:replay\n:save flow.star\n:save-test flow_test.star\n", "78\nmock is off\n78\nno model was asked, and the result is that of the run\nwrote flow.star\nwrote flow_test.star\nwrote flow_test.jsonl\n", "--mock")
	// The script does what the session did; the test repeats it without a model.
	if code, stdout, stderr := inProcess(t, nil, "run", "-q", "flow.star", "--mock"); code != 0 || stdout != "78\n" {
		t.Errorf("the script: exit %d, %q\n%s", code, stdout, stderr)
	}
	if code, stdout, stderr := inProcess(t, nil, "test"); code != 0 || stdout != "1 passed\n" {
		t.Errorf("the test: exit %d, %q\n%s", code, stdout, stderr)
	}
	saved, err := os.ReadFile(filepath.Join(dir, "flow_test.star"))
	if err != nil || !strings.Contains(string(saved), "def test_session(t):\n    t.replay(\"flow_test.jsonl\")\n    x = coder(\"a\")\n    t.eq(coder(\"b \" + x.s).n, 78)\n") {
		t.Errorf("%v\n%s", err, saved)
	}
	for entry, want := range map[string]string{
		":save-test other.star":            "takes the name of a file that ends in _test.star",
		":save-test flow_test.star":        "nothing ran that a test could repeat",
		"2\n:save-test a_test.star":        "nothing ran that a test could repeat",
		said + ":save-test flow_test.star": "flow_test.star is there already",
	} {
		code, _, stderr := inProcess(t, func(s *term.Process) { s.Stdin, s.StdinPiped = strings.NewReader(entry+"\n"), true }, "repl", "--mock")
		if code != 1 || !strings.Contains(stderr, want) {
			t.Errorf("%q: exit %d\n%s", entry, code, stderr)
		}
	}
}

// TestRunNamed reads the argument of a function as run does: as text, or as JSON of the parameter's type.
func TestRunNamed(t *testing.T) {
	gives(t, t.TempDir(), `def main(x = 3): return x + 1
:run main 4
:run main {"x": 6}
def f(s = str): return s + "!"
:run f 4
def g(xs = list[int]): return sum(xs)
:run g [1, 2]
`, "5\n7\n\"4!\"\n3\n")
}
