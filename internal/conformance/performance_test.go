package conformance

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/lenient"
	"github.com/agentscript/agentscript/internal/testenv"
)

// The bounds are on allocations, bytes and visits, never on time, which depends on the machine.

func unraced(t *testing.T) {
	t.Helper()
	if testenv.RaceDetector {
		t.Skip("the race detector allocates")
	}
}

// noop composes Go steps that do nothing.
type noop struct {
	*flow.Session
	line int
}

func (c *noop) site(what string) flow.Site {
	c.line++
	return flow.Site{What: what, Span: diag.Span{Pos: diag.Pos{File: "go", Line: c.line, Col: 1}, Len: 1}}
}

func (c *noop) steps(n int) []*flow.Node {
	same := engine.GoFunc("same", 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) { return args[0], nil })
	nodes := make([]*flow.Node, n)
	for i := range nodes {
		nodes[i] = c.Fn(c.site("fn"), same, generable.IntT, generable.IntT)
	}
	return nodes
}

func (c *noop) chain(n int) *flow.Node { return c.Then(c.site("then"), c.steps(n)...) }

func (c *noop) fan(n int) *flow.Node {
	return c.Par(c.site("par"), flow.ParOptions{}, c.steps(n)...)
}

func (c *noop) loop(turns int) *flow.Node {
	left := 0
	next := engine.GoFunc("next", 1, func(_ engine.Branch, args []generable.Value) (generable.Value, error) {
		if left++; left == turns {
			left = 0
			return generable.Value{}, nil
		}
		return args[0], nil
	})
	return c.Loop(c.site("loop"), c.steps(1)[0], flow.LoopOptions{Next: next, Max: turns + 1})
}

// cost is what a run allocates: the number of allocations, and their bytes.
type cost struct{ allocs, bytes float64 }

// allocated measures a run of a spec.
func allocated(t *testing.T, spec *run.Spec) cost {
	t.Helper()
	run := func() {
		if _, err := run.Exec(sched.NewGoSched(context.Background()), spec); err != nil {
			t.Fatal(err)
		}
	}
	return measured(run)
}

func measured(run func()) cost {
	const runs = 10
	run() // compiles what is compiled on first use
	var before, after runtime.MemStats
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	runtime.ReadMemStats(&before)
	for range runs {
		run()
	}
	runtime.ReadMemStats(&after)
	return cost{float64(after.Mallocs-before.Mallocs) / runs, float64(after.TotalAlloc-before.TotalAlloc) / runs}
}

// perStep returns the cost of each additional step in the larger flow.
func perStep(t *testing.T, small, large *flow.Node, steps int) cost {
	t.Helper()
	a := allocated(t, &run.Spec{Node: small, Input: generable.IntOf(1)})
	b := allocated(t, &run.Spec{Node: large, Input: generable.IntOf(1)})
	return cost{(b.allocs - a.allocs) / float64(steps), (b.bytes - a.bytes) / float64(steps)}
}

// Promise 12.1 (performance): a step that does nothing costs at most 3 allocations if nobody listens for events.
func TestPromise_12_1_NodeAllocations(t *testing.T) {
	unraced(t)
	c := &noop{Session: flow.NewSession()}
	for name, flow := range map[string]func(int) *flow.Node{"in a chain": c.chain, "in a loop": c.loop} {
		for _, n := range []int{100, 900} {
			got := perStep(t, flow(1), flow(1+n), n)
			if got.allocs > 3.005 { // the runtime may allocate once during a run
				t.Errorf("%s of %d: %.2f allocations", name, n, got.allocs)
			}
			t.Logf("%s of %d: %.2f allocations, %.0f bytes", name, n, got.allocs, got.bytes)
		}
	}
}

