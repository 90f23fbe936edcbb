package conformance

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
)

// Promise 2.17 (language): `match` calls the function of the case that matches the value, and needs a case for every
// variant of its union, or `otherwise`; `isinstance` and `typeof` distinguish types.
func TestPromise_2_17_Match(t *testing.T) {
	const types = `
Dog = schema("A dog", n = int)
Cat = schema("A cat", n = int)
Pet = union("A pet", Dog, Cat)
Level = enum("low", "high")
`
	compute(t, []computation{
		{"by type", types + `
def got():
    say = {Dog: lambda d: "dog %d" % d.n, Cat: lambda c: "cat %d" % c.n}
    return [match(Dog(n = 1), say), match(Cat(n = 2), say)]
`, `["dog 1","cat 2"]`},
		{"the first that fits", types + `
def got():
    return [match(Dog(n = 1), {Pet: lambda p: "pet", Dog: lambda d: "dog"}), match(None, {str | None: lambda s: "perhaps"})]
`, `["pet","perhaps"]`},
		{"by value", types + `
def got():
    return [match(Level.low, {"low": lambda v: 1, "high": lambda v: 2}), match(True, {True: lambda v: 1, False: lambda v: 2}), match(None, {str: lambda v: 1, None: lambda v: 2})]
`, `[1,1,2]`},
		{"otherwise", types + `
def got():
    return match(Dog(n = 1), {Cat: lambda c: 1}, otherwise = lambda v: v.n + 1)
`, `2`},
		{"typeof", types + `
def got():
    return [typeof(Dog(n = 1)) == Dog, str(typeof([1])), str(typeof("a")), str(typeof(None)), isinstance(Dog(n = 1), Pet), isinstance(Dog(n = 1), (Cat, str))]
`, `[true,"list[any]","str","None",true,false]`},
	})
	fails(t, diag.NoRoute, types+"def main():\n    return match(json.decode(\"3\"), {Dog: lambda d: 1})\n", nil, "int")
	refuse(t, []refusal{
		{"no case for a value of a known type", types + "def main():\n    return match(3, {Dog: lambda d: 1})\n", "AS702", []string{"int"}},
		{"no case for a variant", types + "x = match(Dog(n = 1), {Cat: lambda c: 1})\n", "AS305", []string{"Dog"}},
	})
}

// Promise 2.18 (language): a function becomes a tool: its docstring, parameter types and defaults describe it to the
// model, and the model's arguments are converted to these types.
func TestPromise_2_18_Tools(t *testing.T) {
	const src = `
def by_dict(path, flags = []):
    """Compiles one file.

    Args:
      path: the file to compile
    """
    return path + "".join(flags)

def by_defaults(n = int, share = field(float, "how much", ge = 0), note = "none"):
    "Counts."
    return "%d %s %s" % (n + 1, share, note)

worker = agent(prompt = "Work.", tools = [tool(by_dict, {"path": str, "flags": list[str]}, name = "compile"), by_defaults])
main = worker
`
	text := func(s string) *string { return &s }
	models := scripted.New([]scripted.Row{
		{Agent: "worker", Calls: []scripted.Call{{Name: "compile", Args: []byte(`{"path": "a.c"}`)}, {Name: "by_defaults", Args: []byte(`{"n": "41", "share": 1}`)}}},
		{Agent: "worker", Calls: []scripted.Call{{Name: "by_defaults", Args: []byte(`{"n": "many", "share": -1}`)}, {Name: "nothing", Args: []byte(`{}`)}}},
		{Agent: "worker", Text: text("done")},
	})
	mod := loaded(t, agentscript.New(agentscript.WithModels(models), agentscript.WithDefaultModel("scripted/one")), src)
	if _, err := mod.Start(t.Context(), input("x")).Wait(); err != nil {
		t.Fatal(err)
	}
	calls := models.Requests()
	var told []string
	for _, d := range calls[0].Request.Tools {
		told = append(told, d.Name+": "+d.Description+" "+d.Params.JSONSchema())
	}
	if want := []string{
		`compile: Compiles one file. {"type":"object","properties":{"path":{"type":"string","description":"the file to compile"},"flags":{"type":"array","items":{"type":"string"},"default":[]}},"required":["path"],"additionalProperties":false}`,
		`by_defaults: Counts. {"type":"object","properties":{"n":{"type":"integer"},"share":{"type":"number","minimum":0,"description":"how much"},"note":{"type":"string","default":"none"}},"required":["n","share"],"additionalProperties":false}`,
	}; !slices.EqualFunc(told, want, sameJSON) {
		t.Errorf("the model is told of\n%q\nwant\n%q", told, want)
	}
	var heard []string
	for _, c := range calls[1:] {
		m := c.Request.Messages[len(c.Request.Messages)-1]
		for _, p := range m.Parts {
			heard = append(heard, p.Result.Name+": "+p.Result.Text)
		}
	}
	if len(heard) != 4 || heard[0] != "compile: a.c" || heard[1] != "by_defaults: 42 1.0 none" {
		t.Errorf("the tools answer %q", heard)
	}
	for i, words := range map[int][]string{2: {"n", "int", "share", "at least 0"}, 3: {"nothing", "compile", "by_defaults"}} {
		for _, w := range words {
			if !strings.Contains(heard[i], w) {
				t.Errorf("a wrong call is answered by %q, which lacks %q", heard[i], w)
			}
		}
	}
	refuse(t, []refusal{
		{"no types", "def f(x):\n    return x\na = agent(prompt = \"A.\", tools = [f])\n", "AS203", []string{"x", "x = str"}},
		{"an unknown parameter", "def f(path):\n    return path\nt = tool(f, {\"path\": str, \"flags\": str})\n", "AS202", []string{"flags"}},
		{"once", "def f(path = str):\n    return path\na = agent(prompt = \"A.\", tools = [tool(f, effect = \"once\")])\n", "AS204", []string{"once", "host tool"}},
		{"two of one name", "def f(path = str):\n    return path\na = agent(prompt = \"A.\", tools = [f, tool(lambda x: x, {\"x\": str}, name = \"f\")])\n", "AS508", []string{`named "f"`}},
	})
}

