package conformance

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
)

// A computation is a function got, in the language, and the JSON of its result.
type computation struct{ name, src, want string }

func compute(t *testing.T, cases []computation) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { computes(t, c.want, c.src) })
	}
}

// A script that is rejected: the codes that check finds, in order, and words of the messages.
type refusal struct {
	name, src, codes string
	words            []string
}

func refuse(t *testing.T, cases []refusal) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			found, shown := checked(c.src)
			if got := codes(found); got != c.codes {
				t.Errorf("found %q, want %q\n%s%s", got, c.codes, c.src, shown)
			}
			for _, w := range c.words {
				if !strings.Contains(shown, w) {
					t.Errorf("this does not say %q:\n%s", w, shown)
				}
			}
		})
	}
}

// Promise 2.1 (language): `list[str]`, `dict[str, int]`, `str | None` and `A | B` are expressions that yield types;
// two types of the same structure are equal and the same dict key.
func TestPromise_2_1_TypesAreValues(t *testing.T) {
	const types = `
A = schema("An A", n = int)
B = schema("A B", n = int)
`
	compute(t, []computation{
		{"equal", types + `
def got():
    return [list[str] == list[str], dict[str, int] == dict[str, int], (str | None) == (str | None), (A | B) == (A | B)]
`, `[true,true,true,true]`},
		{"a member twice, or of a member, counts once", types + `
def got():
    return [(int | str | int) == (int | str), ((A | B) | None) == (A | B | None), (A | (B | None)) == (A | B | None), (str | None | None) == (str | None)]
`, `[true,true,true,true]`},
		{"different", types + `
def got():
    return [list[str] == list[int], list[str] == dict[str, str], (str | None) == str, (A | B) == A, A == B, list[A] == list[B]]
`, `[false,false,false,false,false,false]`},
		{"keys of a dict", types + `
named = {list[str]: "strs", dict[str, int]: "counts", str | None: "perhaps", A | B: "either"}
def got():
    return [named[list[str]], named[dict[str, int]], named[str | None], named[A | B], list[int] in named]
`, `["strs","counts","perhaps","either",false]`},
		{"nested and shown", types + `
def got():
    return [str(list[dict[str, A | None]]), str(A | B), str(str | int | None)]
`, `["list[dict[str, A | None]]","A | B","str | int | None"]`},
		{"computed by code", types + `
def lists(types):
    return [list[t] for t in types]
def got():
    return lists([str, A]) == [list[str], list[A]]
`, `true`},
		{"isinstance looks into them", types + `
def got():
    return [isinstance([1], list[int]), isinstance(["a"], list[int]), isinstance({"a": 1}, dict[str, int]),
            isinstance(None, str | None), isinstance(1, str | None), isinstance(A(n = 1), A | B), isinstance(A(n = 1), B)]
`, `[true,false,true,true,false,true,false]`},
	})
	refuse(t, []refusal{
		{"two types in list", "T = list[str, int]\n", "AS204", []string{"list[T] wants one type"}},
		{"keys that are no str", "T = dict[int, str]\n", "AS204", []string{"dict[str, T]"}},
		{"a type in quotes", "A = schema(\"A\", n = list[\"str\"])\n", "AS204", []string{"list[T]", "write the type itself: str"}},
		{"str in brackets", "T = str[int]\n", "AS204", []string{"takes nothing in brackets"}},
	})
}

