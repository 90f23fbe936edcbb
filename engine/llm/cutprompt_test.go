package llm_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
)

// A server that silently cuts a prompt has read fewer tokens than the prompt has words.
func TestCutPrompt(t *testing.T) {
	long := strings.Repeat("word ", 10_000)
	result := model.Message{Role: model.RoleTool, Parts: []model.Part{{Kind: model.PartResult, Result: &model.ToolResult{CallID: "a", Text: long}}}}
	for name, row := range map[string]struct {
		model, usage string
		req          *model.Request
		cut          bool
	}{
		"cut":                      {"compat/m", `{"prompt_tokens":2048,"completion_tokens":1}`, prompt(long), true},
		"cut, and partly cached":   {"compat/m", `{"prompt_tokens":2048,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":1024}}`, prompt(long), true},
		"a tool's result is cut":   {"compat/m", `{"prompt_tokens":2048,"completion_tokens":1}`, prompt("x").Extend(result), true},
		"read":                     {"compat/m", `{"prompt_tokens":10009,"completion_tokens":1}`, prompt(long), false},
		"few tokens for its words": {"compat/m", `{"prompt_tokens":5200,"completion_tokens":1}`, prompt(long), false},
		"not counted":              {"compat/m", `{"prompt_tokens":0,"completion_tokens":0}`, prompt(long), false},
		"counted without a system": {"compat/m", `{"prompt_tokens":1,"completion_tokens":1}`, prompt(strings.Repeat("word ", 500)), false},
		"one word":                 {"compat/m", `{"prompt_tokens":2048,"completion_tokens":1}`, prompt(strings.Repeat("word", 10_000)), false},
		"a provider that says so":  {"deepseek/m", `{"prompt_tokens":2048,"completion_tokens":1}`, prompt(long), false},
	} {
		for _, stream := range []bool{false, true} {
			body := `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}],"usage":` + row.usage + `}`
			if stream {
				body = `data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}],"usage":` + row.usage + "}\n\ndata: [DONE]\n\n"
			}
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if stream {
					w.Header().Set("Content-Type", "text/event-stream")
				}
				fmt.Fprint(w, body)
			}))
			r := llm.New(once, env("DEEPSEEK_API_KEY", "sk-deepseek-test"), llm.WithBaseURL("compat", s.URL), llm.WithBaseURL("deepseek", s.URL))
			var sink engine.Sink
			if stream {
				sink = func(engine.Token) {}
			}
			out := r.Do(t.Context(), effect(row.model, row.req), sink)
			r.Close()
			s.Close()
			switch {
			case !row.cut && out.Err != nil:
				t.Errorf("%s: %v", name, out.Err)
			case row.cut && (out.Err == nil || out.Err.Kind != engine.KindContextLength || !strings.Contains(out.Err.Error(), "2048 tokens of 100") || out.Usage.In != 2048):
				t.Errorf("%s: %v, %+v", name, out.Err, out.Usage)
			}
		}
	}
}

// A whole answer with a null finish reason was broken off; a missing reason has no meaning.
func TestUnfinishedAnswer(t *testing.T) {
	for finish, cut := range map[string]bool{`,"finish_reason":null`: true, ``: false, `,"finish_reason":""`: false, `,"finish_reason":"stop"`: false} {
		s := server(t, llmtest.Reply{Body: `{"choices":[{"index":0,"message":{"role":"assistant","content":"tick tick"}` + finish + `}]}`})
		out := ask(port(t, s), "compat/m", prompt("x"))
		if cut && (out.Err == nil || out.Err.Kind != engine.KindTruncated || out.Err.Raw != "tick tick") || !cut && out.Err != nil {
			t.Errorf("%q: %v, %+v", finish, out.Err, out.Response)
		}
	}
}
