package conformance

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine/flow"
)

// shape returns a node as nested words with its types: what a composition is, however it is written.
func shape(n *flow.Node) string {
	var b strings.Builder
	b.WriteString(n.Kind().String())
	if kids := n.Children(); len(kids) > 0 {
		parts := make([]string, len(kids))
		for i, k := range kids {
			parts[i] = shape(k)
		}
		b.WriteString("(" + strings.Join(parts, ", ") + ")")
	} else if n.Name() != "" {
		b.WriteString(" " + n.Name())
	}
	if n.Kind() != flow.AgentNode {
		fmt.Fprintf(&b, ": %s -> %s", n.In(), n.Out())
	}
	return b.String()
}

// The agents of the scripts in these tests, each in a factory, so that a script can contain it in several spellings.
// inc and double count, wrap shows, halve returns a list.
const factories = `
def inc():
    return agent(name = "inc", input = int, output = int, run = lambda n: n + 1)
def double():
    return agent(name = "double", input = int, output = int, run = lambda n: n * 2)
def show():
    return agent(name = "show", input = int, output = str, run = lambda n: "<%d>" % n)
def sum():
    return agent(name = "sum", input = list[int], output = int, run = lambda ns: ns[0] + ns[1])
def split():
    return agent(name = "split", input = int, output = list[int], run = lambda n: [n, n + 1])
def biggest():
    return agent(name = "biggest", input = int, output = int, run = lambda n, said: max([s["output"] for s in said]))
Small = schema("Below 10", n = int)
Big = schema("10 and above", n = int)
Size = union("A size", Small, Big)
def judge():
    return agent(name = "judge", input = int, output = Size, run = lambda n: Small(n = n) if n < 10 else Big(n = n))
def small():
    return agent(name = "small", input = Small, output = str, run = lambda s: "small %d" % s.n)
def big():
    return agent(name = "big", input = Big, output = str, run = lambda s: "big %d" % s.n)
`

// Promise 2.6 (language): `then par branch loop forum each` mean the same as functions, as methods
// and as operators.
func TestPromise_2_6_OneMeaning(t *testing.T) {
	for _, c := range []struct {
		name      string
		spellings []string
		in        int
		want      string
	}{
		{"then", []string{"then(inc(), show())", "inc().then(show())", "inc() >> show()", "then([inc(), show()])"}, 4, `<5>`},
		{"then of three", []string{"then(inc(), double(), show())", "inc() >> double() >> show()"}, 4, `<10>`},
		{"then of a pipeline", []string{"then(then(inc(), double()), show())", "inc().then(double()).then(show())"}, 4, `<10>`},
		{"par", []string{"par(inc(), double())", "inc() / double()", "par([inc(), double()])"}, 4, `[5,8]`},
		{"forum", []string{"forum(inc(), double(), biggest())", "inc() * double() * biggest()", "forum([inc(), double(), biggest()])"}, 4, `8`},
		{"loop", []string{"loop(double(), lambda n: None if n > 100 else n)", "double().loop(lambda n: None if n > 100 else n)",
			"double().loop(next = lambda n: None if n > 100 else n)"}, 1, `128`},
		{"loop with until", []string{"loop(double(), until = lambda n: n > 10, repair = inc())", "double().loop(until = lambda n: n > 10, repair = inc())"}, 1, `14`},
		{"branch", []string{"branch(judge(), {Small: small(), Big: big()})", "judge().branch({Small: small(), Big: big()})"}, 12, `big 12`},
		{"branch with otherwise", []string{"branch(judge(), {Small: small()}, otherwise = big())", "judge().branch({Small: small()}, otherwise = big())"}, 12, `big 12`},
		{"each", []string{"then(split(), each(inc()))", "split() >> each(inc())", "split().then(inc().each())"}, 4, `[5,6]`},
		{"all of them", []string{
			"then(par(inc(), double()), sum(), branch(judge(), {Small: small(), Big: big()}))",
			"inc() / double() >> sum() >> judge().branch({Small: small(), Big: big()})",
		}, 1, `small 4`},
	} {
		t.Run(c.name, func(t *testing.T) {
			first := ""
			for _, s := range c.spellings {
				mod := loaded(t, agentscript.New(), factories+"main = "+s+"\n")
				if got := shape(mod.Node("main")); first == "" {
					first = got
				} else if got != first {
					t.Errorf("%s is\n%s, and %s is\n%s", s, got, c.spellings[0], first)
				}
				res, err := mod.Start(t.Context(), input(c.in)).Wait()
				if err != nil || res.Text() != c.want {
					t.Errorf("%s gives %s, %v; want %s", s, res.Text(), err, c.want)
				}
			}
		})
	}
}

