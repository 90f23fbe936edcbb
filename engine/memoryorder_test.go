package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// Promise 22.12 (memory): what a model does with its notes in one answer is done in the order of the
// answer, on every scheduler and in every replay, however many calls run at once; its other calls go on
// beside that.
func TestPromise_22_12_OrderOfAnswer(t *testing.T) {
	asked := []model.ToolCall{
		{Name: "memory_write", Args: `{"content": "one"}`}, {Name: "beside"}, {Name: "memory_read"}, {Name: "memory_append", Args: `{"content": "two"}`},
		{Name: "memory_search", Args: `{"query": "t"}`}, {Name: "beside"}, {Name: "nothing"}, {Name: "memory_write", Args: `{"content": "three"}`}, {Name: "memory_read"},
		{Name: "memory_write", Args: `{}`}, {Name: "memory_append", Args: `{"content": "four"}`}, {Name: "memory_read"},
	}
	want := []string{"saved: one line now", "beside", "one", "saved: 2 lines now", "two", "beside", "error: there is no tool", "saved: one line now", "three", "error: bad arguments", "saved: 2 lines now", "three\nfour"}
	for _, atOnce := range []int{1, 2, 8} {
		c := compose()
		bank := c.Memory(diag.Span{}, agent.MemoryBank{Name: "notes"})
		beside := &agent.Tool{Name: "beside", Doc: "Is done beside.", Run: engine.GoFunc("beside", 1, func(engine.Branch, []generable.Value) (generable.Value, error) {
			return generable.StrOf("beside"), nil
		})}
		main := c.Agent(c.site("agent", "a"), &agent.AgentSpec{Name: "a", Prompt: "P.", Memory: bank, Tools: []*agent.Tool{beside}, ToolsAtOnce: atOnce})
		c.sound(t)
		run := func(how string, s engine.Sched, j engine.Journal) {
			t.Helper()
			var results []string
			h := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
				req := e.Req.(*model.Request)
				if len(req.Messages) > 1 {
					for _, p := range req.Messages[len(req.Messages)-1].Parts {
						results = append(results, p.Result.Text)
					}
					return answer("done")
				}
				r := &model.Response{Finish: model.FinishCalls}
				for i, call := range asked {
					call.ID = fmt.Sprint("c", i)
					r.Parts = append(r.Parts, model.Part{Kind: model.PartCall, Call: &call})
				}
				return engine.Outcome{Response: r}
			})
			if _, err := run.Exec(s, &run.Spec{Node: main, Input: generable.StrOf("go"), Handler: h, Model: "test/model", Journal: j}); err != nil {
				t.Fatal(err)
			}
			if results != nil && !slices.EqualFunc(results, want, strings.HasPrefix) {
				t.Errorf("%s, %d at once: %q, want %q", how, atOnce, results, want)
			}
		}
		for seed := range uint64(60) {
			j := &store.Memory{}
			run(fmt.Sprint("seed ", seed), sched.NewCoopSched(seed), j)
			before := j.IDs()
			run(fmt.Sprint("a replay of seed ", seed), sched.NewCoopSched(seed+1), j)
			if after := j.IDs(); !slices.Equal(before, after) {
				t.Errorf("a replay records %v beside %v", after, before)
			}
		}
		for range 20 {
			run("goroutines", sched.NewGoSched(t.Context()), nil)
		}
	}
}
