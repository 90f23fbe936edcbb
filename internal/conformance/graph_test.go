package conformance

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
)

// The nodes in the rows of the algebra. Each composition changes the type, so that each row has distinct types: count
// str -> int, half int -> float, show float -> str.
const algebraParts = `
def count():
    return agent(name = "count", input = str, output = int, run = lambda s: len(s))
def half():
    return agent(name = "half", input = int, output = float, run = lambda n: n / 2)
def show():
    return agent(name = "show", input = float, output = str, run = lambda x: fmt(x, ".2f"))
def inc():
    return agent(name = "inc", input = int, output = int, run = lambda n: n + 1)
def total():
    return agent(name = "total", input = list[float], output = float, run = lambda xs: xs[0] + xs[1])
def most():
    return agent(name = "most", input = int, output = float, run = lambda n, said: max([s["output"] for s in said] + [0.5]))
def decide():
    return agent(name = "decide", input = int, output = Size, run = lambda n: Small(n = n) if n < 4 else Big(n = n))
Small = schema("Below 4", n = int)
Big = schema("4 and above", n = int)
Size = union("A size", Small, Big)
pipe = count() >> half()
`

// algebra are the rows: a left and a right operand, and the type and result of their composition.
var algebra = []struct {
	name, src, in, out, input, want string
}{
	{"agent then agent", "count() >> half()", "str", "float", "abc", "1.5"},
	{"agent then forum", "count() >> (half() * most())", "str", "float", "abc", "1.5"},
	{"agent then parallel", "count() >> half() / half()", "str", "list[float]", "abc", "[1.5,1.5]"},
	{"agent then loop", "count() >> inc().loop(lambda n: None if n > 8 else n)", "str", "int", "abc", "9"},
	{"agent then branch", `count() >> decide().branch({Small: pick("n"), Big: pick("n")})`, "str", "int", "abcd", "4"},
	{"pipeline then agent", "pipe >> show()", "str", "str", "abc", "1.50"},
	{"pipeline then forum", "(pipe >> fn(int)) >> (half() * most())", "str", "float", "abcd", "1.0"},
	{"pipeline then parallel", "pipe >> show() / show()", "str", "list[str]", "abc", `["1.50","1.50"]`},
	{"pipeline then loop", "pipe >> fn(lambda x: x, input = float, output = float).loop(lambda x: None if x > 1 else x + 1)", "str", "float", "a", "1.5"},
	{"pipeline then branch", `pipe >> fn(lambda x: Small(n = int(x)) if x < 1 else Big(n = int(x)), input = float, output = Size).branch({Small: pick("n"), Big: pick("n")})`, "str", "int", "abcd", "2"},
	{"pipeline then pipeline", "pipe >> (show() >> count())", "str", "int", "abc", "4"},
	{"parallel then agent", "half() / half() >> total()", "int", "float", "3", "3.0"},
	{"parallel then pipeline", "half() / half() >> (total() >> show())", "int", "str", "3", "3.00"},
	{"loop then agent", "inc().loop(lambda n: None if n > 8 else n) >> half()", "int", "float", "1", "4.5"},
	{"loop then pipeline", "inc().loop(lambda n: None if n > 8 else n) >> (half() >> show())", "int", "str", "1", "4.50"},
	{"branch then agent", `decide().branch({Small: pick("n"), Big: pick("n")}) >> half()`, "int", "float", "5", "2.5"},
	{"branch then pipeline", `decide().branch({Small: pick("n"), Big: pick("n")}) >> (half() >> show())`, "int", "str", "5", "2.50"},
	{"agent / agent", "half() / half()", "int", "list[float]", "3", "[1.5,1.5]"},
	{"parallel / agent", "half() / half() / half()", "int", "list[float]", "3", "[1.5,1.5,1.5]"},
	{"agent * agent", "half() * most()", "int", "float", "3", "1.5"},
	{"forum * agent", "half() * half() * most()", "int", "float", "0", "0.5"},
	{"agent.loop", "inc().loop(lambda n: None if n >= 5 else n)", "int", "int", "2", "5"},
	{"pipeline.loop", "(inc() >> inc()).loop(lambda n: None if n >= 10 else n)", "int", "int", "0", "10"},
	{"agent.branch", `decide().branch({Small: pick("n"), Big: template("big {{n}}") >> count()})`, "int", "int", "7", "5"},
}