// Promise 12.2 (performance): a step with a Starlark body costs at most 8 allocations.
func TestPromise_12_2_StarlarkAllocations(t *testing.T) {
	unraced(t)
	for name, step := range map[string]string{
		"on numbers": `fn(lambda n: n + 1, input = int, output = int)`,
		"on texts":   `fn(lambda s: s, input = str, output = str)`,
		"on records": `fn(lambda p: p, input = Point, output = Point)`,
		"an agent":   `agent(input = int, output = int, run = body)`,
	} {
		const n = 100
		chain := func(n int) *flow.Node {
			mod := loaded(t, agentscript.New(), fmt.Sprintf(`
Point = schema("A point", x = int, y = int)
def body(n):
    m = n + 1
    if m > 10:
        return m
    return n
def step(i):
    return %s
main = then([step(i) for i in range(%d)])
`, strings.Replace(step, "agent(", `agent(name = "a%d" % i, `, 1), n))
			return mod.Node("main")
		}
		in := map[string]generable.Value{"on texts": generable.StrOf("a text of some length")}[name]
		switch name {
		case "on numbers", "an agent":
			in = generable.IntOf(7)
		case "on records":
			m := generable.NewMap(2)
			m.Set("x", generable.IntOf(1))
			m.Set("y", generable.IntOf(2))
			in = m.Value()
		}
		a := allocated(t, &run.Spec{Node: chain(1), Input: in})
		b := allocated(t, &run.Spec{Node: chain(1 + n), Input: in})
		got := (b.allocs - a.allocs) / n
		if got > 8 {
			t.Errorf("%s: %.2f allocations", name, got)
		}
		t.Logf("%s: %.2f allocations, %.0f bytes", name, got, (b.bytes-a.bytes)/n)
	}
}

// Promise 12.3 (performance): a fan-out costs the same per branch from 100 to 10,000 branches.
func TestPromise_12_3_LinearFanOut(t *testing.T) {
	unraced(t)
	c := &noop{Session: flow.NewSession()}
	each := c.Each(c.site("each"), flow.EachOptions{}, c.steps(1)[0])
	ones := make([]generable.Value, 10_000)
	for i := range ones {
		ones[i] = generable.IntOf(1)
	}
	for name, branches := range map[string]func(n int) cost{
		"par": func(n int) cost { return allocated(t, &run.Spec{Node: c.fan(n), Input: generable.IntOf(1)}) },
		"each": func(n int) cost {
			return allocated(t, &run.Spec{Node: each, Input: generable.NewList(ones[:n]).Value()})
		},
	} {
		var first cost
		for _, n := range []int{100, 1000, 10_000} {
			all := branches(n)
			got := cost{all.allocs / float64(n), all.bytes / float64(n)}
			t.Logf("%s of %d: %.2f allocations and %.0f bytes a branch", name, n, got.allocs, got.bytes)
			if n == 100 {
				first = got
			} else if got.allocs > first.allocs*1.1 || got.bytes > first.bytes*1.25 {
				t.Errorf("%s of %d: %.2f allocations and %.0f bytes a branch, of 100: %.2f and %.0f", name, n, got.allocs, got.bytes, first.allocs, first.bytes)
			}
			if got.allocs > 6 {
				t.Errorf("%s of %d: %.2f allocations a branch", name, n, got.allocs)
			}
		}
	}
}

// Promise 12.4 (performance): a run that waits for a model holds one goroutine, at most 4 KiB of heap and 8 KiB of
// stack, and no socket; if a function of the script waits, it holds twice the stack.
func TestPromise_12_4_ParkedRun(t *testing.T) {
	unraced(t)
	for _, w := range waits {
		stack := 8.0
		if !w.input {
			stack *= 2 // the interpreter is on it too
		}
		within(t, w.name, 4, stack, func() footprint { return parkedFlow(t, 2000, w.src, w.input) })
	}
}

