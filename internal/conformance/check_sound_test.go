package conformance

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
)

// soundParts are the parts of the scripts in these tests.
const soundParts = `
R = schema("A result", score = int, txt = str)
In = schema("An input", score = int, text = str)
a = agent(output = list[R], run = lambda t: [R(score = len(t), txt = t)])
one = agent(output = R, run = lambda t: R(score = len(t), txt = t))
count = agent(output = int, run = lambda t: len(t))
takes = agent(input = In, run = lambda i: i.text)
take_list = agent(input = list[str], run = lambda xs: xs[0])
SEEN = []
SIZES = {"small": 1}
N = 0
`

// sounded checks a script, ignoring what it leaves unused.
func sounded(src string) (diag.List, string) {
	found, shown := checked(soundParts + src)
	return slices.DeleteFunc(found, func(d *diag.Diagnostic) bool { return d.Code == diag.UnusedAgent }), shown
}

// Promise 26.10 (sound): code that fails in every run that reaches it is an error of the check: unknown fields of items,
// operators, formats, loops and indexes on values of the wrong type, results that do not fit, missing keys,
// undefined names.
func TestPromise_26_10_EveryRunFails(t *testing.T) {
	for code, bodies := range map[diag.Code][]string{
		diag.UnknownAttribute: {
			"for r in a(t):\n        print(r.text)", "return [r.text for r in a(t)]", "return sorted(a(t), key = lambda r: r.scor)", "return max(a(t), key = lambda r: r.scor)",
			"return {r.text: r for r in a(t)}", "rs = [r for r in a(t) if r.score > 1]\n    return rs[0].text", "out = []\n    for r in a(t):\n        out.append(r)\n    return [r.text for r in out]",
			"return [pair[1].text for pair in enumerate(a(t))]", "for i, r in enumerate(a(t)):\n        print(i, r.text)", "return parallel(lambda r: r.text, a(t))",
			"return [r.text for rs in parallel(a, [t]) for r in rs]", "def inner(r):\n        return r\n    return inner(one(t)).text", "return attempt(one, t).value.text",
			"r = one(t) if t else None\n    return r.text", "f = json.encode(t)\n    return f.read()", "x = None\n    return x.text",
		},
		diag.WrongOperand: {
			`return "count: " + count(t)`, `n = count(t)` + "\n    " + `return "count: " + n`, `return count(t) + "!"`, "for c in t:\n        print(c)", "return [c for c in t]",
			"for i in count(t):\n        print(i)", "return t < count(t)", "return -t", "return [1] + t", "return len(count(t))", "return t[\"a\"]", "return count(t)[0]", "return t()",
			"x, y = count(t)", "x, y = (1, 2, 3)", "return 1 in t", "t += 1", "return one(t) + one(t)", "return one(t) < one(t)", "return sorted(count(t))", "return count(t)[0:2]",
			"def none(x):\n        print(x)\n    return none(t) + 1", "for line in json.encode(t):\n        print(line)", "return [1, 2] * t", "return \", \".join(count(t))",
		},
		diag.BadFormat:  {`return "%s and %s" % t`, `return "{name}".format(t)`, `return "{} {}".format(t)`, `return "%d" % t`, `return "%s" % (t, t)`, `return "{name}".format(nme = t)`},
		diag.NoSuchKey:  {`d = {"a": 1}` + "\n    " + `return d["b"]`, `return {"a": 1}["b"]`, `return SIZES["large"]`, `d = {"a": 1}` + "\n    " + `d["c"] = 2` + "\n    " + `return d["b"]`},
		diag.Unassigned: {"N += 1", "N = N + 1", "print(later)\n    later = 1", "if t:\n        print(x)\n    x = 1"},
		diag.WrongTypeAtBoundary: {
			`return takes({"score": 3, "txt": t})`, `return takes({"score": t, "text": t})`, `d = {"score": 3}` + "\n    " + `return takes(d)`, "return takes(one(t))", "return one(count(t))",
		},
	} {
		for _, body := range bodies {
			found, shown := sounded("def main(t = str):\n    " + body + "\n")
			if !strings.HasPrefix(codes(found), string(code)) || found[0].Severity != diag.Error || len(found[0].Help) == 0 {
				t.Errorf("want an error %s with its remedy:\n%s\n%s", code, body, shown)
			}
		}
	}
	for _, c := range []struct{ src, code string }{
		{"def run(t):\n    print(t)\nmain = agent(output = int, run = run)\n", "AS222"},
		{"def run(t):\n    print(t)\nmain = fn(run, output = int)\n", "AS222"},
		{"def look(q = str):\n    \"\"\"Looks.\"\"\"\n    print(q)\nmain = agent(prompt = \"P.\", tools = [tool(look, returns = str)])\n", "AS222"},
		{"def run(t):\n    print(t)\nmain = agent(output = int, skills = [skill(\"s\", \"S\", run = run)])\n", "AS222"},
		{"main = agent(output = int, run = lambda s: s)\n", "AS705"},
		{"main = agent(output = R, run = lambda s: {\"score\": 1, \"text\": s})\n", "AS705"},
		{"main = fn(lambda n: n + \"x\", input = int)\n", "AS219"},
		{"main = loop(agent(run = lambda s: s), lambda v: 3)\n", "AS705"},
		{"main = par(count, agent(output = int, run = lambda t: 1), merge = lambda ns: ns.total)\n", "AS209"},
		{"g = agent(output = R, run = lambda t: R(score = 1, txt = t))\nmain = graph(g, [edge(g, agent(run = lambda s: s), map = lambda r: r.text), edge(g, FINISH, map = lambda r: r.txt)])\n", "AS209"},
		{"g = agent(output = R, run = lambda t: R(score = 1, txt = t))\nmain = g.branch([when(lambda r: r.scor > 1, fn(lambda r: r.txt, input = R, output = str))], otherwise = fn(lambda r: \"\", input = R, output = str))\n", "AS209"},
		{"def helper(n):\n    return \"n: \" + n\ndef main(t = str):\n    return helper(count(t))\n", "AS219"},
		{"def helper(r):\n    return r.text\ndef main(t = str):\n    return parallel(helper, a(t))\n", "AS209"},
		{"def helper(p):\n    return file(p)\ndef main(t = str):\n    return helper(t)\n", "AS602"},
		{"def helper(p):\n    return one >> count\ndef main(t = str):\n    return helper(t)(t)\n", "AS403"},
		{"def helper():\n    return one / one\ndef main(t = str):\n    return parallel([(helper,)])\n", "AS403"},
	} {
		if found, shown := sounded(c.src); !strings.HasPrefix(codes(found), c.code) || found[0].Severity != diag.Error {
			t.Errorf("want an error %s:\n%s\n%s", c.code, c.src, shown)
		}
	}
}

