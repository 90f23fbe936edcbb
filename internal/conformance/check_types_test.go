package conformance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
)

// Promise 16.1 (check): the output of a node must fit the input of the next in every structure, through lists, dicts,
// unions and the types that attempt and verify make.
func TestPromise_16_1_EveryStructure(t *testing.T) {
	const parts = `
A = schema("A", n = int)
B = schema("B", n = int)
U = union("U", A, B)
def a(t, u, name = "gives"):
    return agent(name = name, input = t, output = u, prompt = "A.")
`
	for name, c := range map[string]struct{ fits, not, code, says string }{
		"then":           {`a(str, A) >> a(U, str, "takes")`, `a(str, U) >> a(A, str, "takes")`, "AS301", "gives returns U, takes wants A"},
		"through a list": {`a(str, list[A]) >> a(list[U], str, "takes")`, `a(str, list[U]) >> a(list[A], str, "takes")`, "AS301", "list[U]"},
		"par, inputs":    {`par(a(A, str), a(U, str, "takes"))`, `par(a(A, str), a(B, str, "takes"))`, "AS302", "takes takes B"},
		"par, outputs":   {`par(a(str, A), a(str, B, "takes")) >> a(list[U], str, "last")`, `par(a(str, A), a(str, int, "takes"))`, "AS303", "output = A | int"},
		"par, merge":     {`par(a(str, A), a(str, A, "b"), merge = a(list[U], str, "takes"))`, `par(a(str, A), a(str, A, "b"), merge = a(list[B], str, "takes"))`, "AS301", "they return list[A]"},
		"each":           {`a(str, list[A]) >> each(a(U, str, "takes"))`, `a(str, list[B]) >> each(a(A, str, "takes"))`, "AS301", "list[B]"},
		"forum":          {`a(A, str) * a(U, str, "takes")`, `a(A, str) * a(B, str, "takes")`, "AS304", "takes takes B"},
		"loop":           {`loop(a(U, A), a(A, A | None, "takes"))`, `loop(a(A, U), a(U, U | None, "takes"))`, "AS315", "takes returns U | None"},
		"branch":         {`a(str, U).branch({A: a(A, str, "x"), B: a(U, str, "takes")})`, `a(str, U).branch({A: a(A, str, "x"), B: a(A, str, "takes")})`, "AS301", "takes wants A"},
		"graph":          {"graph(g, [edge(g, a(A, str, \"takes\"), when = A), edge(g, FINISH, map = lambda b: str(b))], output = any)", "graph(g, [edge(g, a(A, str, \"takes\"))])", "AS301", "takes wants A"},
		"fallback":       {`fallback(a(str, A), a(str, B, "takes")) >> a(U, str, "last")`, `fallback(a(str, A), a(int, A, "takes"))`, "AS302", "takes takes int"},
		"race":           {`race(a(str, A), a(str, B, "takes")) >> a(U, str, "last")`, `race(a(str, A), a(str, int, "takes"))`, "AS303", "takes returns int"},
		"retry":          {`retry(a(str, A), until = gt("n", 2)) >> a(U, str, "takes")`, `retry(a(str, A), until = gt("m", 2))`, "AS320", "no field"},
		"vote":           {`vote(a(str, A), a(str, A, "b"), judge = a(list[U], A, "takes"))`, `vote(a(str, A), a(str, A, "b"), judge = a(list[A], B, "takes"))`, "AS301", "takes takes list[A] and returns B"},
		"wrap":           {`wrap(a(U, str), a(A, str, "takes"))`, `wrap(a(B, str), a(A, str, "takes"))`, "AS302", "takes takes A"},
		"handoff":        {`handoff(a(str, U), {A: a(A, str, "x"), B: a(B, str, "y")})`, `handoff(a(str, U), {A: a(B, str, "takes"), B: a(B, str, "y")})`, "AS301", "takes wants B"},
		"attempt":        {`attempt(a(str, A)) >> a(Attempt[A], str, "takes")`, `attempt(a(str, A)) >> a(Attempt[B], str, "takes")`, "AS301", "Attempt[A]"},
		"verify":         {`a(str, A) >> verify(task = "x", input = A, name = "v") >> a(Critique[A], str, "takes")`, `a(str, B) >> verify(task = "x", input = A, name = "v")`, "AS301", "wants A"},
	} {
		t.Run(name, func(t *testing.T) {
			src := parts
			if name == "graph" {
				src += "g = a(str, U)\n"
			}
			if found, shown := checked(src + "main = " + c.fits + "\n"); len(found) > 0 {
				t.Errorf("this fits, and is refused:\n%s\n%s", c.fits, shown)
			}
			found, shown := checked(src + "main = " + c.not + "\n")
			if codes(found) != c.code || !strings.Contains(shown, c.says) || !strings.Contains(shown, "= help: ") {
				t.Errorf("want one %s that says %q:\n%s\n%s", c.code, c.says, c.not, shown)
			}
		})
	}
}

