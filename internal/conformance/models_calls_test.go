package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"go.starlark.net/starlark"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/event"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/hang"
	"github.com/agentscript/agentscript/starlib"
)

// providerError returns a refusal of a provider, in OpenAI's format.
func providerError(status int, code, message string) llmtest.Reply {
	return llmtest.Reply{Status: status, Body: fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error","code":%q}}`, message, code)}
}

// Promise 6.5 (models): wrong keys, rate limits, overlong contexts, refusals and timeouts are distinct errors.
func TestPromise_6_5_TypedErrors(t *testing.T) {
	limited := providerError(429, "rate_limit_exceeded", "Slow down")
	limited.Header = map[string]string{"Retry-After": "2"}
	for _, c := range []struct {
		name, model string
		reply       llmtest.Reply
		kind        engine.ErrKind
		code        string
		says        string // in the message or the remedy
		retry       bool
	}{
		{"wrong key", "openai/x", providerError(401, "invalid_api_key", "Incorrect API key"), engine.KindAuth, "AS720", "OPENAI_API_KEY", false},
		{"rate limit", "openai/x", limited, engine.KindRateLimit, "AS721", "2s", true},
		{"quota", "openai/x", providerError(429, "insufficient_quota", "You exceeded your quota"), engine.KindQuota, "AS721", "billing", false},
		{"overlong context", "openai/x", providerError(400, "context_length_exceeded", "maximum context length is 8192 tokens"), engine.KindContextLength, "AS719", "send less", false},
		{"overlong context of ollama", "ollama/x", llmtest.Reply{Status: 400, Body: `{"error":"prompt too long; exceeded max context length by 10 tokens"}`}, engine.KindContextLength, "AS719", "OLLAMA_CONTEXT_LENGTH", false},
		{"refusal", "openai/x", llmtest.Reply{Refusal: "I cannot help with that."}, engine.KindRefused, "AS710", "I cannot help", false},
		{"content filter", "openai/x", llmtest.Reply{Text: "half an ans", Finish: "content_filter"}, engine.KindRefused, "AS710", "content filter stopped", false},
		{"cut off", "openai/x", llmtest.Reply{Text: "half an ans", Finish: "length"}, engine.KindTruncated, "AS710", "max_tokens", false},
		{"no such model", "openai/x", providerError(404, "model_not_found", "The model does not exist"), engine.KindNotFound, "AS710", "check the model", false},
		{"no such model of ollama", "ollama/qwen:1b", llmtest.Reply{Status: 404, Body: `{"error":"model 'qwen:1b' not found"}`}, engine.KindNotFound, "AS710", "ollama pull qwen:1b", false},
		{"overloaded", "openai/x", llmtest.Reply{Status: 503}, engine.KindOverloaded, "AS710", "503", true},
		{"broken server", "openai/x", llmtest.Reply{Status: 500, Body: "oops"}, engine.KindServer, "AS710", "500", true},
		{"no JSON", "openai/x", llmtest.Reply{Fault: llmtest.Garbage}, engine.KindBadResponse, "AS710", "openai/x", false},
		{"no answer in it", "openai/x", llmtest.Reply{Fault: llmtest.NoChoices}, engine.KindBadResponse, "AS710", "openai/x", false},
		{"an empty answer", "openai/x", llmtest.Reply{}, engine.KindBadResponse, "AS710", "empty", true},
		{"too slow", "openai/x", llmtest.Reply{Fault: llmtest.StallHeaders}, engine.KindTimeout, "AS711", "no answer began within 400ms", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serving(t, c.reply)
			mod := loaded(t, agentscript.New(agentscript.WithModels(connected(t, s, llm.WithTimeouts(stallLimits(c.reply.Fault)))), agentscript.WithDefaultModel(c.model)), plainAgent)
			_, err := mod.Start(t.Context(), input("x")).Wait()
			var e *engine.Error
			if !errors.As(err, &e) || e.Kind != c.kind || string(e.Code) != c.code || !errors.Is(err, &engine.Error{Kind: c.kind}) {
				t.Fatalf("the error is %#v", err)
			}
			if !strings.Contains(e.Message+"\n"+e.Help+"\n"+e.Raw, c.says) {
				t.Errorf("%q (help %q, raw %q) lacks %q", e.Message, e.Help, e.Raw, c.says)
			}
			if e.Path != "main/agent:main#0" || e.Pos.Line != 1 || e.Help == "" && c.kind != engine.KindRefused {
				t.Errorf("at %s in %q, help %q", e.Pos, e.Path, e.Help)
			}
			if e.Model != nil {
				provider, id, _ := strings.Cut(c.model, "/")
				if e.Model.Name != provider || e.Model.Model != id || e.Model.Retryable != c.retry {
					t.Errorf("the model is %+v", e.Model)
				}
			} else if c.kind != engine.KindRefused && c.kind != engine.KindTruncated {
				t.Error("the error does not say which model it is of")
			}
		})
	}
	t.Run("told apart by errors.Is", func(t *testing.T) {
		sentinels := []*engine.Error{engine.ErrAuth, engine.ErrRateLimit, engine.ErrContextLength, engine.ErrRefused, engine.ErrTimeout, engine.ErrCancelled, engine.ErrSchema, engine.ErrBudget}
		for _, a := range sentinels {
			for _, b := range sentinels {
				if is := errors.Is(fmt.Errorf("x: %w", engine.Errorf(a.Kind, "AS710", "y")), b); is != (a == b) {
					t.Errorf("a %s is a %s: %v", a.Kind, b.Kind, is)
				}
			}
		}
	})
}

