package llm

import (
	"net/http"
	"reflect"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/internal/wire"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
)

// TestGeminiClient compares what the client hands up with what was decoded below it.
func TestGeminiClient(t *testing.T) {
	s := llmtest.New(llmtest.Reply{
		Text: "Größe <b>", Reasoning: "hm", In: 12, Out: 7, Repeat: true,
		Calls: []llmtest.Call{{ID: "c1", Name: "f", Args: `{"x":1}`}, {ID: "c2", Name: "g", Args: `{}`}},
	})
	defer s.Close()
	m, err := buildGemini(connection{base: s.Gemini(), http: &http.Client{Transport: &wire.Transport{Base: http.DefaultTransport}}})
	if err != nil {
		t.Fatal(err)
	}
	messages := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeHuman, "x")}
	for _, stream := range []bool{false, true} {
		x := &wire.Exchange{Plan: wire.Plan{
			Provider: "google", Model: "m", Origin: s.URL, Dialect: &wire.Gemini{}, Stream: stream,
			Request: &engine.Request{Messages: []engine.Message{engine.TextMessage(engine.RoleUser, "x")}},
		}}
		got, err := m.GenerateContent(wire.With(t.Context(), x), messages, llms.WithModel("m"))
		if err != nil || x.Err != nil {
			t.Fatal(err, x.Err)
		}
		ch := got.Choices[0]
		if ch.Content != x.Response.Text() || ch.Content != "Größe <b>" || ch.ReasoningContent != "hm" || ch.StopReason != "STOP" || ch.GenerationInfo["PromptTokens"] != 12 || ch.GenerationInfo["CompletionTokens"] != 7 {
			t.Errorf("the client sees %+v", ch)
		}
		want := []llms.ToolCall{
			{ID: "c1", Type: "function", FunctionCall: &llms.FunctionCall{Name: "f", Arguments: `{"x":1}`}},
			{ID: "c2", Type: "function", FunctionCall: &llms.FunctionCall{Name: "g", Arguments: "{}"}},
		}
		if !reflect.DeepEqual(ch.ToolCalls, want) {
			t.Errorf("calls %+v", ch.ToolCalls)
		}
	}
	if _, err := m.GenerateContent(t.Context(), messages); err == nil || len(s.Requests()) != 2 {
		t.Errorf("without a plan: %v after %d requests", err, len(s.Requests()))
	}
}