// Promise 16.2 (check): an error names everything that no route, edge or condition takes: variants, values of enums
// and bools, None, and the gaps between numbers, of which an int has fewer than a float.
func TestPromise_16_2_Gaps(t *testing.T) {
	const parts = `
A = schema("A", n = int)
B = schema("B", n = int)
C = schema("C", n = int)
U = union("U", A, B, C)
S = enum("low", "mid", "high")
P = schema("P", score = float, rank = int, kind = S, sure = bool)
def gives(t):
    return agent(name = "gives", output = t, prompt = "A.")
def h(t):
    return agent(name = "h", input = t, prompt = "A.")
`
	branch := func(typ, routes string) string { return parts + "main = branch(gives(" + typ + "), " + routes + ")\n" }
	var rows []refusal
	for name, c := range map[string][3]string{
		"union":          {"U", "{A: h(A)}", "does not handle B, C"},
		"inline union":   {"A | B", "{A: h(A)}", "does not handle B"},
		"optional":       {"A | None", "{A: h(A)}", "does not handle None"},
		"enum":           {"S", `{"low": h(S)}`, `does not handle "mid", "high"`},
		"bool":           {"bool", "{True: h(bool)}", "does not handle False"},
		"float":          {"float", "[when(ge(80), h(float)), when(le(79), h(float))]", "79 < x < 80 is not handled"},
		"float, a point": {"float", "[when(gt(80), h(float)), when(lt(80), h(float))]", "x = 80 is not handled"},
		"int":            {"int", "[when(ge(80), h(int)), when(lt(79), h(int))]", "x = 79 is not handled"},
		"a field":        {"P", `[when(ge("score", 80), h(P)), when(le("score", 79), h(P))]`, "79 < score < 80 is not handled"},
		"an int field":   {"P", `[when(gt("rank", 3), h(P)), when(lt("rank", 3), h(P))]`, "rank = 3 is not handled"},
		"an enum field":  {"P", `[when(eq("kind", "low"), h(P)), when(eq("kind", "mid"), h(P))]`, `kind = "high" is not handled`},
		"a bool field":   {"P", `[when(eq("sure", True), h(P))]`, "sure = False is not handled"},
		"functions":      {"int", "[when(lambda n: n > 3, h(int))]", "may all be false"},
	} {
		rows = append(rows, refusal{name, branch(c[0], c[1]), "AS305", []string{c[2]}})
	}
	refuse(t, rows)
	for name, c := range map[string][2]string{
		"an int has no gap there": {"int", "[when(ge(80), h(int)), when(le(79), h(int))]"},
		"all variants":            {"U", "{A: h(A), B: h(B), C: h(C)}"},
		"otherwise":               {"U", "{A: h(A)}, otherwise = h(B | C)"},
		"a field of two tests":    {"P", `[when(ge("score", 80), h(P)), when(lt("score", 80), h(P))]`},
		"not":                     {"P", `[when(eq("kind", "low"), h(P)), when(~eq("kind", "low"), h(P))]`},
		"or":                      {"int", "[when(lt(3) | gt(5), h(int)), when(ge(3) & le(5), h(int))]"},
	} {
		if found, shown := checked(branch(c[0], c[1])); len(found) > 0 {
			t.Errorf("%s: nothing is left over, and it is refused:\n%s", name, shown)
		}
	}
	edge := parts + "g = gives(float)\nmain = graph(g, [edge(g, h(float), when = ge(80)), edge(g, FINISH, when = le(79), map = lambda x: str(x))], output = any)\n"
	refuse(t, []refusal{{"edges", edge, "AS305", []string{"79 < x < 80"}}})
}