// Promise 3.1 (typed graph): the type of each composition follows from the types of its parts: each of the 24 rows of
// the algebra is checked for its types and by a run.
func TestPromise_3_1_TypeAlgebra(t *testing.T) {
	if len(algebra) != 24 {
		t.Fatalf("the algebra has %d rows", len(algebra))
	}
	for _, row := range algebra {
		t.Run(strings.ReplaceAll(row.name, "/", "over"), func(t *testing.T) {
			mod := loaded(t, agentscript.New(agentscript.WithStrict()), algebraParts+"main = "+row.src+"\n")
			main := mod.Node("main")
			if main.In().String() != row.in || main.Out().String() != row.out {
				t.Errorf("%s is %s -> %s, want %s -> %s", row.src, main.In(), main.Out(), row.in, row.out)
			}
			res, err := mod.Start(t.Context(), agentscript.InputText(row.input)).Wait()
			if err != nil || res.Text() != row.want {
				t.Errorf("%s gives %s, %v; want %s", row.src, res.Text(), err, row.want)
			}
		})
	}
}

// Promise 3.2 (typed graph): a variant fits where its union is expected, `T` fits where `T | None` is expected, and
// lists and dicts fit by their elements; an int does not fit a float at a boundary, and the error gives the remedy.
func TestPromise_3_2_Assignability(t *testing.T) {
	const types = `
A = schema("A", n = int)
B = schema("B", n = int)
C = schema("C", n = int)
U = union("A or B", A, B)
V = union("all", A, B, C)
S = enum("x", "y")
Big = enum("x", "y", "z")
`
	for _, c := range []struct {
		from, to string
		fits     bool
	}{
		{"str", "str", true}, {"A", "A", true}, {"A", "B", false}, {"int", "str", false}, {"str", "int", false},
		{"A", "U", true}, {"C", "U", false}, {"U", "A", false}, {"U", "V", true}, {"V", "U", false}, {"U", "A | B", true}, {"A | B", "U", true},
		{"str", "str | None", true}, {"None", "str | None", true}, {"str | None", "str", false}, {"A", "U | None", true}, {"U | None", "A | B | None", true},
		{"list[str]", "list[str]", true}, {"list[A]", "list[U]", true}, {"list[A]", "list[B]", false}, {"list[U]", "list[A]", false}, {"list[str]", "str", false}, {"str", "list[str]", false},
		{"dict[str, A]", "dict[str, U]", true}, {"dict[str, U]", "dict[str, A]", false}, {"list[dict[str, list[A]]]", "list[dict[str, list[U | None]]]", true},
		{"int", "float", false}, {"float", "int", false}, {"list[int]", "list[float]", false}, {"int", "int | float", true}, {"int", "str | float", false},
		{"S", "str", true}, {"str", "S", false}, {"S", "Big", false}, {"bool", "int", false}, {"int | str", "str | int | None", true}, {"int | str", "int", false},
		{"any", "A", true}, {"A", "any", true}, {"list[any]", "list[A]", true}, {"any", "int", true},
	} {
		t.Run(c.from+" to "+c.to, func(t *testing.T) {
			src := types + "a = agent(output = " + c.from + ", prompt = \"A.\")\nb = agent(input = " + c.to + ", prompt = \"B.\")\nmain = a >> b\n"
			found, shown := checked(src)
			switch {
			case c.fits && len(found) > 0:
				t.Errorf("%s fits %s, and is refused:\n%s", c.from, c.to, shown)
			case !c.fits && codes(found) != "AS301":
				t.Errorf("%s does not fit %s, and check says:\n%s", c.from, c.to, shown)
			case !c.fits && (!strings.Contains(shown, "a returns ") || !strings.Contains(shown, "b wants ") || !strings.Contains(shown, "= help: ")):
				t.Errorf("this says too little:\n%s", shown)
			}
		})
	}
	for _, c := range []struct{ from, to, step, remedy string }{
		{"int", "float", "fn(float)", "put fn(float) between them"},
		{"float", "int", "fn(int)", "put fn(int) between them"},
		{"A", "int", `pick("n")`, `put pick("n") between them`},
		{"list[str]", "str", "", "to run b on every item write each(b)"},
		{"str", "list[str]", "fn(lambda x: [x], output = list[str])", "fn(lambda x: [x], output = list[str])"},
		{"U", "A", "", "branch(node, {A: handler, B: handler})"},
		{"str", "int", "fn(lambda s: len(s), input = str, output = int)", "fn(lambda x: ..., input = str, output = int)"},
	} {
		head := types + "a = agent(output = " + c.from + ", prompt = \"A.\")\nb = agent(input = " + c.to + ", prompt = \"B.\")\n"
		if _, shown := checked(head + "main = a >> b\n"); !strings.Contains(shown, c.remedy) {
			t.Errorf("from %s to %s the remedy %q is missing:\n%s", c.from, c.to, c.remedy, shown)
		}
		if c.step != "" { // the remedy works
			loaded(t, agentscript.New(), head+"main = a >> "+c.step+" >> b\n")
		}
	}
	gives(t, "[2.0,2.5]", `main = fn(lambda n: n, input = int, output = int) >> fn(float) >> par(fn(lambda x: x, input = float, output = float), fn(lambda x: x + 0.5, input = float, output = float))`, input(2))
	// What has type `any` is checked when it runs, and noted under strict.
	const loose = "main = fn(lambda s: s) >> fn(lambda n: n + 1, input = int, output = int)\n"
	gives(t, "3", loose, input(2))
	fails(t, "AS705", loose, []agentscript.RunOption{input("two")}, "want int, got")
	found, shown := checkedBy(agentscript.New(agentscript.WithStrict()), loose)
	if codes(found) != "AS317" || found.HasErrors() {
		t.Errorf("under strict this is found:\n%s", shown)
	}
}

