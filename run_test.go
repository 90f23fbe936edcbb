package agentscript_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/tmc/langchaingo/llms"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
)

// A host's handler that ends its goroutine does not make a run look successful.
func TestHandlerThatLeavesItsGoroutine(t *testing.T) {
	leaves := engine.HandlerFunc(func(context.Context, *engine.Effect, engine.Sink) engine.Outcome {
		runtime.Goexit()
		return engine.Outcome{}
	})
	mod, err := agentscript.New(agentscript.WithModels(leaves)).Load(t.Context(), script(`main = agent(prompt = "x")`), "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := mod.Start(t.Context(), agentscript.Input("x")).Wait(); err == nil {
		t.Error("the run succeeded")
	}
}

// hosts is a scheduler of the host that counts the effects it was asked to run.
type hosts struct {
	engine.Sched
	effects *int
}

func (h hosts) Par(n, limit int, body func(int, engine.Sched) error) error {
	return h.Sched.Par(n, limit, func(i int, s engine.Sched) error { return body(i, hosts{s, h.effects}) })
}

func (h hosts) Do(to engine.Handler, e *engine.Effect, sink engine.Sink) engine.Outcome {
	*h.effects++
	return h.Sched.Do(to, e, sink)
}

// A run on a scheduler of the host has ended when Start returns, and has used no goroutine of the engine.
func TestRunOnTheCallersGoroutine(t *testing.T) {
	ok := "ok"
	mod := flow(t, "a = agent(prompt = \"A.\")\nb = agent(prompt = \"B.\")\nmain = a / b\n",
		agentscript.WithModels(scripted.New([]scripted.Row{{Agent: "*", Text: &ok, Delay: time.Hour, Repeat: true}})))
	effects := 0
	run := mod.Start(t.Context(), agentscript.Input("x"), agentscript.Scheduler(hosts{sched.NewCoopSched(1), &effects}))
	select {
	case <-run.Done():
	default:
		t.Fatal("the run goes on")
	}
	if res, err := run.Wait(); err != nil || res.JSON() != `["ok","ok"]` || effects != 2 {
		t.Errorf("%s, %v, %d effects", res.JSON(), err, effects)
	}
}

// refusing records and refuses whatever a replay asks for.
func refusing(asked *[]string) engine.Handler {
	return engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		*asked = append(*asked, e.Agent)
		return engine.Failed(engine.Errorf(engine.KindReplay, diag.ReplayMismatch, "%s is not recorded", e.ID()))
	})
}

func answering(f func(ctx context.Context, agent string) engine.Outcome) engine.Handler {
	return engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome { return f(ctx, e.Agent) })
}

func saying(text string) engine.Outcome {
	return engine.Outcome{Attempt: 1, Response: &model.Response{Finish: model.FinishStop, Parts: []model.Part{{Kind: model.PartText, Text: text}}}}
}

var busy = engine.Failed(engine.Errorf(engine.KindRateLimit, diag.ProviderError, "slow down"))

// stopped is the failure of a closed connection.
var stopped = engine.Failed(engine.Errorf(engine.KindNetwork, diag.ProviderError, "closed"))

