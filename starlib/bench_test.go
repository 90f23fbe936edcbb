package starlib_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/testenv"
)

// chain returns a chain of n Starlark-bodied steps.
func chain(n int) string {
	var b strings.Builder
	b.WriteString("def step():\n    return fn(lambda x: x, input = int, output = int)\n")
	b.WriteString("main = then([step() for _ in range(" + fmt.Sprint(n) + ")])\n")
	return b.String()
}

// BenchmarkStarlarkNode measures a step whose body is a lambda, per step.
func BenchmarkStarlarkNode(b *testing.B) {
	const n = 100
	m := sound(b, chain(n))
	r := &run.Spec{Node: m.Node("main"), Input: generable.IntOf(1)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := run.Exec(sched.NewGoSched(context.Background()), r); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/node")
}

// TestStarlarkNodeAllocations bounds the allocations of a step.
func TestStarlarkNodeAllocations(t *testing.T) {
	const n = 200
	m := sound(t, chain(n))
	r := &run.Spec{Node: m.Node("main"), Input: generable.IntOf(1)}
	allocs := testenv.LeastAllocs(20, func() {
		if _, err := run.Exec(sched.NewGoSched(context.Background()), r); err != nil {
			t.Fatal(err)
		}
	})
	if per := allocs / n; per > 8 {
		t.Errorf("%.1f allocations for a step in Starlark, want at most 8", per)
	}
}

// BenchmarkLoad100Nodes measures building and checking 100 nodes.
func BenchmarkLoad100Nodes(b *testing.B) {
	src := chain(100)
	b.ReportAllocs()
	for b.Loop() {
		if _, found := load(src); found != nil {
			b.Fatal(found)
		}
	}
}

// BenchmarkLoad1000Lines measures checking a long script.
func BenchmarkLoad1000Lines(b *testing.B) {
	var s strings.Builder
	for i := range 100 {
		fmt.Fprintf(&s, `
Draft%[1]d = schema("A draft", code = field(str, "the code"), score = field(int, "0 to 100", ge = 0, le = 100))

def helper%[1]d(x, y = 3):
    total = x
    for i in range(y):
        total += i
    return total

coder%[1]d = agent(output = Draft%[1]d, prompt = "Code.") >> pick("code") >> fn(lambda s: s.upper(), input = str, output = str)
`, i)
	}
	src := s.String()
	b.ReportMetric(float64(strings.Count(src, "\n")), "lines")
	for b.Loop() {
		if _, found := load(src); found != nil {
			b.Fatal(found)
		}
	}
}