// Promise 3.3 (typed graph): a branch handles every variant, value or None that can arrive, or has
// an `otherwise`.
func TestPromise_3_3_ExhaustiveBranches(t *testing.T) {
	const types = `
Dog = schema("A dog", n = int)
Cat = schema("A cat", n = int)
Fish = schema("A fish", n = int)
Animal = union("An animal", Dog, Cat, Fish)
Pet = union("A pet", Dog, Cat)
Level = enum("low", "mid", "high")
def to(s):
    return fn(lambda x, s = s: s, output = str)
`
	for _, c := range []struct{ name, out, routes, missing string }{
		{"all variants", "Animal", `{Dog: to("d"), Cat: to("c"), Fish: to("f")}`, ""},
		{"one variant missing", "Animal", `{Dog: to("d"), Cat: to("c")}`, "Fish"},
		{"two variants missing", "Animal", `{Cat: to("c")}`, "Dog, Fish"},
		{"a smaller union takes its variants", "Animal", `{Pet: to("p"), Fish: to("f")}`, ""},
		{"otherwise", "Animal", `{Dog: to("d")}, otherwise = to("o")`, ""},
		{"the union itself", "Animal", `{Animal: to("a")}`, ""},
		{"an inline union", "Dog | Fish", `{Dog: to("d")}`, "Fish"},
		{"None", "Dog | None", `{Dog: to("d")}`, "None"},
		{"None is handled", "Dog | None", `{Dog: to("d"), None: to("n")}`, ""},
		{"bool", "bool", `{True: to("t")}`, "False"},
		{"bool as a type", "bool", `{bool: to("b")}`, ""},
		{"both of bool", "bool", `{False: to("f"), True: to("t")}`, ""},
		{"an enum", "Level", `{"low": to("l"), "high": to("h")}`, `"mid"`},
		{"all of an enum", "Level", `{"low": to("l"), "high": to("h"), "mid": to("m")}`, ""},
		{"an enum or None", "Level | None", `{"low": to("l"), "mid": to("m")}`, `"high", None`},
		{"a union in a union with None", "Pet | Fish | None", `{Dog: to("d"), Fish: to("f")}`, "Cat, None"},
		{"scalars", "str | int", `{str: to("s")}`, "int"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, shown := checked(types + "ask = agent(output = " + c.out + ", prompt = \"Ask.\")\nmain = ask.branch(" + c.routes + ")\n")
			switch {
			case c.missing == "" && len(found) > 0:
				t.Errorf("all is handled, and check says:\n%s", shown)
			case c.missing != "" && (codes(found) != "AS305" || !strings.Contains(shown, "does not handle "+c.missing+"\n")):
				t.Errorf("%s is not handled, and check says:\n%s", c.missing, shown)
			}
		})
	}
	const route = types + `
def made(n):
    return [Dog(n = n), Cat(n = n), Fish(n = n)][n]
main = fn(made, input = int, output = Animal).branch(%)
`
	for n, want := range []string{"d", "c", "o"} {
		gives(t, want, strings.ReplaceAll(route, "%", `{Dog: to("d"), Cat: to("c")}, otherwise = to("o")`), input(n))
	}
	// The first route that accepts a value wins, in source order.
	gives(t, "a", strings.ReplaceAll(route, "%", `[when(lambda x: x.n < 2, to("a")), when(lambda x: x.n < 9, to("b"))], otherwise = to("c")`), input(1))
	gives(t, "b", strings.ReplaceAll(route, "%", `[when(lambda x: x.n < 2, to("a")), when(lambda x: x.n < 9, to("b"))], otherwise = to("c")`), input(2))
	// What only a run can know ends in an error that names the value's type.
	if found, shown := checked(strings.ReplaceAll(route, "%", `[when(lambda x: x.n < 2, to("a"))]`)); codes(found) != "AS305" {
		t.Errorf("conditions that may all be false:\n%s", shown)
	}
	fails(t, "AS702", types+`main = fn(lambda n: n).branch({Dog: to("d")})`+"\n", []agentscript.RunOption{input(2)}, "int")
}

