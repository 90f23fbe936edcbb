package conformance

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/starlib"
)

// A growing is a random sound script: every expression is typed, and each agent is on its own line, so that one line
// can be broken. Types are schemas T0, T1, ...: nothing fits anything else.
type growing struct {
	rng    *rand.Rand
	lines  []string
	agents []grown
	types  int
	pairs  map[[2]string]bool // of operators, the outer one first
}

// grown is an agent: the line that makes it, its types, and which of them the script depends on.
type grown struct {
	line            int
	in, out         string
	freeIn, freeOut bool
}

// fresh declares a type that nothing else has.
func (g *growing) fresh() string {
	g.types++
	name := fmt.Sprintf("T%d", g.types)
	g.lines = append(g.lines, fmt.Sprintf("%s = schema(%q, n = int)", name, name))
	return name
}

func (g *growing) agent(in, out string, freeIn, freeOut bool) string {
	name := fmt.Sprintf("a%d", len(g.lines))
	g.agents = append(g.agents, grown{len(g.lines), in, out, freeIn, freeOut})
	g.lines = append(g.lines, fmt.Sprintf("%s = agent(input = %s, output = %s, prompt = \"Do.\")", name, in, out))
	return name
}

var randomOperators = []string{"then", "par", "forum", "loop", "branch", "each"}

// node returns an expression of type in -> out; freeIn and freeOut say whether nothing around it fixes the type. The
// operators are nested depth deep; outer is the one around it.
func (g *growing) node(in, out string, depth int, outer string, freeIn, freeOut bool) string {
	if depth == 0 {
		return g.agent(in, out, freeIn, freeOut)
	}
	op := randomOperators[g.rng.IntN(len(randomOperators))]
	g.pairs[[2]string{outer, op}] = true
	// One operand is nested deeper, the others are agents.
	deep := g.rng.IntN(2)
	kid := func(i int, in, out string, freeIn, freeOut bool) string {
		if i == deep {
			return g.node(in, out, depth-1, op, freeIn, freeOut)
		}
		return g.agent(in, out, freeIn, freeOut)
	}
	sugar := g.rng.IntN(2) == 0
	choose := func(operator, function string) string {
		if sugar {
			return operator
		}
		return function
	}
	switch op {
	case "then":
		mid := g.fresh()
		a, b := kid(0, in, mid, freeIn, false), kid(1, mid, out, false, freeOut)
		return choose(fmt.Sprintf("(%s >> %s)", a, b), fmt.Sprintf("then(%s, %s)", a, b))
	case "par":
		mid := g.fresh()
		a, b := kid(0, in, mid, false, false), kid(1, in, mid, false, false)
		join := g.agent("list["+mid+"]", out, false, freeOut)
		return choose(fmt.Sprintf("((%s) / (%s) >> %s)", a, b, join), fmt.Sprintf("then(par(%s, %s), %s)", a, b, join))
	case "forum":
		// The text of a participant is part of a transcript, which accepts any type.
		a, b := kid(0, in, g.fresh(), false, true), kid(1, in, out, false, freeOut)
		return choose(fmt.Sprintf("((%s) * (%s))", a, b), fmt.Sprintf("forum(%s, %s)", a, b))
	case "loop":
		deep = 0
		body, back := kid(0, in, out, false, false), g.agent(out, in, false, false)
		return fmt.Sprintf("loop(%s, until = lambda v: True, repair = %s)", body, back)
	case "branch":
		one, two := g.fresh(), g.fresh()
		var src string
		if deep = g.rng.IntN(3); deep == 2 {
			src = g.node(in, "("+one+" | "+two+")", depth-1, op, freeIn, false)
		} else {
			src = g.agent(in, "("+one+" | "+two+")", freeIn, false)
		}
		routes := fmt.Sprintf("{%s: %s, %s: %s}", one, kid(0, one, out, false, false), two, kid(1, two, out, false, false))
		return choose(fmt.Sprintf("(%s).branch(%s)", src, routes), fmt.Sprintf("branch(%s, %s)", src, routes))
	default:
		item, made := g.fresh(), g.fresh()
		deep = 0
		split, join := g.agent(in, "list["+item+"]", freeIn, false), g.agent("list["+made+"]", out, false, freeOut)
		work := kid(0, item, made, false, false)
		return choose(fmt.Sprintf("(%s >> each(%s) >> %s)", split, work, join), fmt.Sprintf("then(%s, (%s).each(), %s)", split, work, join))
	}
}

func (g *growing) text() string { return strings.Join(g.lines, "\n") + "\n" }