// Promise 16.3 (check): a key, condition or edge for which nothing is left, a node that no edge reaches and a graph
// without an end are errors.
func TestPromise_16_3_DeadEnds(t *testing.T) {
	const one = numbered + "a = same()\nb = inc()\n"
	const union = "A = schema(\"A\", n = int)\nB = schema(\"B\", n = int)\nU = union(\"U\", A, B)\ndef gives():\n    return agent(name = \"gives\", output = U, prompt = \"A.\")\ndef h(t):\n    return agent(name = \"h\", input = t, prompt = \"A.\")\n"
	refuse(t, []refusal{
		{"an edge behind one that takes all", one + "main = graph(a, [edge(a, b), edge(a, FINISH)])\n", "AS321", []string{"never followed", "takes everything before it"}},
		{"an edge that is covered", one + "main = graph(a, [edge(a, b, when = gt(3)), edge(a, b, when = gt(5)), edge(a, FINISH)])\n", "AS321", []string{"earlier edges take all that gt(5) does"}},
		{"an edge that never holds", one + "main = graph(a, [edge(a, b, when = gt(3) & lt(2)), edge(a, FINISH)])\n", "AS321", []string{"never holds for int"}},
		{"a node that is never reached", one + "main = graph(a, [edge(a, FINISH), edge(b, a)])\n", "AS322", []string{"is never reached"}},
		{"a cycle without an exit", one + "main = graph(a, [edge(a, b), edge(b, a)])\n", "AS323", []string{"never ends", "FINISH"}},
		{"a key that is no case", union + "main = gives().branch({A: h(A), B: h(B), str: h(str)})\n", "AS306", []string{"str is no case of U"}},
		{"a key that is taken", union + "main = gives().branch({U: h(U), A: h(A)})\n", "AS306", []string{"already taken by an earlier key"}},
		{"a condition that is taken", numbered + "main = branch(same(), [when(gt(3), inc()), when(gt(4), inc())], otherwise = inc())\n", "AS306", []string{"already taken"}},
		{"a misspelt key", union + "main = gives().branch({A: h(A), \"B\": h(B)})\n", "AS306", []string{"write B without quotes"}},
	})
}

// Promise 16.4 (check): an agent that nothing places or calls causes a warning; warnings are not errors, and --strict
// turns them into errors and notes what only a run can prove.
func TestPromise_16_4_Warnings(t *testing.T) {
	const src = "used = agent(prompt = \"A.\")\nidle = agent(prompt = \"B.\")\nmain = used\n"
	found, shown := checked(src)
	if codes(found) != "AS326" || found[0].Severity != diag.Warning || found.HasErrors() {
		t.Errorf("check says\n%s", shown)
	}
	path := file(t, "f.star", src)
	if out := offline(t, "check", path); out.code != 0 || !strings.Contains(out.stderr, "warning[AS326]") {
		t.Errorf("check: exit code %d\n%s", out.code, out.stderr)
	}
	if out := offline(t, "check", "--strict", path); out.code != 3 || !strings.Contains(out.stderr, "AS326") {
		t.Errorf("check --strict: exit code %d\n%s", out.code, out.stderr)
	}
	vague := file(t, "g.star", "a = fn(lambda s: s, input = str)\nb = fn(lambda n: n, input = int, output = int)\nmain = a >> b\n")
	if out := offline(t, "check", vague); out.code != 0 || strings.Contains(out.stderr, "AS317") {
		t.Errorf("check: exit code %d\n%s", out.code, out.stderr)
	}
	if out := offline(t, "check", "--strict", vague); out.code != 0 || !strings.Contains(out.stderr, "AS317") {
		t.Errorf("check --strict: exit code %d\n%s", out.code, out.stderr)
	}
}