// Promise 3.4 (typed graph): a branch key that can never be taken is an error.
func TestPromise_3_4_DeadRoutes(t *testing.T) {
	const types = `
Dog = schema("A dog", n = int)
Cat = schema("A cat", n = int)
Car = schema("A car", n = int)
Animal = union("An animal", Dog, Cat)
Level = enum("low", "high")
def to(s):
    return fn(lambda x, s = s: s, output = str)
`
	for _, c := range []struct{ name, out, routes, says string }{
		{"no variant", "Animal", `{Dog: to("d"), Cat: to("c"), Car: to("x")}`, "Car is no case of Animal"},
		{"behind its union", "Animal", `{Animal: to("a"), Cat: to("c")}`, "Cat is already taken by an earlier key"},
		{"behind the same variants in a union", "Animal", `{Dog: to("d"), Cat: to("c"), Animal: to("a")}`, "Animal is already taken"},
		{"a name of a variant", "Animal", `{"Dog": to("d"), Cat: to("c"), Dog: to("d2")}`, `"Dog" is no case of Animal`},
		{"no value of the enum", "Level", `{"low": to("l"), "hihg": to("h"), "high": to("h")}`, `did you mean "high"?`},
		{"a value behind its enum", "Level", `{Level: to("l"), "high": to("h")}`, `"high" is already taken`},
		{"an enum behind its values", "Level", `{"low": to("l"), "high": to("h"), Level: to("x")}`, "Level is already taken"},
		{"a value behind bool", "bool", `{bool: to("b"), True: to("t")}`, "True is already taken"},
		{"None that cannot come", "Animal", `{Animal: to("a"), None: to("n")}`, "None is no case of Animal"},
		{"a wider type behind a part", "str | int", `{str: to("s"), int: to("i"), float: to("f")}`, "float is no case of str | int"},
		{"str where int comes", "int", `{int: to("i"), str: to("s")}`, "str is no case of int"},
		{"a value of a str", "str", `{"x": to("x"), str: to("s")}`, `"x" is no case of str`},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, shown := checked(types + "ask = agent(output = " + c.out + ", prompt = \"Ask.\")\nmain = ask.branch(" + c.routes + ")\n")
			if codes(found) != "AS306" || !strings.Contains(shown, c.says) {
				t.Errorf("%s has a dead route, and check says:\n%s", c.routes, shown)
			}
		})
	}
}

// Promise 3.5 (typed graph): an agent without a skill that yields its output type is an error.
func TestPromise_3_5_SkillForOutput(t *testing.T) {
	const types = "T = schema(\"T\", n = int)\nW = schema(\"W\", n = int)\nU = union(\"U\", T, W)\n"
	refuse(t, []refusal{
		{"the wrong one", types + `x = agent(output = T, skills = [skill("s", "Does s.", output = str)])`, "AS312",
			[]string{`Agent "x" has no skill producing T. At least one skill must return the agent's output type.`, "skill s returns str"}},
		{"two wrong ones", types + `x = agent(output = T, skills = [skill("s", "S.", output = W), skill("u", "U.", output = U)])`, "AS312",
			[]string{`Agent "x" has no skill producing T.`, "skill s returns W", "skill u returns U"}},
		{"nothing at all", types + `x = agent(output = T)`, "AS312", []string{`agent "x" has nothing to do`}},
		{"code and tools", types + "def f(x = str):\n    \"F.\"\n    return x\nx = agent(output = T, skills = [skill(\"s\", \"S.\", run = lambda s: T(n = 1), tools = [f])])\n", "AS313",
			[]string{`skill "s" has run and tools`}},
		{"two of one name", types + `x = agent(output = T, skills = [skill("s", "S."), skill("s", "T.")])`, "AS508", []string{`two skills named "s"`}},
	})
	for name, src := range map[string]string{
		"inherited":           `x = agent(output = T, skills = [skill("s", "S.")])`,
		"given":               `x = agent(output = T, skills = [skill("s", "S.", output = T)])`,
		"one of two":          `x = agent(output = T, skills = [skill("s", "S.", output = str), skill("t", "T.", output = T)])`,
		"a variant of it":     `x = agent(output = U, skills = [skill("s", "S.", output = W)])`,
		"the one that is run": `x = agent(output = T, run = lambda s: T(n = 1))`,
	} {
		if found, shown := checked(types + src + "\n"); found.HasErrors() { // it is a warning that a skill is never reached
			t.Errorf("%s: refused:\n%s", name, shown)
		}
	}
	gives(t, `{"type":"W","n":3}`, types+`main = agent(output = U, skills = [skill("t", "T.", output = str, run = lambda s: s), skill("s", "S.", output = W, run = lambda s: W(n = len(s)))])`, input("abc"))
}
