package cli

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/internal/text"
)

// TestSavedSessions writes random sessions as scripts and as tests: the script has no errors, running it returns the
// values of the session, and the test passes.
func TestSavedSessions(t *testing.T) {
	n := uint64(300)
	if testing.Short() {
		n = 40
	}
	var rows strings.Builder
	for i := range 80 {
		for _, agent := range []string{"a", "b", "c"} {
			fmt.Fprintf(&rows, "{\"agent\": %q, \"text\": \"%s%d\"}\n", agent, agent, i)
		}
	}
	ended := 0
	for seed := range n {
		dir := t.TempDir()
		t.Chdir(dir)
		if err := os.WriteFile("rows.jsonl", []byte(rows.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		entries := randomSession(rand.New(rand.NewPCG(seed, 7)))
		fails := func(what string, said ...any) {
			t.Helper()
			saved, _ := os.ReadFile("s.star")
			test, _ := os.ReadFile("s_test.star")
			t.Errorf("seed %d: %s: %v\n--- session\n%s\n--- saved\n%s\n--- test\n%s", seed, what, said, entries, saved, test)
		}
		code, stdout, stderr := piped(t, dir, entries+":save s.star\n:save-test s_test.star\n", "-q", "--scripted", "rows.jsonl")
		if code != 0 {
			if strings.Contains(stderr, "not written") || !strings.Contains(stderr, "entry ") {
				fails("saving", code, stderr)
			} else {
				ended++ // the session itself has an error
				t.Logf("seed %d ends: %s", seed, stderr)
			}
			continue
		}
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		code, stdout, stderr = inProcess(t, nil, "run", "-q", "s.star", "--replay", "s_test.jsonl")
		if code != 0 || text.Quote(strings.TrimSpace(stdout)) != lines[len(lines)-1] {
			fails("running", code, stderr, "\n", stdout, lines[len(lines)-1])
		}
		if code, stdout, stderr := inProcess(t, nil, "test", "s_test.star"); code != 0 {
			fails("testing", code, stdout, stderr)
		}
		if t.Failed() {
			return
		}
	}
	if ended > int(n)/10 {
		t.Errorf("%d of %d sessions end with an error", ended, n)
	}
}

// TestSavedForms checks forms that a file cannot contain as entered: rebound names, compositions that are called in
// place, lists that runs change, and the name that a test uses itself.
func TestSavedForms(t *testing.T) {
	const agents = "a = agent(prompt = \"A.\")\nb = agent(prompt = \"B.\")\n"
	for _, row := range []struct{ entries, script, test string }{
		{"x = 1\ny = x + 1\nx = y * 10\nz = x\n", "x_1 = 1\n\ny = x_1 + 1\n\nx = y * 10\n\nz = x\n", ""},
		{"x = 1\nx = 2\nx = 3\n", "x = 3\n", ""},
		{"x = 1\ndef f(): return x\ny = f()\nx = 2\nz = f()\n", "x_1 = 1\n\ndef f_1(): return x_1\n\ny = f_1()\n\nx = 2\n\ndef f(): return x\n\nz = f()\n", ""},
		{"P = schema(\"P.\", n = int)\np = P(n = 1)\nP = schema(\"P.\", m = int)\n", "P_1 = schema(\"P.\", n = int, _name = \"P\")\n\np = P_1(n = 1)\n\nP = schema(\"P.\", m = int)\n", ""},
		{"xs = [1]\nxs += [2]\nys = xs\nxs = []\n", "xs_1 = [1]\n\nxs_1.extend([2])\n\nys = xs_1\n\nxs = []\n", ""},
		{"xs = [1]\nx = 0\nfor i in xs:\n    x = x + i\n\n", "xs = [1]\n\nx_1 = 0\n\ndef make_x(x):\n    for i in xs:\n        x = x + i\n    return i, x\n\ni, x = make_x(x_1)\n", ""},
		{agents + "(a >> b)(\"x\")\n(a >> b)(\"y\")\n", "flow = a >> b\n\ndef main():\n    flow(\"x\")\n    return flow(\"y\")\n",
			"t.eq(flow(\"x\"), \"[mock] b\")\n    t.eq(flow(\"y\"), \"[mock] b 2\")\n"},
		{agents + "(a >> b)(\"x\")\n(b >> a)(\"y\")\n", "flow_1 = b_1 >> a_1\n\ndef main():\n    flow(\"x\")\n    return flow_1(\"y\")\n", "t.eq(flow_1(\"y\")"},
		{agents + "notes = []\nnotes.append(a(\"x\"))\nnotes\n", "def main():\n    notes = []\n    notes.append(a(\"x\"))\n    return notes\n", "t.eq(notes, [\"[mock] a\"])"},
		{agents + "t = a(\"x\")\nt + \"!\"\n", "def main():\n    t = a(\"x\")\n    return t + \"!\"\n", "t_1 = a(\"x\")\n    t.eq(t_1 + \"!\", \"[mock] a!\")"},
		{agents + "x = a(\"x\")\nc = agent(prompt = x)\nc(\"y\")\n", "x_1 = \"[mock] a\"\n\nc = agent(prompt = x_1)\n\ndef main():\n    x = a(\"x\")\n    return c(\"y\")\n", "t.eq(c(\"y\"), \"[mock] c\")"},
		{agents + "a(\"x\")\na = agent(prompt = \"Other.\")\na(\"y\")\n", "a_1 = agent(name = \"a\", prompt = \"A.\")", "t.eq(a_1(\"x\"), \"[mock] a\")\n    t.eq(a(\"y\"), \"[mock] a 2\")"},
		{agents + "a(\"\"\"x\n  y\"\"\")\n", "    return a(\"\"\"x\n  y\"\"\")\n", "t.eq(a(\"\"\"x\n  y\"\"\"), \"[mock] a\")"},
	} {
		dir := t.TempDir()
		entries := row.entries + ":save s.star\n"
		if row.test != "" {
			entries += ":save-test s_test.star\n"
		}
		code, _, stderr := piped(t, dir, entries, "--mock")
		script, _ := os.ReadFile("s.star")
		test, _ := os.ReadFile("s_test.star")
		if code != 0 || !strings.HasSuffix(string(script), row.script) && !strings.Contains(string(script), row.script) || !strings.Contains(string(test), row.test) {
			t.Errorf("%s\nends with %d, %s\n%s\n%s", row.entries, code, stderr, script, test)
		}
		if row.test == "" {
			continue
		}
		if code, stdout, stderr := inProcess(t, nil, "test", "s_test.star"); code != 0 {
			t.Errorf("%s\n%s: %d, %s, %s", row.entries, test, code, stdout, stderr)
		}
	}
}

// TestSavedChanges writes statements that change a list, dict or set, even if their value was shown, and those that
// print: the script returns what the session showed last, and the test passes.
func TestSavedChanges(t *testing.T) {
	const agents = "a = agent(prompt = \"A.\")\n"
	for _, row := range []struct{ entries, script string }{
		{"xs = [1, 2, 3]\nxs.pop()\nxs.append(a(\"x\"))\nstr(xs)\n", "    xs.pop()\n"},
		{"xs = [1, 2, 3]\nxs.append(a(\"x\"))\nxs.pop(0)\nstr(xs)\n", "    xs.pop(0)\n"},
		{"d = {\"a\": 1, \"b\": a(\"x\")}\nd.pop(\"a\")\nd.setdefault(\"c\", 5)\nstr(d)\n", "    d.setdefault(\"c\", 5)\n"},
		{"xs = []\n[xs.append(i) for i in range(2)]\nxs.append(a(\"x\"))\nstr(xs)\n", "    [xs.append(i) for i in range(2)]\n"},
		{"xs = []\ndef add(x):\n    xs.append(x)\n    return len(xs)\n\nadd(1)\nadd(a(\"x\"))\nstr(xs)\n", "    add(1)\n"},
		{"xs, ys = [a(\"x\")], [a(\"y\")]\nt = (xs, [ys])\nt[1].append(\"z\")\nstr(t)\n", "[1].append(\"z\")\n"},
		{"xs = [(1, 2)]\na(\"x\")\nxs.append((3, a(\"y\")))\nstr(xs)\n", "xs.append((3, a(\"y\")))\n"},
		{"x = a(\"x\")\nprint(x)\nx + \"!\"\n", "    print(x)\n"},
		{"x = a(\"x\")\ny = a(\"y\")\nx\ny\n_ + _2\n_\n", " + "},
		{"xs = [\"s\"]\nys = xs\nys += [a(\"x\")]\nxs[0] = \"q\"\nstr([xs, ys])\n", "xs[0] = \"q\"\n"},
	} {
		dir := t.TempDir()
		code, stdout, stderr := piped(t, dir, agents+row.entries+":save s.star\n:save-test s_test.star\n", "--mock", "-q")
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		script, _ := os.ReadFile("s.star")
		if code != 0 || !strings.Contains(string(script), row.script) {
			t.Errorf("%s\nends with %d, %s\n%s", row.entries, code, stderr, script)
			continue
		}
		if code, stdout, stderr := inProcess(t, nil, "run", "-q", "--mock", "s.star"); code != 0 || text.Quote(strings.TrimSpace(stdout)) != lines[len(lines)-1] {
			t.Errorf("%s\nshows %s, and the script\n%s\nends with %d and %s%s", row.entries, lines[len(lines)-1], script, code, stdout, stderr)
		}
		if code, stdout, stderr := inProcess(t, nil, "test", "s_test.star"); code != 0 {
			test, _ := os.ReadFile("s_test.star")
			t.Errorf("%s\n%s: %d, %s, %s", row.entries, test, code, stdout, stderr)
		}
	}
	gives(t, t.TempDir(), agents+"help(len)\nx = a(\"x\")\nx\n:save s.star\n", "\"[mock] a\"\nwrote s.star\n", "--mock")
	if script, err := os.ReadFile("s.star"); err != nil || strings.Contains(string(script), "help") {
		t.Errorf("%s, %v", script, err)
	}
}

// TestSavedBroken checks that a script with errors is not written unless requested.
func TestSavedBroken(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"lib.star": "def f():\n    return 1\n", "sub/keep": ""} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const session = "load(\"lib.star\", \"f\")\na = agent(prompt = \"A.\")\na(\"x\")\n"
	refuses(t, dir, session+":save sub/s.star\n", "sub/s.star is not written, as it would have errors", "lib.star", ":save! sub/s.star")
	refuses(t, dir, session+":save-test sub/s_test.star\n", "sub/s_test.star is not written, as it would have errors", ":save-test! sub/s_test.star")
	if found, err := os.ReadDir(filepath.Join(dir, "sub")); err != nil || len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
	gives(t, dir, session+":save! sub/s.star\n", "\"[mock] a\"\nwrote sub/s.star, which has errors\n", "--mock")
	if text, err := os.ReadFile(filepath.Join(dir, "sub", "s.star")); err != nil || !strings.Contains(string(text), "return a(\"x\")") {
		t.Errorf("%s, %v", text, err)
	}
}

// randomSession returns a text of entries, the last of which shows all values.
func randomSession(r *rand.Rand) string {
	var b strings.Builder
	enter := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	has := map[string]bool{}
	var fields, texts []string
	names := map[string]bool{}
	bind := func(name, value string) {
		enter("%s = %s", name, value)
		names[name] = true
	}
	number := func() string {
		of := []string{"x", "y", "len(xs)", "d[\"k\"]", "len(s)", fmt.Sprint(r.IntN(9))}
		for _, f := range []string{"f", "g", "h", "k"} {
			if has[f] {
				of = append(of, f+"()")
			}
		}
		if has["r"] {
			of = append(of, "r.n")
		}
		return of[r.IntN(len(of))]
	}
	list := func() string { return []string{"xs", "ys"}[r.IntN(2)] }
	name := func() string { return []string{"x", "y", "t"}[r.IntN(3)] }
	call := func(arg string) string {
		of := []string{"a", "b", "a", "(a >> b)"}
		if has["p"] {
			of = []string{"a", "b", "p"}
		}
		if has["flow"] {
			of = append(of, "flow")
		}
		return of[r.IntN(len(of))] + "(" + arg + ")"
	}
	free := func() {
		if has["p"] {
			enter("p = None")
			has["p"] = false
		}
	}
	bind("x", "1")
	bind("y", "x + 1")
	bind("t", "2")
	bind("xs", "[1, 2]")
	bind("ys", "[3]")
	bind("d", "{\"k\": 1}")
	bind("s", "\"s\"")
	enter("a = agent(prompt = \"A.\")\nb = agent(prompt = \"B.\")")
	for range 6 + r.IntN(20) {
		switch r.IntN(36) {
		case 0, 1:
			bind(name(), number()+" + "+number())
		case 2:
			enter("%s += %s", name(), number())
		case 3:
			bind(list(), fmt.Sprintf("[%s, %s]", number(), number()))
		case 4:
			bind(list(), list())
		case 5, 6:
			enter("%s.append(%s)", list(), number())
		case 7:
			enter("%s += [%s]", list(), number())
		case 8:
			enter("%s[0] = %s", list(), number())
		case 9:
			enter("for i in range(2):\n    %s.append(i)\n", list())
			names["i"] = true
		case 10:
			enter("for i in range(3):\n    %[1]s = %[1]s + i\n", name())
			names["i"] = true
		case 11:
			enter("if %s > 3:\n    %s = %s\n", number(), name(), number())
		case 12:
			enter("d[\"k\"] = %s", number())
		case 13:
			bind("d", fmt.Sprintf("{\"k\": %s}", number()))
		case 14:
			enter("def f():\n    return x + %d\n", r.IntN(9))
			has["f"] = true
		case 15:
			if has["f"] {
				enter("def g(v = %s):\n    return f() + v + len(xs)\n", []string{"x", "f()", "y + 1"}[r.IntN(3)])
				has["g"] = true
			}
		case 16:
			if has["g"] {
				enter("def h():\n    return g() + g(1) + y\n")
				has["h"] = true
			}
		case 17:
			if has["f"] {
				enter("k = lambda: f() + x")
				has["k"] = true
			}
		case 18:
			fields = []string{"n"}
			extra := ""
			if r.IntN(2) == 0 {
				fields, extra = append(fields, "m"), ", m = int"
			}
			enter("P = schema(\"P.\", n = int%s)", extra)
		case 19:
			if len(fields) > 0 {
				args := ""
				for _, field := range fields {
					args += fmt.Sprintf(", %s = %s", field, number())
				}
				bind("r", "P("+args[2:]+")")
				has["r"] = true
			}
		case 20:
			free()
			enter("%s = agent(prompt = \"Other %d, %%d.\" %% %s)", []string{"a", "b"}[r.IntN(2)], r.IntN(99), number())
		case 21:
			free()
			enter("a = agent(prompt = \"Go on from \" + s)")
		case 22:
			free()
			enter("p = a >> b")
			has["p"] = true
		case 23, 24:
			bind("s", call(fmt.Sprintf("\"q%d %%d\" %% %s", r.IntN(99), number())))
		case 25:
			enter("%s\n_ + \"!\"", call("s"))
			if r.IntN(2) == 0 {
				bind("s", "_ + _2")
			}
		case 26:
			enter("%s.append(len(%s))", list(), call("s + str(x)"))
		case 27:
			enter("for i in range(2):\n    s = s[:9] + %s\n", []string{"a", "b"}[r.IntN(2)]+"(s)")
			names["i"] = true
		case 28:
			enter("def flow(v):\n    return b(a(v)) + str(%s)\n", number())
			has["flow"] = true
		case 29:
			enter("def note(v):\n    xs.append(v)\n    return len(xs)\n\n%s = note(%s)", name(), number())
			has["note"] = true
		case 30:
			enter("%[1]s.pop() if len(%[1]s) > 1 else 0", list())
		case 31:
			enter("[%s.append(i) for i in range(2)]", list())
		case 32:
			enter("d.setdefault(\"j\", %s)", number())
		case 33:
			bind("w", fmt.Sprintf("(%s, [%s])", list(), number()))
		case 34:
			if names["w"] {
				enter("w[%d].append(%s)", r.IntN(2), number())
			}
		case 35:
			if has["note"] {
				enter("note(%s)", number())
			}
		}
	}
	for known := range names {
		texts = append(texts, known)
	}
	for _, f := range []string{"f", "g", "h", "k"} {
		if has[f] {
			texts = append(texts, f+"()")
		}
	}
	enter("json.encode([a(\"end\"), %s])", strings.Join(texts, ", "))
	return b.String()
}
