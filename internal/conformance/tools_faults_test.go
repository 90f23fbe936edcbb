package conformance

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/hang"
)

// Promise 18.5 (tools): the calls of one answer run at once up to a limit, 8 unless the agent sets another; their
// results are in the order of the calls, and text next to calls stays in the conversation.
func TestPromise_18_5_ParallelCalls(t *testing.T) {
	for _, tt := range []struct {
		option string
		want   int
	}{{"", agent.DefaultToolsAtOnce}, {", tools_at_once = 3", 3}, {", tools_at_once = 1", 1}} {
		full := newMeeting(t, tt.want)
		var now, most atomic.Int64
		tool, runs := hostTool(t, "work", func(ctx context.Context, n, arg int) (string, error) {
			at := now.Add(1)
			for m := most.Load(); at > m && !most.CompareAndSwap(m, at); m = most.Load() {
			}
			if n <= tt.want {
				full.arrive(ctx)
			}
			now.Add(-1)
			return fmt.Sprint("result of ", arg), nil
		})
		var all []string
		for i := range 200 {
			all = append(all, "work", fmt.Sprintf(`{"n": %d}`, i))
		}
		calls := calling(all...)
		calls.Response.Parts = append([]model.Part{{Kind: model.PartText, Text: "I look at all of them."}}, calls.Response.Parts...)
		r := toolLoop(t, `main = agent(name = "a", prompt = "Work.", tools = [work], budget = budget(tool_calls = 200)`+tt.option+")\n",
			answersOf{"a": {calls, said("end")}}, tool)
		told := r.told("a")
		if r.err != nil || len(told) != 200 || runs() != 200 {
			t.Fatalf("%v; %d results of %d calls", r.err, len(told), runs())
		}
		for i, text := range told {
			if text != fmt.Sprint("result of ", i) {
				t.Fatalf("result %d is %q", i, text)
			}
		}
		if int(most.Load()) != tt.want {
			t.Errorf("%d ran at once, want %d", most.Load(), tt.want)
		}
		if said := r.requests["a"][1].Messages[1].Parts[0]; said.Text != "I look at all of them." {
			t.Errorf("the text beside the calls became %+v", said)
		}
	}
	tool, runs := brokenTool(t, "work", 0)
	var crowd []string
	for range 40 {
		crowd = append(crowd, "work", `{"n": 1}`)
	}
	over := toolLoop(t, worker("work"), answersOf{"a": {calling(crowd...)}}, tool)
	if e := over.failure(); e == nil || e.Kind != engine.KindBudget || runs() != 0 {
		t.Errorf("more calls than the budget has: %v after %d", over.err, runs())
	}
}