// Promise 6.6 (models): a model's tool calls are executed and answered until the model gives its result, within the
// turns allowed.
func TestPromise_6_6_ToolLoop(t *testing.T) {
	const src = `
Answer = schema("The answer", value = int)

def multiply(a = int, b = int):
    """Multiplies two integers.

    Args:
      a: the first factor
      b: the second factor
    """
    if b == 0:
        fail("b must not be 0")
    return a * b

main = agent(output = Answer, prompt = "Use the tool.", tools = [multiply, stock], budget = budget(turns = %d))
`
	call := func(id, name, args string) llmtest.Call { return llmtest.Call{ID: id, Name: name, Args: args} }
	for _, name := range []string{"openai/x", "ollama/x", "compat/x", "mistral/x"} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int64
			s := serving(t,
				llmtest.Reply{Text: "Let me see.", Calls: []llmtest.Call{call("call_00a", "multiply", `{"a": 6, "b": 7}`), call("call_00b", "stock", `{"what": "pears"}`)}, In: 10, Out: 2},
				llmtest.Reply{Calls: []llmtest.Call{call("call_00c", "multiply", `{"a": 1, "b": 0}`), call("call_00d", "divide", `{}`), call("call_00e", "multiply", `{"a": "many"}`), call("call_00f", "stock", `{"what": "snakes"}`)}, In: 20, Out: 2},
				llmtest.Reply{Text: `{"value": 42}`, In: 30, Out: 2})
			mod := loaded(t, agentscript.New(agentscript.WithModels(connected(t, s)), agentscript.WithDefaultModel(name), agentscript.WithTool(*stock(&calls))), fmt.Sprintf(src, 3))
			var used model.Usage
			var seen []string
			res, err := mod.Start(t.Context(), input("x"), agentscript.OnEvent(engine.EventEffect|engine.EventTool, func(e engine.Event) {
				if d, ok := e.Data.(*event.Effect); ok && d.Usage != nil {
					used = used.Add(*d.Usage)
				}
				if e.Kind == engine.EventTool && e.Phase() == engine.PhaseStart {
					seen = append(seen, e.Name())
				}
			})).Wait()
			if err != nil || res.JSON() != `{"value":42}` || calls.Load() != 2 || used.In != 60 || len(seen) != 6 {
				t.Fatalf("%s, %v; %d calls of stock, used %+v, seen %v", res.JSON(), err, calls.Load(), used, seen)
			}
			asked := s.Requests()
			if len(asked) != 3 {
				t.Fatalf("%d requests", len(asked))
			}
			first, _ := asked[0].JSON()
			tools := compact(first["tools"])
			for _, part := range []string{`"name":"multiply"`, "Multiplies two integers.", "the first factor", `"required":["a","b"]`, `"name":"stock"`, "Counts what is there."} {
				if !strings.Contains(tools, part) {
					t.Errorf("the tools lack %s: %s", part, tools)
				}
			}
			second, _ := asked[1].JSON()
			if got := results(second); strings.Join(got, "|") != "42|3" {
				t.Errorf("the results are %q", got)
			}
			if !strings.Contains(compact(second["messages"]), "Let me see.") {
				t.Errorf("what the model said is lost: %s", compact(second["messages"]))
			}
			third, _ := asked[2].JSON()
			wrong := results(third)
			for i, want := range []string{"42", "3", "b must not be 0", `there is no tool "divide"; the tools are: multiply, stock`, "bad arguments", "nobody counts snakes"} {
				if len(wrong) != 6 || !strings.Contains(wrong[i], want) {
					t.Errorf("the results are %q, want %q", wrong, want)
					break
				}
			}
		})
	}
	t.Run("turns", func(t *testing.T) {
		s := serving(t, llmtest.Reply{Calls: []llmtest.Call{call("a", "multiply", `{"a": 1, "b": 1}`)}, Repeat: true})
		mod := loaded(t, agentscript.New(agentscript.WithModels(connected(t, s)), agentscript.WithDefaultModel("openai/x"), agentscript.WithTool(*stock(new(atomic.Int64)))), fmt.Sprintf(src, 2))
		_, err := mod.Start(t.Context(), input("x")).Wait()
		refusedFor(t, "a model that only calls", err, "AS704", "2 turns")
		if n := len(s.Requests()); n != 2 {
			t.Errorf("%d requests", n)
		}
	})
	t.Run("calls of one turn run at the same time", func(t *testing.T) {
		together := newMeeting(t, 3)
		tool := *stock(new(atomic.Int64))
		do := tool.Do
		tool.Do = func(ctx context.Context, info agent.ToolCallInfo, args generable.Value) (generable.Value, error) {
			if !together.arrive(ctx) {
				return generable.Value{}, errors.New("called alone")
			}
			return do(ctx, info, args)
		}
		ask := `{"what": "pears"}`
		s := serving(t, llmtest.Reply{Calls: []llmtest.Call{call("a", "stock", ask), call("b", "stock", ask), call("c", "stock", ask)}}, llmtest.Reply{Text: `{"value": 3}`})
		mod := loaded(t, agentscript.New(agentscript.WithModels(connected(t, s)), agentscript.WithDefaultModel("openai/x"), agentscript.WithTool(tool)), fmt.Sprintf(src, 2))
		if _, err := mod.Start(t.Context(), input("x")).Wait(); err != nil {
			t.Fatal(err)
		}
		body, _ := s.Requests()[1].JSON()
		if got := strings.Join(results(body), "|"); got != "3|3|3" {
			t.Errorf("the results are %s", got)
		}
	})
}