// Promise 2.2 (language): schemas, unions and enums are distinguished by name and content, and take their name from
// the variable they are assigned to; without a variable, an error asks for `_name=`.
func TestPromise_2_2_DeclarationsAreNominal(t *testing.T) {
	compute(t, []computation{
		{"names from variables", `
Point = schema("A point", x = int)
Line = schema("A line", x = int)
Shape = union("A shape", Point, Line)
Size = enum("s", "m")
def got():
    return [str(Point), str(Line), str(Shape), str(Size), str(typeof(Line(x = 1)))]
`, `["Point","Line","Shape","Size","Line"]`},
		{"one content, two names", `
A = schema("same", x = int)
B = schema("same", x = int)
def got():
    return [A == B, A(x = 1) == B(x = 1), isinstance(A(x = 1), B)]
`, `[false,false,false]`},
		{"one name, two contents", `
def make(t):
    return schema("made", x = t, _name = "Made")
A, B, C = make(int), make(str), make(int)
def got():
    return [A == B, A == C, str(A), str(B)]
`, `[false,true,"Made","Made"]`},
		{"an alias keeps the first name", `
First = schema("doc", x = int)
Second = First
def got():
    return [str(Second), First == Second]
`, `["First",true]`},
		{"_name in a comprehension", `
kinds = [schema("kind", _name = "Kind" + n, x = int) for n in ["A", "B"]]
Kind = union("kinds", kinds[0], kinds[1])
def got():
    return [str(k) for k in kinds] + [str(typeof(Kind.from_llm_output('{"type": "KindB", "x": 1}')))]
`, `["KindA","KindB","KindB"]`},
	})
	refuse(t, []refusal{
		{"variants without a name", "U = union(\"u\", schema(\"a\", x = int), schema(\"b\", x = int))\n", "AS501 AS501", []string{"needs a name", "_name ="}},
		{"a union without a name", "A = schema(\"a\", x = int)\nus = [union(\"u\", A)]\n", "AS501", []string{"a union needs a name", "_name ="}},
		{"a branch key without a name", `
Yes, No = schema("y", x = int), schema("n", x = int)
ask = agent(output = Yes | No, prompt = "Ask.")
main = ask.branch({Yes: pick("x"), No: pick("x")})
`, "AS501 AS501", []string{"a branch key needs a type with a name", "_name ="}},
		{"one name, two contents, side by side", `
def make(t):
    return schema("made", x = t, _name = "Made")
a = agent(output = make(int), prompt = "A.")
b = agent(input = make(str), prompt = "B.")
main = a >> b
`, "AS301", []string{"two different types are named Made"}},
		{"equal content does not fit", `
A = schema("same", x = int)
B = schema("same", x = int)
a = agent(output = A, prompt = "A.")
b = agent(input = B, prompt = "B.")
main = a >> b
`, "AS301", []string{"a returns A, b wants B"}},
	})
}

// Promise 2.3 (language): a model does not have to send a field that has a default or the type `T | None`; all other
// fields are required.
func TestPromise_2_3_RequiredFields(t *testing.T) {
	const report = `
Report = schema("A report",
    title = str,
    score = field(int, "0 to 10"),
    note = str | None,
    tags = field(list[str], "Labels", default = []),
    extra = field(str | None, default = None),
)
`
	compute(t, []computation{
		{"the schema", report + `
def got():
    return Report.json_schema(as_dict = True)["required"]
`, `["title","score"]`},
		{"an answer without them", report + `
def got():
    return Report.from_llm_output('{"title": "t", "score": 3}')
`, `{"title":"t","score":3,"note":null,"tags":[],"extra":null}`},
		{"an answer without a required one", report + `
def got():
    r = Report.decode('{"title": "t", "note": "n"}')
    return [r.ok, r.value, [e.path for e in r.errors], Report.from_llm_output('{"score": 1}')]
`, `[false,null,[".score"],null]`},
		{"an instance", report + `
def got():
    return Report(title = "t", score = 1)
`, `{"title":"t","score":1,"note":null,"tags":[],"extra":null}`},
		{"defaults are not shared", report + `
def got():
    r = Report(title = "t", score = 1)
    return [list(r.tags) + ["x"], r.tags]
`, `[["x"],[]]`},
	})
	refuse(t, []refusal{
		{"a required field is missing", report + "r = Report(title = \"t\")\n", "AS509", []string{"score"}},
		{"a default of another type", "A = schema(\"A\", n = field(int, default = \"none\"))\n", "AS502", []string{"n: want int, got"}},
	})
}

