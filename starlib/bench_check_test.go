package starlib_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
)

// wide returns a graph of n nodes, each with a guarded edge to the next one and one to a later node.
func wide(n int) string {
	return fmt.Sprintf(`
def step():
    return fn(lambda x: x, input = int, output = int)
nodes = [step() for _ in range(%d)]
edges = []
for i in range(len(nodes) - 1):
    edges.append(edge(nodes[i], nodes[min(i + 7, len(nodes) - 1)], when = gt(i)))
    edges.append(edge(nodes[i], nodes[i + 1]))
main = graph(nodes[0], edges + [edge(nodes[-1], FINISH)])
`, n)
}

// BenchmarkCheckGraph measures building and checking a graph of 10,000 nodes.
func BenchmarkCheckGraph(b *testing.B) {
	src := wide(10_000)
	for b.Loop() {
		if _, found := load(src); found != nil {
			b.Fatal(found)
		}
	}
}

// TestCheckIsLinear bounds the allocations of checking by the size of the graph. Unlike time, they do not depend on the
// machine.
func TestCheckIsLinear(t *testing.T) {
	cost := func(src string) float64 {
		return testing.AllocsPerRun(1, func() { sound(t, src) })
	}
	if few, many := cost(wide(500)), cost(wide(5000)); many > 12*few {
		t.Errorf("%.0f allocations for a graph of 500 nodes, %.0f for one of 5,000", few, many)
	}
	if few, many := cost(chain(500)), cost(chain(5000)); many > 12*few {
		t.Errorf("%.0f allocations for a chain of 500 nodes, %.0f for one of 5,000", few, many)
	}
}

// BenchmarkParallelCall measures one call of parallel, per branch.
func BenchmarkParallelCall(b *testing.B) {
	const n = 1000
	m := sound(b, "def main(n = 1000):\n    return len(parallel(lambda i: i, range(n)))\n")
	b.ReportAllocs()
	for b.Loop() {
		r := spec(b, m, value(b, `{}`))
		if _, err := run.Exec(sched.NewGoSched(b.Context()), &r); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/branch")
}

// TestCallLintIsLinear checks that the calls in functions are checked in time that grows linearly with the script, even
// if names depend on each other.
func TestCallLintIsLinear(t *testing.T) {
	node := "n = agent(run = lambda s: s)\nmain = n\n"
	for name, script := range map[string]func(n int) string{
		"names made of names": func(n int) string {
			var b strings.Builder
			b.WriteString(node + "def f(x0):\n")
			for i := range n {
				fmt.Fprintf(&b, "    x%d = x%d + x%d\n", i+1, i, i)
			}
			return b.String() + fmt.Sprintf("    return n(x%d)\n", n)
		},
		"calls": func(n int) string {
			return node + "def f(x):\n" + strings.Repeat("    parallel([(n, x), (n, \"a\")])\n    x = n(n(x))\n", n)
		},
		"functions": func(n int) string { return node + numbered(n, "def f#(x):\n    y = n(x)\n    return y.upper()\n") },
		"a long sum": func(n int) string {
			return node + "def f(x):\n    return n(x" + strings.Repeat(" + x", n) + ")\n"
		},
		"a chain of fields": func(n int) string { return node + "def f(x):\n    return n(x" + strings.Repeat(".a", n) + ")\n" },
		"one function, many uses": func(n int) string {
			return node + "def g(s):\n    return s.upper()\nall = [fn(g, input = str, output = str) for _ in range(" + fmt.Sprint(n) + ")]\n"
		},
	} {
		t.Run(name, func(t *testing.T) {
			cost := func(n int) float64 { return testing.AllocsPerRun(1, func() { sound(t, script(n)) }) }
			n := 500
			if testing.Short() {
				n = 50
			}
			if few, many := cost(n), cost(10*n); many > 12*few {
				t.Errorf("%.0f allocations for %d, %.0f for ten times as many", few, n, many)
			}
		})
	}
}
