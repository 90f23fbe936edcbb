package interp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/internal/enginetest"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
)

// The path of an event is that of its position, even if it is derived from the previous event's.
func TestPathsOfEvents(t *testing.T) {
	for seed := range uint64(60) {
		g := newGenerator(seed, seed%2 == 1)
		c := enginetest.Compose()
		main := g.expr(4).build(c)
		c.Sound(t)
		open := map[string]int{}
		_, err := run.Exec(sched.NewCoopSched(seed), &run.Spec{Node: main, Input: generable.IntOf(5), Handler: arithmetic, Model: "test/model",
			Listener: engine.Listener{Kinds: engine.EventNode, Emit: func(e engine.Event) {
				up := e.Path[:strings.LastIndexByte(e.Path, '/')]
				if i := strings.LastIndexByte(up, '['); i > strings.LastIndexByte(up, '/') {
					up = up[:i]
				}
				if e.Phase() == engine.PhaseEnd {
					if open[e.Path]--; open[e.Path] < 0 {
						t.Errorf("seed %d: %s ends and did not begin", seed, e.Path)
					}
				} else if open[e.Path]++; up != "main" && open[up] == 0 && !strings.Contains(up, "/round") {
					t.Errorf("seed %d: %s begins where nothing is", seed, e.Path)
				}
			}}})
		for path, n := range open {
			if n != 0 {
				t.Errorf("seed %d, %v: %s began %d times and did not end", seed, err, path, n)
			}
		}
	}
	want := "main"
	for i := 6; i >= 0; i-- {
		want += []string{"/then:in#0", "/loop0[0]", "/fallback0", "/retry:again#0[0]"}[i%4]
	}
	seen := false
	_, err := run.Exec(sched.NewCoopSched(1), &run.Spec{Node: deep(7), Input: generable.IntOf(1), Listener: engine.Listener{Kinds: engine.EventNode, Emit: func(e engine.Event) {
		seen = seen || e.Path == want+"/fn:inc#0"
	}}})
	if err != nil || !seen {
		t.Errorf("%v: no event at %s", err, want)
	}
}

// Events arrive in the order of their numbers. What begins at a path ends there, after everything inside it has ended.
// The same events arrive on every scheduler.
func TestEventsOfRandomGraphs(t *testing.T) {
	for seed := range uint64(60) {
		g := newGenerator(seed, seed%3 == 0)
		g.told = true
		e := g.expr(4)
		c := enginetest.Compose()
		main := e.build(c)
		c.Sound(t)
		_, wantErr := e.eval(6)
		var first map[string]int
		for i, s := range []engine.Sched{sched.NewCoopSched(seed), sched.NewGoSched(t.Context()), sched.NewCoopSched(seed + 77)} {
			type key struct {
				kind       engine.EventKind
				path, name string
			}
			open, counts := map[key]int{}, map[string]int{}
			var last uint64
			_, err := run.Exec(s, &run.Spec{ID: "r", Node: main, Input: generable.IntOf(6), Handler: arithmetic, Model: "test/model",
				Listener: engine.Listener{Kinds: engine.EventAll, Emit: func(ev engine.Event) {
					if ev.Seq != last+1 || ev.Run != "r" || ev.Path == "" {
						t.Errorf("seed %d: event %+v after %d", seed, ev, last)
					}
					last = ev.Seq
					k := key{ev.Kind, ev.Path, ev.Name()}
					switch ev.Phase() {
					case engine.PhaseStart:
						open[k]++
					case engine.PhaseEnd:
						if open[k]--; open[k] < 0 {
							t.Errorf("seed %d: %v ends before it begins", seed, k)
						}
						if ev.Kind == engine.EventRun && len(open) > 0 {
							for k, n := range open {
								if n != 0 {
									t.Errorf("seed %d: the run ends before %v", seed, k)
								}
							}
						}
					}
					counts[ev.Kind.String()+" "+ev.Path+" "+string(ev.Phase())+" "+ev.ID]++
				}}})
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("seed %d: %v, want %v", seed, err, wantErr)
			}
			if err != nil { // which branches had begun is not determined
				continue
			}
			if i == 0 {
				first = counts
				continue
			}
			if len(counts) != len(first) {
				t.Fatalf("seed %d: %d different events, %d on the first scheduler: %s", seed, len(counts), len(first), e.text)
			}
			for k, n := range first {
				if counts[k] != n {
					t.Fatalf("seed %d: %s came %d times, %d on the first scheduler", seed, k, counts[k], n)
				}
			}
		}
	}
}

// deep returns n nodes inside each other with one step in the middle.
func deep(n int) *flow.Node {
	c := enginetest.Compose()
	main := c.Step("inc", generable.IntT, generable.IntT, enginetest.Add(1))
	for i := range n {
		switch i % 4 {
		case 0:
			main = c.Then(c.Site("then", "in"), main)
		case 1:
			main = c.Loop(c.Site("loop", ""), main, flow.LoopOptions{Max: 1, LastWins: true, Next: engine.GoFunc("same", 1, func(_ engine.Branch, a []generable.Value) (generable.Value, error) { return a[0], nil })})
		case 2:
			main = c.Fallback(c.Site("fallback", ""), flow.FirstOptions{}, main)
		default:
			main = c.Retry(c.Site("retry", "again"), main, flow.RetryOptions{})
		}
	}
	return main
}

// BenchmarkDeepEvents measures the cost of listening to nested nodes, for each of them.
func BenchmarkDeepEvents(b *testing.B) {
	for _, n := range []int{100, 1000, 5000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			spec := &run.Spec{Node: deep(n), Input: generable.IntOf(0), Listener: engine.Listener{Kinds: engine.EventNode, Emit: func(engine.Event) {}}}
			for b.Loop() {
				if _, err := run.Exec(sched.NewCoopSched(1), spec); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/node")
		})
	}
}
