package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/cassette"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/mcp"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/runfile"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// dying is a store whose process dies at one of its writes: before it is done, or after. Later operations have no
// effect, since a dead process does nothing.
type dying struct {
	engine.Store
	at    int64 // counts down to the write
	after bool
	dead  atomic.Bool
	left  atomic.Int64
}

// diesAt returns the store that dies at its nth write, counted from 1; 0 is never.
func diesAt(s engine.Store, n int, after bool) *dying {
	d := &dying{Store: s, at: int64(n), after: after}
	d.left.Store(int64(n))
	return d
}

var errDead = errors.New("the process is dead")

func (d *dying) CreateRun(ctx context.Context, head engine.RunHead, by engine.Owner) (engine.OpenRun, error) {
	r, err := d.Store.CreateRun(ctx, head, by)
	return &dyingRun{r, d}, err
}

func (d *dying) TakeRun(ctx context.Context, id string, by engine.Owner) (engine.OpenRun, error) {
	r, err := d.Store.TakeRun(ctx, id, by)
	return &dyingRun{r, d}, err
}

type dyingRun struct {
	engine.OpenRun
	d *dying
}

func (r *dyingRun) Put(ctx context.Context, s engine.Step, sync bool) error {
	if r.d.dead.Load() {
		return errDead
	}
	last := r.d.at > 0 && r.d.left.Add(-1) == 0
	if last && !r.d.after {
		r.d.dead.Store(true)
		return errDead
	}
	err := r.OpenRun.Put(ctx, s, sync)
	if last {
		r.d.dead.Store(true)
		return errDead
	}
	return err
}

func (r *dyingRun) End(ctx context.Context, e engine.RunEnd) error {
	if r.d.dead.Load() {
		return nil
	}
	return r.OpenRun.End(ctx, e)
}

// durableTool returns a Go tool that does what do says.
func durableTool(name string, class engine.Class, do func(call agentscript.ToolCallInfo) (string, error)) agentscript.Option {
	t := agentscript.HostTool{Do: func(_ context.Context, call agentscript.ToolCallInfo, _ generable.Value) (generable.Value, error) {
		out, err := do(call)
		return generable.StrOf(out), err
	}}
	t.Name, t.Doc, t.Class, t.Returns = name, "Does it.", class, generable.StrT
	t.Params = &generable.Type{Kind: generable.RecordType, Name: name}
	return agentscript.WithTool(t)
}

// callsOnce is a model that calls its tools once and then answers with their results.
var callsOnce = engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
	req := e.Req.(*model.Request)
	last := req.Messages[len(req.Messages)-1]
	r := &model.Response{Finish: model.FinishCalls}
	if last.Role == model.RoleUser && len(req.Tools) > 0 {
		for i, t := range req.Tools {
			r.Parts = append(r.Parts, model.Part{Kind: model.PartCall, Call: &model.ToolCall{ID: fmt.Sprint("c", i), Name: t.Name, Args: "{}"}})
		}
		return engine.Outcome{Response: r, Attempt: 1}
	}
	r.Finish = model.FinishStop
	var said []string
	for _, p := range last.Parts {
		if p.Result != nil {
			said = append(said, p.Result.Text)
		} else {
			said = append(said, p.Text)
		}
	}
	r.Parts = []model.Part{{Kind: model.PartText, Text: strings.Join(said, ",")}}
	return engine.Outcome{Response: r, Attempt: 1}
})

// durableScript loads a script into a host with a store.
func durableScript(t *testing.T, s engine.Store, text string, opts ...agentscript.Option) (*agentscript.Engine, *agentscript.Module) {
	t.Helper()
	eng := agentscript.New(append([]agentscript.Option{agentscript.WithStore(s), agentscript.WithModels(callsOnce), agentscript.WithDefaultModel("test/model")}, opts...)...)
	mod, err := eng.Load(t.Context(), fstest.MapFS{"main.star": {Data: []byte(text)}}, "main.star")
	if err != nil {
		t.Fatal(err)
	}
	return eng, mod
}