// A recorded failure is an answer like any other: the run fails again, and nothing is asked, even if the handler
// would now answer.
func TestReplayOfAFailedRun(t *testing.T) {
	mod, err := agentscript.New().Load(t.Context(), script("a = agent(prompt = \"A.\")\nb = agent(prompt = \"B.\")\nmain = a >> b\n"), "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	record := &store.Memory{}
	start := func(h engine.Handler) error {
		_, err := mod.Start(t.Context(), agentscript.Input("x"), agentscript.ID("run"), agentscript.HandlerForAll(h), agentscript.RunJournal(record)).Wait()
		return err
	}
	first := start(answering(func(_ context.Context, agent string) engine.Outcome {
		if agent == "b" {
			return busy
		}
		return saying("fine")
	}))
	var asked []string
	second := start(refusing(&asked))
	if !errors.Is(first, engine.ErrRateLimit) || second == nil || second.Error() != first.Error() || asked != nil {
		t.Errorf("first %v, then %v, asked %v", first, second, asked)
	}
}

// What a failing branch stopped is not recorded. A replay asks the handler for it, or stops it again before that: the
// order of the branches decides which.
func TestReplayOfAFailedFanOut(t *testing.T) {
	mod, err := agentscript.New().Load(t.Context(), script("slow = agent(prompt = \"S.\")\nquick = agent(prompt = \"Q.\")\nmain = slow / quick\n"), "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for seed := range uint64(40) {
		record := &store.Memory{}
		begun := make(chan struct{})
		_, first := mod.Start(t.Context(), agentscript.Input("x"), agentscript.ID("run"), agentscript.RunJournal(record),
			agentscript.HandlerForAll(answering(func(ctx context.Context, agent string) engine.Outcome {
				if agent == "slow" {
					close(begun)
					<-ctx.Done()
					return stopped
				}
				<-begun
				return busy
			}))).Wait()
		ids := record.IDs()
		if !errors.Is(first, engine.ErrRateLimit) || len(ids) != 1 || !strings.Contains(ids[0], "agent:quick") {
			t.Fatalf("%v, recorded %v", first, ids)
		}
		var asked []string
		_, second := mod.Start(t.Context(), agentscript.Input("x"), agentscript.ID("run"), agentscript.RunJournal(record),
			agentscript.HandlerForAll(refusing(&asked)), agentscript.Cooperative(seed)).Wait()
		var e *engine.Error
		if !errors.As(second, &e) {
			t.Fatal(second)
		}
		switch {
		case asked == nil && second.Error() == first.Error():
			seen["the same error"] = true
		case slices.Equal(asked, []string{"slow"}) && e.Code == diag.ReplayMismatch:
			seen["asked"] = true
			if len(record.IDs()) != 2 { // the refusal is an outcome, too
				t.Errorf("recorded %v", record.IDs())
			}
		default:
			t.Errorf("seed %d: %v, asked %v", seed, second, asked)
		}
	}
	if len(seen) != 2 {
		t.Errorf("only %v", seen)
	}
}

// What a time limit stopped is not recorded, and time is not replayed: the second run continues.
func TestReplayOfARunOutOfTime(t *testing.T) {
	mod, err := agentscript.New().Load(t.Context(), script("main = agent(prompt = \"A.\")\n"), "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	record := &store.Memory{}
	opts := []agentscript.RunOption{agentscript.Input("x"), agentscript.RunJournal(record)}
	_, first := mod.Start(t.Context(), append(opts, agentscript.RunLimits(engine.Limits{Wall: time.Millisecond}), agentscript.HandlerForAll(answering(func(ctx context.Context, _ string) engine.Outcome {
		<-ctx.Done()
		return stopped
	})))...).Wait()
	if !errors.Is(first, engine.ErrTimeout) || record.IDs() != nil {
		t.Fatalf("%v, recorded %v", first, record.IDs())
	}
	res, err := mod.Start(t.Context(), append(opts, agentscript.HandlerForAll(answering(func(context.Context, string) engine.Outcome { return saying("late") })))...).Wait()
	if err != nil || res.Text() != "late" {
		t.Errorf("%q, %v", res.Text(), err)
	}
}

// An approval after the run was cancelled starts nothing any more, neither a tool of the script nor what comes after
// approve(...). The decision is recorded, so that a resumed run asks nobody.
func TestApprovedTooLate(t *testing.T) {
	for name, src := range map[string]string{
		"a tool of the script": "def pay():\n    \"\"\"Pays.\"\"\"\n    print(\"began\")\n    return \"paid\"\nmain = agent(prompt = \"A.\", tools = [pay])\n",
		"approve":              "def main(x = str):\n    approve(\"Pay?\")\n    print(\"began\")\n    return \"end\"\n",
	} {
		t.Run(name, func(t *testing.T) {
			models := engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
				part, finish := model.Part{Kind: model.PartText, Text: "end"}, model.FinishStop
				if len(e.Req.(*model.Request).Messages) == 1 {
					part, finish = model.Part{Kind: model.PartCall, Call: &model.ToolCall{ID: "1", Name: "pay", Args: "{}"}}, model.FinishCalls
				}
				return engine.Outcome{Response: &model.Response{Finish: finish, Parts: []model.Part{part}}}
			})
			ask, err := policy.New("the host", policy.Rules{Ask: []string{"pay"}})
			if err != nil {
				t.Fatal(err)
			}
			if name == "approve" {
				ask = nil
			}
			var asked, began atomic.Int64
			waits := make(chan struct{}, 2)
			eng := agentscript.New(agentscript.WithModels(models), agentscript.WithDefaultModel("acme/x"), agentscript.WithPolicy(ask),
				agentscript.WithApproval(func(ctx context.Context, _ *engine.ApprovalRequest) (engine.Decision, error) {
					asked.Add(1)
					waits <- struct{}{}
					<-ctx.Done()
					return engine.Approve(), nil
				}))
			mod, err := eng.Load(t.Context(), script(src), "flow.star")
			if err != nil {
				t.Fatal(err)
			}
			in := agentscript.InputText("x")
			if name == "approve" {
				in = agentscript.Args(map[string]any{"x": "x"})
			}
			record := &store.Memory{}
			opts := []agentscript.RunOption{in, agentscript.ID("run"), agentscript.RunJournal(record), agentscript.OnEvent(engine.EventLog, func(e engine.Event) {
				if strings.Contains(e.Text(), "began") {
					began.Add(1)
				}
			})}
			run := mod.Start(t.Context(), opts...)
			<-waits
			run.Cancel()
			if _, err := run.Wait(); !errors.Is(err, engine.ErrCancelled) || began.Load() != 0 {
				t.Fatalf("%v, began %d times", err, began.Load())
			}
			if r, err := mod.Start(t.Context(), opts...).Wait(); err != nil || r.Text() != "end" || began.Load() != 1 || asked.Load() != 1 {
				t.Errorf("resumed: %q, %v; began %d times, asked %d times", r.Text(), err, began.Load(), asked.Load())
			}
		})
	}
}