// Promise 2.19 (language): `fn` makes a function or a type a step; `pick` takes a field of a schema, a dict or every
// variant of a union, and the field's type follows from the preceding node.
func TestPromise_2_19_Steps(t *testing.T) {
	const types = `
A = schema("A", n = int, s = str)
B = schema("B", n = float)
U = union("U", A, B)
a = fn(lambda n: A(n = n, s = "s"), input = int, output = A)
`
	for _, c := range []struct {
		src, shape, want string
		in               any
	}{
		{types + `main = a >> pick("n")`, "int -> int", "3", 3},
		{types + `main = a >> pick("s") >> fn(lambda s: s + "!", input = str, output = str)`, "int -> str", "s!", 3},
		{types + `main = fn(lambda n: A(n = n, s = ""), input = int, output = U) >> pick("n")`, "int -> int | float", "3", 3},
		{`main = fn(lambda n: {"k": n}, input = int, output = dict[str, int]) >> pick("k")`, "int -> int", "3", 3},
		{types + `main = fn(lambda n: [A(n = n, s = "")], input = int, output = list[A]) >> each(pick("n"))`, "int -> list[int]", "[3]", 3},
		{types + `main = a >> (pick("n") >> fn(str))`, "int -> str", "3", 3},
		{`main = fn(float)`, "any -> float", "2.0", 2}, {`main = fn(int)`, "any -> int", "2", 2.0}, {`main = fn(str)`, "any -> str", "2", 2},
		{`main = fn(len, input = str, output = int)`, "str -> int", "3", "abc"},
		{`main = fn(lambda x: x)`, "any -> any", `{"a":1}`, map[string]any{"a": 1}},
	} {
		mod := loaded(t, agentscript.New(), c.src+"\n")
		if n := mod.Node("main"); n.In().String()+" -> "+n.Out().String() != c.shape {
			t.Errorf("%s is %s -> %s, want %s", c.src, n.In(), n.Out(), c.shape)
		}
		gives(t, c.want, c.src+"\n", input(c.in))
	}
	fails(t, "AS705", "main = fn(lambda x: json.decode('\"no\"'), output = int)\n", []agentscript.RunOption{input("x")}, "want int, got")
	refuse(t, []refusal{
		{"no such field", types + `main = a >> pick("m")` + "\n", "AS311", []string{`A has no field "m"`}},
		{"not in every variant", types + `main = fn(lambda n: A(n = n, s = ""), input = int, output = U) >> pick("s")` + "\n", "AS311", []string{"not every U has a field"}},
		{"no fields at all", `main = fn(len, input = str, output = int) >> pick("n")` + "\n", "AS311", []string{"int has no fields"}},
		{"two parameters", "main = fn(lambda a, b: a)\n", "AS216", []string{"it needs 2 arguments"}},
	})
}

