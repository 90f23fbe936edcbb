package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/model"
)

// counter returns a model that answers at once and counts its calls.
func counter(n *atomic.Int64) engine.Handler {
	return answering(func(_ context.Context, agent string, _ *model.Request) engine.Outcome {
		n.Add(1)
		return said(agent)
	})
}

// refusedFor requires a budget error with a code that contains all of the words.
func refusedFor(t *testing.T, what string, err error, code string, words ...string) {
	t.Helper()
	var e *engine.Error
	if !errors.As(err, &e) || e.Kind != engine.KindBudget || string(e.Code) != code {
		t.Errorf("%s: the error is %v, want a budget error %s", what, err, code)
		return
	}
	for _, w := range words {
		if !strings.Contains(e.Error()+"\n"+e.Help, w) {
			t.Errorf("%s: %q (help %q) lacks %q", what, e.Error(), e.Help, w)
		}
	}
}

// Promise 5.4 (runs): a run makes no more model calls than its budget allows; a call that exceeds the budget is
// refused before it is made.
func TestPromise_5_4_ModelCallBudget(t *testing.T) {
	const wide = `
def asked(i):
    return agent(name = "a%d" % i, prompt = "A.")
main = par(*[asked(i) for i in range(40)])
`
	const deep = `
a = agent(prompt = "A.")
main = a.loop(lambda s: s)
`
	const calls = `
a = agent(prompt = "A.")
def main():
    return [a("x") for _ in range(40)]
`
	ways := map[string][]agentscript.RunOption{"goroutines": nil}
	for _, seed := range seeds(2) {
		ways[fmt.Sprintf("cooperative, seed %#x", seed)] = []agentscript.RunOption{agentscript.Cooperative(seed)}
	}
	for name, src := range map[string]string{"at once": wide, "in a loop": deep, "in a function": calls} {
		mod := loaded(t, agentscript.New(), src)
		main, _ := mod.Main()
		for how, way := range ways {
			for _, limit := range []int64{0, 1, 7, 39} {
				var n atomic.Int64
				opts := append([]agentscript.RunOption{agentscript.HandlerForAll(counter(&n)),
					agentscript.RunLimits(engine.Limits{ModelCalls: engine.AtMost(limit)})}, way...)
				if main.Node != nil {
					opts = append(opts, input("x"))
				}
				_, err := mod.Start(t.Context(), opts...).Wait()
				what := fmt.Sprintf("%s, %s, at most %d", name, how, limit)
				refusedFor(t, what, err, "AS704", fmt.Sprintf("the limit of %d model call", limit), "main")
				if name == "at once" && n.Load() > limit || name != "at once" && n.Load() != limit {
					t.Errorf("%s: %d calls were made", what, n.Load())
				}
			}
		}
	}
	t.Run("what fits is not refused", func(t *testing.T) {
		var n atomic.Int64
		mod := loaded(t, agentscript.New(), wide)
		_, err := mod.Start(t.Context(), input("x"), agentscript.HandlerForAll(counter(&n)), agentscript.RunLimits(engine.Limits{ModelCalls: engine.AtMost(40)})).Wait()
		if err != nil || n.Load() != 40 {
			t.Errorf("%d calls, %v", n.Load(), err)
		}
	})
	t.Run("an agent's own budgets", func(t *testing.T) {
		for _, c := range []struct {
			name, budget string
			model, tool  int64
			words        []string
		}{
			{"turns", "budget(turns = 3)", 3, 3, []string{`agent "busy" returned no answer within 3 turns`, "budget(turns = ...)"}},
			{"turns by default", "None", 8, 8, []string{"8 turns"}},
			{"tool calls", "budget(tool_calls = 2, turns = 50)", 3, 2, []string{"the limit of 2 tool calls"}},
			{"tokens", "budget(tokens = 25, turns = 50)", 1, 1, []string{"9 of its 25 tokens are used", "may need"}}, // a call begins when there is room for what it may use
		} {
			var calls, tools atomic.Int64
			busy := answering(func(context.Context, string, *model.Request) engine.Outcome {
				calls.Add(1)
				out := calling("stock", `{"what": "pears"}`)
				out.Usage = model.Usage{In: 9}
				return out
			})
			mod := loaded(t, agentscript.New(agentscript.WithTool(*stock(&tools))),
				`busy = agent(prompt = "Work.", tools = [stock], budget = `+c.budget+")\nmain = busy")
			_, err := mod.Start(t.Context(), input("x"), agentscript.HandlerForAll(engine.Handlers{
				engine.EffectModel: busy, engine.EffectTool: agent.HostTools{"stock": stock(&tools)}})).Wait()
			refusedFor(t, c.name, err, "AS704", c.words...)
			if calls.Load() != c.model || tools.Load() != c.tool {
				t.Errorf("%s: %d calls of the model and %d of the tool, want %d and %d", c.name, calls.Load(), tools.Load(), c.model, c.tool)
			}
		}
	})
}

