package llm_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/hang"
)

// TestAnswers requests the same reply in all dialects, plain and streamed, also from servers that answer in the other
// form than requested.
func TestAnswers(t *testing.T) {
	reply := llmtest.Reply{
		Text: "Größe is a word — ok 🙂", Reasoning: "think a bit", In: 12, Out: 7,
		Calls: []llmtest.Call{{ID: "c1", Name: "compile", Args: `{"path":"ä.go"}`}, {ID: "c2", Name: "now", Args: `{"zone":"UTC"}`}},
	}
	for _, m := range []string{"openai/gpt-5", "ollama/qwen3", "mistral/m", "compat/m", "google/gemini-2.5-flash"} {
		for _, form := range []string{"plain", "stream", "runes", "plain though streamed"} {
			t.Run(m+" "+form, func(t *testing.T) {
				reply := reply
				reply.ByRunes, reply.Plain = form == "runes", form == "plain though streamed"
				s := server(t, reply)
				var r *model.Response
				if form == "plain" {
					r = need(t, ask(port(t, s), m, prompt("x")))
				} else {
					out, text, reasoning := listen(t, port(t, s), m, prompt("x"))
					r = need(t, out)
					if text != reply.Text || reasoning != reply.Reasoning {
						t.Errorf("streamed %q and %q", text, reasoning)
					}
				}
				want := []model.Part{
					{Kind: model.PartReasoning, Text: reply.Reasoning}, {Kind: model.PartText, Text: reply.Text},
					callPart("c1", "compile", `{"path":"ä.go"}`), callPart("c2", "now", `{"zone":"UTC"}`),
				}
				if !reflect.DeepEqual(r.Parts, want) {
					t.Errorf("parts %+v", r.Parts)
				}
				if r.Finish != model.FinishCalls || r.Usage != (model.Usage{In: 12, Out: 7}) {
					t.Errorf("finish %s usage %+v", r.Finish, r.Usage)
				}
				if _, id, _ := strings.Cut(m, "/"); r.Model != id {
					t.Errorf("model %q", r.Model)
				}
			})
		}
	}
}

func TestCallIDsAreMadeUnique(t *testing.T) {
	req := &model.Request{Messages: []model.Message{
		model.TextMessage(model.RoleUser, "x"),
		{Role: model.RoleAssistant, Parts: []model.Part{callPart("call_0", "now", "{}")}},
		{Role: model.RoleTool, Parts: []model.Part{resultPart("call_0", "now", "noon")}},
	}}
	s := server(t, llmtest.Reply{Calls: []llmtest.Call{
		{ID: "call_0", Name: "now", Args: ""}, {Name: "now", Args: ""}, {ID: "same", Name: "now", Args: "null"}, {ID: "same", Name: "now", Args: "{}"},
	}})
	seen := map[string]bool{"call_0": true}
	for _, c := range need(t, ask(port(t, s), "openai/gpt-5", req)).Calls() {
		if c.ID == "" || seen[c.ID] {
			t.Errorf("id %q again", c.ID)
		}
		seen[c.ID] = true
		if c.Args != "{}" {
			t.Errorf("arguments %q", c.Args)
		}
	}
	if len(seen) != 5 {
		t.Errorf("ids %v", seen)
	}
}

func TestMissingUsageIsEstimated(t *testing.T) {
	s := server(t, llmtest.Reply{Text: strings.Repeat("ä", 40), Repeat: true})
	for _, m := range []string{"openai/gpt-5", "ollama/m", "google/gemini-2.5-flash"} {
		r := need(t, ask(port(t, s), m, &model.Request{System: "12345678", Messages: []model.Message{model.TextMessage(model.RoleUser, "1234")}}))
		if r.Usage != (model.Usage{In: 3, Out: 10, Estimated: true}) {
			t.Errorf("%s: %+v", m, r.Usage)
		}
	}
}

func TestLengthIsAnOutcome(t *testing.T) {
	s := server(t, llmtest.Reply{Text: "half a sen", Finish: "length"})
	if r := need(t, ask(port(t, s), "openai/gpt-5", prompt("x"))); r.Finish != model.FinishLength || r.Text() != "half a sen" {
		t.Errorf("%+v", r)
	}
}

func TestLargeArguments(t *testing.T) {
	args := `{"text":"` + strings.Repeat("x", 1<<20) + `"}`
	for _, model := range []string{"openai/gpt-5", "ollama/m", "google/gemini-2.5-flash"} {
		s := server(t, llmtest.Reply{Calls: []llmtest.Call{{ID: "a", Name: "compile", Args: args}}, Repeat: true})
		for _, stream := range []bool{false, true} {
			e := effect(model, prompt("x"))
			e.Stream = stream
			r := need(t, port(t, s).Do(t.Context(), e, func(engine.Token) {}))
			if c := r.Calls(); len(c) != 1 || c[0].Args != args {
				t.Errorf("%s: %d calls", model, len(c))
			}
		}
	}
}

