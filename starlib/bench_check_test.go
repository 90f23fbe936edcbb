package starlib_test

import (
	"fmt"
	"testing"

	"github.com/agentscript/agentscript/engine"
)

// wide is a graph of n nodes, each with a guarded edge to the next one and one to a node further on.
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

// BenchmarkCheckGraph is the cost of building and checking a graph of 10,000 nodes.
func BenchmarkCheckGraph(b *testing.B) {
	src := wide(10_000)
	for b.Loop() {
		if _, found := load(src); found != nil {
			b.Fatal(found)
		}
	}
}

// TestCheckIsLinear gates what checking allocates by the size of a graph, which does not depend on
// the machine as time does.
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

// BenchmarkParallelCall is the cost of one call of parallel, per branch.
func BenchmarkParallelCall(b *testing.B) {
	const n = 1000
	m := sound(b, "def main(n = 1000):\n    return len(parallel(lambda i: i, range(n)))\n")
	b.ReportAllocs()
	for b.Loop() {
		run := spec(b, m, value(b, `{}`))
		if _, err := engine.Exec(engine.NewGoSched(b.Context()), &run); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/branch")
}
