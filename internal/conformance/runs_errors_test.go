package conformance

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/hang"
	"github.com/agentscript/agentscript/starlib"
)

// builtin returns a host's builtin that takes one value.
func builtin(name string, f func(c *starlib.Call) (starlark.Value, error)) agentscript.Option {
	return agentscript.WithStarlark(starlib.Builtin{Name: name, Returns: "any", Effect: starlib.Pure, Doc: "Of the host.",
		Params: []starlib.Param{{Name: "value", Kind: starlib.AnyKind}}, Func: f})
}

// Promise 5.7 (runs): a failing branch cancels its siblings, and the error of the branch with the lowest index is
// reported.
func TestPromise_5_7_SiblingsAreCancelled(t *testing.T) {
	const three = `
def asked(name):
    return agent(name = name, prompt = "A.")
main = asked("a") / asked("b") / asked("c") >> agent(name = "after", input = list[str], prompt = "Never.")
`
	t.Run("calls in flight are ended", func(t *testing.T) {
		together := newMeeting(t, 3)
		var ended atomic.Int64
		var after atomic.Bool
		mod := loaded(t, agentscript.New(), three)
		_, err := mod.Start(t.Context(), input("x"), agentscript.HandlerForAll(answering(func(ctx context.Context, agent string, _ *model.Request) engine.Outcome {
			if agent == "after" {
				after.Store(true)
				return said("no")
			}
			together.arrive(ctx)
			if agent == "b" {
				return engine.Failed(engine.Errorf(engine.KindServer, "AS710", "b is down"))
			}
			select {
			case <-ctx.Done():
				ended.Add(1)
			case <-hang.Context(t).Done():
			}
			return engine.Failed(engine.Errorf(engine.KindNetwork, "AS710", "%s lost its connection", agent))
		}))).Wait()
		var e *engine.Error
		if !errors.As(err, &e) || e.Message != "b is down" || e.Path != "main/then:main#0/par0[1]/agent:b#0" {
			t.Errorf("the error is %v", err)
		}
		if ended.Load() != 2 || after.Load() {
			t.Errorf("%d siblings were ended; what comes after began: %v", ended.Load(), after.Load())
		}
	})
	t.Run("scripts that compute are ended", func(t *testing.T) {
		together := newMeeting(t, 2)
		eng := agentscript.New(builtin("meet", func(c *starlib.Call) (starlark.Value, error) {
			together.arrive(context.Background())
			return starlark.None, nil
		}))
		mod := loaded(t, eng, `
def spin(n):
    meet(n)
    while True:
        pass
def refuse(n):
    meet(n)
    fail("no")
main = fn(spin, input = int, output = int) / fn(refuse, input = int, output = int)
`)
		_, err := mod.Start(t.Context(), input(1)).Wait()
		if err == nil || !strings.HasSuffix(err.Error(), "fn0: no") && !strings.HasSuffix(err.Error(), ": no") || errors.Is(err, engine.ErrCancelled) {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("the lowest index", func(t *testing.T) {
		for range 20 {
			together := newMeeting(t, 4) // all have begun before any of them fails
			eng := agentscript.New(builtin("meet", func(c *starlib.Call) (starlark.Value, error) {
				together.arrive(context.Background())
				return starlark.None, nil
			}))
			mod := loaded(t, eng, `
def refuse(n):
    meet(n)
    if n > 0:
        fail("no", n)
    return n
main = each(fn(refuse, input = int, output = int), limit = 4)
`)
			_, err := mod.Start(t.Context(), input([]int{0, 1, 2, 3})).Wait()
			if err == nil || err.Error() != "main/each:main#0[1]/fn0: no 1" {
				t.Fatalf("the error is %v", err)
			}
		}
	})
	t.Run("branches that had not begun do not begin", func(t *testing.T) {
		var begun atomic.Int64
		mod := loaded(t, agentscript.New(), `main = each(agent(prompt = "A."), limit = 2)`)
		items := make([]string, 500)
		for i := range items {
			items[i] = fmt.Sprint(i)
		}
		_, err := mod.Start(t.Context(), input(items), agentscript.HandlerForAll(answering(func(ctx context.Context, _ string, r *model.Request) engine.Outcome {
			begun.Add(1)
			switch n, _ := strconv.Atoi(r.Messages[0].Parts[0].Text); {
			case n == 3:
				return engine.Failed(engine.Errorf(engine.KindServer, "AS710", "down"))
			case n > 3: // it is in flight until the failure ends it
				select {
				case <-ctx.Done():
				case <-hang.Context(t).Done():
				}
			}
			return said("fine")
		}))).Wait()
		if n := begun.Load(); err == nil || err.Error() != "main/each:main#0[3]/agent:agent#0: down" || n > 5 {
			t.Errorf("%v after %d calls", err, n)
		}
	})
}

// Promise 5.8 (runs): an error carries the path of its node, the position in the script and its
// chain of causes.
func TestPromise_5_8_ErrorPosition(t *testing.T) {
	type place struct {
		name, src   string
		files       []string
		opts        []agentscript.RunOption
		path, pos   string
		trace       string // outermost first
		code        diag.Code
		says, cause string
	}
	down := errors.New("the disk is full")
	params, errs := generable.NewSchema("save", "", nil)
	if errs != nil {
		t.Fatal(errs)
	}
	save := agent.HostTool{Tool: agent.Tool{Name: "save", Doc: "Saves.", Params: params},
		Do: func(context.Context, agent.ToolCallInfo, generable.Value) (generable.Value, error) {
			return generable.Value{}, fmt.Errorf("saving: %w", down)
		}}
	eng := agentscript.New(agentscript.WithTool(save), builtin("lookup", func(c *starlib.Call) (starlark.Value, error) {
		return nil, fmt.Errorf("looking up: %w", down)
	}))
	for _, c := range []place{
		{name: "a function that a function calls", src: `
def inner(s):
    return s["no"]

def outer(s):
    return inner({}) + s

step = fn(outer, input = str, output = str)
main = agent(run = lambda s: s) >> step
`, opts: []agentscript.RunOption{input("x")},
			path: "main/then:main#0/fn:step#0", pos: "flow.star:3:13", trace: "flow.star:6:17 flow.star:3:13", code: diag.CallbackFailed, says: `key "no" not in dict`},
		{name: "in a loop, in a branch of a parallel", src: `
count = fn(lambda n: n + 1 if n < 3 else fail("too many"), input = int, output = int)
main = fn(lambda n: n, input = int, output = int) / count.loop(lambda n: n)
`, opts: []agentscript.RunOption{input(0)},
			path: "main/par:main#0[1]/loop0[3]/fn:count#0", pos: "flow.star:2:46", trace: "flow.star:2:46", code: diag.CallbackFailed, says: "too many"},
		{name: "in a loaded file", src: `
load("lib/steps.star", "step")

def main():
    return step("x")
`, files: []string{"lib/steps.star", "def _f(s):\n    return int(s)\n\nstep = fn(_f, input = str, output = int)\n"},
			path: "main/fn:step#0", pos: "lib/steps.star:2:15", trace: "flow.star:5:16 lib/steps.star:2:15", code: diag.CallbackFailed, says: "invalid literal"},
		{name: "a value of the wrong type", src: `
lies = fn(lambda s: json.decode("1"), input = str, output = str)
main = lies
`, opts: []agentscript.RunOption{input("x")},
			path: "main/fn:lies#0", pos: "flow.star:2:8", code: diag.WrongTypeAtBoundary, says: "lies must return str"},
		{name: "a builtin of the host's", src: `
main = fn(lambda s: lookup(s), input = str, output = str)
`, opts: []agentscript.RunOption{input("x")},
			path: "main/fn:main#0", pos: "flow.star:2:27", trace: "flow.star:2:27", code: diag.CallbackFailed, says: "looking up", cause: "the disk is full"},
		{name: "a model", src: `
main = fn(lambda s: s, input = str, output = str) >> agent(name = "judge", prompt = "Judge.")
`, opts: []agentscript.RunOption{input("x"), agentscript.HandlerForAll(answering(func(context.Context, string, *model.Request) engine.Outcome {
			return engine.Failed(engine.Errorf(engine.KindServer, diag.ProviderError, "no answer: %w", down))
		}))}, path: "main/then:main#0/agent:judge#0", pos: "flow.star:2:54", code: diag.ProviderError, says: "no answer", cause: "the disk is full"},
	} {
		t.Run(c.name, func(t *testing.T) {
			mod := loaded(t, eng, c.src, c.files...)
			_, err := mod.Start(t.Context(), c.opts...).Wait()
			var e *engine.Error
			if !errors.As(err, &e) {
				t.Fatalf("the error is %v", err)
			}
			if e.Path != c.path || e.Pos.String() != c.pos || e.Code != c.code || !strings.Contains(e.Message, c.says) {
				t.Errorf("%s at %s in %q: %s\nwant %s at %s in %q: %s", e.Code, e.Pos, e.Path, e.Message, c.code, c.pos, c.path, c.says)
			}
			var trace []string
			for _, p := range e.Trace {
				trace = append(trace, p.Pos.String())
			}
			if strings.Join(trace, " ") != c.trace {
				t.Errorf("the trace is %v, want %s", trace, c.trace)
			}
			if c.cause != "" && !errors.Is(err, down) {
				t.Errorf("the chain of causes of %v does not end in %q", err, c.cause)
			}
			if !strings.HasPrefix(err.Error(), c.path+": ") {
				t.Errorf("%q does not begin with the path", err)
			}
		})
	}
	t.Run("a tool of the host's, to whoever watches", func(t *testing.T) {
		var seen []*engine.Error
		mod := loaded(t, eng, "main = agent(prompt = \"Save.\", tools = [save])")
		answers := []engine.Outcome{calling("save", "{}"), said("it did not work")}
		turn := 0
		res, err := mod.Start(t.Context(), input("x"), agentscript.HandlerForAll(engine.Handlers{engine.EffectTool: agent.HostTools{"save": &save},
			engine.EffectModel: answering(func(context.Context, string, *model.Request) engine.Outcome {
				turn++
				return answers[turn-1]
			})}),
			agentscript.OnEvent(engine.EventEffect, func(e engine.Event) {
				if e.Err() != nil {
					seen = append(seen, e.Err())
				}
			})).Wait()
		if err != nil || res.Text() != "it did not work" {
			t.Fatalf("%s, %v", res.Text(), err)
		}
		if len(seen) != 1 || !errors.Is(seen[0], engine.ErrTool) || !errors.Is(seen[0], down) {
			t.Errorf("seen %v", seen)
		}
	})
}

// Promise 5.9 (runs): a panic in a host's callback results in an error of that run.
func TestPromise_5_9_PanicsAreErrors(t *testing.T) {
	params, errs := generable.NewSchema("explode", "", nil)
	if errs != nil {
		t.Fatal(errs)
	}
	cause := errors.New("boom")
	explode := agent.HostTool{Tool: agent.Tool{Name: "explode", Doc: "Explodes.", Params: params},
		Do: func(context.Context, agent.ToolCallInfo, generable.Value) (generable.Value, error) { panic(cause) }}
	eng := agentscript.New(agentscript.WithTool(explode), builtin("crash", func(c *starlib.Call) (starlark.Value, error) { panic(cause) }))
	panics := answering(func(context.Context, string, *model.Request) engine.Outcome { panic(cause) })
	for _, c := range []struct {
		name, src string
		opts      []agentscript.RunOption
		says      string
	}{
		{"a model", `main = agent(prompt = "A.")`, []agentscript.RunOption{agentscript.HandlerForAll(panics)}, "panicked"},
		{"a model in one of many branches", `main = each(agent(prompt = "A."))`, []agentscript.RunOption{agentscript.HandlerForAll(panics), input([]string{"x", "y", "z"})}, "panicked"},
		{"a builtin", `main = fn(lambda s: crash(s), input = str, output = str)`, nil, "panicked"},
		{"a builtin in main", "def main():\n    return crash(1)", nil, "panicked"},
		{"a builtin in a branch", `main = fn(lambda s: s, input = str, output = str) / fn(lambda s: crash(s), input = str, output = str)`, nil, "panicked"},
		{"a builtin in next", `main = loop(fn(lambda s: s, input = str, output = str), lambda s: crash(s))`, nil, "panicked"},
		{"a builtin in on_bad_output", `main = agent(output = int, prompt = "A.", repairs = 0, on_bad_output = lambda raw: crash(raw))`, []agentscript.RunOption{agentscript.HandlerForAll(replies(nil))}, "panicked"},
		{"a listener", `main = fn(lambda s: s, input = str, output = str)`, []agentscript.RunOption{agentscript.OnEvent(engine.EventNode, func(engine.Event) { panic(cause) })}, "panicked"},
		{"a listener of the run's start", `main = fn(lambda s: s, input = str, output = str)`, []agentscript.RunOption{agentscript.OnEvent(engine.EventRun, func(e engine.Event) {
			if e.Phase() == engine.PhaseStart {
				panic(cause)
			}
		})}, "panicked"},
		{"a listener of the run's end", `main = fn(lambda s: s, input = str, output = str)`, []agentscript.RunOption{agentscript.OnEvent(engine.EventRun, func(e engine.Event) {
			if e.Phase() == engine.PhaseEnd {
				panic(cause)
			}
		})}, "panicked"},
	} {
		t.Run(c.name, func(t *testing.T) {
			mod := loaded(t, eng, c.src)
			opts := c.opts
			if main, _ := mod.Main(); main.Node != nil {
				opts = append([]agentscript.RunOption{input("x")}, opts...)
			}
			_, err := mod.Start(t.Context(), opts...).Wait()
			var e *engine.Error
			if !errors.As(err, &e) || e.Kind != engine.KindPanic || e.Code != diag.Panic || !strings.Contains(e.Message, c.says) || !strings.Contains(e.Message, "boom") {
				t.Fatalf("the error is %v", err)
			}
			if !errors.Is(err, cause) || !strings.Contains(e.Raw, "goroutine") || !strings.Contains(e.Help, "bug") {
				t.Errorf("cause %v, help %q, stack %q", e.Cause, e.Help, e.Raw)
			}
			// The module still works.
			if _, err := mod.Start(t.Context(), opts...).Wait(); err == nil {
				t.Error("the second run did not panic")
			}
		})
	}
	t.Run("a tool's goes to the model, like any failure of a tool", func(t *testing.T) {
		mod := loaded(t, eng, `main = agent(prompt = "A.", tools = [explode])`)
		var result string
		res, err := mod.Start(t.Context(), input("x"), agentscript.HandlerForAll(engine.Handlers{engine.EffectTool: agent.HostTools{"explode": &explode},
			engine.EffectModel: answering(func(_ context.Context, _ string, r *model.Request) engine.Outcome {
				if last := r.Messages[len(r.Messages)-1]; last.Role == model.RoleTool {
					result = last.Parts[0].Result.Text
					return said("sorry")
				}
				return calling("explode", "{}")
			})})).Wait()
		if err != nil || res.Text() != "sorry" || !strings.Contains(result, "error: ") || strings.Contains(result, "goroutine") {
			t.Errorf("%s, %v; the model is told %q", res.Text(), err, result)
		}
	})
	t.Run("a journal's is a failure of the store", func(t *testing.T) {
		_, err := loaded(t, eng, `main = agent(prompt = "A.")`).Start(t.Context(), input("x"), agentscript.HandlerForAll(replies(nil)), agentscript.RunJournal(brokenJournal{cause})).Wait()
		var e *engine.Error
		if !errors.As(err, &e) || e.Kind != engine.KindStore || !strings.Contains(e.Message, "the journal panicked: boom") || !errors.Is(err, cause) {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("other runs go on", func(t *testing.T) {
		mod := loaded(t, eng, `main = agent(prompt = "A.")`)
		begun, release := make(chan struct{}), make(chan struct{})
		other := mod.Start(t.Context(), input("x"), agentscript.HandlerForAll(answering(func(context.Context, string, *model.Request) engine.Outcome {
			close(begun)
			<-release
			return said("unhurt")
		})))
		<-begun
		if _, err := mod.Start(t.Context(), input("x"), agentscript.HandlerForAll(panics)).Wait(); err == nil {
			t.Error("no error")
		}
		close(release)
		if res, err := other.Wait(); err != nil || res.Text() != "unhurt" {
			t.Errorf("%s, %v", res.Text(), err)
		}
	})
}

type brokenJournal struct{ cause error }

func (brokenJournal) Answer(string) (engine.Outcome, bool) { return engine.Outcome{}, false }

func (j brokenJournal) Commit(context.Context, string, *engine.Effect, engine.Outcome) error {
	panic(j.cause)
}