// Promise 16.5 (check): duplicate names of tools, skills, fields and variants are errors; nodes may share a name and
// are distinguished by number.
func TestPromise_16_5_Duplicates(t *testing.T) {
	const tools = "def look(q = str):\n    \"\"\"Looks.\"\"\"\n    return q\ndef find(q = str):\n    \"\"\"Finds.\"\"\"\n    return q\n"
	refuse(t, []refusal{
		{"tools", tools + "main = agent(prompt = \"A.\", tools = [look, tool(find, {\"q\": str}, name = \"look\")])\n", "AS508", []string{"look"}},
		{"skills", "main = agent(skills = [skill(\"s\", \"One\", run = lambda s: s), skill(\"s\", \"Two\", run = lambda s: s)])\n", "AS508", []string{`"s"`}},
		{"enum values", "E = enum(\"a\", \"a\")\nmain = agent(output = E, prompt = \"A.\")\n", "AS507", []string{"a"}},
		{"fields", "A = schema(\"A\", n = int, n = str)\nmain = agent(output = A, prompt = \"A.\")\n", "AS101", []string{`"n"`}},
		{"fields of a dict", "A = schema(\"A\", **{\"n\": int, \"n\": str})\nmain = agent(output = A, prompt = \"A.\")\n", "AS213", []string{`"n"`}},
		{"names of fields", "A = schema(\"A\", n = int, m = field(str, alias = \"n\"))\nmain = agent(output = A, prompt = \"A.\")\n", "AS502", []string{`"n"`}},
		{"variants", "A = schema(\"A\", n = int)\nU = union(\"U\", A, A)\nmain = agent(output = U, prompt = \"A.\")\n", "AS508", nil},
	})
	const twice = "def coder():\n    return agent(name = \"coder\", run = lambda s: s + \"!\")\nmain = coder() >> coder()\n"
	if found, shown := checked(twice); len(found) > 0 {
		t.Errorf("two nodes of one name are refused:\n%s", shown)
	}
	gives(t, "x!!", twice, input("x"))
}

// Promise 16.6 (check): fields of pick, of conditions and of template, and the names of tools and skills, are looked
// up in the types that reach them; the remedy is the nearest name.
func TestPromise_16_6_Names(t *testing.T) {
	const parts = `
P = schema("P", score = int, title = str)
def gives():
    return agent(name = "gives", output = P, prompt = "A.")
`
	refuse(t, []refusal{
		{"pick", parts + "main = gives() >> pick(\"titel\")\n", "AS311", []string{`did you mean "title"?`}},
		{"pick of a text", "main = agent(prompt = \"A.\") >> pick(\"x\")\n", "AS311", []string{"str has no fields"}},
		{"template", parts + "main = gives() >> template(\"{{titel}}\")\n", "AS314", []string{"title"}},
		{"template of an agent", parts + "main = agent(input = P, prompt = template(\"{{scor}}\"))\n", "AS314", []string{"score"}},
		{"condition", parts + "main = branch(gives(), [when(ge(\"scor\", 3), pick(\"title\"))], otherwise = pick(\"title\"))\n", "AS320", []string{"scor"}},
		{"key of a vote", parts + "main = vote(gives(), gives(), by = \"max\", key = \"scor\")\n", "AS311", []string{"score"}},
		{"map of an edge", parts + "g = gives()\nmain = graph(g, [edge(g, FINISH, map = pick(\"titel\"))])\n", "AS311", []string{"title"}},
		{"through structures", parts + "main = gives() >> (pick(\"title\") / pick(\"scores\"))\n", "AS311", []string{"score"}},
		{"in a loop", parts + "main = gives() >> retry(pick(\"titel\"))\n", "AS311", []string{"title"}},
		{"a tool that is none", "main = agent(prompt = \"A.\", tools = [\"look\"])\n", "AS204", []string{"tools"}},
		{"no skill gives the output", "main = agent(output = int, skills = [skill(\"s\", \"One\", output = str, run = lambda s: s)])\n", "AS312", []string{"int"}},
	})
}

