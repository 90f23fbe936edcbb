package starlib_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// TestRemedies checks that what a message says to do instead is what a newcomer wanted.
func TestRemedies(t *testing.T) {
	const nodes = "a = agent(prompt = \"a\")\nb = agent(prompt = \"b\")\ndef make(out = str):\n    return agent(prompt = \"x\", output = out)\n"
	const tools = "def pay(sum = int):\n    \"\"\"Pays.\n\n    Args:\n      sum: how much\n    \"\"\"\n    return sum\n"
	const types = "U = schema(\"u\", x = str)\nV = schema(\"v\", x = str)\nS = enum(\"low\", \"high\")\n"
	for _, tt := range []struct{ src, code, help string }{
		// Keys of branches.
		{nodes + `c = make(bool).branch({"True": fn(str), False: fn(str)})`, "AS306", "write True without quotes"},
		{nodes + `c = make(bool).branch({"True": fn(str), "False": fn(str)})`, "AS306", "write True, False without quotes"},
		{nodes + types + `c = make(U | V).branch({"U": pick("x"), V: pick("x")})`, "AS306", "write U without quotes"},
		{nodes + types + `c = make(U | V).branch({"U": pick("x"), "V": pick("x")})`, "AS306", "write U, V without quotes"},
		{nodes + types + `c = make(S).branch({"low": fn(str), "hgh": fn(str)})`, "AS306", `did you mean "high"?`},
		// Composition.
		{nodes + `c = loop(a, b, until = lambda s: True, repair = a)`, "AS204", "either next returns"},
		{nodes + `c = loop(a, repair = b)`, "AS203", "loop(a, b)"},
		{nodes + `c = loop(a, until = lambda s: True)`, "AS203", "repair = node"},
		{nodes + `c = fn(a)`, "AS204", "write a without fn"},
		{nodes + `c = [a, b] >> a`, "AS310", "par([...]) or a / b"},
		{nodes + `c = a >> [b]`, "AS310", "par([...]) or a / b"},
		{nodes + `c = a >> make`, "AS310", "call it: make(...)"},
		{nodes + `c = par(a, make)`, "AS310", "call it: make(...)"},
		// Types and fields.
		{`T = schema("t", description = "hello")`, "AS204", `field(str, "hello")`},
		{`T = schema("t", x = "str")`, "AS204", "write the type itself: str"},
		{`T = schema("t", x = "list[str]")`, "AS204", "write the type itself: list[str]"},
		{`T = schema("t", x = "string")`, "AS204", "write the type itself: str"},
		{`T = schema("t", x = "integer")`, "AS204", "write the type itself: int"},
		{`T = schema("t", x = "Other")`, "AS204", `field(str, "Other")`},
		{`T = schema("t", x = list["T"] | None)`, "AS204", `write ref("T")`},
		{`T = schema("t", x = "string[]", y = "Optional[int]")`, "AS204", "write the type itself: list[str]"},
		{"T = schema(\"t\", x = str)\nv = T(\"x\")", "AS205", "write T(x = ...)"},
		// Messages of the interpreter.
		{`x = "n: " + 3`, "AS213", `"n: " + str(3)`},
		{`x = 3 + "a"`, "AS213", `str(3) + "a"`},
		{`x = {"aaa": 1}["aab"]`, "AS213", `did you mean "aaa"?`},
		{`x = {"aaa": 1}["zzz"]`, "AS213", `d.get("zzz", default)`},
		{types + "def f():\n    u = U(x = \"a\")\n    u.x = \"b\"\nf()", "AS213", "replace(u, x = ...)"},
		{"def f(x):\n    x + 1\ny = f(2).foo", "AS209", "the result of a function without return"},
		{"def f(x):\n    x + 1\ny = f(2) + 1", "AS213", "the result of a function without return"},
		{"def f(x):\n    x + 1\ny = f(2)[0]", "AS213", "the result of a function without return"},
		{`x = json.loads("{}")`, "AS209", "write json.decode"},
		{"def f(x):\n    return json.dumps(x)", "AS209", "write json.encode"},
		{"```python\nx = 1\n```\n", "AS101", "remove the fence"},
		// Names of other libraries.
		{`x = field(str, description = "x")`, "AS202", "the argument is called guide"},
		{`x = field(str, desc = "x")`, "AS202", "the argument is called guide"},
		{`x = field(str, required = True)`, "AS202", "unless it has default"},
		{`x = field(int, minimum = 1)`, "AS202", "the argument is called ge"},
		{`x = field(int, maximum = 1)`, "AS202", "the argument is called le"},
		{`x = field(str, enum = ["a"])`, "AS202", "enum("},
		{`x = agent(system = "x")`, "AS202", "the argument is called prompt"},
		{`x = agent(prompt = "x", output_type = int)`, "AS202", "the argument is called output"},
		{`x = agent(prompt = "x", returns = int)`, "AS202", "the argument is called output"},
		{`x = agent(prompt = "x", max_turns = 3)`, "AS202", "budget(turns = ...)"},
		{`x = agent(prompt = "x", knowledge = {})`, "AS202", "skill("},
		{`x = agent(prompt = "x", on_limit = "answer")`, "AS202", "on_limit = \"answer\")"},
		{`x = agent(prompt = "x", max_usd = 1)`, "AS202", "budget(usd = ...)"},
		{nodes + `c = par(a, b, budget = budget(turns = 3))`, "AS202", "bounded(node, budget(...))"},
		{nodes + `c = loop(a, lambda s: None, budget = budget(turns = 3))`, "AS202", "bounded(node, budget(...))"},
		// Values that are nearly right.
		{`x = agent(prompt = "x", budget = 5)`, "AS204", "budget(turns = 5)"},
		{`x = agent(prompt = "x", budget = 0.5)`, "AS204", "budget(usd = 0.5)"},
		{`x = agent(prompt = "x", budget = {"usd": 1, "turns": 3})`, "AS204", "write budget(usd = 1, turns = 3)"},
		{`x = agent(prompt = "x", budget = {"euros": 1})`, "AS204", "write budget(turns = ...)"},
		{`x = budget(tokens = -1)`, "AS204", "to set no bound"},
		{`x = budget(turns = -1)`, "AS204", "the default of 8"},
		{`x = budget(wall = "5")`, "AS204", `write "5s"`},
		{`x = budget(wall = "5 Minutes")`, "AS204", `write "5m"`},
		{`x = budget(wall = "1.5 hrs")`, "AS204", `write "1.5h"`},
		{`x = budget(wall = "0")`, "AS204", "it is above 0"},
		{`x = budget(wall = "soon")`, "AS204", "followed by s, m or h"},
		{`x = router(threshold = 70)`, "AS204", "70 of 100 is 0.7"},
		{`x = router(threshold = -0.5)`, "AS204", "the default of 0.6"},
		{"x = budget(turns = 3)\ny = x.remaining()", "AS209", "budget.remaining()"},
		{"x = budget(turns = 3)\ndef main():\n    return x.remaining()", "AS209", "budget.remaining()"},
		{tools + `x = agent(prompt = "x", tools = [tool(pay, effect = "once")])`, "AS204", `policy(ask = ["pay"])`},
		{tools + `x = agent(prompt = "x", tools = [tool(pay, only_after = "pya")])`, "AS748", "the only tool"},
		{tools + `x = agent(prompt = "x", tools = [tool(pay, only_after = "pya"), tool(pay, name = "log_in")])`, "AS748", "the other tools are log_in"},
		{tools + `x = agent(prompt = "x", tools = [tool(pay, only_after = "login"), tool(pay, name = "log_in")])`, "AS748", `did you mean "log_in"?`},
		{nodes + `x = loop(a, lambda s: None, times = 3)`, "AS202", "the argument is called max"},
	} {
		m, found := load(tt.src)
		if codes(found) != tt.code && !strings.HasPrefix(codes(found), tt.code+" "+tt.code) {
			t.Errorf("%s\nwant one %s:\n%s", tt.src, tt.code, render(m, found))
			continue
		}
		if !strings.Contains(strings.Join(found[0].Help, "; "), tt.help) {
			t.Errorf("%s\nwant %q among the helps:\n%s", tt.src, tt.help, render(m, found))
		}
	}
}