// Promise 26.11 (sound): code that fails only on some path is a warning that shows the path; the exit code is 0, or 3
// under --strict.
func TestPromise_26_11_Paths(t *testing.T) {
	for _, c := range []struct{ src, code, path string }{
		{"def main(t = str):\n    if t:\n        x = 1\n    return x\n", "AS218", "when `t` does not hold, at flow.star:13:5"},
		{"def main(t = str):\n    for c in t.split(\" \"):\n        x = c\n    return x\n", "AS218", "when `t.split(\" \")` is empty"},
		{"def main(t = str):\n    if t == \"a\":\n        x = 1\n    elif t == \"b\":\n        x = 2\n    return x\n", "AS218", "when `t == \"b\"` does not hold"},
		{"def main(t = str):\n    d = {\"a\": 1}\n    if t:\n        d[\"b\"] = 2\n    return d[\"b\"]\n", "AS220", "when `t` does not hold"},
		{"def main(t = str):\n    r = None\n    if t:\n        r = one(t)\n    return r.txt\n", "AS209", "when `t` does not hold"},
		{"def main(t = str):\n    x = \"a\"\n    if t:\n        x = 1\n    return x + \"b\"\n", "AS219", "when `t` holds"},
		{"def main(t = str):\n    xs = a(t)\n    if t:\n        xs = list(xs)\n    xs.append(one(t))\n    return xs\n", "AS221", "when `t` does not hold"},
		{"def run(t):\n    if t:\n        return 1\nmain = agent(output = int, run = run)\n", "AS222", "when `t` does not hold"},
		{"def run(t):\n    for w in t.split(\" \"):\n        if w:\n            return w\nmain = agent(run = run)\n", "AS222", "when the loop ends"},
	} {
		found, shown := sounded(c.src)
		if codes(found) != c.code || found[0].Severity != diag.Warning || !strings.Contains(shown, c.path) {
			t.Errorf("want one warning %s that says %q:\n%s\n%s", c.code, c.path, c.src, shown)
		}
	}
	script := file(t, "x.star", "def main(t = str):\n    if t:\n        x = 1\n    return x\n")
	if r := offline(t, "check", script); r.code != 0 || !strings.Contains(r.stderr, "warning[AS218]") {
		t.Errorf("exit code %d, want 0 with the warning:\n%s", r.code, r.stderr)
	}
	if r := offline(t, "check", "--strict", script); r.code != 3 {
		t.Errorf("exit code %d under --strict, want 3:\n%s", r.code, r.stderr)
	}
}

