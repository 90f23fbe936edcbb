package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/hang"
)

// Promise 9.5 (embedding): one loaded module serves any number of concurrent runs and keeps no state of them.
func TestPromise_9_5_OneModule(t *testing.T) {
	mod := loaded(t, agentscript.New(), `
Note = schema("A note", text = str, at = int)
def main(text = str, n = int):
    inner = agent(prompt = "About it.")
    Pair = schema("Two", a = int, b = int)
    p = Pair(a = n, b = n)
    notes = [Note(text = inner(text + str(i)), at = i) for i in range(n)]
    return [x.text for x in notes] + [str(p.a + p.b)]
`)
	run := func(text string, n int) error {
		res, err := mod.Start(t.Context(), agentscript.Args(map[string]any{"text": text, "n": n}), agentscript.HandlerForAll(replies(nil))).Wait()
		if err != nil {
			return err
		}
		var want []string
		for i := range n {
			want = append(want, fmt.Sprintf("inner(%s%d)", text, i))
		}
		if got := res.JSON(); got != encoded(t, append(want, fmt.Sprint(2*n))) {
			return fmt.Errorf("got %s", got)
		}
		return nil
	}
	nodes, names, hash := len(mod.Nodes()), fmt.Sprint(mod.Names()), mod.Hash()
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			if err := run(fmt.Sprint("x", i, "."), i%7); err != nil {
				t.Errorf("run %d: %v", i, err)
			}
		})
	}
	all.Wait()
	if len(mod.Nodes()) != nodes || fmt.Sprint(mod.Names()) != names || mod.Hash() != hash {
		t.Errorf("after the runs the module has %d nodes, the names %s, the hash %s", len(mod.Nodes()), mod.Names(), mod.Hash())
	}
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, goroutines := heap(), runtime.NumGoroutine()
	const runs = 1000
	for i := range runs {
		if err := run("y", i%3); err != nil {
			t.Fatal(err)
		}
	}
	if kept := (heap() - before) / runs; kept > 100 {
		t.Errorf("a run leaves %d bytes behind", kept)
	}
	hang.Until(t, "the goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines })
}

// Promise 9.7 (embedding): each run has its own limits.
func TestPromise_9_7_TenantLimits(t *testing.T) {
	eng := agentscript.New(agentscript.WithModels(replies(nil)), agentscript.WithDefaultModel("acme/x"), agentscript.WithLimits(engine.Limits{ModelCalls: engine.AtMost(5)}))
	mod := loaded(t, eng, `
a = agent(prompt = "A.")
def main(calls = int, work = 0):
    for i in range(work):
        pass
    return len([a(str(i)) for i in range(calls)])
`)
	for _, c := range []struct {
		name        string
		calls, work int
		limits      *engine.Limits
		fails       string
	}{
		{"the engine's", 5, 0, nil, ""},
		{"the engine's, exceeded", 6, 0, nil, "limit of 5 model calls"},
		{"its own instead", 6, 0, &engine.Limits{ModelCalls: engine.AtMost(6)}, ""},
		{"its own, exceeded", 3, 0, &engine.Limits{ModelCalls: engine.AtMost(2)}, "limit of 2 model calls"},
		{"none", 50, 0, &engine.Limits{}, ""},
		{"nothing at all", 1, 0, &engine.Limits{ModelCalls: engine.AtMost(0)}, "limit of 0 model calls"},
		{"steps", 0, 30_000, &engine.Limits{Steps: engine.AtMost(10_000)}, "limit of 10000 script steps"},
		{"steps enough", 0, 30_000, &engine.Limits{Steps: engine.AtMost(100_000_000)}, ""},
		{"tokens", 3, 0, &engine.Limits{Tokens: engine.AtMost(15)}, "10 of its 15 tokens are used"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // the use of one tenant does not count for another
			for range 20 {
				opts := []agentscript.RunOption{agentscript.Args(map[string]any{"calls": c.calls, "work": c.work})}
				if c.limits != nil {
					opts = append(opts, agentscript.RunLimits(*c.limits))
				}
				res, err := mod.Start(t.Context(), opts...).Wait()
				if c.fails == "" && (err != nil || res.Text() != fmt.Sprint(c.calls)) || c.fails != "" && (!errors.Is(err, engine.ErrBudget) || !strings.Contains(err.Error(), c.fails)) {
					t.Fatalf("%s, %v, want %q", res.Text(), err, c.fails)
				}
			}
		})
	}
}

