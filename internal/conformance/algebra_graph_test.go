package conformance

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// flowRow is a script with the type and the result of its main.
type flowRow struct {
	name, src, typ string // "" is not checked
	in             any
	want           string
}

func flows(t *testing.T, parts string, rows []flowRow) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			mod := loaded(t, agentscript.New(), parts+row.src+"\n")
			if main := mod.Node("main"); row.typ != "" && (main == nil || main.In().String()+" -> "+main.Out().String() != row.typ) {
				t.Errorf("main is %s -> %s, want %s", main.In(), main.Out(), row.typ)
			}
			res, err := mod.Start(t.Context(), input(row.in)).Wait()
			if err != nil || res.Text() != row.want {
				t.Errorf("got %s, %v; want %s\n%s", res.Text(), err, row.want, row.src)
			}
		})
	}
}

// numbered are the nodes of which most flows of these tests consist: each call makes a new one.
const numbered = `
def step(f):
    return fn(f, input = int, output = int)
def same():
    return step(lambda n: n)
def inc():
    return step(lambda n: n + 1)
def double():
    return step(lambda n: n * 2)
def broken(why = "no"):
    return step(lambda n: fail(why))
def odd_fails():
    return step(lambda n: fail("odd " + str(n)) if n % 2 else n)
def word(w):
    return fn(lambda n: w + str(n), input = int, output = str)
`

// Promise 15.1 (algebra): a graph follows the first edge of a node, in the order written, that accepts the node's
// output; edges can lead back, meet in one node, change the value on the way, and end the graph.
func TestPromise_15_1_GraphEdges(t *testing.T) {
	flows(t, numbered, []flowRow{
		{"the first edge that takes", `
a = same()
main = graph(a, [edge(a, word("big "), when = ge(10)), edge(a, word("even "), when = lambda n: n % 2 == 0), edge(a, word("rest "))])`, "int -> str", 12, "big 12"},
		{"what it leaves is for the next", `
a = same()
main = graph(a, [edge(a, word("big "), when = ge(10)), edge(a, word("even "), when = lambda n: n % 2 == 0), edge(a, word("rest "))])`, "int -> str", 4, "even 4"},
		{"an edge without when takes the rest", `
a = same()
main = graph(a, [edge(a, word("big "), when = ge(10)), edge(a, word("even "), when = lambda n: n % 2 == 0), edge(a, word("rest "))])`, "int -> str", 5, "rest 5"},
		{"a cycle of one", `
a = inc()
main = graph(a, [edge(a, a, when = lt(100)), edge(a, FINISH)])`, "int -> int", 3, "100"},
		{"a cycle of two", `
a = inc()
b = double()
main = graph(a, [edge(a, FINISH, when = gt(40)), edge(a, b), edge(b, a)])`, "int -> int", 1, "47"},
		{"ways that meet", `
a = same()
b = inc()
c = double()
d = word("")
main = graph(a, [edge(a, b, when = lt(10)), edge(a, c), edge(b, d), edge(c, d)])`, "int -> str", 10, "20"},
		{"a change on the way, to a node and to the end", `
Pair = schema("A pair", left = int, right = str)
a = fn(lambda n: Pair(left = n, right = "r"), input = int, output = Pair)
main = graph(a, [edge(a, word("left "), when = gt("left", 2), map = pick("left")), edge(a, FINISH, map = pick("right"))])`, "int -> str", 3, "left 3"},
		{"to the end", `
Pair = schema("A pair", left = int, right = str)
a = fn(lambda n: Pair(left = n, right = "r"), input = int, output = Pair)
main = graph(a, [edge(a, word("left "), when = gt("left", 2), map = pick("left")), edge(a, FINISH, map = pick("right"))])`, "int -> str", 2, "r"},
		{"by type, and each node is given what its edges let through", `
Good = schema("Good", n = int)
Bad = schema("Bad", why = str)
Verdict = union("A verdict", Good, Bad)
judge = fn(lambda n: Good(n = n) if n > 5 else Bad(why = "small"), input = int, output = Verdict)
praise = fn(lambda g: "good %d" % g.n, input = Good, output = str)
blame = fn(lambda b: b.why, input = Bad, output = str)
main = graph(judge, [edge(judge, praise, when = Good), edge(judge, blame)])`, "int -> str", 2, "small"},
		{"a graph in a graph", `
a = inc()
inner = graph(a, [edge(a, a, when = lt(5)), edge(a, FINISH)])
b = double()
main = graph(inner, [edge(inner, b), edge(b, inner, when = lt(20)), edge(b, FINISH)])`, "int -> int", 0, "22"},
	})
	refuse(t, []refusal{
		{"what an edge lets through must fit its target", numbered + `
a = same()
b = fn(lambda s: s, input = str, output = str)
main = graph(a, [edge(a, b)])
`, "AS301", []string{"this edge cannot carry", "returns int", "wants str"}},
		{"ends of different types", numbered + `
a = same()
main = graph(a, [edge(a, FINISH, when = gt(3)), edge(a, FINISH, map = lambda n: str(n))], output = int)
`, "", nil},
		{"ends that are declared otherwise", numbered + `
a = same()
main = graph(a, [edge(a, FINISH, when = gt(3)), edge(a, word("x"))])
`, "AS303", []string{"output = int | str"}},
	})
}

