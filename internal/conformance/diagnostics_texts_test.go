package conformance

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
)

// mistakes are the common ones, with the full text of each in testdata/mistakes. says are the words that its text must
// contain.
var mistakes = []struct{ name, src, codes, says string }{
	// The six of the type algebra.
	{"then_mismatch", `
Draft = schema("A draft", code = str, score = int)
coder = agent(output = Draft, prompt = "Write the code.")
judge = agent(input = str, prompt = "Judge the code.")
main = coder >> judge
`, "AS301", "coder returns Draft, judge wants str"},
	{"parallel_of_different_inputs", `
security = agent(input = str, output = str, prompt = "Review the security.")
speed = agent(input = int, output = str, prompt = "Review the speed.")
main = security / speed
`, "AS302", "security takes str, speed takes int"},
	{"parallel_of_different_outputs", `
score = agent(input = str, output = int, prompt = "Score the code.")
review = agent(input = str, output = str, prompt = "Review the code.")
main = score / review
`, "AS303", "score returns int, review returns str"},
	{"forum_member_of_another_input", `
opener = agent(input = str, prompt = "Propose.")
critic = agent(input = int, output = str, prompt = "Object.")
captain = agent(input = str, prompt = "Decide.")
main = opener * critic * captain
`, "AS304", "opener takes str, critic takes int"},
	{"branch_not_exhaustive", `
Approved = schema("Ready", confidence = float)
Rejected = schema("Not ready", reason = str)
Unsure = schema("Cannot tell", question = str)
Decision = union("Whether to ship", Approved, Rejected, Unsure)
judge = agent(output = Decision, prompt = "Decide.")
main = judge.branch({
    Approved: template("shipped at {{confidence}}"),
    Rejected: template("filed: {{reason}}"),
})
`, "AS305", "branch on Decision does not handle Unsure"},
	{"loop_with_a_wrong_next", `
Draft = schema("A draft", code = str, score = int)
polish = agent(input = str, output = Draft, prompt = "Improve.")
grade = agent(input = Draft, output = int, prompt = "Grade.")
main = polish.loop(grade, max = 5)
`, "AS315", "grade returns int, polish wants str, or None to stop"},
	{"handlers_of_different_outputs", `
Approved = schema("Ready", confidence = float)
Rejected = schema("Not ready", reason = str)
Decision = union("Whether to ship", Approved, Rejected)
judge = agent(output = Decision, prompt = "Decide.")
ship = agent(input = Approved, output = str, prompt = "Ship it.")
count = agent(input = Rejected, output = int, prompt = "Count the findings.")
main = judge.branch({Approved: ship, Rejected: count})
`, "AS303", "the route for Approved returns str, the route for Rejected returns int"},

	// The five of the placement rule, and similar ones.
	{"placed_in_two_pipelines", `
a = agent(prompt = "A.")
b = agent(prompt = "B.")
c = agent(prompt = "C.")
first = a >> b
second = a >> c
`, "AS401", `the agent a is part of another pipeline already`},
	{"placed_in_pipeline_and_forum", `
a = agent(prompt = "A.")
b = agent(prompt = "B.")
c = agent(prompt = "C.")
first = a >> b
second = a * c
`, "AS401", `the agent a is part of a pipeline, and cannot be part of this forum as well`},
	{"placed_in_parallel_and_pipeline", `
a = agent(prompt = "A.")
b = agent(prompt = "B.")
c = agent(prompt = "C.")
first = a / b
second = c >> a
`, "AS401", `the agent a is part of a parallel, and cannot be part of this pipeline as well`},
	{"placed_in_loop_and_parallel", `
a = agent(prompt = "A.")
b = agent(prompt = "B.")
first = a.loop(lambda s: None if len(s) < 80 else s, max = 3)
second = a / b
`, "AS401", `the agent a is part of a loop, and cannot be part of this parallel as well`},
	{"placed_twice_in_one_structure", `
a = agent(prompt = "A.")
b = agent(prompt = "B.")
main = a >> b >> a
`, "AS401", `the agent a appears twice in this pipeline`},
	{"placed_in_pipeline_and_parallel", `
a = agent(prompt = "A.")
b = agent(prompt = "B.")
c = agent(prompt = "C.")
first = a >> b
second = a / c
`, "AS401", `the agent a is part of a pipeline, and cannot be part of this parallel as well`},
	{"structure_placed_twice", `
a = agent(prompt = "A.")
b = agent(prompt = "B.")
both = a >> b
first = both >> agent(name = "c", prompt = "C.")
second = both.loop(lambda s: None)
`, "AS401", `the pipeline both is part of a pipeline, and cannot be part of this loop as well`},
	{"handler_placed_twice", `
Yes = schema("Yes", why = str)
No = schema("No", why = str)
Answer = union("Yes or no", Yes, No)
ask = agent(output = Answer, prompt = "Decide.")
tell = agent(input = Yes | No, prompt = "Tell.")
main = ask.branch({
    Yes: tell,
    No: tell,
})
`, "AS401", `the agent tell appears twice in this branch`},
	{"no_skill_for_the_output", `
Review = schema("A review", verdict = str)
reviewer = agent(input = str, output = Review, skills = [
    skill("style", "Reviews the style.", output = str),
    skill("count", "Counts the lines.", output = int, run = lambda s: len(s.splitlines())),
])
`, "AS312", `Agent "reviewer" has no skill producing Review. At least one skill must return the agent's output type.`},
}