// Promise 5.5 (runs): a script that never ends is stopped by its step budget.
func TestPromise_5_5_StepBudget(t *testing.T) {
	limit := agentscript.RunLimits(engine.Limits{Steps: engine.AtMost(200_000)})
	for _, c := range []struct {
		name, src string
		opts      []agentscript.RunOption
		words     []string // of the error
	}{
		{"in a step", "def spin(s):\n    while True:\n        pass\nmain = fn(spin, input = str, output = str)", []agentscript.RunOption{input("x")}, []string{"main/fn:main#0"}},
		{"in main", "def main():\n    n = 0\n    while True:\n        n += 1", nil, []string{"main"}},
		{"in a comprehension", "def main():\n    return len([i * j for i in range(100000) for j in range(100000)])", nil, nil},
		{"in next", "def again(s):\n    for i in range(1 << 60):\n        s = s\n    return s\nmain = agent(run = lambda s: s).loop(again)", []agentscript.RunOption{input("x")}, []string{"loop"}},
		{"in a predicate", "def never(s):\n    while True:\n        pass\na = agent(run = lambda s: s)\nb = agent(run = lambda s: s)\nc = agent(run = lambda s: s)\nmain = branch(a, [when(never, b)], otherwise = c)", []agentscript.RunOption{input("x")}, []string{"branch"}},
		{"in small pieces, turn after turn", "def work(n):\n    for i in range(9000):\n        pass\n    return n\nmain = loop(fn(work, input = int, output = int), lambda n: n, max = 100000)", []agentscript.RunOption{input(1)}, []string{"loop"}},
		{"in branches that share it", "def spin(n):\n    for i in range(100000):\n        pass\n    return n\nmain = each(fn(spin, input = int, output = int))", []agentscript.RunOption{input([]int{1, 2, 3, 4, 5, 6})}, []string{"each"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mod := loaded(t, agentscript.New(), c.src)
			for _, way := range []agentscript.RunOption{limit, agentscript.Cooperative(seeds(1)[0])} {
				_, err := mod.Start(t.Context(), append(c.opts[:len(c.opts):len(c.opts)], limit, way)...).Wait()
				refusedFor(t, "without end", err, "AS717", append(c.words, "200000 script steps")...)
			}
		})
	}
	t.Run("what ends is not stopped", func(t *testing.T) {
		mod := loaded(t, agentscript.New(), "def main():\n    n = 0\n    for i in range(10000):\n        n += i\n    return n")
		res, err := mod.Start(t.Context(), limit).Wait()
		if err != nil || res.Text() != "49995000" {
			t.Errorf("%s, %v", res.Text(), err)
		}
	})
	t.Run("functions that call each other for ever", func(t *testing.T) {
		mod := loaded(t, agentscript.New(), "def down(n):\n    return up(n)\ndef up(n):\n    return down(n)\ndef main():\n    return down(1)")
		_, err := mod.Start(t.Context(), agentscript.RunLimits(engine.Limits{Steps: engine.AtMost(100_000_000)})).Wait()
		var e *engine.Error
		if !errors.As(err, &e) || e.Code != "AS213" && e.Code != "AS717" {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("while loading", func(t *testing.T) {
		found, shown := checked("x = 0\nwhile True:\n    x += 1\n")
		if !found.HasErrors() || !strings.Contains(shown, "flow.star:") {
			t.Errorf("check says\n%s", shown)
		}
	})
}

// Promise 5.6 (runs): a run ends at its wall time limit, even while a model does not answer.
func TestPromise_5_6_WallTime(t *testing.T) {
	stuck := answering(func(ctx context.Context, _ string, _ *model.Request) engine.Outcome {
		<-ctx.Done()
		return engine.Failed(engine.Errorf(engine.KindCancelled, "AS712", "stopped"))
	})
	const wall = 50 * time.Millisecond
	for _, c := range []struct {
		name, src, code string
		want            error
		opts            []agentscript.RunOption
		words           []string
	}{
		{"a model that does not answer", `main = agent(prompt = "A.")`, "AS711", engine.ErrTimeout,
			[]agentscript.RunOption{input("x"), agentscript.RunLimits(engine.Limits{Wall: wall})}, []string{"did not end within 50ms", "--timeout"}},
		{"many of them", "def a(i):\n    return agent(name = \"a%d\" % i, prompt = \"A.\")\nmain = par(*[a(i) for i in range(30)])", "AS711", engine.ErrTimeout,
			[]agentscript.RunOption{input("x"), agentscript.RunLimits(engine.Limits{Wall: wall})}, []string{"50ms"}},
		{"a script that computes", "def main():\n    while True:\n        pass", "AS711", engine.ErrTimeout,
			[]agentscript.RunOption{agentscript.RunLimits(engine.Limits{Wall: wall})}, []string{"50ms"}},
		{"a loop of small steps", "main = loop(fn(lambda n: n, input = int, output = int), lambda n: n, max = 1 << 30)", "AS711", engine.ErrTimeout,
			[]agentscript.RunOption{input(1), agentscript.RunLimits(engine.Limits{Wall: wall})}, []string{"50ms"}},
		{"an agent's own time", `main = agent(prompt = "A.", budget = budget(wall = "50ms"))`, "AS704", engine.ErrBudget,
			[]agentscript.RunOption{input("x")}, []string{`agent "main" used up its time of 50ms`, "budget(wall"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			mod := loaded(t, agentscript.New(), c.src)
			begun := time.Now()
			_, err := mod.Start(t.Context(), append(c.opts, agentscript.HandlerForAll(stuck))...).Wait()
			if took := time.Since(begun); took < wall {
				t.Errorf("it took %s", took)
			}
			var e *engine.Error
			if !errors.Is(err, c.want) || !errors.As(err, &e) || string(e.Code) != c.code {
				t.Fatalf("the error is %v", err)
			}
			for _, w := range c.words {
				if !strings.Contains(e.Error()+"\n"+e.Help, w) {
					t.Errorf("%q (help %q) lacks %q", e.Error(), e.Help, w)
				}
			}
		})
	}
	t.Run("a deadline of the host's", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), wall)
		defer cancel()
		_, err := loaded(t, agentscript.New(), `main = agent(prompt = "A.")`).Start(ctx, input("x"), agentscript.HandlerForAll(stuck)).Wait()
		if !errors.Is(err, engine.ErrTimeout) {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("a run that is in time", func(t *testing.T) {
		res, err := loaded(t, agentscript.New(), `main = agent(prompt = "A.")`).Start(t.Context(), input("x"), agentscript.HandlerForAll(replies(nil)),
			agentscript.RunLimits(engine.Limits{Wall: time.Minute})).Wait()
		if err != nil || res.Text() != "main(x)" {
			t.Errorf("%s, %v", res.Text(), err)
		}
	})
}