// unknownPay starts a run whose process dies after its payment and before the result of that is recorded.
func unknownPay(t *testing.T, text string) (s engine.Store, paid *atomic.Int32, tool agentscript.Option, id string) {
	t.Helper()
	s, paid = store.NewMemory(), &atomic.Int32{}
	var dead *dying
	tool = durableTool("pay", engine.ClassOnce, func(agentscript.ToolCallInfo) (string, error) {
		paid.Add(1)
		if dead != nil {
			dead.dead.Store(true)
		}
		return "paid", nil
	})
	dead = diesAt(s, 0, false)
	_, mod := durableScript(t, dead, text, tool)
	run := mod.Start(t.Context(), agentscript.Input("x"), agentscript.ParkRun())
	if _, err := run.Wait(); err == nil {
		t.Fatal("the process did not die")
	}
	dead = nil
	if paid.Load() != 1 {
		t.Fatalf("%d payments", paid.Load())
	}
	return s, paid, tool, run.ID()
}

const payScript = `
clerk = agent("clerk", prompt = "Pay.", tools = [pay])
main = clerk
`

// waiting returns the waiting steps of a run.
func waiting(t *testing.T, s engine.Store, id string) (steps []engine.Step) {
	t.Helper()
	if err := s.Steps(t.Context(), id, 0, func(step engine.Step) error {
		if step.State == engine.StepWaiting {
			steps = append(steps, step)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return steps
}

// Promise 30.10 (durable): an effect of class once whose process died between intent and result is not carried out
// again: the run parks, and continues with a result, with a failure, or by repeating the effect.
func TestPromise_30_10_UnknownIsAsked(t *testing.T) {
	failed := "the bank refused"
	for _, tt := range []struct {
		answer engine.Answer
		says   string
		paid   int32
	}{
		{engine.Answer{Result: json.RawMessage(`"paid, says the bank"`)}, "paid, says the bank", 1},
		{engine.Answer{Failed: &failed}, "error: the bank refused", 1},
		{engine.Answer{Again: true}, "paid", 2},
	} {
		s, paid, tool, id := unknownPay(t, payScript)
		eng, _ := durableScript(t, s, payScript, tool)
		_, err := eng.Resume(t.Context(), id, agentscript.ParkRun()).Wait()
		if codeOf(err) != diag.UnknownEffect || paid.Load() != 1 {
			t.Fatalf("%v after %d payments", err, paid.Load())
		}
		steps := waiting(t, s, id)
		if len(steps) != 1 || steps[0].Name != "pay" {
			t.Fatalf("%+v", steps)
		}
		if err := eng.Signal(t.Context(), id, steps[0].ID, "", tt.answer); err != nil {
			t.Fatal(err)
		}
		out, err := eng.Resume(t.Context(), id, agentscript.ParkRun()).Wait()
		if err != nil || out.Text() != tt.says || paid.Load() != tt.paid {
			t.Errorf("%+v: %q %v after %d payments, want %q after %d", tt.answer, out.Text(), err, paid.Load(), tt.says, tt.paid)
		}
	}
}

// Promise 30.11 (durable): on_unknown of a tool, a server or the run accepts ask, fail, retry or a function, and each
// takes effect.
func TestPromise_30_11_OnUnknown(t *testing.T) {
	script := func(decl, word string) string {
		return decl + `
clerk = agent("clerk", prompt = "Pay.", tools = [tool(pay` + word + `)])
main = clerk
`
	}
	for _, tt := range []struct {
		name, decl, word string
		run              engine.OnUnknown
		says             string
		paid             int32
	}{
		{"ask", "", `, on_unknown = "ask"`, engine.UnknownRetry, "", 1},
		{"fail", "", `, on_unknown = "fail"`, engine.UnknownUnset, `error: it is unknown whether tool "pay" was carried out: its process ended before it could say`, 1},
		{"retry", "", `, on_unknown = "retry"`, engine.UnknownUnset, "paid", 2},
		{"the run", "", "", engine.UnknownRetry, "paid", 2},
		{"a function that knows", "def look(call = ToolFailure):\n    return fixed(call.kind + \" \" + call.tool)\n", ", on_unknown = look", engine.UnknownUnset, "unknown pay", 1},
		{"one that has it made again", "def look(call):\n    return again()\n", ", on_unknown = look", engine.UnknownUnset, "paid", 2},
		{"one that gives up", "def look(call):\n    return give_up(\"not seen\")\n", ", on_unknown = look", engine.UnknownUnset, "error: not seen", 1},
		{"one that does not know", "def look(call):\n    return None\n", ", on_unknown = look", engine.UnknownUnset, "", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := script(strings.ReplaceAll(tt.decl, "(call = ToolFailure)", "(call)"), tt.word)
			s, paid, tool, id := unknownPay(t, text)
			eng, _ := durableScript(t, s, text, tool)
			out, err := eng.Resume(t.Context(), id, agentscript.ParkRun(), agentscript.OnUnknown(tt.run)).Wait()
			switch {
			case tt.says == "" && (!errors.Is(err, agentscript.ErrApproval) || len(waiting(t, s, id)) != 1):
				t.Errorf("it is not asked: %q %v", out.Text(), err)
			case tt.says != "" && (err != nil || out.Text() != tt.says):
				t.Errorf("%q %v, want %q", out.Text(), err, tt.says)
			}
			if paid.Load() != tt.paid {
				t.Errorf("%d payments, want %d", paid.Load(), tt.paid)
			}
		})
	}
}

// Promise 30.13 (durable): models and tools that may be repeated are called again under the same key, which is sent
// with requests and to tools and servers.
func TestPromise_30_13_IdempotencyKeys(t *testing.T) {
	var mu sync.Mutex
	keys := map[string][]string{} // by call
	seen := func(what, key string) {
		mu.Lock()
		defer mu.Unlock()
		keys[what] = append(keys[what], key)
	}
	var dead *dying
	died := "" // the operation in which the process dies
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen("model", r.Header.Get("Idempotency-Key"))
		body, _ := io.ReadAll(r.Body)
		if died == "model" && bytes.Contains(body, []byte(`"tool_call_id"`)) {
			dead.dead.Store(true) // after the tools were called
		}
		w.Header().Set("Content-Type", "application/json")
		if bytes.Contains(body, []byte(`"tool_call_id"`)) {
			_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
			return
		}
		_, _ = io.WriteString(w, `{"choices":[{"message":{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"put","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"keep","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)
	}))
	defer provider.Close()
	files := sdk.NewServer(&sdk.Implementation{Name: "files", Version: "1"}, nil)
	sdk.AddTool(files, &sdk.Tool{Name: "keep"}, func(_ context.Context, r *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		key, _ := r.Params.Meta["agentscript/idempotencyKey"].(string)
		seen("server", key)
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "kept"}}}, nil, nil
	})
	server := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return files }, nil))
	defer server.Close()
	text := `
files = mcp(url = "` + server.URL + `", effect = "idempotent")
clerk = agent("clerk", prompt = "Go.", model = "compat/m", tools = [put, files])
main = clerk
`
	put := durableTool("put", engine.ClassIdempotent, func(call agentscript.ToolCallInfo) (string, error) {
		seen("tool", call.Run+"/"+call.ID)
		if died == "tool" {
			dead.dead.Store(true)
		}
		return "put", nil
	})
	registry := llm.New(llm.WithBaseURL("compat", provider.URL))
	s, id := store.NewMemory(), ""
	process := func(dies string) error {
		died = dies
		dead = diesAt(s, 0, false)
		client := mcp.New(mcp.WithAllow(func(capability.Use) error { return nil }))
		defer client.Close()
		_, mod := durableScript(t, dead, text, put, agentscript.WithModels(registry), agentscript.WithMCP(client))
		opts := []agentscript.RunOption{agentscript.Input("x")}
		if id != "" {
			opts = []agentscript.RunOption{agentscript.ResumeRun(id)}
		}
		r := mod.Start(t.Context(), opts...)
		_, err := r.Wait()
		id = r.ID()
		return err
	}
	for _, dies := range []string{"tool", "model"} {
		if err := process(dies); err == nil {
			t.Fatal("the process did not die in its " + dies)
		}
	}
	if err := process(""); err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]int{"tool": 2, "model": 3} {
		if got := keys[what]; len(got) != want || got[0] == "" || got[len(got)-1] != got[len(got)-2] {
			t.Errorf("%s: %q", what, got)
		}
	}
	for _, key := range keys["server"] {
		if key != keys["server"][0] || !strings.HasPrefix(key, id+"/") {
			t.Errorf("the server: %q", keys["server"])
		}
	}
}

// Promise 30.14 (durable): a failure that the script handled is an answer on resume. The failure that ended the run is
// retried, with raised limits too.
func TestPromise_30_14_CaughtFailures(t *testing.T) {
	const text = `
flaky = agent("flaky", prompt = "Go.", model = "test/flaky")
down = agent("down", prompt = "Go.", model = "test/down")
last = agent("last", prompt = "Go.")
def main(x = str):
    kept = attempt(flaky, x)
    said = "caught" if not kept.ok else kept.value
    also = fallback([lambda: flaky(x + "!"), lambda: last(said)])
    return last(down(also))
`
	s := store.NewMemory()
	calls, up := map[string]int{}, false
	models := engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
		calls[e.Agent]++
		if !up && e.Name != "test/model" {
			return engine.Failed(engine.Errorf(engine.KindServer, "", "%s is down", e.Name))
		}
		return callsOnce(ctx, e, sink)
	})
	eng, mod := durableScript(t, s, text, agentscript.WithModels(models))
	run := mod.Start(t.Context(), agentscript.Input("x"))
	if _, err := run.Wait(); err == nil || !strings.Contains(err.Error(), "test/down is down") {
		t.Fatal(err)
	}
	up = true
	out, err := eng.Resume(t.Context(), run.ID()).Wait()
	if err != nil || out.Text() != "caught" {
		t.Fatalf("%q %v", out.Text(), err)
	}
	if calls["flaky"] != 2 || calls["down"] != 2 || calls["last"] != 2 {
		t.Errorf("calls: %v", calls)
	}
	t.Run("limits", func(t *testing.T) {
		eng, mod := durableScript(t, store.NewMemory(), "a = agent(\"a\", prompt = \"Go.\")\nb = agent(\"b\", prompt = \"Go.\")\nmain = a >> b\n")
		run := mod.Start(t.Context(), agentscript.Input("x"), agentscript.RunLimits(engine.Limits{ModelCalls: engine.AtMost(1)}))
		if _, err := run.Wait(); !errors.Is(err, agentscript.ErrBudget) {
			t.Fatal(err)
		}
		if _, err := eng.Resume(t.Context(), run.ID(), agentscript.RunLimits(engine.Limits{ModelCalls: engine.AtMost(1)})).Wait(); !errors.Is(err, agentscript.ErrBudget) {
			t.Errorf("with the same limit: %v", err)
		}
		out, err := eng.Resume(t.Context(), run.ID(), agentscript.RunLimits(engine.Limits{ModelCalls: engine.AtMost(2)})).Wait()
		if err != nil || out.Text() != "x" {
			t.Errorf("with a raised limit: %q %v", out.Text(), err)
		}
	})
}

// Promise 30.15 (durable): the row of a model call contains the decoded value in addition to the raw answer, and a
// resumed run uses that value.
func TestPromise_30_15_ValueBesideText(t *testing.T) {
	const text = `
Point = schema("A point", x = int, y = field(int | None))
where = agent("where", output = Point, prompt = "Go.")
def main(x = str):
    p = where(x)
    wait("go")
    return p
`
	s := store.NewMemory()
	says := engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		return engine.Outcome{Response: &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: "It is {x: 1, 'y': 2,}."}}}, Attempt: 1}
	})
	_, mod := durableScript(t, s, text, agentscript.WithModels(says))
	run := mod.Start(t.Context(), agentscript.Input("x"), agentscript.ParkRun())
	if _, err := run.Wait(); !errors.Is(err, agentscript.ErrApproval) {
		t.Fatal(err)
	}
	held := store.NewMemory()
	head, err := s.Run(t.Context(), run.ID())
	if err != nil {
		t.Fatal(err)
	}
	open, err := held.CreateRun(t.Context(), head.RunHead, engine.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	// Another decoder would have read the text differently: the row contains what this one read.
	if err := s.Steps(t.Context(), run.ID(), 0, func(step engine.Step) error {
		if step.Kind == engine.EffectModel {
			if !bytes.Contains(step.Outcome, []byte(`{"x":1,"y":2}`)) || !bytes.Contains(step.Outcome, []byte("'y'")) {
				t.Errorf("the row is %s", step.Outcome)
			}
			step.Outcome = bytes.Replace(step.Outcome, []byte(`{"x":1,"y":2}`), []byte(`{"x":1,"y":3}`), 1)
		}
		return open.Put(t.Context(), step, true)
	}); err != nil {
		t.Fatal(err)
	}
	bundle, err := s.Bundle(t.Context(), head.Bundle)
	if err == nil {
		err = errors.Join(held.PutBundle(t.Context(), head.Bundle, bundle), open.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	eng, _ := durableScript(t, held, text, agentscript.WithModels(says))
	if err := eng.Signal(t.Context(), run.ID(), "go", "", engine.Answer{Result: []byte(`"on"`)}); err != nil {
		t.Fatal(err)
	}
	out, err := eng.Resume(t.Context(), run.ID()).Wait()
	if err != nil || out.Text() != `{"x":1,"y":3}` {
		t.Errorf("%s %v", out.Text(), err)
	}
}

// Promise 30.16 (durable): rows with fields that are unknown to this version can be read.
func TestPromise_30_16_NewerRows(t *testing.T) {
	var file bytes.Buffer
	var calls atomic.Int32
	model := agentscript.HandlerFor(engine.EffectModel, echoing(&calls))
	mod := loaded(t, agentscript.New(), asksTwice)
	if _, err := mod.Start(t.Context(), agentscript.InputText("a"), model, agentscript.RecordRun(runfile.NewWriter(&file, nil))).Wait(); err != nil {
		t.Fatal(err)
	}
	later := strings.ReplaceAll(strings.ReplaceAll(file.String(), `{"`, `{"later":[{}],"`), `"files":{"later":[{}],"flow`, `"files":{"flow`)
	if strings.Count(later, "later") < 12 {
		t.Fatal(later)
	}
	r, err := cassette.Replay(strings.NewReader(later), "x.run", nil)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := mod.Start(t.Context(), agentscript.InputText("a"), agentscript.HandlerFor(engine.EffectModel, r)).Wait(); err != nil || res.Text() != "<<a>>" {
		t.Errorf("%v, %v", res, err)
	}
	// A run that a newer version started is resumed.
	kept := store.NewMemory()
	head, steps, _, _ := runFile(t, []byte(later))
	run, err := kept.CreateRun(t.Context(), head.RunHead, engine.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	host := agentscript.New(agentscript.WithStore(kept), agentscript.WithModels(echoing(&calls)))
	mod = loaded(t, host, asksTwice)
	if err := errors.Join(run.Put(t.Context(), steps[0], true), run.Close()); err != nil {
		t.Fatal(err)
	}
	calls.Store(0)
	if res, err := mod.Start(t.Context(), agentscript.ResumeRun(head.ID)).Wait(); err != nil || res.Text() != "<<a>>" || calls.Load() != 1 {
		t.Errorf("%v, %v after %d calls", res, err, calls.Load())
	}
}
