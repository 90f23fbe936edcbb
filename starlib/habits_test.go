package starlib_test

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/starlib"
)

// A habit is a script as written by somebody who knows another language or library, the code of its only message, what
// the help says, and the script after following the help.
type habit struct{ name, src, code, help, after string }

func answersHabits(t *testing.T, habits []habit) {
	t.Helper()
	for _, h := range habits {
		t.Run(h.name, func(t *testing.T) {
			m, found := loadWith(starlib.Options{Ungranted: true}, h.src)
			if codes(found) != h.code {
				t.Fatalf("want one %s, got\n%s", h.code, render(m, found))
			}
			if help := strings.Join(found[0].Help, "; "); !strings.Contains(help, h.help) {
				t.Errorf("want %q among the helps:\n%s", h.help, render(m, found))
			}
			m, left := loadWith(starlib.Options{Ungranted: true}, h.after)
			for _, d := range left {
				if d.Severity == diag.Error {
					t.Errorf("what is to be written is refused:\n%s", render(m, left))
				}
			}
		})
	}
}

const (
	twoNodes = "a = agent(prompt = \"A.\")\nb = agent(prompt = \"B.\")\n"
	looking  = "def look(q = str):\n    \"\"\"Looks.\"\"\"\n    return q\n"
	inMain   = "def main(t = str):\n    "
)

// Promise 26.21 (sound): code written by habit from Python and its libraries is answered once, with this
// language's equivalent, which passes the check.
func TestPromise_26_21_Habits(t *testing.T) {
	answersHabits(t, []habit{
		{"a type of itself", "Section = schema(\"s\", title = str, subs = list[\"Section\"])\n", "AS204", `write ref("Section")`, "Section = schema(\"s\", title = str, subs = list[ref(\"Section\")])\n"},
		{"a type of itself without quotes", "Section = schema(\"s\", title = str, subs = list[Section])\n", "AS213", `write ref("Section")`, "Section = schema(\"s\", title = str, subs = list[ref(\"Section\")])\n"},
		{"a name behind *args", "xs = [agent(name = \"v\", prompt = \"V.\") for _ in range(3)]\nmain = vote(*xs, quorum = 3)\n", "AS101", "write vote(quorum = 3, *xs)", "xs = [agent(name = \"v\", prompt = \"V.\") for _ in range(3)]\nmain = vote(quorum = 3, *xs)\n"},
		{"a value behind *args", twoNodes + "xs = [a]\nmain = par(*xs, b)\n", "AS101", "write par(*(list(xs) + [b]))", twoNodes + "xs = [a]\nmain = par(*(list(xs) + [b]))\n"},
		{"os.environ", inMain + "return os.environ[\"X\"]\n", "AS201", `write ` + "`env.get(\"X\")`", inMain + "return env.get(\"X\")\n"},
		{"import os", "import os\n" + inMain + "return os.environ[\"X\"]\n", "AS105", "write `env.get(\"X\")`", inMain + "return env.get(\"X\")\n"},
		{"os.getenv", inMain + "return os.getenv(\"X\", \"y\")\n", "AS201", "write `env.get(\"X\", \"y\")`", inMain + "return env.get(\"X\", \"y\")\n"},
		{"re", inMain + "return re.match(\"^a\", t)\n", "AS201", "write `matches(\"^a\")(t)`", inMain + "return matches(\"^a\")(t)\n"},
		{"import re", "import re\n" + inMain + "return re.sub(\"a\", \"b\", t)\n", "AS105", "write `t.replace(\"a\", \"b\")`", inMain + "return t.replace(\"a\", \"b\")\n"},
		{"math", inMain + "return math.floor(3.5)\n", "AS201", "write `int(3.5 // 1)`", inMain + "return int(3.5 // 1)\n"},
		{"time", inMain + "time.sleep(3)\n", "AS201", "write `sleep(3)`", inMain + "sleep(3)\n"},
		{"time.time", inMain + "return time.time()\n", "AS201", "write `now(\"unix\")`", inMain + "return now(\"unix\")\n"},
		{"random", inMain + "xs = [1, 2]\n    return random.choice(xs)\n", "AS209", "write xs[random(len(xs))]", inMain + "xs = [1, 2]\n    return xs[random(len(xs))]\n"},
		{"import random", "import random\n" + inMain + "return random.randint(1, 6)\n", "AS105", "write `1 + random(6 - 1 + 1)`", inMain + "return 1 + random(6 - 1 + 1)\n"},
		{"uuid", inMain + "return str(uuid.uuid4())\n", "AS209", "write uuid()", inMain + "return str(uuid())\n"},
		{"datetime", "from datetime import datetime\n" + inMain + "return datetime.now()\n", "AS105", "write `now()`", inMain + "return now()\n"},
		{"date", inMain + "return date.today()\n", "AS201", "write `now()[:10]`", inMain + "return now()[:10]\n"},
		{"with open", inMain + "with open(t) as f:\n        data = f.read()\n    return data\n", "AS112", "write `data = fs.read(t)`", inMain + "data = fs.read(t)\n    return data\n"},
		{"with open to write", inMain + "with open(t, \"w\") as f:\n        f.write(\"x\")\n", "AS112", "write `fs.write(t, \"x\")`", inMain + "fs.write(t, \"x\")\n"},
		{"a.run", twoNodes + inMain + "return a.run(t)\n", "AS209", "write a(t)", twoNodes + inMain + "return a(t)\n"},
		{"a.invoke at the top level", twoNodes + "x = a.invoke(\"x\")\n", "AS209", "write a(\"x\")", twoNodes + inMain + "return a(\"x\")\n"},
		{"reserved names of fields", "T = schema(name = str, class = str)\n", "AS101", "write `schema({\"class\": str}, name = str)`", "T = schema({\"class\": str}, name = str)\n"},
		{"graph with its nodes", twoNodes + "main = graph([a, b], [edge(a, b), edge(b, FINISH)])\n", "AS310", "write a: ", twoNodes + "main = graph(a, [edge(a, b), edge(b, FINISH)])\n"},
		{"edges as pairs", twoNodes + "main = graph(a, [(a, \"b\")])\n", "AS204", "write edge(a, b)", twoNodes + "main = graph(a, [edge(a, b)])\n"},
		{"yes and no", "judge = agent(prompt = \"J.\")\n" + twoNodes + "main = judge.branch({\"yes\": a, \"no\": b})\n", "AS306", `output = enum("yes", "no")`, "judge = agent(output = enum(\"yes\", \"no\"), prompt = \"J.\")\n" + twoNodes + "main = judge.branch({\"yes\": a, \"no\": b})\n"},
		{"placed twice", twoNodes + "main = a >> a\n", "AS401", "def new_a(): return agent(...)", "def new_a():\n    return agent(prompt = \"A.\")\nmain = new_a() >> new_a()\n"},
		{"a chain of assignments", "x = y = 3\n", "AS112", "y = 3\n    x = y", "y = 3\nx = y\n"},
		{"an import that is assigned", "lib = load(\"lib.star\", \"x\")\n", "AS101", "write `load(\"lib.star\", lib = \"x\")`", "lib = 1\n"},
		{"a function of JavaScript", "function main(n) {\n}\n", "AS112", "write `def main(n):`", "def main(n):\n    pass\n"},
	})
}