// Promise 2.7 (language): an operator extends a left operand made by the same operator; a function never
// does.
func TestPromise_2_7_Flattening(t *testing.T) {
	const ints = `
def one():
    return agent(name = "one", input = int, output = int, run = lambda n: n)
`
	for _, c := range []struct{ name, src, want string }{
		{"a / b / c is one parallel", "main = one() / one() / one()", "parallel(agent one, agent one, agent one): int -> list[int]"},
		{"a >> b >> c is one pipeline", "main = one() >> one() >> one()", "pipeline(agent one, agent one, agent one): int -> int"},
		{"a * b * c is one forum", "main = one() * one() * one()", "forum(agent one, agent one, agent one): int -> int"},
		{"parentheses around the left are not seen", "main = (one() / one()) / one()", "parallel(agent one, agent one, agent one): int -> list[int]"},
		{"a right operand stays whole", "main = one() >> (one() >> one())", "pipeline(agent one, pipeline(agent one, agent one): int -> int): int -> int"},
		{"a named pipeline keeps its place in the other", "p = one() >> one()\nmain = p >> one()", "pipeline(pipeline(agent one, agent one): int -> int, agent one): int -> int"},
		{"a function stays whole", "main = then(one(), one()) >> one()", "pipeline(pipeline(agent one, agent one): int -> int, agent one): int -> int"},
		{"a function takes no operator apart", "main = then(one() >> one(), one())", "pipeline(pipeline(agent one, agent one): int -> int, agent one): int -> int"},
		{"functions never", "main = then(then(one(), one()), one())", "pipeline(pipeline(agent one, agent one): int -> int, agent one): int -> int"},
		{"methods never", "main = one().then(one()).then(one())", "pipeline(pipeline(agent one, agent one): int -> int, agent one): int -> int"},
		{"another operator stays whole", "main = one() * one() >> one() >> one()", "pipeline(forum(agent one, agent one): int -> int, agent one, agent one): int -> int"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := shape(loaded(t, agentscript.New(), ints+c.src+"\n").Node("main")); got != c.want {
				t.Errorf("%s is\n%s, want\n%s", c.src, got, c.want)
			}
		})
	}
	// A parallel in a parallel with the same inputs is two nested lists.
	gives(t, `[[1,1],1]`, ints+"main = par(par(one(), one()), then(one(), one()), output = list[int] | int)", input(1))
	gives(t, `[1,1,1]`, ints+"main = one() / one() / one()", input(1))
	// The operand that was taken apart is used up: it has a place.
	refuse(t, []refusal{{"an extended operand is placed", ints + `
pair = [one() / one()]
main = pair[0] / one()
other = pair[0] >> fn(lambda ns: 1, input = list[int], output = int)
`, "AS401", []string{"this parallel is part of a parallel"}}})
}

// Promise 2.8 (language): a prompt is dedented and otherwise literal, including braces; a `template` is checked
// against its input type.
func TestPromise_2_8_Prompts(t *testing.T) {
	for _, c := range []struct{ name, src, in, want string }{
		{"dedented", `
main = agent(prompt = """
    Review the code.

      - be strict
    Stop.
""")
`, "x", "Review the code.\n\n  - be strict\nStop."},
		{"behind the quotes", "main = agent(prompt = \"\"\"Review.\n    Be strict.\n    \"\"\")\n", "x", "Review.\nBe strict."},
		{"braces and percents stay", `main = agent(prompt = 'Answer {"ok": {{true}}} at 100%s: {0} \\n')`, "x", `Answer {"ok": {{true}}} at 100%s: {0} \n`},
		{"a template", `
Author = schema("An author", name = str)
Job = schema("A job", title = str, author = Author, tags = list[str])
main = agent(input = Job, prompt = template("""
    Write "{{title}}" for {{ author.name }}, tags {{tags}}.
    All of it: {{input}} {literal}
"""))
`, `{"title": "Moon", "author": {"name": "Ada"}, "tags": ["a"]}`,
			`Write "Moon" for Ada, tags ["a"].` + "\n" + `All of it: {"title":"Moon","author":{"name":"Ada"},"tags":["a"]} {literal}`},
		{"a template of text", `main = agent(prompt = template("Say {{input}}"))`, "hello", "Say hello"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, calls := asked(t, c.src, c.in, map[string][]string{"main": {"done"}})
			if len(calls) != 1 || calls[0].Request.System != c.want {
				t.Errorf("the system text is %q, want %q", calls[0].Request.System, c.want)
			}
		})
	}
	gives(t, "Dear Ada, 3.", `
P = schema("P", name = str, n = int)
main = fn(lambda s: P(name = s, n = len(s)), input = str, output = P) >> template("Dear {{name}}, {{n}}.")
`, input("Ada"))
	const job = "Job = schema(\"A job\", title = str)\n"
	refuse(t, []refusal{
		{"an unknown field", job + `main = agent(input = Job, prompt = template("On {{titel}}."))`, "AS314", []string{"{{titel}}", `did you mean "title"?`}},
		{"a field of text", `main = agent(prompt = template("On {{title}}."))`, "AS314", []string{"{{input}} is the whole input"}},
		{"a step after a node", job + `main = agent(output = Job, prompt = "Job.") >> template("On {{topic}}.")`, "AS314", []string{"{{topic}}"}},
		{"not closed", `main = agent(prompt = template("On {{input"))`, "AS314", []string{"{{input"}},
		{"no name", `main = agent(prompt = template("On {{a b}}."))`, "AS314", []string{"{{a b}}"}},
	})
}