// Promise 15.2 (algebra): on_no_match decides whether an output that no edge takes fails, finishes or goes to a node;
// if on_no_match is not set, such an output is a check error. max_steps bounds the number of nodes that run.
func TestPromise_15_2_GraphBounds(t *testing.T) {
	const one = numbered + "a = same()\n"
	flows(t, one, []flowRow{
		{"finish", `main = graph(a, [edge(a, word("x"), when = gt(3), map = inc())], on_no_match = "finish", output = int | str)`, "", 2, "2"},
		{"a node", `main = graph(a, [edge(a, word("x"), when = gt(3))], on_no_match = word("rest "))`, "int -> str", 2, "rest 2"},
		{"a node of the graph itself", `
b = inc()
main = graph(a, [edge(a, FINISH, when = gt(3)), edge(b, a)], on_no_match = b)`, "int -> int", 1, "4"},
		{"as many as are allowed", `
b = inc()
main = graph(b, [edge(b, b, when = lt(5)), edge(b, FINISH)], max_steps = 5)`, "int -> int", 0, "5"},
	})
	fails(t, "AS702", one+`main = graph(a, [edge(a, FINISH, when = gt(3))], on_no_match = "error")`, []agentscript.RunOption{input(1)}, "takes 1: it has gt(3) (to the end)")
	fails(t, "AS703", one+`main = graph(a, [edge(a, a)], on_no_match = "error", max_steps = 7)`, []agentscript.RunOption{input(1)}, "within 7 steps", "FINISH", "max_steps")
	fails(t, "AS703", one+`main = graph(a, [edge(a, a, when = gt(0)), edge(a, FINISH)])`, []agentscript.RunOption{input(1)}, "within 1000 steps")
	refuse(t, []refusal{
		{"unsaid", one + "main = graph(a, [edge(a, FINISH, when = gt(3))])\n", "AS305", []string{"x <= 3", "on_no_match"}},
		{"max_steps", one + "main = graph(a, [edge(a, FINISH)], max_steps = 0)\n", "AS307", nil},
	})
}

// Promise 15.3 (algebra): loops, retries and cycles of a graph keep the same stack however often they repeat: 100,000
// times.
func TestPromise_15_3_ConstantStack(t *testing.T) {
	rounds := 100_000
	if testing.Short() {
		rounds = 30_000
	}
	c := &noop{Session: flow.NewSession()}
	var deep map[int]bool
	left := 0
	frames := func() bool { // reports whether to continue
		left--
		if left == rounds-1 || left == 1 || left%9973 == 0 {
			var pcs [512]uintptr
			deep[runtime.Callers(0, pcs[:])] = true
		}
		return left > 0
	}
	typ := generable.IntT
	step := func() *flow.Node { return c.steps(1)[0] }
	yes := func(again bool) engine.Func {
		return engine.GoFunc("f", 1, func(engine.Branch, []generable.Value) (generable.Value, error) {
			return generable.BoolOf(frames() == again), nil
		})
	}
	a, b := step(), step()
	builds := map[string]*flow.Node{
		"loop": c.Loop(c.site("loop"), step(), flow.LoopOptions{Max: rounds, Next: engine.GoFunc("next", 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
			if frames() {
				return args[0], nil
			}
			return generable.Value{}, nil
		})}),
		"until":  c.Loop(c.site("loop"), step(), flow.LoopOptions{Max: rounds, UntilFunc: yes(false), Repair: step()}),
		"retry":  c.Retry(c.site("retry"), step(), flow.RetryOptions{Max: rounds, UntilFunc: yes(false)}),
		"graph":  c.Graph(c.site("graph"), a, []flow.Edge{{From: a, To: b}, {From: b, To: a, Guard: flow.Route{When: yes(true)}}, {From: b}}, flow.GraphOptions{MaxSteps: 2 * rounds}),
		"nested": nil,
	}
	inner := step()
	once := c.Graph(c.site("graph"), inner, []flow.Edge{{From: inner}}, flow.GraphOptions{})
	builds["nested"] = c.Graph(c.site("graph"), once, []flow.Edge{{From: once, To: once, Guard: flow.Route{When: yes(true)}}, {From: once}}, flow.GraphOptions{MaxSteps: rounds})
	if l := c.Diagnostics(); l.HasErrors() {
		t.Fatal(l)
	}
	for name, n := range builds {
		for how, sched := range map[string]engine.Sched{"goroutines": sched.NewGoSched(context.Background()), "cooperative": sched.NewCoopSched(1)} {
			left, deep = rounds, map[int]bool{}
			out, err := run.Exec(sched, &run.Spec{Node: n, Input: generable.IntOf(7)})
			if err != nil || left != 0 || !generable.Equal(out, generable.IntOf(7)) || typ.Conforms(out) != nil {
				t.Errorf("%s on %s: %v after %d rounds", name, how, err, rounds-left)
			}
			if len(deep) != 1 {
				t.Errorf("%s on %s: the stack is %s frames deep", name, how, fmt.Sprint(deep))
			}
		}
	}
}