// TestRemediesOfRuns checks that errors found only in a run have a remedy too.
func TestRemediesOfRuns(t *testing.T) {
	for _, tt := range []struct{ src, help string }{
		{"def main():\n    n = json.decode(\"3\")\n    return \"n: \" + n", "str(n)"},
		{"def main(d = {\"aaa\": 1}):\n    return d[\"aab\"]", `did you mean "aaa"?`},
		{"def f(x):\n    x + 1\ndef main(n = 0):\n    return (json.decode(\"null\") or f)(n) + 1", "without return"},
		{"T = schema(\"t\", title = str)\ndef main():\n    x = json.decode(\"null\") or T(title = \"a\")\n    x.title = \"b\"", "replace(x, title = ...)"},
		{"a = fn(lambda s: s, input = str, output = str)\ndef call(f):\n    return (json.decode(\"null\") or f)(input = \"x\")\ndef main():\n    return call(a)", "write a(x)"},
		{"a = agent(run = lambda s, said: s)\ndef call(f):\n    return (json.decode(\"null\") or f)(\"x\")\ndef main():\n    return call(a)", "(input, transcript) is for the members of a forum"},
	} {
		s := spec(t, sound(t, tt.src), generable.Value{})
		s.Handler = refuse
		_, err := run.Exec(sched.NewCoopSched(1), &s)
		var e *engine.Error
		if !errors.As(err, &e) || !strings.Contains(e.Help, tt.help) {
			t.Errorf("%s\nwant help %q, got %+v", tt.src, tt.help, e)
		}
	}
}

// TestNamesNobodyGave checks that an agent without a name is named after what it is.
func TestNamesNobodyGave(t *testing.T) {
	m := sound(t, "main = fn(lambda s: s, input = str, output = str) >> agent(prompt = \"x\")\nboth = [agent(prompt = \"y\")]\n")
	for _, n := range m.Nodes() {
		if n.Agent() != nil && n.Name() != "agent" {
			t.Errorf("the agent's name is %q", n.Name())
		}
	}
}