// Promise 4.10 (diagnostics): the common mistakes of typing and of placement are explained in full, including the
// remedy.
func TestPromise_4_10_SpecialTexts(t *testing.T) {
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			found, shown := checked(strings.TrimPrefix(m.src, "\n"))
			if codes(found) != m.codes || !strings.Contains(shown, m.says) || !strings.Contains(shown, "= help: ") {
				t.Errorf("want %s and %q, got\n%s", m.codes, m.says, shown)
			}
			golden(t, "mistakes/"+m.name, shown)
		})
	}
}

// Promise 4.13 (diagnostics): the nodes and schemas that a function uses are checked before anything runs, as far as
// the result is certain: the number of arguments, literal inputs and the names of fields.
func TestPromise_4_13_CallsInside(t *testing.T) {
	const parts = `
Plan = schema("A plan", title = str, steps = field(list[str], default = []))
a = agent(prompt = "A.")
n = agent(input = float, output = float, prompt = "N.")
p = agent(input = Plan, prompt = "P.")
l = agent(input = list[int], prompt = "L.")
`
	for _, c := range []struct{ call, code, says string }{
		{"a(x, x)", "AS204", "a takes its input as the only argument, got 2 arguments"}, {"a()", "AS204", "got no arguments"}, {"a(input = x)", "AS204", "by position, not by name"},
		{"a(3)", "AS705", "a takes str, got int"}, {"a(None)", "AS705", "a takes str, got None"}, {"n(\"2\")", "AS705", "n takes float, got str"}, {"n(True)", "AS705", "n takes float"},
		{"l([1, \"two\"])", "AS705", "l takes list[int], got list[int | str]"}, {"l([1, x])", "AS705", "l takes list[int]"}, {"p()", "AS204", "write p(Plan(title = ...))"}, {"p(\"plan\")", "AS705", "p takes Plan, got str"},
		{"p(Plan(titel = x))", "AS503", `did you mean "title"?`}, {"Plan()", "AS509", "Plan needs title"}, {"Plan(title = x, stepz = [])", "AS503", `did you mean "steps"?`},
		{"helper(x)", "AS203", "helper"}, {"helper(x, y = 1, z = 2)", "AS202", "z"},
		{"a(x)", "", ""}, {"a(\"text\")", "", ""}, {"a(str(3))", "", ""}, {"n(2)", "", ""}, {"n(-2.5)", "", ""}, {"l([1, len(x)])", "", ""}, {"l([])", "", ""}, {"a(*[x])", "", ""},
		{"p(Plan(title = x))", "", ""}, {"p({\"title\": x})", "", ""}, {"Plan(**{\"title\": x})", "", ""}, {"(lambda a: a(1, 2))(max)", "", ""}, {"helper(x, 1)", "", ""},
	} {
		src := parts + "def helper(x, y):\n    return x\ndef main(x = str):\n    return " + c.call + "\nused = [a, n, p, l]\n"
		found, shown := checked(src)
		found = slices.DeleteFunc(found, func(d *diag.Diagnostic) bool { return d.Severity != diag.Error }) // not every agent is used
		if codes(found) != c.code || !strings.Contains(shown, c.says) {
			t.Errorf("%s is %q, want %q with %q:\n%s", c.call, codes(found), c.code, c.says, shown)
		}
		if c.code != "" && (len(found) != 1 || found[0].Span.Line != 10 || len(found[0].Help) == 0) {
			t.Errorf("%s: its place or remedy is missing:\n%s", c.call, shown)
		}
	}
}