// Promise 3.12 (typed graph): if one type of a random well-typed program is changed, `check` finds exactly that one
// error and names the node whose type was changed.
func TestPromise_3_12_OneMutation(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 12))
	eng := agentscript.New()
	pairs := map[[2]string]bool{}
	programs := 400
	if testing.Short() {
		programs = 100
	}
	for program := 0; program < programs || len(pairs) < len(randomOperators)*(len(randomOperators)+1) && program < 4000; program++ {
		g := &growing{rng: rng, pairs: pairs}
		first, last := g.fresh(), g.fresh()
		head, tail := g.agent("str", first, true, false), g.agent(last, "str", false, true)
		body := g.node(first, last, 3, "", false, false)
		g.lines = append(g.lines, fmt.Sprintf("main = then(%s, %s, %s)", head, body, tail))
		if found, shown := checkedBy(eng, g.text()); len(found) > 0 {
			t.Fatalf("a sound program is refused:\n%s\n%s", g.text(), shown)
		}
		victim := g.agents[rng.IntN(len(g.agents))]
		input := rng.IntN(2) == 0
		if input && victim.freeIn || !input && victim.freeOut {
			input = !input
		}
		if input && victim.freeIn || !input && victim.freeOut {
			continue
		}
		line := g.lines[victim.line]
		if input {
			g.lines[victim.line] = strings.Replace(line, "input = "+victim.in, "input = bool", 1)
		} else {
			g.lines[victim.line] = strings.Replace(line, "output = "+victim.out, "output = bool", 1)
		}
		name, _, _ := strings.Cut(line, " ")
		found, shown := checkedBy(eng, g.text())
		if len(found) != 1 || !strings.Contains(shown, name) || !strings.Contains(shown, "bool") {
			t.Fatalf("%s has one wrong type (input: %v), and check says:\n%s\n%s", name, input, shown, g.text())
		}
	}
	if want := len(randomOperators) * (len(randomOperators) + 1); len(pairs) != want {
		t.Errorf("%d of %d pairs of operators were met", len(pairs), want)
	}
}

// Promise 3.14 (typed graph): checking a script of a thousand lines calls no model, takes few steps of the script's
// code and grows with its length; composing stays linear.
func TestPromise_3_14_LongScripts(t *testing.T) {
	long := func(lines int) string {
		g := &growing{rng: rand.New(rand.NewPCG(1, 1)), pairs: map[[2]string]bool{}}
		for i := 0; len(g.lines) < lines; i++ {
			in, out := g.fresh(), g.fresh()
			g.lines = append(g.lines, fmt.Sprintf("main%d = %s", i, g.node(in, out, 3, "", true, true)))
		}
		return g.text()
	}
	src := long(1000)
	if n := strings.Count(src, "\n"); n < 1000 || n > 1100 {
		t.Fatalf("the script has %d lines", n)
	}
	begin := time.Now()
	found, shown := checked(src)
	t.Logf("check of %d lines: %v", strings.Count(src, "\n"), time.Since(begin))
	if len(found) > 0 {
		t.Fatalf("a sound program is refused:\n%s", shown)
	}
	// The steps of its code, a few for each line.
	for _, c := range []struct {
		lines int
		steps uint64
	}{{1000, 20_000}, {4000, 80_000}} {
		if _, found := starlib.Load(t.Context(), starlib.Options{Entry: "flow.star", Source: []byte(long(c.lines)), Steps: c.steps}); len(found) > 0 {
			t.Errorf("%d lines take more than %d steps: %v", c.lines, c.steps, found)
		}
	}
	allocations := func(src string) float64 {
		return testing.AllocsPerRun(1, func() { checked(src) })
	}
	if !testing.Short() {
		one, four := allocations(src), allocations(long(4000))
		if four > 5*one {
			t.Errorf("1000 lines take %.0f allocations, 4000 lines %.0f", one, four)
		}
	}
	// One chain of a thousand nodes, by operators, by one call and by a loop in a function.
	for _, spelled := range []string{
		"main = " + strings.TrimSuffix(strings.Repeat("o() >> ", 1000), " >> "),
		"main = then([o() for _ in range(1000)])",
		"def chain():\n    n = o()\n    for _ in range(999):\n        n = n >> o()\n    return n\nmain = chain()",
	} {
		src := "def o():\n    return agent(run = lambda s: s + \".\")\n" + spelled + "\n"
		if a := allocations(src); a > 200*1000 {
			t.Errorf("a chain of 1000 takes %.0f allocations to check:\n%.60s", a, spelled)
		}
		res, err := loaded(t, agentscript.New(), src).Start(t.Context(), input("")).Wait()
		if err != nil || res.Text() != strings.Repeat(".", 1000) {
			t.Errorf("a chain of 1000 gives %d dots, %v", len(res.Text()), err)
		}
	}
}