// Promise 9.8 (embedding): events can be read while the run is in progress, and written to `log/slog`.
func TestPromise_9_8_EventStream(t *testing.T) {
	mod := loaded(t, agentscript.New(), "a = agent(prompt = \"A.\")\nmain = fn(lambda s: s, input = str, output = str) >> a")
	release := make(chan struct{})
	held := answering(func(context.Context, string, *model.Request) engine.Outcome {
		<-release
		return said("late")
	})
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	run := mod.Start(t.Context(), input("x"), agentscript.ID("r1"), agentscript.HandlerForAll(held), agentscript.Watch(engine.EventEffect),
		agentscript.OnEvent(engine.EventNode, func(e engine.Event) {
			log.Info(e.Kind.String(), "phase", e.Phase(), "path", e.Path, "run", e.Run)
		}),
		agentscript.OnEvent(engine.EventRun, func(e engine.Event) { log.Warn("run", "phase", string(e.Phase())) }))
	var phases []engine.Phase
	for e := range run.Events() {
		if phases = append(phases, e.Phase()); len(phases) == 1 {
			select {
			case <-run.Done():
				t.Error("the run has ended before its model answered")
			default:
			}
			close(release) // the run may continue only now that the event was read
		}
	}
	if res, err := run.Wait(); err != nil || res.Text() != "late" || fmt.Sprint(phases) != "[start end]" {
		t.Errorf("%s, %v, phases %v", res.Text(), err, phases)
	}
	want := `level=WARN msg=run phase=start
level=INFO msg=node phase=start path=main/then:main#0 run=r1
level=INFO msg=node phase=start path=main/then:main#0/fn0 run=r1
level=INFO msg=node phase=end path=main/then:main#0/fn0 run=r1
level=INFO msg=node phase=start path=main/then:main#0/agent:a#0 run=r1
level=INFO msg=node phase=end path=main/then:main#0/agent:a#0 run=r1
level=INFO msg=node phase=end path=main/then:main#0 run=r1
level=WARN msg=run phase=end
`
	if out.String() != want {
		t.Errorf("logged\n%s\nwant\n%s", out.String(), want)
	}
	t.Run("an event as one value", func(t *testing.T) {
		var out bytes.Buffer
		log := slog.New(slog.NewJSONHandler(&out, nil))
		if _, err := mod.Start(t.Context(), input("x"), agentscript.HandlerForAll(replies(nil)), agentscript.OnEvent(engine.EventEffect, func(e engine.Event) { log.Info("event", "event", e) })).Wait(); err != nil {
			t.Fatal(err)
		}
		for _, w := range []string{`"kind":"effect"`, `"phase":"end"`, `"path":"main/then:main#0/agent:a#0/llm0"`, `"usage":{"in":7,"out":3}`} {
			if !strings.Contains(out.String(), w) {
				t.Errorf("this lacks %s:\n%s", w, out.String())
			}
		}
	})
}

// Promise 9.10 (embedding): any node of a module can be run by itself; for one run, a host can set the model of all
// agents that name none, or of one that does.
func TestPromise_9_10_AnyNode(t *testing.T) {
	models := llm.New(variables(), llm.WithProvider("zoo", func(name string) (llms.Model, llm.Caps, error) { return ownModel{name: name}, llm.Caps{}, nil }))
	mod := loaded(t, agentscript.New(agentscript.WithModels(models), agentscript.WithDefaultModel("zoo/default")), `
Size = schema("A size", n = int)
named = agent(model = "zoo/named", prompt = "N.")
other = agent(prompt = "O.")
grow = fn(lambda s: Size(n = s.n + 1), input = Size, output = Size)
both = named / other
`)
	said := func(node string, in any, opts ...agentscript.RunOption) string {
		t.Helper()
		n := mod.Node(node)
		if n == nil {
			t.Fatalf("there is no node %s", node)
		}
		res, err := mod.StartNode(t.Context(), n, append(opts, input(in))...).Wait()
		if err != nil {
			return err.Error()
		}
		return res.JSON()
	}
	const at = ` at 0: system=`
	for _, c := range []struct{ name, got, want string }{
		{"a step", said("grow", map[string]int{"n": 1}), `{"n":2}`},
		{"an agent", said("other", "x"), `"default` + at + `O. human=x"`},
		{"a part of a composition", said("named", "x"), `"named` + at + `N. human=x"`},
		{"the composition", said("both", "x"), `["named` + at + `N. human=x","default` + at + `O. human=x"]`},
		{"another default", said("both", "x", agentscript.Model("zoo/new")), `["named` + at + `N. human=x","new` + at + `O. human=x"]`},
		{"for one agent", said("both", "x", agentscript.ModelFor("named", "zoo/one")), `["one` + at + `N. human=x","default` + at + `O. human=x"]`},
		{"for each", said("both", "x", agentscript.ModelFor("named", "zoo/one"), agentscript.ModelFor("other", "zoo/two"), agentscript.Model("zoo/none")), `["one` + at + `N. human=x","two` + at + `O. human=x"]`},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, c.got, c.want)
		}
	}
	if mod.Node("Size") != nil || mod.Node("nothing") != nil || mod.Type("Size") == nil || mod.Type("both") != nil {
		t.Error("names are mixed up")
	}
	if got := fmt.Sprint(mod.Names()); got != "[Size both grow named other]" {
		t.Errorf("the names are %s", got)
	}
	if _, err := mod.Start(t.Context()).Wait(); !errors.Is(err, engine.ErrInput) || !strings.Contains(err.Error(), "main") {
		t.Errorf("a module without main runs: %v", err)
	}
}