// Promise 18.6 (tools): a fault in a call becomes a result that the model can act on, and the run continues: an
// unknown tool, arguments that are not JSON, truncated, of a wrong type or much too long, and a tool that raises,
// panics, or returns something it did not declare.
func TestPromise_18_6_FaultsGoToTheModel(t *testing.T) {
	before := runtime.NumGoroutine()
	defer func() { hang.Until(t, "the goroutines end", func() bool { return runtime.NumGoroutine() <= before }) }()
	long := strings.Repeat("x", 1<<20)
	panicking, _ := hostTool(t, "panics", func(context.Context, int, int) (string, error) { panic("out of order") })
	wrong := panicking
	wrong.Name = "wrong"
	wrong.Returns = generable.ListOfType(generable.IntT)
	wrong.Do = func(context.Context, agent.ToolCallInfo, generable.Value) (generable.Value, error) {
		return generable.StrOf("three"), nil
	}
	budgetless, _ := hostTool(t, "inner", func(context.Context, int, int) (string, error) {
		return "", engine.Errorf(engine.KindBudget, diag.BudgetExceeded, "a budget of its own is used up")
	})
	src := `
def count(text = str, times = 1):
    """Counts letters."""
    return "{} letters".format(len(text) * times)
def raises(text = ""):
    fail("no luck with " + text)
main = agent(name = "a", prompt = "Work.", tools = [count, raises, panics, wrong, inner])
`
	for _, tt := range []struct{ name, tool, args, want string }{
		{"invented", "cuont", `{}`, `there is no tool "cuont"; the tools are: count, raises, panics, wrong, inner`},
		{"a long invented name", long, `{}`, "there is no tool"},
		{"no JSON", "count", `please count`, "bad arguments"},
		{"cut off", "count", `{"text": "ab`, "they end in the midst of a value"},
		{"wrong type", "count", `{"text": [1], "times": "many"}`, "times: want int"},
		{"a parameter is missing", "count", `{}`, "text: want str"},
		{"1 MB", "count", `{"text": "` + long + `"}`, "1048576 letters"},
		{"1 MB of wrong type", "count", `{"text": "a", "times": "` + long + `"}`, "times: want int"},
		{"raises", "raises", `{"text": "x"}`, "no luck with x"},
		{"panics", "panics", `{"n": 1}`, "out of order"},
		{"gives something else", "wrong", `{"n": 1}`, "wrong"},
		{"a budget of its own", "inner", `{"n": 1}`, "a budget of its own"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := toolLoop(t, src, answersOf{"a": {calling(tt.tool, tt.args), said("end")}}, panicking, wrong, budgetless)
			r.tells(t, tt.want)
			if n := len(r.told("a")[0]); n > agent.DefaultMaxResult+200 {
				t.Errorf("the model is told %d bytes", n)
			}
			end := r.of(engine.EventTool)[0]
			if tt.name == "1 MB" {
				return
			}
			if e := end.Err(); e == nil || e.Tool == nil || e.Tool.Agent != "a" || e.Tool.Skill != "a" || e.Tool.Name == "" || e.Help == "" || !strings.HasPrefix(e.Path, "main/agent:a#0/tool:") {
				t.Errorf("the error does not say all: %+v", end.Err())
			}
		})
	}
}