// Promise 2.4 (language): an instance is immutable, is compared by value, and is written as JSON in
// the declared order of its fields.
func TestPromise_2_4_Instances(t *testing.T) {
	const point = "Point = schema(\"A point\", y = int, x = int, tags = field(list[str], default = []))\n"
	compute(t, []computation{
		{"by value", point + `
def got():
    a, b = Point(x = 1, y = 2, tags = ["t"]), Point(y = 2, x = 1, tags = ["t"])
    return [a == b, a == Point(x = 2, y = 2), a != b, {a: "seen"}[b], a in [b]]
`, `[true,false,false,"seen",true]`},
		{"in declared order", point + `
def got():
    return [json.encode(Point(x = 1, y = 2)), Point(tags = ["a"], x = 3, y = 4)]
`, `["{\"y\":2,\"x\":1,\"tags\":[]}",{"y":4,"x":3,"tags":["a"]}]`},
		{"replace leaves the original", point + `
def got():
    a = Point(x = 1, y = 2)
    return [replace(a, x = 9), a]
`, `[{"y":2,"x":9,"tags":[]},{"y":2,"x":1,"tags":[]}]`},
		{"a list given to it is copied", point + `
def got():
    tags = ["a"]
    p = Point(x = 1, y = 2, tags = tags)
    tags.append("b")
    return [p.tags, tags]
`, `[["a"],["a","b"]]`},
		{"an int widens where a float is declared", `
Share = schema("A share", part = float)
def got():
    return [Share(part = 1), Share(part = 1) == Share(part = 1.0)]
`, `[{"part":1.0},true]`},
		{"a reserved word as a field", `
Mail = schema("A mail", {"from": str, "type": str}, to = str)
def got():
    m = Mail(**{"from": "a", "type": "t", "to": "b"})
    return [m["from"], m["type"], m.to]
`, `["a","t","b"]`},
	})
	for name, change := range map[string]string{
		"a field": "p.x = 2", "an item": `p["x"] = 2`, "an inner list": `p.tags.append("b")`,
	} {
		t.Run("cannot change "+name, func(t *testing.T) {
			fails(t, diag.ScriptError, point+"\ndef main():\n    p = json.decode(\"null\") or Point(x = 1, y = 2, tags = [\"a\"])\n    "+change+"\n    return p\n", nil)
		})
	}
	refuse(t, []refusal{
		{"an unknown field", point + "p = Point(x = 1, z = 2, y = 3)\n", "AS503", []string{"z"}},
		{"a field that is absent", point + "p = Point(x = 1, y = 2).z\n", "AS209", []string{"z"}},
		{"a wrong value", point + "p = Point(x = \"1\", y = 2)\n", "AS504", []string{"x: want int, got"}},
	})
}

// Promise 2.5 (language): an agent's input and output are `str` unless it declares otherwise, and `run=` or `prompt=`
// without skills makes its only skill.
func TestPromise_2_5_AgentDefaults(t *testing.T) {
	mod := loaded(t, agentscript.New(), `
plain = agent(prompt = "Say it.")
typed = agent(input = int, output = list[str], run = lambda n: [str(n)])
skilled = agent(output = int, skills = [skill("count", "Counts.", run = lambda s: len(s))])
def made():
    return agent(run = lambda s: s)
factored = [made()]
named = agent(name = "speaker", prompt = "Speak.")
main = plain
`)
	for name, want := range map[string]string{
		"plain": "plain: str -> str", "typed": "typed: int -> list[str]", "skilled": "skilled: str -> int", "named": "speaker: str -> str",
	} {
		n := mod.Node(name)
		if got := n.Name() + ": " + n.In().String() + " -> " + n.Out().String(); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
		if skills := n.Agent().Skills; len(skills) != 1 || skills[0].In.String() != n.In().String() || skills[0].Out.String() != n.Out().String() {
			t.Errorf("%s has the skills %v", name, skills)
		}
	}
	made := false
	for _, n := range mod.Nodes() {
		made = made || n.Name() == "made"
	}
	if !made {
		t.Error("an agent without a variable is not named for the function around it")
	}
	gives(t, "6", `main = agent(output = int, skills = [skill("count", "Counts.", run = lambda s: len(s))])`, input("length"))
	gives(t, "LOUD", `main = agent(run = lambda s: s.upper())`, input("loud"))
	res, _ := asked(t, `main = agent(name = "poet", prompt = "Rhyme.")`, "moon", map[string][]string{"poet": {"spoon"}})
	if res.Text() != "spoon" {
		t.Errorf("a prompt alone gives %q", res.Text())
	}
}
