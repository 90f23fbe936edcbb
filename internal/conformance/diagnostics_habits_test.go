package conformance

import (
	"strings"
	"testing"
)

// habits are what a Python programmer or a model writes, and the resulting code. The rendered texts are in
// testdata/habits.
var habits = []struct{ name, src, codes, rewrite string }{
	{"f_string", "def greet(name):\n    return f\"hello {name}, {len(name):>3} letters\"\n", "AS102", `"hello {}, {} letters".format(name, `},
	{"try", "def main(path):\n    try:\n        return compile(path)\n    except ValueError as e:\n        return str(e)\n", "AS103", "attempt("},
	{"class", "class Finding:\n    text: str\n    line: int = 0\n", "AS104", "Finding = schema("},
	{"class_with_methods", "class Greeter(Base):\n    def greet(self):\n        return 1\n", "AS104", "schema"},
	{"import", "import json\n", "AS105", "json"},
	{"from_import", "from lib.reviewers import reviewer, other as mine\n", "AS105", `load("lib/reviewers.star", "reviewer", mine = "other")`},
	{"is_none", "def main(x = \"\"):\n    return x is None\n", "AS106", "x == None"},
	{"is_not", "def main(x = \"\"):\n    return 1 if x is not None else 2\n", "AS106", "x != None"},
	{"power", "area = 3 ** 2\n", "AS107", "3 * 3"},
	{"percent_precision", "def rounded(x):\n    return \"%.1f%%\" % x\n", "AS108", "fmt("},
	{"format_precision", "text = \"{:.2f} and {:>10}\".format(1.5, \"x\")\n", "AS108", "fmt("},
	{"annotated_parameters", "def compile(path: str, flags: list[str] = []) -> str:\n    return path\n", "AS109", "def compile(path, flags = [])"},
	{"annotated_variable", "count: int = 3\n", "AS109", "count = 3"},
	{"adjacent_strings", "prompt = (\"Review the code. \"\n          \"Be strict.\")\n", "AS110", "+"},
	{"chained_comparison", "def fair(n):\n    return 50 <= n < 80\n", "AS111", "50 <= n and n < 80"},
	{"with", "def main(p):\n    with open(p) as f:\n        return f.read()\n", "AS112", "fs.read("},
	{"assert", "def check(n):\n    assert n > 0, \"n must be positive\"\n", "AS112", "fail("},
	{"raise", "def check(n):\n    raise ValueError(\"bad\")\n", "AS112", "fail("},
	{"async", "async def main(x):\n    return await x\n", "AS112 AS112", "drop `async`"},
	{"yield", "def items():\n    yield 1\n", "AS112", "list"},
	{"global", "n = 0\ndef f():\n    global n\n", "AS112", "global"},
	{"del", "d = {}\ndel d[\"x\"]\n", "AS112", "pop("},
	{"walrus", "def f(x):\n    if (n := len(x)) > 3:\n        return n\n", "AS112", "n = len(x)"},
	{"decorator", "@tool\ndef compile(path = str):\n    return path\n", "AS112", "tool(compile"},
	{"starred", "first, *rest = [1, 2, 3]\n", "AS112", "[1:]"},
	{"javascript_and", "def f(a, b):\n    return a && b\n", "AS112", "and"},
	{"json_literals", "x = {\"a\": true, \"b\": null}\n", "AS112 AS112", "write `True`"},
	{"type_compare", "def main(x = \"\"):\n    return type(x) == str\n", "AS214", "isinstance(x, str)"},
}

// Promise 4.5 (diagnostics): f-strings, `try`, `class`, `import`, `is`, `**`, `%.1f` and annotations are reported by
// name, with the rewrite.
func TestPromise_4_5_PythonHabits(t *testing.T) {
	for _, h := range habits {
		t.Run(h.name, func(t *testing.T) {
			found, shown := checked(h.src)
			if codes(found) != h.codes || !strings.Contains(shown, h.rewrite) {
				t.Errorf("want %s with %q, got\n%s", h.codes, h.rewrite, shown)
			}
			golden(t, "habits/"+h.name, shown)
		})
	}
	t.Run("several in one file", func(t *testing.T) {
		found, shown := checked("import re\nx = 3 ** 2\n\ndef f(n: int):\n    return f\"{n}\"\n\nclass A:\n    pass\n")
		if got := codes(found); got != "AS105 AS107 AS109 AS102 AS104" {
			t.Errorf("found %q\n%s", got, shown)
		}
	})
	// What only looks like a habit is not changed.
	if found, shown := checked("x = {\"f\": \"import x\", \"is\": 1}  # try: class **\ny = \"%s is 5%%\" % x[\"is\"]\ndef f(a, **kw):\n    return a if not kw else f(a, **{})\nz = 1 if 2 not in [3] else 4\n"); len(found) > 0 {
		t.Errorf("a sound script is refused:\n%s", shown)
	}
}

