package llm_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
	"github.com/tmc/langchaingo/llms"
)

// nonsense lists impossible counts.
var nonsense = []string{"-1", "-9223372036854775808", "9223372036854775807", "1e300", "-1e300", `"-5"`, "1000000001"}

// Impossible counts are treated as missing; an impossible detail is left out.
func TestNonsenseUsageIsEstimated(t *testing.T) {
	for _, n := range nonsense {
		for _, c := range []struct{ model, body string }{
			{"compat/m", `{"choices":[{"message":{"content":"12345678"}}],"usage":{"prompt_tokens":` + n + `,"completion_tokens":1}}`},
			{"compat/m", `{"choices":[{"message":{"content":"12345678"}}],"usage":{"prompt_tokens":1,"completion_tokens":` + n + `}}`},
			{"ollama/m", `{"message":{"content":"12345678"},"done":true,"prompt_eval_count":` + n + `,"eval_count":1}`},
			{"ollama/m", `{"message":{"content":"12345678"},"done":true,"prompt_eval_count":1,"eval_count":` + n + `}`},
			{"google/m", `{"candidates":[{"content":{"parts":[{"text":"12345678"}]}}],"usageMetadata":{"promptTokenCount":` + n + `,"candidatesTokenCount":1}}`},
			{"google/m", `{"candidates":[{"content":{"parts":[{"text":"12345678"}]}}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":` + n + `}}`},
		} {
			r := raw(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, c.body) })
			if u := need(t, ask(r, c.model, prompt("1234"))).Usage; u != (model.Usage{In: 4, Out: 2, Estimated: true}) {
				t.Errorf("%s: %+v", c.body, u)
			}
		}
		r := raw(t, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":%[1]s,"prompt_tokens_details":{"cached_tokens":%[1]s},"completion_tokens_details":{"reasoning_tokens":%[1]s}}}`, n)
		})
		if u := need(t, ask(r, "compat/m", prompt("1234"))).Usage; u != (model.Usage{In: 3, Out: 2}) {
			t.Errorf("%s in the details: %+v", n, u)
		}
	}
}

func TestNonsenseUsageOfAHostModel(t *testing.T) {
	for _, n := range []any{-1, int32(-1), int64(-1 << 63), 1e300, -1e300, 1 << 60} {
		for _, name := range []string{"PromptTokens", "CompletionTokens", "InputTokens"} {
			m := &foreign{answer: choices(&llms.ContentChoice{Content: "12345678", GenerationInfo: map[string]any{name: n}})}
			r := llm.New(env(), llm.WithModel("acme/m", m, llm.Caps{}))
			if u := need(t, ask(r, "acme/m", prompt("1234"))).Usage; u != (model.Usage{In: 4, Out: 2, Estimated: true}) {
				t.Errorf("%s = %v: %+v", name, n, u)
			}
		}
	}
}

// A server cannot disable a token budget.
func TestNonsenseUsageDoesNotLiftABudget(t *testing.T) {
	for _, n := range nonsense {
		var calls atomic.Int64
		r := raw(t, func(w http.ResponseWriter, _ *http.Request) {
			calls.Add(1)
			fmt.Fprintf(w, `{"choices":[{"message":{"content":"an answer"}}],"usage":{"prompt_tokens":%s,"completion_tokens":1}}`, n)
		})
		session := flow.NewSession()
		node := session.Agent(site("agent", "a"), &agent.Spec{Name: "a", Prompt: "Say something."})
		for range 4 {
			node = session.Then(site("then", ""), node, session.Agent(site("agent", "a"), &agent.Spec{Name: "a", Prompt: "Say something."}))
		}
		session.Seal()
		_, err := run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: node, Input: generable.StrOf("x"), Handler: r, Model: "compat/m",
			Limits: engine.Limits{Tokens: engine.AtMost(10)}})
		if !errors.Is(err, engine.ErrBudget) || calls.Load() == 5 {
			t.Errorf("%s: %d calls, %v", n, calls.Load(), err)
		}
	}
}

// One answer is requested. If a server sends several, the first one is used, complete.
func TestOneChoiceIsTaken(t *testing.T) {
	for body, want := range map[string]string{
		`{"choices":[{"message":{"content":"a"}},{"message":{"content":"b"}}]}`:                                                      "a",
		`{"choices":[{"index":0,"message":{"content":"a"}},{"index":0,"message":{"content":"b"}}]}`:                                  "a",
		`{"choices":[{"index":1,"message":{"content":"b"}},{"index":0,"message":{"content":"a"}}]}`:                                  "a",
		`{"choices":[{"message":{"content":"a"}},{"message":{"tool_calls":[{"id":"x","function":{"name":"f","arguments":"{}"}}]}}]}`: "a",
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}},{\"delta\":{\"content\":\"b\"}}]}\n\n" +
			"data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"b\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\n": "aa",
	} {
		r := raw(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
		got := need(t, ask(r, "compat/m", prompt("x")))
		if got.Text() != want || len(got.Calls()) != 0 {
			t.Errorf("%s: %q with %d calls", body, got.Text(), len(got.Calls()))
		}
	}
}
