package llm_test

import (
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
)

const (
	searching = `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}}`
	pausedAt  = `{"type":"message","content":[{"type":"text","text":"Let me see. "},` + searching + `],"stop_reason":"pause_turn","usage":{"input_tokens":10,"output_tokens":5,"cache_read_input_tokens":1}}`
	wentOn    = `{"type":"message","content":[{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},{"type":"text","text":"Found."}],"stop_reason":"end_turn","usage":{"input_tokens":30,"output_tokens":7}}`
)

func message(body string) llmtest.Reply { return llmtest.Reply{Body: body, Type: "application/json"} }

// TestPausedAnswers: an answer that Anthropic paused because of its own tools continues, and becomes one answer with
// the total usage.
func TestPausedAnswers(t *testing.T) {
	s := server(t, message(pausedAt), message(strings.Replace(pausedAt, "Let me see", "And again", 1)), message(wentOn))
	var streamed strings.Builder
	e := effect("anthropic/claude-haiku-4-5", prompt("hi"))
	e.Stream = true
	out := port(t, s).Do(t.Context(), e, func(tok engine.Token) { streamed.WriteString(tok.Text) })
	if out.Err != nil {
		t.Fatal(out.Err)
	}
	const all = "Let me see. And again. Found."
	if r := out.Response; r.Text() != all || streamed.String() != all || r.Finish != model.FinishStop || r.Usage.In != 52 || r.Usage.Out != 17 || r.Usage.CacheRead != 2 || len(r.Parts) != 6 {
		t.Errorf("%+v, streamed %q", r, streamed.String())
	}
	requests := s.Requests()
	if len(requests) != 3 {
		t.Fatalf("%d requests", len(requests))
	}
	for i, times := range []int{0, 1, 2} {
		if body := string(requests[i].Body); strings.Count(body, searching) != times || strings.Count(body, `"role":"assistant"`) != min(times, 1) {
			t.Errorf("request %d: %s", i, body)
		}
	}
}

// TestPausedAnswersThatFail: the cost of a paused answer counts even if it does not continue.
func TestPausedAnswersThatFail(t *testing.T) {
	s := server(t, message(pausedAt), llmtest.Reply{Status: 400, Body: `{"type":"error","error":{"type":"invalid_request_error","message":"no"}}`})
	out := port(t, s).Do(t.Context(), effect("anthropic/claude-haiku-4-5", prompt("hi")), nil)
	if out.Err == nil || out.Err.Kind != engine.KindBadRequest || out.Err.Usage.In != 11 || out.Err.Usage.Out != 5 || out.Err.Raw != "Let me see. " {
		t.Errorf("%+v", out.Err)
	}
	s = server(t, llmtest.Reply{Body: pausedAt, Type: "application/json", Repeat: true})
	out = port(t, s).Do(t.Context(), effect("anthropic/claude-haiku-4-5", prompt("hi")), nil)
	if out.Err == nil || out.Err.Kind != engine.KindTruncated || !strings.Contains(out.Err.Error(), "more than 8 times") || out.Err.Usage.Out != 45 || len(s.Requests()) != 9 {
		t.Errorf("%v after %d requests", out.Err, len(s.Requests()))
	}
}