// Promise 4.6 (diagnostics): assigning to a builtin's name is an error that says so.
func TestPromise_4_6_HiddenBuiltins(t *testing.T) {
	refuse(t, []refusal{
		{"a variable", "tool = agent(prompt = \"T.\")\n", "AS206", []string{"tool", "builtin", "name"}},
		{"a type", "str = 3\n", "AS206", []string{"str"}},
		{"a function", "def branch(x):\n    return x\n", "AS206", []string{"branch"}},
		{"a loop", "for agent in [1]:\n    pass\n", "AS206", []string{"agent"}},
		{"a tuple", "a, list = 1, 2\n", "AS206", []string{"list"}},
		{"a load", "load(\"lib.star\", \"loop\")\n", "AS211 AS206", []string{"loop"}},
		{"a load under a name", "load(\"lib.star\", loop = \"x\")\n", "AS211 AS206", []string{"loop"}},
		{"several", "dict = 1\nint = 2\n", "AS206 AS206", nil},
	})
	for name, src := range map[string]string{
		"a parameter":        "def f(model, input):\n    return [model, input]\n",
		"a local variable":   "def f():\n    text = 1\n    return text\n",
		"a keyword argument": "T = schema(\"T\", list = int, agent = str)\n",
		"another name":       "my_tool = agent(prompt = \"T.\")\n",
	} {
		if found, shown := checked(src); len(found) > 0 {
			t.Errorf("%s is refused:\n%s", name, shown)
		}
	}
}

// Promise 4.7 (diagnostics): `and`, `or`, `not` and `if` on a type or a node are errors.
func TestPromise_4_7_TruthValues(t *testing.T) {
	const parts = "T = schema(\"T\", n = int)\na = agent(prompt = \"A.\")\nb = agent(prompt = \"B.\")\n"
	refuse(t, []refusal{
		{"or on types", parts + "x = schema(\"X\", f = str or None)\n", "AS207", []string{"str | None"}},
		{"or on a schema", parts + "x = agent(output = T or str, prompt = \"X.\")\n", "AS207", []string{"T | str"}},
		{"and on nodes", parts + "x = a and b\n", "AS207", nil},
		{"or on nodes", parts + "x = a or b\n", "AS207", nil},
		{"not", parts + "x = not a\n", "AS207", nil},
		{"if", parts + "if a:\n    x = 1\n", "AS207", nil},
		{"a conditional expression", parts + "x = 1 if T else 2\n", "AS207", nil},
		{"while", parts + "def f():\n    while list[str]:\n        pass\n", "AS207", nil},
		{"a comprehension", parts + "x = [1 for y in [2] if T]\n", "AS207", nil},
		{"a composition", parts + "x = (a >> b) or a\n", "AS207", nil},
	})
	if found, shown := checked(parts + "x = 1 if a == b else 2\ny = T == T and not (T == str)\nz = None or 3\n"); len(found) > 0 {
		t.Errorf("comparisons are refused:\n%s", shown)
	}
}

// Promise 4.8 (diagnostics): a lambda that captures a loop variable is an error that shows how to bind the variable.
func TestPromise_4_8_CapturedLoopVariable(t *testing.T) {
	refuse(t, []refusal{
		{"a comprehension", "nodes = [fn(lambda s: s + suffix) for suffix in [\"a\", \"b\"]]\n", "AS208", []string{"lambda s, suffix = suffix:"}},
		{"a for loop", "nodes = []\nfor f in [\"a\", \"b\"]:\n    nodes.append(fn(lambda s: s + f))\n", "AS208", []string{"f = f"}},
		{"in a function", "def make():\n    return [fn(lambda x: x + n) for n in range(3)]\nnodes = make()\n", "AS208", []string{"n = n"}},
		{"two variables", "nodes = [fn(lambda x: [k, v]) for k, v in [(1, 2)]]\n", "AS208", []string{"`k` and `v`", "k = k, v = v"}},
		{"an inner def", "def make():\n    out = []\n    for n in range(3):\n        def f(x):\n            return x + n\n        out.append(fn(f))\n    return out\n", "AS208", []string{"n = n"}},
	})
	for name, src := range map[string]string{
		"bound":              "nodes = [fn(lambda s, f = f: s + f) for f in [\"a\"]]\n",
		"a factory":          "def step(f):\n    return fn(lambda s: s + f)\nnodes = [step(f) for f in [\"a\"]]\n",
		"used at once":       "names = [sorted([\"b\", \"a\"], key = lambda s: s + f) for f in [\"a\"]]\n",
		"another variable":   "x = 1\nnodes = [fn(lambda s: s + x) for f in [1]]\n",
		"its own parameter":  "nodes = [fn(lambda f: f) for f in [1]]\n",
		"a comprehension in": "f = fn(lambda xs: [x + 1 for x in xs])\n",
	} {
		if found, shown := checked(src); len(found) > 0 {
			t.Errorf("%s is refused:\n%s", name, shown)
		}
	}
}

// Promise 4.11 (diagnostics): comparing `type(x)` with a type, which is always False, is an error
// that shows `isinstance`.
func TestPromise_4_11_ComparedTypes(t *testing.T) {
	refuse(t, []refusal{
		{"equal", "def f(x):\n    return type(x) == str\n", "AS214", []string{"isinstance(x, str)"}},
		{"different", "def f(x):\n    return type(x) != list\n", "AS214", []string{"not isinstance(x, list)"}},
		{"the other way round", "def f(x):\n    return int == type(x)\n", "AS214", []string{"isinstance(x, int)"}},
		{"a schema", "T = schema(\"T\", n = int)\ndef f(x):\n    return type(x) == T\n", "AS214", []string{"isinstance(x, T)"}},
		{"in a list", "def f(x):\n    return type(x) in [str, int]\n", "AS214", []string{"isinstance(x, str | int)"}},
	})
	compute(t, []computation{{"the remedy", "def got():\n    return [isinstance(\"a\", str), isinstance(1, (str, int)), isinstance(1, str | int), type(1) == \"int\"]\n", `[true,true,true,true]`}})
}