// TestServerThatNeverCloses ends a stream's answer but not its connection.
func TestServerThatNeverCloses(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"done\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"))
		w.(http.Flusher).Flush()
		select {
		case <-stop:
		case <-r.Context().Done():
		}
	}))
	defer s.Close()
	defer close(stop)
	r := llm.New(once, env("OPENAI_API_KEY", "k-of-a-test"), llm.WithBaseURL("openai", s.URL))
	defer r.Close()
	out, text, _ := listen(t, r, "openai/gpt-5", prompt("x"))
	if need(t, out); text != "done" { // the server never ends
		t.Errorf("%q", text)
	}
}

// TestNothingLeaks counts goroutines and connections before and after calls with all kinds of results, from many
// concurrent branches.
func TestNothingLeaks(t *testing.T) {
	s := llmtest.New()
	before := runtime.NumGoroutine()
	s.Close()
	for _, f := range []llmtest.Reply{
		{Text: "a b c d e f g"}, {Text: "a b c d e f g", Fault: llmtest.Cut}, {Text: "a b c d e f g", Fault: llmtest.StallStream},
		{Fault: llmtest.StallHeaders}, {Fault: llmtest.Reset}, {Fault: llmtest.Garbage}, {Status: 429, Body: strings.Repeat("x", 1<<20)},
		{Text: "a b c d e f g", Fault: llmtest.End},
	} {
		f.Repeat = true
		s := llmtest.New(f)
		r := llm.New(once, env("OPENAI_API_KEY", "k-of-a-test"), llm.WithBaseURL("openai", s.OpenAI()), llm.WithBaseURL("ollama", s.Ollama()), llm.WithLimits("", llm.Limits{InFlight: 20}),
			llm.WithTimeouts(llm.Timeouts{Connect: time.Second, FirstByte: 100 * time.Millisecond, Idle: 80 * time.Millisecond}))
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				model := []string{"openai/gpt-5", "ollama/m"}[i%2]
				e := effect(model, prompt("x"))
				e.Stream = i%3 == 0
				out := r.Do(t.Context(), e, func(engine.Token) {})
				if (out.Err == nil) == (out.Response == nil) {
					t.Errorf("%+v: neither answer nor error, or both: %+v", f, out)
				}
			})
		}
		wg.Wait()
		r.Close()
		s.Close()
	}
	hang.Until(t, fmt.Sprintf("%d goroutines run", before), func() bool { return runtime.NumGoroutine() <= before })
}

func TestConnectionsAreReused(t *testing.T) {
	var mu sync.Mutex
	opened := 0
	s := httptest.NewUnstartedServer(nil)
	fake := llmtest.New(llmtest.Reply{Text: "a b", Repeat: true})
	defer fake.Close()
	s.Config.Handler = fake.Config.Handler
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			mu.Lock()
			opened++
			mu.Unlock()
		}
	}
	s.Start()
	defer s.Close()
	r := llm.New(once, env("OPENAI_API_KEY", "k-of-a-test"), llm.WithBaseURL("openai", s.URL+"/v1"), llm.WithBaseURL("ollama", s.URL))
	defer r.Close()
	for i := range 20 {
		e := effect([]string{"openai/gpt-5", "ollama/m"}[i%2], prompt("x"))
		e.Stream = i%4 < 2
		need(t, r.Do(t.Context(), e, func(engine.Token) {}))
	}
	mu.Lock()
	defer mu.Unlock()
	if opened > 2 {
		t.Errorf("%d connections for 20 calls in a row", opened)
	}
}

func TestConcurrentCalls(t *testing.T) {
	s := server(t, llmtest.Reply{Text: "a b c", Calls: []llmtest.Call{{Name: "now", Args: "{}"}}, Repeat: true})
	r := port(t, s)
	req := prompt("x")
	req.Tools = tools()
	req.Digest()
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			out := r.Do(t.Context(), effect([]string{"openai/gpt-5", "ollama/m", "mistral/m", "deepseek/m", "compat/m"}[i%5], req), nil)
			if out.Err != nil || out.Response.Text() != "a b c" {
				t.Error(out.Err)
			}
		})
	}
	wg.Wait()
}

// A model that may not call tools any more may have said everything before.
func TestEmptyAnswerWithoutTools(t *testing.T) {
	for _, m := range []string{"openai/gpt-5", "anthropic/claude-opus-5-5", "ollama/m", "google/gemini-2.5-flash"} {
		s := server(t, llmtest.Reply{In: 5, Out: 1}, llmtest.Reply{In: 5, Out: 1})
		r := prompt("x")
		if err := needErr(t, ask(port(t, s), m, r)); !strings.Contains(err.Message, "the answer is empty") {
			t.Errorf("%s: %v", m, err)
		}
		r = prompt("x")
		r.Tools, r.Choice = tools(), model.ToolChoice{Mode: model.ChoiceNone}
		if answer := need(t, ask(port(t, s), m, r)); answer.Text() != "" || answer.Finish != model.FinishStop {
			t.Errorf("%s: %+v", m, answer)
		}
	}
}
