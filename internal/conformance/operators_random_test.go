package conformance

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
)

// A term is a random expression of the algebra: an agent, an operator, or a function.
type term struct {
	op    string // ">>", "/" or "*"; "" for an agent
	call  bool   // written as the function of the operator
	kids  []*term
	named string // how its value is passed on: see [terms.written]
	agent string
}

// terms writes terms as scripts.
type terms struct {
	*rand.Rand
	count int
	stmts strings.Builder
}

var functionOf = map[string]string{">>": "then", "/": "par", "*": "forum"}

// term returns a term of at most depth nested operators, the outermost op, or any if that is "". Members of forums hear
// the transcript.
func (g *terms) term(depth int, within, op string) *term {
	g.count++
	if depth == 0 || g.IntN(4) == 0 {
		maker := "say"
		if within == "*" {
			maker = "hear"
		}
		return &term{agent: fmt.Sprintf("%s(\"a%d\")", maker, g.count)}
	}
	if op == "" {
		op = []string{">>", "/", "*"}[g.IntN(3)]
	}
	t := &term{op: op, call: g.IntN(4) == 0,
		named: []string{"", "", "variable", "variable", "alias", "list", "returned", "argument", "handed"}[g.IntN(9)]}
	kids := 2
	if t.call && t.named != "argument" {
		kids += g.IntN(2)
	}
	for i := range kids {
		same := ""
		if i == 0 && g.IntN(2) == 0 { // chains of one operator are the subject here
			same = t.op
		}
		t.kids = append(t.kids, g.term(depth-1, t.op, same))
	}
	return t
}

func (g *terms) fresh() string {
	g.count++
	return fmt.Sprintf("v%d", g.count)
}

// written returns a term in operators, with statements before it that pass its value on.
func (g *terms) written(t *term) string {
	if t.op == "" {
		return t.agent
	}
	kids := make([]string, len(t.kids))
	for i, k := range t.kids {
		kids[i] = g.written(k)
	}
	text := "(" + strings.Join(kids, " "+t.op+" ") + ")"
	if t.call {
		text = functionOf[t.op] + "(" + strings.Join(kids, ", ") + ")"
	}
	name := g.fresh()
	switch t.named {
	case "variable":
		fmt.Fprintf(&g.stmts, "%s = %s\n", name, text)
		return name
	case "alias":
		fmt.Fprintf(&g.stmts, "%s = %s\n%s_too = %s\n", name, text, name, name)
		return name + "_too"
	case "list":
		fmt.Fprintf(&g.stmts, "%s = [None, %s]\n", name, text)
		return name + "[1]"
	case "returned":
		fmt.Fprintf(&g.stmts, "def %s(): return %s\n", name, text)
		return name + "()"
	case "argument":
		fmt.Fprintf(&g.stmts, "def %s(x, y): return x %s y\n", name, t.op)
		return name + "(" + kids[0] + ", " + kids[1] + ")"
	case "handed":
		fmt.Fprintf(&g.stmts, "def %s(x): return x\n%s_value = %s(%s)\n", name, name, name, text)
		return name + "_value"
	}
	return text
}

// canonical returns a term in functions only.
func canonical(t *term) string {
	if t.op == "" {
		return t.agent
	}
	var members []string
	for i, k := range t.kids {
		text := canonical(k)
		if i == 0 && t.opensLeft() && k.opened(t.op) {
			text = strings.TrimSuffix(strings.TrimPrefix(text, functionOf[t.op]+"("), ")")
		}
		members = append(members, text)
	}
	return functionOf[t.op] + "(" + strings.Join(members, ", ") + ")"
}

// opensLeft reports whether the term is an operator whose left operand is not a parameter.
func (t *term) opensLeft() bool { return !t.call && t.named != "argument" }

// opened reports whether an operator opens the term as its left operand.
func (t *term) opened(op string) bool {
	return t.op == op && !t.call && t.named != "returned" && t.named != "handed" && t.named != "argument"
}

// Promise 26.47 (sound): over random expressions of the algebra, with names, lists and functions between
// them, operators are equal to the functions called with the opened operands.
func TestPromise_26_47_RandomExpressions(t *testing.T) {
	const makers = `
def say(name):
    return agent(name = name, input = any, output = any, run = lambda v, n = name: [n, v])
def hear(name):
    return agent(name = name, input = any, output = any, run = lambda v, said, n = name: [n, v, [[u["name"] if u["name"].startswith("a") else "", u["output"]] for u in said]])
`
	eng := agentscript.New()
	result := func(src string) string {
		mod := loaded(t, eng, makers+src)
		res, err := mod.Start(t.Context(), input("x")).Wait()
		if err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		main := mod.Node("main")
		return fmt.Sprintf("%s -> %s: %s", main.In(), main.Out(), res.JSON())
	}
	compared := 0
	seeds := uint64(600)
	if testing.Short() {
		seeds = 120
	}
	for seed := range seeds {
		g := &terms{Rand: rand.New(rand.NewPCG(seed, 43))}
		e := g.term(4, "", "")
		if e.op == "" {
			continue
		}
		text := g.written(e)
		operators, functions := g.stmts.String()+"main = then("+text+", say(\"end\"))\n", "main = then("+canonical(e)+", say(\"end\"))\n"
		if got, want := result(operators), result(functions); got != want {
			t.Fatalf("seed %d: %s\ngives %s\n%s\ngives %s", seed, operators, got, functions, want)
		}
		compared++
	}
	if compared < int(seeds)/2 {
		t.Errorf("only %d expressions were compared", compared)
	}
}
