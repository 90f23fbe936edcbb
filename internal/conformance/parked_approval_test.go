package conformance

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/hang"
)

// asks are flows that end up waiting for a person, with the bounds on what a run of each may hold.
var asks = []struct {
	name, src   string
	heap, stack float64 // KiB
}{
	{"step", `main = approval("Publish it?", input = str)`, 4, 8},
	{"step of a flow", `main = fn(lambda s: s, input = str, output = str) >> approval("Publish it?", input = str)`, 4, 8},
	{"call of a tool of the script", `
def send(amount = int, to = str):
    """Sends."""
    return "sent"

main = agent(prompt = "A.", tools = [send], policy = policy(ask = ["send(amount>1)"]))
`, 4, 8},
	{"call of a tool of the host", `main = agent(prompt = "A.", tools = [pay], policy = policy(ask = ["pay(amount>1)"]))`, 4, 8},
	// The branch keeps its interpreter, which ran before.
	{"call behind a function", `main = fn(lambda s: s, input = str, output = str) >> agent(prompt = "A.", tools = [pay], policy = policy(ask = ["pay"]))`, 5, 8},
	// The interpreter is on the stack too.
	{"function", "def main():\n    return approve(\"Publish it?\", \"a text\").reason\n", 4, 16},
	{"function that is a tool", `
def send(amount = int, to = str):
    """Sends."""
    return approve("Send?", to).reason

main = agent(prompt = "A.", tools = [send])
`, 6, 16},
}

// parkedApproval measures n runs of a flow that wait for a person.
func parkedApproval(t testing.TB, n int, src string) footprint {
	t.Helper()
	pay := agent.HostTool{Tool: agent.Tool{Name: "pay", Doc: "Pays.", Class: engine.ClassOnce, Returns: generable.StrT,
		Params: schemaOf(t, "pay", generable.Field{Name: "amount", Type: generable.IntT}, generable.Field{Name: "to", Type: generable.StrT})},
		Do: func(context.Context, agent.ToolCallInfo, generable.Value) (generable.Value, error) {
			return generable.StrOf("paid"), nil
		}}
	var waiting atomic.Int64
	decide := func(ctx context.Context, r *engine.ApprovalRequest) (engine.Decision, error) {
		waiting.Add(1)
		<-ctx.Done()
		runtime.KeepAlive(r) // a person is shown it
		return engine.Decision{}, ctx.Err()
	}
	model := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		name := e.Req.(*model.Request).Tools[0].Name
		return engine.Outcome{Attempt: 1, Response: &model.Response{Finish: model.FinishCalls, Parts: []model.Part{{Kind: model.PartCall,
			Call: &model.ToolCall{ID: "c1", Name: name, Args: `{"amount": 40, "to": "ann@example.com"}`}}}}}
	})
	eng := agentscript.New(agentscript.WithTool(pay), agentscript.WithDefaultModel("test/model"), agentscript.WithApproval(decide),
		agentscript.WithHandler(engine.EffectModel, model))
	mod, err := eng.Load(context.Background(), script(src), "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	var opts []agentscript.RunOption
	if !strings.Contains(src, "def main") {
		opts = append(opts, input("x"))
	}
	return park(t, n, func() *agentscript.Run { return mod.Start(context.Background(), opts...) }, func() int { return int(waiting.Load()) })
}

// Promise 12.8 (performance): a run that waits for a person's decision, as a step of a flow or about a tool call,
// holds one goroutine, at most 4 KiB of heap and 8 KiB of stack, and no socket. If a function of the script waits, it
// holds twice the stack; if a tool call waits after or inside a function of the script, it holds one or two KiB more
// heap.
func TestPromise_12_8_ParkedApproval(t *testing.T) {
	unraced(t)
	for _, w := range asks {
		within(t, w.name, w.heap, w.stack, func() footprint { return parkedApproval(t, 2000, w.src) })
	}
}

// within requires that a run holds one goroutine, no file, and no more than the given KiB of heap and stack. Stacks
// come in powers of two; the rest is what the runtime keeps free. It measures up to four times: what the runtime and
// other tests free late, and what is made once for all runs, is attributed to some of the runs.
func within(t *testing.T, name string, heap, stack float64, measure func() footprint) {
	t.Helper()
	var f footprint
	for range 4 {
		f = measure()
		t.Logf("%s: %.0f bytes of heap, %.0f of stack, %.2f goroutines", name, f.heap, f.stack, f.goroutines)
		if f.heap <= heap*1024 {
			break
		}
	}
	if f.heap > heap*1024 || f.stack > (stack+stack/16)*1024 || f.goroutines < 0.995 || f.goroutines > 1.005 || f.files > 0.01 {
		t.Errorf("%s: a run holds %+v", name, f)
	}
}

// Promise 12.9 (performance): a run that waits for an answer of a scripted model, or for its turn at a
// provider, holds one goroutine, at most 4 KiB of heap and 8 KiB of stack, and no socket.
func TestPromise_12_9_ParkedBeforeAnAnswer(t *testing.T) {
	unraced(t)
	t.Run("scripted", func(t *testing.T) {
		text := "late"
		model := scripted.New([]scripted.Row{{Text: &text, Delay: time.Hour, Repeat: true}})
		mod, err := agentscript.New(agentscript.WithHandler(engine.EffectModel, model)).Load(context.Background(), script(waits[0].src), "flow.star")
		if err != nil {
			t.Fatal(err)
		}
		within(t, "scripted", 4, 8, func() footprint {
			return park(t, 1000, func() *agentscript.Run { return mod.Start(context.Background(), input("x")) }, func() int { return len(model.Requests()) })
		})
	})
	t.Run("limiter", func(t *testing.T) {
		s := newSilence(t)
		models := llm.New(llm.WithBaseURL("ollama", "http://"+s.Addr().String()), llm.WithLimits("ollama", llm.Limits{InFlight: 1}))
		defer models.Close()
		mod, err := agentscript.New(agentscript.WithModels(models), agentscript.WithDefaultModel("ollama/m")).Load(context.Background(), script(waits[0].src), "flow.star")
		if err != nil {
			t.Fatal(err)
		}
		start := func() *agentscript.Run { return mod.Start(context.Background(), input("x")) }
		busy := start() // holds the only permit
		hang.Until(t, "the provider is asked", func() bool { return s.accepted() > 0 })
		within(t, "limiter", 4, 8, func() footprint {
			return park(t, 500, start, func() int { return models.Limiter().Load()[0].Waiting })
		})
		busy.Cancel()
		<-busy.Done()
	})
}
