package starlib_test

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/starlib/internal/thread"
)

// TestSlips checks that what the interpreter rejects in its own words comes with what to write instead.
func TestSlips(t *testing.T) {
	const point = "P = schema(\"p\", x = int)\np = P(x = 1)\n"
	for _, tt := range []struct{ src, help string }{
		{`x = "a" * 1.5`, "int(n)"},
		{`x = "abc"[10]`, "the last is xs[-1]"},
		{`x = [][0]`, "xs[0] if xs else None"},
		{`x = [].pop()`, "it is empty"},
		{`x = max([])`, "max(xs) if xs else None"},
		{"s = \"abc\"\nx = int(s)", "s.isdigit(), or let the model return a number"},
		{`x = int("3.5")`, `int(float("3.5"))`},
		{`x = float("x")`, "the text is not a number"},
		{`x = 1 / 0`, "a / b if b else 0"},
		{`x = 1 % 0`, "a % b if b else 0"},
		{"n = 0\nx = 7 // n", "a // n if n else 0"},
		{`x = "a" < 1`, "int(s) or float(s)"},
		{`x = sorted([3, "a"])`, "key = str"},
		{"for i in 5:\n    print(i)", "range(n)"},
		{"for i in None:\n    print(i)", "the result of a function without return"},
		{`x = len(None)`, "the result of a function without return"},
		{"y = None\nx = y.a", "if y != None"},
		{"y = None\nx = y[0]", "if y != None"},
		{"y = None\nx = 1 + y", "if y != None: an optional field may be None"},
		{"y = None\nx = y < 1", "if y != None"},
		{`x = len(5)`, "len(str(n))"},
		{`x = {[1]: 2}`, "d[(a, b)]"},
		{"def f(a):\n    return a\nx = f()", "write f(a = ...)"},
		{"def f(a, b):\n    return a\nx = f()", "write f(...) with a, b"},
		{"def f(a):\n    return a\nx = f(1, 2)", "add a parameter to def f"},
		{"def f():\n    return 1\nx = f(1)", "add a parameter to def f"},
		{"def f(a):\n    return a\nx = f(b = 2)", "def f has no parameter b"},
		{`x = "abc"()`, "without quotes"},
		{`x = [1, 2](0)`, "brackets"},
		{`x = "{} {}".format(1)`, "a value for each {}"},
		{`x = "%d" % "a"`, "%s takes any value"},
		{`x = "%s %s" % "a"`, "as a tuple"},
		{`x = "%s" % ("a", "b")`, "one %s for each value"},
		{`x, y = 1, 2, 3`, "as many names"},
		{`x, y = 5`, "as many names"},
		{"x = \"abc\"\nx[0] = \"b\"", "a text does not change"},
		{"x = (1, 2)\nx[0] = 1", "xs = list(x)"},
		{"def f():\n    y = y + 1\nf()", "write `y = ...` before, in the same function"},
		{`x = ", ".join([1, 2])`, "[str(x) for x in [1, 2]]"},
		{"A = schema(value = str | None)\nx = \"; \".join([v.value for v in [A()]])", `"; ".join([v.value for v in rs if v.ok])`},
		{"P = schema(n = int)\nx = \", \".join([P(n = 1)])", "[x.name for x in [P(n = 1)]]"},
		{`x = list(5)`, "pass a list"},
		{`x = zip(1)`, "pass a list"},
		{`x = range("a")`, "int(s)"},
		{`x = "abc".replace("a", 1)`, "str(x)"},
		{`x = [1, 2]["a"]`, `d["key"]`},
		{`x = 1 in "abc"`, `str(1) in "abc"`},
		{`x = 1 in 5`, "a text, a list, a dict or a set"},
		{"x = [1, 2]\nfor i in x:\n    x.remove(i)", "for x in list(xs)"},
		{`x = {"a": 1} + {"b": 2}`, `{"a": 1} | {"b": 2}`},
		{`x = [1] - [2]`, "[x for x in [1] if x not in [2]]"},
		{`x = "abc" - "b"`, "removesuffix"},
		{`x = 5 + [1]`, "[5] + [1]"},
		{`x = "3" * "4"`, "int(s)"},
		{`x = json.decode("{bad")`, "T.decode(text)"},
		{point + "y = p + 1", "x.name"},
		{point + "y = len(p)", "its fields are read one by one"},
		{point + "for f in p:\n    print(f)", "its fields are read one by one"},
		{point + "y = p()", "replace(x, name = ...)"},
		{`x = (1).foo`, "str(n)"},
		{`x = [1].length`, "len([1])"},
		{`x = "a".trim()`, `"a".strip()`},
		{"names = [1]\nx = \"n: \" + names[0]", `"n: " + str(names[0])`},
		{"a = agent(prompt = \"A.\")\nx = a.run(\"x\")", `write a("x")`},
		{"main = fn(lambda page: page.read(), input = str, output = str)", "write page itself"},
	} {
		m, found := load(tt.src + "\n")
		if len(found) != 1 || !strings.Contains(strings.Join(found[0].Help, "; "), tt.help) {
			t.Errorf("%s\nwant the help %q:\n%s", tt.src, tt.help, render(m, found))
		}
	}
}

// TestForeignMethods runs what messages suggest instead of methods of other languages.
func TestForeignMethods(t *testing.T) {
	given := map[string]struct{ name, values string }{
		"str":   {"s", "x = \"b\"\na = 0\nb = 1\nold = \"a\"\nnew = \"c\"\n"},
		"list":  {"xs", "ys = [\"a\"]\nx = \"b\"\ny = \"b\"\ni = 0\nf = len\n"},
		"dict":  {"d", "k = \"key\"\nks = [k]\nvalue = 3\n"},
		"tuple": {"t", "x = 2\n"},
	}
	literal := map[string]string{"str": `"b"`, "list": `["b"]`, "dict": `{"key": 1}`, "tuple": "(1,)"}
	seen := 0
	for typ, g := range given {
		for name := range thread.Foreign()[typ] {
			meant := strings.TrimPrefix(thread.Instead(typ, name, nil), "write ")
			call := func(body string) string {
				return g.values + "def call(" + g.name + "):\n    " + body + "\ncall(" + literal[typ] + ")\n"
			}
			if _, found := load(call("return " + g.name + "." + name)); codes(found) != "AS209" || strings.Join(found[0].Help, "") != "write "+meant {
				t.Errorf("%s.%s: got %v", typ, name, found)
			}
			if strings.Contains(meant, "itself") || strings.Contains(meant, ", or ") || strings.Contains(meant, "for x in xs:") {
				continue
			}
			seen++
			if m, found := load(call(meant)); len(found) > 0 {
				t.Errorf("%s.%s: what is to be written fails:\n%s", typ, name, render(m, found))
			}
		}
	}
	if seen < 60 {
		t.Errorf("only %d rewrites", seen)
	}
}