// Promise 26.12 (sound): the check reports changes to values that are frozen after the load: globals, inputs and
// results of nodes, and parts of instances.
func TestPromise_26_12_Mutations(t *testing.T) {
	for _, body := range []string{
		"SEEN.append(t)", "SEEN.extend([t])", "SEEN.insert(0, t)", "SEEN.pop()", "SEEN[0] = t", "SIZES[t] = 1", "SIZES.update({t: 1})", "SIZES.pop(t)", "SIZES.clear()",
		"xs = SEEN\n    xs.append(t)", "xs = a(t)\n    xs.append(one(t))", "xs = a(t)\n    xs += [one(t)]", "xs = [t]\n    take_list(xs)\n    xs.append(t)",
		"r = one(t)\n    r.txt = t", "one(t).txt = t", "parallel(lambda s: SEEN.append(s), [t])", "SIZES[\"small\"] += 1",
	} {
		found, shown := sounded("def main(t = str):\n    " + body + "\n")
		if codes(found) != "AS221" || found[0].Severity != diag.Error || len(found[0].Help) == 0 {
			t.Errorf("want one error AS221:\n%s\n%s", body, shown)
		}
	}
	for _, src := range []string{
		"def grow(xs):\n    xs.append(1)\n    return xs\nmain = fn(grow, input = list[int], output = list[int])\n",
		"def note(t):\n    SEEN.append(t)\n    return t\nmain = agent(run = note)\n",
		"main = fn(lambda t: SEEN.append(t), input = str)\n",
	} {
		if found, shown := sounded(src); codes(found) != "AS221" {
			t.Errorf("want one error AS221:\n%s\n%s", src, shown)
		}
	}
	for _, src := range []string{ // while the file loads, and for copies
		"def note(t):\n    SEEN.append(t)\nnote(\"x\")\nmain = one\n",
		"def note(t):\n    SEEN.append(t)\n[note(x) for x in [\"a\"]]\ndef main(t = str):\n    return SEEN\n",
		"def main(t = str):\n    own = list(SEEN)\n    own.append(t)\n    return own\n",
		"def main(t = str):\n    own = [t]\n    take_list(list(own))\n    own.append(t)\n    return own\n",
	} {
		if found, shown := sounded(src); len(found) > 0 {
			t.Errorf("this is sound:\n%s\n%s", src, shown)
		}
	}
}
