package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tmc/langchaingo/llms"
	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib"
)

// Promise 9.5 (embedding): one loaded module serves any number of concurrent runs and keeps nothing
// of them.
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
		res, err := mod.Start(t.Context(), agentscript.Args(map[string]any{"text": text, "n": n}), agentscript.Handler(replies(nil))).Wait()
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
	waitFor(t, func() bool { return runtime.NumGoroutine() <= goroutines })
}

// Promise 9.6 (embedding): a cancelled context ends the run and its requests.
func TestPromise_9_6_Cancel(t *testing.T) {
	var inside atomic.Int64
	entered := make(chan struct{}, 100)
	blocked := func(ctx context.Context) error {
		inside.Add(1)
		defer inside.Add(-1)
		entered <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}
	tool := *stock(new(atomic.Int64))
	tool.Do = func(ctx context.Context, _ engine.ToolCallInfo, _ generable.Value) (generable.Value, error) {
		return generable.Value{}, blocked(ctx)
	}
	stuck := model(func(ctx context.Context, agent string, _ *engine.Request) engine.Outcome {
		if agent == "caller" {
			return calling("stock", `{"what": "x"}`)
		}
		return engine.Failed(engine.Errorf(engine.KindNetwork, "AS710", "the connection failed: %w", blocked(ctx)))
	})
	handler := agentscript.Handler(engine.Handlers{engine.EffectModel: stuck, engine.EffectTool: engine.HostTools{"stock": &tool}})
	eng := agentscript.New(agentscript.WithTool(tool), builtin("begin", func(*starlib.Call) (starlark.Value, error) {
		entered <- struct{}{}
		return starlark.None, nil
	}))
	for _, c := range []struct {
		name, src string
		in        []agentscript.RunOption
		enters    int
	}{
		{"a model", `main = agent(prompt = "A.")`, []agentscript.RunOption{input("x")}, 1},
		{"many models", `main = each(agent(prompt = "A."), limit = 30)`, []agentscript.RunOption{input(make([]string, 30))}, 30},
		{"a model called from main", "a = agent(prompt = \"A.\")\ndef main():\n    return a(\"x\")", nil, 1},
		{"a tool", `main = agent(name = "caller", prompt = "A.", tools = [stock])`, []agentscript.RunOption{input("x")}, 1},
		{"an agent with a time of its own", `main = agent(prompt = "A.", budget = budget(wall = "1h"))`, []agentscript.RunOption{input("x")}, 1},
		{"a script that computes", "def main():\n    begin(1)\n    while True:\n        pass", nil, 1},
		{"a loop of small steps", "main = loop(fn(lambda n: begin(n) or n if n == 0 else n, input = int, output = int), lambda n: n + 1, max = 1 << 40)", []agentscript.RunOption{input(0)}, 1},
	} {
		for how, wall := range map[string]time.Duration{"by the context": 0, "by the run": 0, "by a deadline": 20 * time.Millisecond, "with a wall time": time.Hour} {
			t.Run(c.name+" "+how, func(t *testing.T) {
				mod := loaded(t, eng, c.src)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				opts := append(c.in[:len(c.in):len(c.in)], handler)
				want := error(engine.ErrCancelled)
				switch how {
				case "by a deadline":
					ctx, cancel = context.WithTimeout(t.Context(), wall)
					defer cancel()
					want = engine.ErrTimeout
				case "with a wall time":
					opts = append(opts, agentscript.Limits(engine.Limits{Wall: wall}))
				}
				run := mod.Start(ctx, opts...)
				for range c.enters {
					select {
					case <-entered:
					case <-run.Done(): // a deadline may come first
					}
				}
				switch how {
				case "by the run":
					run.Cancel()
				case "by the context", "with a wall time":
					cancel()
				}
				select {
				case <-run.Done():
				case <-time.After(20 * time.Second):
					t.Fatal("the run goes on")
				}
				_, err := run.Wait()
				if !errors.Is(err, want) {
					t.Errorf("the error is %v", err)
				}
				var e *engine.Error
				if !errors.As(err, &e) || e.Path == "" {
					t.Errorf("the error is at %+v", e)
				}
				if n := inside.Load(); n != 0 {
					t.Errorf("%d calls go on", n)
				}
				for len(entered) > 0 {
					<-entered
				}
			})
		}
	}
	t.Run("before it begins", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := loaded(t, agentscript.New(), `main = agent(prompt = "A.")`).Start(ctx, input("x"), agentscript.Handler(model(func(context.Context, string, *engine.Request) engine.Outcome {
			t.Error("the model is asked")
			return said("")
		}))).Wait()
		if !errors.Is(err, engine.ErrCancelled) || !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("after it has ended, and twice", func(t *testing.T) {
		run := loaded(t, agentscript.New(), `main = fn(lambda s: s)`).Start(t.Context(), input("x"))
		<-run.Done()
		run.Cancel()
		run.Cancel()
		if res, err := run.Wait(); err != nil || res.Text() != "x" {
			t.Errorf("%s, %v", res.Text(), err)
		}
	})
	t.Run("with a cause of the host's", func(t *testing.T) {
		why := errors.New("the tenant left")
		ctx, cancel := context.WithCancelCause(t.Context())
		run := loaded(t, agentscript.New(), `main = agent(prompt = "A.")`).Start(ctx, input("x"), handler)
		<-entered
		cancel(why)
		if _, err := run.Wait(); !errors.Is(err, engine.ErrCancelled) || !errors.Is(err, why) {
			t.Errorf("the error is %v", err)
		}
	})
}

// Promise 9.7 (embedding): each run has limits of its own.
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
		{"steps", 0, 300_000, &engine.Limits{Steps: engine.AtMost(100_000)}, "limit of 100000 script steps"},
		{"steps enough", 0, 300_000, &engine.Limits{Steps: engine.AtMost(100_000_000)}, ""},
		{"tokens", 3, 0, &engine.Limits{Tokens: engine.AtMost(15)}, "limit of 15 tokens"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // one tenant's use does not count for another
			for range 20 {
				opts := []agentscript.RunOption{agentscript.Args(map[string]any{"calls": c.calls, "work": c.work})}
				if c.limits != nil {
					opts = append(opts, agentscript.Limits(*c.limits))
				}
				res, err := mod.Start(t.Context(), opts...).Wait()
				if c.fails == "" && (err != nil || res.Text() != fmt.Sprint(c.calls)) || c.fails != "" && (!errors.Is(err, engine.ErrBudget) || !strings.Contains(err.Error(), c.fails)) {
					t.Fatalf("%s, %v, want %q", res.Text(), err, c.fails)
				}
			}
		})
	}
}