// results returns the texts of a request's tool results, in order.
func results(body map[string]any) []string {
	var out []string
	for _, m := range messages(body) {
		if text, ok := strings.CutPrefix(m, "tool: "); ok {
			out = append(out, text)
		}
	}
	return out
}

// Promise 6.8 (models): cancelling a run cancels the request in flight.
func TestPromise_6_8_CancelInFlight(t *testing.T) {
	for _, name := range []string{"openai/x", "ollama/x"} {
		for how, fault := range map[string]llmtest.Fault{"before an answer began": llmtest.StallHeaders, "midway": llmtest.StallStream} {
			t.Run(name+" "+how, func(t *testing.T) {
				ended := make(chan struct{}, 1)
				s := watched(t, llmtest.Reply{Text: "one two three four five six", Fault: fault}, ended)
				mod := loaded(t, agentscript.New(agentscript.WithModels(connected(t, s)), agentscript.WithDefaultModel(name)), plainAgent)
				opts := []agentscript.RunOption{input("x")}
				midway := make(chan struct{}, 9)
				if fault == llmtest.StallStream {
					opts = append(opts, agentscript.OnEvent(engine.EventToken, func(engine.Event) { midway <- struct{}{} }))
				}
				run := mod.Start(t.Context(), opts...)
				if fault == llmtest.StallStream {
					<-midway
				} else {
					hang.Until(t, "the provider is asked", func() bool { return len(s.Requests()) == 1 })
				}
				run.Cancel()
				_, err := run.Wait()
				if !errors.Is(err, engine.ErrCancelled) {
					t.Errorf("%v", err)
				}
				select { // the provider sees that nobody waits any more
				case <-ended:
				case <-hang.Context(t).Done():
					t.Error("the request goes on")
				}
			})
		}
	}
	t.Run("when a sibling fails", func(t *testing.T) {
		ended := make(chan struct{}, 1)
		s := watched(t, llmtest.Reply{Fault: llmtest.StallHeaders}, ended)
		eng := agentscript.New(agentscript.WithModels(connected(t, s)), agentscript.WithDefaultModel("openai/x"), builtin("surrender", func(*starlib.Call) (starlark.Value, error) {
			hang.Until(t, "the provider is asked", func() bool { return len(s.Requests()) == 1 })
			return nil, errors.New("gave up")
		}))
		mod := loaded(t, eng, `main = agent(prompt = "A.") / fn(lambda s: surrender(s), input = str, output = str)`)
		if _, err := mod.Start(t.Context(), input("x")).Wait(); err == nil || !strings.Contains(err.Error(), "gave up") {
			t.Errorf("the error is %v", err)
		}
		select {
		case <-ended:
		case <-hang.Context(t).Done():
			t.Error("the request goes on")
		}
	})
}

// watched starts a provider that gives one reply and signals when its caller has disconnected.
func watched(t *testing.T, reply llmtest.Reply, gone chan<- struct{}) *llmtest.Server {
	t.Helper()
	s := serving(t, reply)
	serve := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serve.ServeHTTP(w, r)
		if r.Context().Err() != nil {
			gone <- struct{}{}
		}
	})
	return s
}