// Promise 26.22 (sound): the errors for common mistakes of the first hour suggest what was meant.
func TestPromise_26_22_FirstHour(t *testing.T) {
	answersHabits(t, []habit{
		{"reading what was read", "main = fn(lambda f: f.read(), input = str, output = str)\n", "AS209", "write f itself, which is the text", "main = fn(lambda f: f, input = str, output = str)\n"},
		{"the script's own names first", "def helper(x = str):\n    return x\nmain = fn(helpr)\n", "AS201", `did you mean "helper"?`, "def helper(x = str):\n    return x\nmain = fn(helper)\n"},
		{"retry of a tool", looking + "main = agent(prompt = \"A.\", tools = [look], on_tool_error = retry)\n", "AS204", "write again(2)", looking + "main = agent(prompt = \"A.\", tools = [look], on_tool_error = again(2))\n"},
		{"retry of a tool, called", looking + "main = agent(prompt = \"A.\", tools = [look], on_tool_error = retry(3))\n", "AS310", "on_tool_error = again(3)", looking + "main = agent(prompt = \"A.\", tools = [look], on_tool_error = again(3))\n"},
		{"a default for a type", "T = schema(\"t\", prio = 3)\n", "AS204", "write field(int, default = 3)", "T = schema(\"t\", prio = field(int, default = 3))\n"},
		{"values for a type", "T = schema(\"t\", kind = [\"a\", \"b\"])\n", "AS204", `write enum("a", "b")`, "T = schema(\"t\", kind = enum(\"a\", \"b\"))\n"},
		{"a list for one", twoNodes + "c = agent(prompt = \"C.\")\nmain = a / b >> c\n", "AS301", "fn(lambda xs: ..., input = list[str], output = str)", twoNodes + "c = agent(prompt = \"C.\")\nmain = a / b >> fn(lambda xs: xs[0], input = list[str], output = str) >> c\n"},
		{"number", "T = schema(\"t\", n = number)\n", "AS201", "write `float`, or `int` for whole numbers", "T = schema(\"t\", n = float)\n"},
		{"string", "main = agent(input = string, prompt = \"A.\")\n", "AS201", "write `str`", "main = agent(input = str, prompt = \"A.\")\n"},
		{"boolean", "T = schema(\"t\", n = boolean)\n", "AS201", "write `bool`", "T = schema(\"t\", n = bool)\n"},
		{"a number in quotes", "T = schema(\"t\", n = int)\nv = T(n = \"3\")\n", "AS504", "write 3 without quotes", "T = schema(\"t\", n = int)\nv = T(n = 3)\n"},
		{"a node that is not reached", "def n(i = str, o = str):\n    return fn(lambda x: x, input = i, output = o)\na, b, c = n(), n(), n(str, int)\nmain = graph(a, [edge(a, FINISH), edge(b, c), edge(c, FINISH)])\n", "AS322", "leave it out", "a = fn(lambda x: x, input = str, output = str)\nmain = graph(a, [edge(a, FINISH)])\n"},
		{"assert of a chain", inMain + "assert 1 < 2 < 3\n", "AS112", "if not (1 < 2 and 2 < 3):", inMain + "if not (1 < 2 and 2 < 3):\n        fail(\"no\")\n"},
		{"assert of a lambda", inMain + "assert lambda: t\n", "AS112", "if not (lambda: t):", inMain + "if not (lambda: t):\n        fail(\"no\")\n"},
		{"const and an arrow", "const y = x => 3\n", "AS112", "write `y = lambda x: 3`", "y = lambda x: 3\n"},
		{"a spread behind a colon", inMain + "xs = [2]\n    if True: y = 1, *xs\n", "AS112", "write `tuple([1] + list(xs))`", inMain + "xs = [2]\n    if True: y = tuple([1] + list(xs))\n"},
		{"an arrow between nodes", twoNodes + "main = a -> b\n", "AS112", "write `a >> b`", twoNodes + "main = a >> b\n"},
		{"a pipe between nodes", twoNodes + "main = a |> b\n", "AS112", "write `a >> b`", twoNodes + "main = a >> b\n"},
		{"an order of nodes", twoNodes + "main = a > b\n", "AS213", "a >> b runs one after the other", twoNodes + "main = a >> b\n"},
		{"main misspelt", "mian = agent(prompt = \"A.\")\n", "AS215", `did you mean "main"?`, "main = agent(prompt = \"A.\")\n"},
		{"an empty command", inMain + "return sh.run(\"\")\n", "AS204", `name the command and its arguments: ["git", "log"]`, inMain + "return sh.run([\"git\", \"log\"])\n"},
		{"the type of an approval", "P = schema(\"p\", t = str)\na = agent(output = P, prompt = \"A.\")\nb = agent(prompt = \"B.\")\nmain = a >> approval(\"Ship?\") >> b\n", "AS301", `put pick("t") between them`, "P = schema(\"p\", t = str)\na = agent(output = P, prompt = \"A.\")\nb = agent(prompt = \"B.\")\nmain = a >> approval(\"Ship?\") >> pick(\"t\") >> b\n"},
		{"an approval of a node", twoNodes + "main = approval(\"Ship?\", a)\n", "AS204", `a >> approval("...")`, twoNodes + "main = a >> approval(\"Ship?\")\n"},
		{"nodes in a list", twoNodes + "main = [a, b]\n", "AS215", "main = then([...])", twoNodes + "main = then([a, b])\n"},
		{"a dict of types", "main = agent(output = {\"title\": str, \"n\": int}, prompt = \"A.\")\n", "AS204", "write schema(title = str, n = int)", "main = agent(output = schema(title = str, n = int), prompt = \"A.\")\n"},
		{"a field with a colon", "T = schema(\"t\", title: str)\n", "AS109", "`title = str`", "T = schema(\"t\", title = str)\n"},
		{"how often by position", twoNodes + "main = loop(a, 3)\n", "AS204", "the number of turns is max = 3", twoNodes + "main = loop(a, lambda s: None, max = 3)\n"},
		{"a method of a type", twoNodes + "main = a >> str.upper\n", "AS209", "fn(lambda x: x.upper())", twoNodes + "main = a >> fn(lambda x: x.upper())\n"},
		{"routes by name", "judge = agent(output = enum(\"yes\", \"no\"), prompt = \"J.\")\n" + twoNodes + "main = branch(judge, yes = a, no = b)\n", "AS202", `write {"yes": a, "no": b}`, "judge = agent(output = enum(\"yes\", \"no\"), prompt = \"J.\")\n" + twoNodes + "main = branch(judge, {\"yes\": a, \"no\": b})\n"},
		{"an if between nodes", twoNodes + "main = if True: a\n", "AS101", "`branch(node, {...})`", twoNodes + "main = a if True else b\n"},
		{"a retry by a method", twoNodes + "main = a.with_retry(5)\n", "AS209", "write retry(a, max = 5)", twoNodes + "main = retry(a, max = 5)\n"},
		{"json as a type", "main = agent(output = \"json\", prompt = \"A.\")\n", "AS204", "any for any JSON", "main = agent(output = any, prompt = \"A.\")\n"},
		{"parallel of nodes", twoNodes + "main = parallel(a, b)\n", "AS204", "compose nodes with par(a, b)", twoNodes + "main = par(a, b)\n"},
		{"sequence", twoNodes + "main = sequence(a, b)\n", "AS201", "write `then`", twoNodes + "main = then(a, b)\n"},
		{"a lambda behind >>", twoNodes + "main = a >> lambda x: x\n", "AS101", "make it a step: fn(lambda x: ...", twoNodes + "main = a >> fn(lambda x: x, input = str, output = str)\n"},
		{"an enum of a list", "S = enum([\"low\", \"high\"])\n", "AS204", `enum("low", "high")`, "S = enum(\"low\", \"high\")\n"},
		{"a type in the words of TypeScript", "T = schema(\"t\", tags = \"string[]\")\n", "AS204", "write the type itself: list[str]", "T = schema(\"t\", tags = list[str])\n"},
	})
}