// Promise 9.8 (embedding): events can be read while the run goes on, and written to `log/slog`.
func TestPromise_9_8_EventStream(t *testing.T) {
	mod := loaded(t, agentscript.New(), "a = agent(prompt = \"A.\")\nmain = fn(lambda s: s, input = str, output = str) >> a")
	release := make(chan struct{})
	held := model(func(context.Context, string, *engine.Request) engine.Outcome {
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
	run := mod.Start(t.Context(), input("x"), agentscript.ID("r1"), agentscript.Handler(held), agentscript.Watch(engine.EventEffect),
		agentscript.OnEvent(engine.EventNode, func(e engine.Event) {
			log.Info(e.Kind.String(), "phase", e.Phase, "path", e.Path, "run", e.Run)
		}),
		agentscript.OnEvent(engine.EventRun, func(e engine.Event) { log.Warn("run", "phase", string(e.Phase)) }))
	var phases []engine.Phase
	for e := range run.Events() {
		if phases = append(phases, e.Phase); len(phases) == 1 {
			select {
			case <-run.Done():
				t.Error("the run has ended before its model answered")
			default:
			}
			close(release) // only now that the event was read may the run go on
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
		if _, err := mod.Start(t.Context(), input("x"), agentscript.Handler(replies(nil)), agentscript.OnEvent(engine.EventEffect, func(e engine.Event) { log.Info("event", "event", e) })).Wait(); err != nil {
			t.Fatal(err)
		}
		for _, w := range []string{`"kind":"effect"`, `"phase":"end"`, `"path":"main/then:main#0/agent:a#0/llm0"`, `"usage":{"in":7,"out":3}`} {
			if !strings.Contains(out.String(), w) {
				t.Errorf("this lacks %s:\n%s", w, out.String())
			}
		}
	})
}

// Promise 9.9 (embedding): every example of the embedding page compiles and runs.
func TestPromise_9_9_Page(t *testing.T) {
	page, err := os.ReadFile(repository("docs/embedding.md"))
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, repository("example_test.go"), nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(repository("example_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	examples := doc.Examples(file)
	for _, ex := range examples {
		if ex.Output == "" && !ex.EmptyOutput {
			t.Errorf("Example%s is compiled and not run: it has no output", ex.Name)
		}
	}
	text := func(n ast.Node) string {
		return string(source[fset.Position(n.Pos()).Offset:fset.Position(n.End()).Offset])
	}
	for _, topic := range []string{"Scripts inside the binary", "Typed input and output", "Cancelling", "Limits per tenant", "Events to log/slog", "A tool written in Go", "A model of your own"} {
		_, section, found := strings.Cut(string(page), "\n## "+topic+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		_, snippet, shown := strings.Cut(section, "```go\n")
		snippet, _, _ = strings.Cut(snippet, "```")
		if !found || !shown {
			t.Errorf("the page has no example of %q", topic)
			continue
		}
		runs := false
		for _, ex := range examples {
			runs = runs || strings.Contains(unindented(text(ex.Code)), unindented(snippet))
		}
		if !runs {
			t.Errorf("%s: no example holds this:\n%s", topic, snippet)
		}
	}
	// What the page names exists.
	exported := map[string]map[string]bool{"agentscript": exports(t, ""), "engine": exports(t, "engine"), "llm": exports(t, "engine/llm"), "journal": exports(t, "engine/journal")}
	exported["mod"], exported["run"], exported["eng"] = exported["agentscript"], exported["agentscript"], exported["agentscript"]
	for _, m := range regexp.MustCompile(`\b(agentscript|engine|llm|journal|mod|run|eng)\.([A-Z]\w*)`).FindAllStringSubmatch(string(page), -1) {
		if !exported[m[1]][m[2]] {
			t.Errorf("the page names %s, which does not exist", m[0])
		}
	}
	cmd := exec.Command("go", "test", "-run", "^Example", ".")
	cmd.Dir = repository("")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the examples fail: %v\n%s", err, out)
	}
}

// unindented gives a text's words, each after one blank.
func unindented(s string) string { return strings.Join(strings.Fields(s), " ") }

// exports are the exported names of a package, methods and fields among them.
func exports(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(repository(dir + "/*.go"))
	if err != nil || len(files) == 0 {
		t.Fatal("no package in", dir, err)
	}
	names := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				names[n.Name.Name] = true
				return false
			case *ast.TypeSpec:
				names[n.Name.Name] = true
			case *ast.ValueSpec:
				for _, id := range n.Names {
					names[id.Name] = true
				}
			}
			return true
		})
	}
	return names
}

// Promise 9.10 (embedding): any node of a module can be run by itself, and for one run a host sets
// the model of all agents that name none, or of one that does.
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
