package sdks

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
)

func TestAnthropicRequests(t *testing.T) {
	heldRequests[anthropic.MessageNewParams](t, "anthropic_*.json", 40, func(_ string, _, want map[string]any) {
		delete(want, "stream") // the client adds it depending on the method
		inBlocks(want)
	})
}

// inBlocks converts the short form of a system text and of a tool's result to the form that the client writes: a list
// with one text block.
func inBlocks(request map[string]any) {
	block := func(text any) []any { return []any{map[string]any{"type": "text", "text": text}} }
	if s, ok := request["system"].(string); ok {
		request["system"] = block(s)
	}
	messages, _ := request["messages"].([]any)
	for _, m := range messages {
		content, _ := m.(map[string]any)["content"].([]any)
		for _, b := range content {
			if b := b.(map[string]any); b["type"] == "tool_result" {
				if s, ok := b["content"].(string); ok {
					b["content"] = block(s)
				}
			}
		}
	}
}

// TestAnthropicAnswers checks that the client and this module read the same answers alike, whole and streamed.
func TestAnthropicAnswers(t *testing.T) {
	for name, reply := range map[string]llmtest.Reply{
		"text":     {Text: "one two \"three\" <b>", In: 12, Out: 5},
		"thoughts": {Reasoning: "let me see", Signature: "c2ln", Text: "yes", In: 3, Out: 4},
		"calls":    {Text: "Looking.", In: 5, Out: 9, Calls: []llmtest.Call{{ID: "toolu_1", Name: "compile", Args: `{"path":"a.go","n":[1,2]}`}, {ID: "toolu_2", Name: "now", Args: "{}"}}},
		"cut":      {Text: "par", Finish: "max_tokens", In: 1, Out: 1},
	} {
		t.Run(name, func(t *testing.T) {
			reply.Repeat = true
			s := llmtest.New(reply)
			defer s.Close()
			client := anthropic.NewClient(option.WithBaseURL(s.URL), option.WithAPIKey(key), option.WithMaxRetries(0))
			params := anthropic.MessageNewParams{Model: "claude-opus-5", MaxTokens: 100, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("x"))}}
			whole, err := client.Messages.New(t.Context(), params)
			if err != nil {
				t.Fatal(err)
			}
			var streamed anthropic.Message
			stream := client.Messages.NewStreaming(t.Context(), params)
			for stream.Next() {
				if err := streamed.Accumulate(stream.Current()); err != nil {
					t.Fatal(err)
				}
			}
			if err := stream.Err(); err != nil {
				t.Fatal(err)
			}
			r := llm.New(llm.WithSecrets(llm.SecretsFunc(func(name string) (string, bool) { return key, name == "ANTHROPIC_API_KEY" })), llm.WithBaseURL("anthropic", s.URL))
			defer r.Close()
			for _, listening := range []bool{false, true} {
				limit := 100
				out := r.Do(t.Context(), &engine.Effect{Kind: engine.EffectModel, Name: "anthropic/claude-opus-5", Stream: listening, Req: &model.Request{
					Messages: []model.Message{model.TextMessage(model.RoleUser, "x")}, Params: model.Params{MaxTokens: &limit},
				}}, func(engine.Token) {})
				if out.Err != nil {
					t.Fatal(out.Err)
				}
				for kind, m := range map[string]*anthropic.Message{"whole": whole, "streamed": &streamed} {
					if got, want := readOf(out.Response), readBy(m); !reflect.DeepEqual(got, want) {
						t.Errorf("%s: got %+v\nthe client reads %+v", kind, got, want)
					}
				}
			}
		})
	}
}

type read struct {
	text, thoughts, signature, finish string
	calls                             [][3]string
	in, out                           int
}

func readBy(m *anthropic.Message) read {
	r := read{finish: string(m.StopReason), in: int(m.Usage.InputTokens), out: int(m.Usage.OutputTokens)}
	for _, b := range m.Content {
		switch b.Type {
		case "text":
			r.text += b.Text
		case "thinking":
			r.thoughts += b.Thinking
			r.signature += b.Signature
		case "tool_use":
			r.calls = append(r.calls, [3]string{b.ID, b.Name, string(b.Input)})
		}
	}
	return r
}

func readOf(m *model.Response) read {
	r := read{text: m.Text(), finish: m.RawFinish, in: m.Usage.In, out: m.Usage.Out}
	for _, p := range m.Parts {
		if p.Kind == model.PartReasoning {
			r.thoughts += p.Text
			var seal struct{ Signature string }
			if p.Opaque != nil && json.Unmarshal([]byte(p.Opaque.Data), &seal) == nil {
				r.signature += seal.Signature
			}
		}
	}
	for _, c := range m.Calls() {
		r.calls = append(r.calls, [3]string{c.ID, c.Name, c.Args})
	}
	return r
}