// Promise 18.7 (tools): a tool has its own time limit; exceeding it becomes a result, for tools of the host and of the
// script. A tool that does not stop when asked to lets the run continue within a second, and is counted as left behind
// until it returns.
func TestPromise_18_7_Timeouts(t *testing.T) {
	t.Run("a tool of the host", func(t *testing.T) {
		tool, runs := hostTool(t, "work", func(ctx context.Context, n, _ int) (string, error) {
			if n > 1 {
				return "quick", nil
			}
			<-ctx.Done()
			return "", ctx.Err()
		})
		r := toolLoop(t, worker(`tool(work, timeout = "20ms")`), one(`{"n": 1}`), tool)
		r.tells(t, `tool "work" did not end within 20ms`)
		if e := r.of(engine.EventTool)[0].Err(); e.Kind != engine.KindTimeout || e.Code != diag.Timeout || runs() != 1 || r.run.LeftBehind() != 0 {
			t.Errorf("%+v after %d calls", e, runs())
		}
		tool.Timeout = 20 * time.Millisecond
		toolLoop(t, worker(`work`), one(`{"n": 1}`), tool).tells(t, "quick")
		again, _ := hostTool(t, "work", func(ctx context.Context, n, _ int) (string, error) {
			if n > 1 {
				return "quick", nil
			}
			<-ctx.Done()
			return "", ctx.Err()
		})
		again.Timeout = 20 * time.Millisecond
		toolLoop(t, worker(`tool(work, on_error = again())`), one(`{"n": 1}`), again).tells(t, "quick")
	})
	t.Run("a tool of the script", func(t *testing.T) {
		r := toolLoop(t, `
def work(n = int):
    while True:
        n += 1
main = agent(name = "a", prompt = "Work.", tools = [tool(work, timeout = 0.02)])
`, one(`{"n": 1}`))
		r.tells(t, `tool "work" did not end within 20ms`)
	})
	t.Run("a tool of the script that asks an agent", func(t *testing.T) {
		mod := loaded(t, agentscript.New(agentscript.WithDefaultModel("test/model")), `
slow = agent(name = "slow", prompt = "Wait.")
def work(n = int):
    return slow("x")
main = agent(name = "a", prompt = "Work.", tools = [tool(work, timeout = "20ms")])
`)
		rest := one(`{"n": 1}`).handler(map[string][]*model.Request{})
		record := &store.Memory{}
		begin := func(h engine.Handler) (agentscript.Result, error) {
			return mod.Start(t.Context(), input("go"), agentscript.ID("run"), agentscript.RunJournal(record), agentscript.HandlerForAll(h)).Wait()
		}
		res, err := begin(engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, s engine.Sink) engine.Outcome {
			if e.Agent == "slow" {
				<-ctx.Done()
				return engine.Failed(engine.Errorf(engine.KindNetwork, diag.ProviderError, "gone"))
			}
			return rest.Do(ctx, e, s)
		}))
		if err != nil || res.Text() != "end" {
			t.Errorf("%v, %v", res, err)
		}
		if res, err = begin(unrecorded); err != nil || res.Text() != "end" {
			t.Errorf("replayed: %v, %v", res, err)
		}
	})
	t.Run("a tool that ignores that it is to stop", func(t *testing.T) {
		before := runtime.NumGoroutine()
		release := make(chan struct{})
		var gone sync.WaitGroup
		gone.Add(1)
		tool, _ := hostTool(t, "work", func(context.Context, int, int) (string, error) {
			defer gone.Done()
			<-release
			return "much too late", nil
		})
		tool.Timeout = 10 * time.Millisecond
		r := toolLoop(t, worker("work"), one(`{"n": 1}`), tool)
		r.tells(t, `tool "work" did not end within 10ms`)
		if left := r.of(engine.EventLeft); r.run.LeftBehind() != 1 || len(left) != 1 || left[0].Name() != "work" || left[0].ID == "" {
			t.Errorf("%d left behind, events %+v", r.run.LeftBehind(), left)
		}
		close(release)
		gone.Wait()
		hang.Until(t, "the goroutines end", func() bool { return r.run.LeftBehind() == 0 && runtime.NumGoroutine() <= before })
	})
}

// Promise 18.8 (tools): the model receives at most 256 KiB of a result's text, or as much as the tool sets, with a
// note of how much there was.
func TestPromise_18_8_LongResults(t *testing.T) {
	large := 50
	if testing.Short() {
		large = 4
	}
	tool, _ := hostTool(t, "work", func(_ context.Context, _, mb int) (string, error) { return strings.Repeat("é", mb<<19), nil })
	told := toolLoop(t, worker("work"), one(fmt.Sprintf(`{"n": %d}`, large)), tool).told("a")[0]
	if len(told) < agent.DefaultMaxResult || len(told) > agent.DefaultMaxResult+200 || !strings.Contains(told, fmt.Sprintf("the first %d of %d bytes", agent.DefaultMaxResult, large<<20)) {
		t.Errorf("told %d bytes, which end in %q", len(told), told[len(told)-100:])
	}
	for most, want := range map[int]string{5: "éé\n\n[cut off: these are the first 4 of 1048576 bytes", 4: "éé\n\n[cut off: these are the first 4 "} {
		toolLoop(t, worker(fmt.Sprintf("tool(work, max_result = %d)", most)), one(`{"n": 1}`), tool).tells(t, want)
	}
	long := errors.New(strings.Repeat("x", large<<20))
	broken, _ := hostTool(t, "work", func(context.Context, int, int) (string, error) { return "", long })
	if told := toolLoop(t, worker("work"), one(`{"n": 1}`), broken).told("a")[0]; len(told) > agent.DefaultMaxResult+200 || !strings.Contains(told, "cut off") {
		t.Errorf("told %d bytes of an error", len(told))
	}
}