// Promise 4.12 (diagnostics): a mistake is reported once: a value that was refused causes no further errors in the
// rest of the script.
func TestPromise_4_12_OneMistakeOnce(t *testing.T) {
	refuse(t, []refusal{
		{"an agent", "a = agent(promt = \"A.\")\nb = agent(prompt = \"B.\")\nc = a >> b\nd = c.loop(lambda s: None)\nmain = d.branch({str: fn(str)})\nx = [n for n in [a, c, d]]\n", "AS202", nil},
		{"a type", "T = schema(\"T\", n = \"int\")\nU = union(\"U\", T, schema(\"V\", _name = \"V\", n = int))\na = agent(output = list[T], prompt = \"A.\")\nb = agent(input = T, output = U, prompt = \"B.\")\nmain = a >> b.each() >> pick(\"n\").each()\nv = T(n = 3).n\nw = {T: 1}[T]\n", "AS204", nil},
		{"a join", "a = agent(output = int, prompt = \"A.\")\nb = agent(prompt = \"B.\")\nc = a >> b\nmain = c >> agent(prompt = \"D.\") >> agent(prompt = \"E.\")\n", "AS301", nil},
		{"a skill", "s = skill(\"s\")\na = agent(output = int, skills = [s])\nmain = a >> agent(input = int, prompt = \"B.\")\n", "AS203", nil},
		{"a template", "main = agent(prompt = template(\"{{a b}}\")) >> agent(prompt = \"B.\")\n", "AS314", nil},
		{"a field", "T = schema(\"T\", a = field(\"str\"), b = int)\nmain = fn(lambda n: T(a = 1, b = 1), output = T) >> pick(\"b\")\n", "AS204", nil},
		{"an instance", "T = schema(\"T\", a = int)\nt = T(a = \"x\")\nu = replace(t, a = 2)\nv = t.a + 1\nw = json.encode(t)\nx = fmt(t.a, \".1f\")\n", "AS504", nil},
		{"a file", "s = file(\"no.txt\")\nmain = agent(prompt = s + \"\\n\".join(s.splitlines()))\nn = len(s)\n", "AS602", nil},
		{"a loaded file", "load(\"no.star\", \"a\", \"T\")\nmain = a >> agent(input = T, output = list[T], prompt = \"B.\")\nx = a(1)\ny = T(n = 1).n\n", "AS211", nil},
		{"a route", "a = agent(output = bool, prompt = \"A.\")\nmain = a.branch({True: fn(lambda b: b), False: lambda b: b}) >> fn(str)\n", "AS310", nil},
		{"a node of another type as a source", "A = schema(\"A\", n = int)\nB = schema(\"B\", n = int)\na = agent(output = bool, prompt = \"A.\")\nmain = a.branch({A: fn(str), B: fn(str)}) >> fn(str)\n", "AS306", []string{"a returns bool"}},
		{"a field under a wrong name", "P = schema(\"P\", width = int)\np = P(widht = 1)\n", "AS503", []string{`did you mean "width"?`}},
	})
}
