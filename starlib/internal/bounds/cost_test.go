package bounds_test

import (
	"testing"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/agentscript/agentscript/internal/testenv"
	"github.com/agentscript/agentscript/starlib/internal/bounds"
)

// loops compute with numbers and with values that define their own operators, as nodes do.
var loops = map[string]string{
	"sum":        "def run(n, a, b):\n    t = 0\n    for i in range(n):\n        t += i * 2 + 1\n    return t\n",
	"squares":    "def run(n, a, b):\n    t = 0\n    i = 0\n    while i < n:\n        t += i * i\n        i += 1\n    return t\n",
	"random":     "def run(n, a, b):\n    x = 1\n    for _ in range(n):\n        x = (x * 1103515245 + 12345) % 2147483648\n    return x\n",
	"parameters": "def run(n, a, b):\n    t = 0\n    for i in range(n):\n        t = (a * b + a) % 1000003\n    return t\n",
	"fibonacci":  "def run(n, a, b):\n    x, y = 0, 1\n    for i in range(min(n, 1000)):\n        x, y = y, (x + y) % 1000003\n    return x\n",
	"recursion":  "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\ndef run(n, a, b):\n    return fib(15)\n",
	"floats":     "def run(n, a, b):\n    t = 0.0\n    for i in range(n):\n        t += i / 3 * 0.5\n    return t\n",
	"shifts":     "def run(n, a, b):\n    t = 0\n    for i in range(n):\n        t ^= (i << 3) & 1023\n    return t\n",
	"counts":     "def run(n, a, b):\n    d = {\"k\": 0}\n    for i in range(n):\n        d[\"k\"] += 1\n    return d[\"k\"]\n",
	"nodes":      "def run(n, a, b):\n    t = 0\n    for i in range(n):\n        node * node\n        node + node\n    return t\n",
}

// compiled loads a loop, with or without guards.
func compiled(t testing.TB, src string, guarded bool) starlark.Value {
	t.Helper()
	tree, err := options.Parse("x.star", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	env := starlark.StringDict{}
	if guarded {
		env = bounds.Guards(64 << 20)
		defer bounds.Rewrite(tree, starlark.Universe.Has)()
	}
	env["node"] = operator{}
	prog, err := starlark.FileProgram(tree, env.Has)
	if err != nil {
		t.Fatal(err)
	}
	globals, err := prog.Init(&starlark.Thread{}, env)
	if err != nil {
		t.Fatal(err)
	}
	return globals["run"]
}

func runLoop(t testing.TB, run starlark.Value) (steps uint64) {
	thread := &starlark.Thread{}
	if _, err := starlark.Call(thread, run, starlark.Tuple{starlark.MakeInt(5000), starlark.MakeInt(3), starlark.MakeInt(4)}, nil); err != nil {
		t.Fatal(err)
	}
	return thread.Steps
}

// TestNumbersPayNothing: for code that computes with numbers, guards add at most 5 % more instructions and no
// allocations.
func TestNumbersPayNothing(t *testing.T) {
	for name, src := range loops {
		t.Run(name, func(t *testing.T) {
			plain, guarded := compiled(t, src, false), compiled(t, src, true)
			without, with := runLoop(t, plain), runLoop(t, guarded)
			if most := 1.05; name != "nodes" && name != "recursion" && float64(with) > most*float64(without) {
				t.Errorf("%d steps with guards, %d without", with, without)
			}
			before := testenv.LeastAllocs(3, func() { runLoop(t, plain) })
			if after := testenv.LeastAllocs(3, func() { runLoop(t, guarded) }); after > before+1 {
				t.Errorf("%.0f allocations with guards, %.0f without", after, before)
			}
		})
	}
}

// BenchmarkLoops measures the cost of guards.
func BenchmarkLoops(b *testing.B) {
	for name, src := range loops {
		for _, kind := range []string{"plain", "guarded"} {
			run := compiled(b, src, kind == "guarded")
			b.Run(name+"/"+kind, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					runLoop(b, run)
				}
			})
		}
	}
}

// operator defines operators, as a node does.
type operator struct{ starlark.NoneType }

func (operator) Binary(syntax.Token, starlark.Value, starlark.Side) (starlark.Value, error) {
	return starlark.None, nil
}