// Promise 12.5 (performance): decoding visits each byte a bounded number of times.
func TestPromise_12_5_LinearDecoding(t *testing.T) {
	rows, errs := generable.NewSchema("Row", "", []generable.Field{{Name: "id", Type: generable.IntT}, {Name: "text", Type: generable.StrT}})
	if errs != nil {
		t.Fatal(errs)
	}
	typ := generable.ListOfType(rows)
	sizes := []int{1 << 10, 1 << 13, 1 << 16, 1 << 19}
	if testing.Short() {
		sizes = sizes[:3]
	}
	for name, make := range map[string]func(n int) string{
		"clean": func(n int) string {
			return "[" + strings.Repeat(`{"id": 1, "text": "a text"}, `, n/29) + `{"id": 2, "text": ""}]`
		},
		"trailing commas": func(n int) string { return "[" + strings.Repeat(`{"id": 1, "text": "a text",}, `, n/30) + "]" },
		"prose between":   func(n int) string { return strings.Repeat(`and then {"id": 1, "text": "x"} `, n/32) },
		"open brackets":   func(n int) string { return strings.Repeat("[", n) },
		"open objects":    func(n int) string { return strings.Repeat(`{"a":`, n/5) },
		"open strings":    func(n int) string { return strings.Repeat(`["`, n/2) },
		"quotes":          func(n int) string { return `{"a":` + strings.Repeat(`"`, n) },
		"fences":          func(n int) string { return strings.Repeat("```json\n[1\n```\n", n/14) },
		"open fences":     func(n int) string { return strings.Repeat("```json\n{\"a\": \"x\n", n/17) },
		"backslashes":     func(n int) string { return `["` + strings.Repeat(`\`, n) },
		"digits":          func(n int) string { return strings.Repeat("1", n) },
		"reasoning":       func(n int) string { return strings.Repeat("<think>[1]", n/10) },
	} {
		for _, of := range []*generable.Type{nil, typ} {
			for _, level := range []generable.Level{generable.Strict, generable.Safe, generable.Loose} {
				most := 0
				for _, n := range sizes {
					text := make(n)
					r := lenient.Decode(of, text, generable.Options{Level: level})
					if most = max(most, r.Visits-4*len(text)); r.Visits < len(text)/2 {
						t.Errorf("%s at level %d: %d bytes, and only %d visits are counted", name, level, len(text), r.Visits)
					}
				}
				if most > 512 {
					t.Errorf("%s at level %d: more than four visits a byte, by %d", name, level, most)
				}
			}
		}
	}
}

// Promise 12.6 (performance): ids and events cost nothing if nobody reads them.
func TestPromise_12_6_NobodyListens(t *testing.T) {
	unraced(t)
	c := &noop{Session: flow.NewSession()}
	flow := c.chain(100)
	spec := func(l engine.Listener) *run.Spec {
		return &run.Spec{Node: flow, Input: generable.IntOf(1), Listener: l}
	}
	alone := allocated(t, spec(engine.Listener{}))
	other := allocated(t, spec(engine.Listener{Kinds: engine.EventLog | engine.EventToken, Emit: func(engine.Event) {}}))
	heard := allocated(t, spec(engine.Listener{Kinds: engine.EventNode, Emit: func(engine.Event) {}}))
	if other.allocs > alone.allocs+1 {
		t.Errorf("a listener to other kinds costs %.0f allocations, without one it is %.0f", other.allocs, alone.allocs)
	}
	if heard.allocs < alone.allocs+200 {
		t.Errorf("a hundred steps that somebody listens to cost %.0f allocations, unheard %.0f: this test cannot tell", heard.allocs, alone.allocs)
	}
	// An id hashes the request, so a prompt of a megabyte shows who requested the id: here two model calls, with one
	// tool call between them.
	prompt := strings.Repeat("Be brief. ", 100_000)
	call := func(l engine.Listener, j engine.Journal) float64 {
		t.Helper()
		ping := &agent.Tool{Name: "ping", Doc: "Pings.", Run: engine.GoFunc("ping", 1, func(engine.Branch, []generable.Value) (generable.Value, error) { return generable.StrOf("pong"), nil })}
		asked := c.Agent(c.site("agent"), &agent.Spec{Name: "a", Prompt: prompt, Tools: []*agent.Tool{ping}}) // one that was never called
		caller := answering(func(_ context.Context, _ string, r *model.Request) engine.Outcome {
			if len(r.Messages) == 1 {
				return calling("ping", "{}")
			}
			return said("done")
		})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: asked, Input: generable.StrOf("x"), Handler: caller, Listener: l, Journal: j})
		runtime.ReadMemStats(&after)
		if err != nil {
			t.Fatal(err)
		}
		return float64(after.TotalAlloc - before.TotalAlloc)
	}
	if got := call(engine.Listener{}, nil); got > 200_000 {
		t.Errorf("calls that nobody watches allocate %.0f bytes", got)
	}
	if got := call(engine.Listener{Kinds: engine.EventNode | engine.EventRun | engine.EventTool, Emit: func(engine.Event) {}}, nil); got > 200_000 {
		t.Errorf("calls whose effects nobody watches allocate %.0f bytes", got)
	}
	if got := call(engine.Listener{}, &store.Memory{}); got < 900_000 {
		t.Errorf("calls that are remembered allocate %.0f bytes: this test cannot tell", got)
	}
}