// Promise 16.7 (check): a callback that takes a different number of arguments than it will get is an error, wherever
// callbacks are used.
func TestPromise_16_7_Arity(t *testing.T) {
	const one = numbered + "a = same()\n"
	var rows []refusal
	for name, src := range map[string]string{
		"fn":            "main = fn(lambda a, b: a, input = int, output = int)",
		"run":           "main = agent(run = lambda: \"\")",
		"skill":         "main = agent(skills = [skill(\"s\", \"S\", run = lambda a, b, c: a)])",
		"on_bad_output": "main = agent(output = int, prompt = \"A.\", on_bad_output = lambda: 1)",
		"next":          "main = loop(same(), lambda a, b: None)",
		"until":         "main = loop(same(), until = lambda: True, repair = inc())",
		"retry":         "main = retry(same(), until = lambda a, b: True)",
		"feedback":      "main = retry(agent(prompt = \"A.\"), until = eq(\"x\"), feedback = lambda: \"\")",
		"when":          "main = branch(same(), [when(lambda: True, inc())], otherwise = double())",
		"edge":          "main = graph(a, [edge(a, a, when = lambda: True), edge(a, FINISH)])",
		"map":           "main = graph(a, [edge(a, FINISH, map = lambda: 1)])",
		"merge":         "main = par(same(), inc(), merge = lambda: 1)",
		"key":           "main = vote(same(), inc(), key = lambda: 1)",
	} {
		rows = append(rows, refusal{name, one + src + "\n", "AS216", []string{"= help: "}})
	}
	refuse(t, rows)
}

// Promise 16.8 (check): one mistake yields one message: nodes that depend on a node that failed report nothing more,
// and other mistakes are still found, even at another joint of the same chain.
func TestPromise_16_8_OneMistakeOneMessage(t *testing.T) {
	const parts = `
def a(t, u, name = "a"):
    return agent(name = name, input = t, output = u, prompt = "A.")
broken = a(str, int) >> a(str, str, "b")
`
	for _, around := range []string{
		"broken >> a(int, int, \"c\")", "par(broken, a(bool, str, \"c\"))", "broken * a(int, str, \"c\")", "loop(broken, a(bool, bool, \"c\"))", "each(broken)",
		"broken.branch({True: a(bool, str, \"c\")})", "graph(broken, [edge(broken, a(int, str, \"c\"), when = ge(3))])", "fallback(broken, a(int, bool, \"c\"))", "race(broken, a(int, bool, \"c\"))",
		"retry(broken, until = ge(\"x\", 3))", "attempt(broken) >> a(int, int, \"c\")", "vote(broken, a(int, bool, \"c\"))", "wrap(broken, a(int, str, \"c\"))", "handoff(broken, {int: a(int, str, \"c\")})",
		"attempt(broken) >> pick(\"x\") >> template(\"{{y}}\")", "then([broken] + [a(int, int, \"n%d\" % i) for i in range(20)])",
	} {
		found, shown := checked(parts + "main = " + around + "\n")
		if codes(found) != "AS301" {
			t.Errorf("%s: want one message\n%s", around, shown)
		}
		found, shown = checked(parts + "main = " + around + "\nother = a(str, bool) >> a(int, str, \"d\")\n")
		if codes(found) != "AS301 AS301" {
			t.Errorf("%s: the second mistake is not found\n%s", around, shown)
		}
	}
	// A joint that is wrong itself is another mistake, before and after one that failed. It is not a mistake if only
	// the step between is misplaced, and its neighbours fit each other.
	for _, around := range []string{"broken >> a(bool, int, \"c\")", "a(str, int, \"c\") >> broken", "then(broken, a(bool, int, \"c\"))", "broken >> pick(\"x\")"} {
		if found, shown := checked(parts + "main = " + around + "\n"); len(found) != 2 {
			t.Errorf("%s: want two messages\n%s", around, shown)
		}
	}
	many := parts
	for i := range 30 {
		many += fmt.Sprintf("x%d = a(str, int) >> a(bool, str, \"y\")\n", i)
	}
	if found, shown := checked(many + "main = broken\n"); len(found) != 31 || strings.Trim(codes(found), "AS301 ") != "" {
		t.Errorf("31 mistakes yield %d messages\n%s", len(found), shown)
	}
}