// Promise 2.20 (language): an enum's values are plain strings that are accessed by name and checked wherever the enum
// is expected.
func TestPromise_2_20_Enums(t *testing.T) {
	const types = "Level = enum(\"low\", \"high\", \"very high\")\nJob = schema(\"A job\", level = Level)\n"
	compute(t, []computation{
		{"strings", types + "def got():\n    return [Level.low, Level.low == \"low\", Level[\"very high\"], Level.high.upper(), Job(level = \"high\"), isinstance(\"low\", Level), isinstance(\"no\", Level)]\n",
			`["low",true,"very high","HIGH",{"level":"high"},true,false]`},
	})
	gives(t, "HIGH", types+"main = fn(lambda s: \"high\", input = str, output = Level) >> fn(lambda s: s.upper(), input = str, output = str)\n", input("x"))
	fails(t, "AS705", types+"main = fn(lambda s: s, input = str, output = Level)\n", []agentscript.RunOption{input("lofty")}, "one of low, high, very high")
	refuse(t, []refusal{
		{"no value", types + "x = Level.hihg\n", "AS209", []string{`did you mean "high"?`}},
		{"not for a field", types + "x = Job(level = \"mid\")\n", "AS504", []string{"level: want one of low, high, very high, got"}},
		{"twice", "L = enum(\"a\", \"a\")\n", "AS507", []string{"once"}},
	})
}

// Promise 2.21 (language): a value is frozen when it enters or leaves a node, so that branches cannot affect each
// other; the error explains how to make a copy.
func TestPromise_2_21_FrozenValues(t *testing.T) {
	const grow = "def grow(xs):\n    (json.decode(\"null\") or xs).append(1)\n    return xs\n"
	fails(t, diag.CallbackFailed, grow+"main = fn(grow, input = list[int], output = list[int])\n", []agentscript.RunOption{input([]int{0})}, "list(x)")
	gives(t, "[0,1]", "def grow(xs):\n    xs = list(xs)\n    xs.append(1)\n    return xs\nmain = fn(grow, input = list[int], output = list[int])\n", input([]int{0}))
	fails(t, diag.ScriptError, "show = fn(lambda xs: len(xs), input = list[int], output = int)\ndef main():\n    xs = [1]\n    n = show(xs)\n    (json.decode(\"null\") or xs).append(n)\n    return xs\n", nil, "list(x)")
	gives(t, "[1,1]", "show = fn(lambda xs: len(xs), input = list[int], output = int)\ndef main():\n    xs = [1]\n    n = show(list(xs))\n    xs.append(n)\n    return xs\n")
	fails(t, diag.CallbackFailed, "seen = []\nmain = fn(lambda s: (json.decode(\"null\") or seen).append(s), input = str)\n", []agentscript.RunOption{input("x")}, "frozen")
}

// Promise 2.22 (language): scripts are Starlark with while, sets, recursion and statements at the
// top level, all of them bounded.
func TestPromise_2_22_Dialect(t *testing.T) {
	compute(t, []computation{
		{"while", "def got():\n    n = 0\n    while n < 10:\n        n += 3\n    return n\n", `12`},
		{"sets", "def got():\n    return sorted(set([2, 1, 2]) | set([5]))\n", `[1,2,5]`},
		{"recursion", "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\ndef got():\n    return fib(15)\n", `610`},
		{"statements at the top level", "names = []\nfor n in [\"a\", \"b\"]:\n    if n != \"a\":\n        names.append(n)\ndef got():\n    return names\n", `["b"]`},
		{"big integers", "def got():\n    return 9999999999 * 9999999999 + 1\n", `99999999980000000002`},
		{"the functions that types are", "def got():\n    return [str(3), int(\"0x1f\", 16), float(\"1.5\"), bool([]), list((1, 2)), dict(a = 1), any([0, 1]), sorted([\"10\", \"9\"], key = int)]\n",
			`["3",31,1.5,false,[1,2],{"a":1},true,["9","10"]]`},
	})
	refuse(t, []refusal{
		{"an endless script", "n = 0\ndef f():\n    m = 0\n    while True:\n        m += 1\nf()\n", "AS717", []string{"too many steps"}},
		{"an endless recursion", "def f(n):\n    return f(n + 1)\nf(0)\n", "AS213", []string{"calls itself"}},
		{"a name twice", "a = 1\na = 2\n", "AS217", []string{"a is assigned twice"}},
	})
}

// sameJSON compares "name: doc {schema}" with the schema as values.
func sameJSON(a, b string) bool {
	cut := func(s string) (string, generable.Value) {
		for i := range s {
			if s[i] == '{' {
				return s[:i], lenient.Decode(generable.AnyT, s[i:], generable.Options{}).Value
			}
		}
		return s, generable.Value{}
	}
	an, av := cut(a)
	bn, bv := cut(b)
	return an == bn && generable.Equal(av, bv)
}