// leaky is a model that always answers with one text.
type leaky struct{ answer string }

func (l leaky) Call(context.Context, string, ...llms.CallOption) (string, error) {
	return l.answer, nil
}

func (l leaky) GenerateContent(context.Context, []llms.MessageContent, ...llms.CallOption) (*llms.ContentResponse, error) {
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: l.answer, StopReason: "stop"}}}, nil
}

// TestErrorsThatShowValues: an error about a value shows its beginning, and does not contain a key that a model
// disclosed.
func TestErrorsThatShowValues(t *testing.T) {
	const canary = "sk-canary+/=<&>1234567890abcdef"
	registry := llm.New(llm.WithModel("acme/m", leaky{`{"note": "the key is ` + canary + `", "long": "` + strings.Repeat("ü", 5000) + `"}`}, llm.Caps{}),
		llm.WithSecrets(llm.SecretsFunc(func(name string) (string, bool) { return canary, name == "OPENAI_API_KEY" })))
	mod, err := agentscript.New(agentscript.WithModels(registry)).Load(t.Context(), script(`
ask = agent(prompt = "x", model = "acme/m", output = any)
main = ask >> fn(lambda n: n + 1, input = int, output = int)
`), "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	_, err = mod.Start(t.Context(), agentscript.Input("x")).Wait()
	var e *engine.Error
	if !errors.As(err, &e) || e.Code != "AS705" {
		t.Fatalf("got %v", err)
	}
	texts := e.Error() + e.Message + e.Help
	for cause := errors.Unwrap(e); cause != nil; cause = errors.Unwrap(cause) {
		texts += cause.Error()
	}
	if strings.Contains(texts, "canary") || !strings.Contains(texts, "[redacted]") {
		t.Errorf("the key is not redacted: %s", texts)
	}
	_, shown, _ := strings.Cut(e.Message, "returned ")
	if n := utf8.RuneCountInString(shown); n < 20 || n > 61 {
		t.Errorf("%d runes of the value are shown: %s", n, shown)
	}
}
