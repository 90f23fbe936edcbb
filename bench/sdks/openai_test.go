package sdks

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/engine/model"
)

// key is the API key that every client here sends. It is long enough to be accepted as a key.
const key = "test-key-of-no-one"

func TestOpenAIRequests(t *testing.T) {
	heldRequests[openai.ChatCompletionNewParams](t, "openai_*.json", 20, func(file string, got, want map[string]any) {
		delete(want, "stream")                                      // the client adds it depending on the method
		if choice, ok := want["tool_choice"].(map[string]any); ok { // the client reads it as another variant of the choice
			named, err := json.Marshal(openai.ToolChoiceOptionFunctionToolChoice(openai.ChatCompletionNamedToolChoiceFunctionParam{Name: "now"}))
			var form map[string]any
			if err != nil || json.Unmarshal(named, &form) != nil || !reflect.DeepEqual(choice, form) {
				t.Errorf("%s: the client writes %s for %v", file, named, choice)
			}
			delete(want, "tool_choice")
			delete(got, "tool_choice")
		}
		// A result that answers no call has no id. The client requires an id and writes an empty one.
		written, _ := got["messages"].([]any)
		for i, m := range want["messages"].([]any) {
			if m := m.(map[string]any); m["role"] == "tool" && m["tool_call_id"] == nil && i < len(written) {
				if w, ok := written[i].(map[string]any); ok && w["tool_call_id"] == "" {
					delete(w, "tool_call_id")
				}
			}
		}
	})
}

// TestOpenAIAnswers checks that the client and this module read the same answers alike, whole and streamed.
func TestOpenAIAnswers(t *testing.T) {
	for name, reply := range map[string]llmtest.Reply{
		"text":  {Text: "one two \"three\" <b>", In: 12, Out: 5},
		"calls": {Text: "Looking.", In: 5, Out: 9, Calls: []llmtest.Call{{ID: "call_1", Name: "compile", Args: `{"path":"a.go","n":[1,2]}`}, {ID: "call_2", Name: "now", Args: "{}"}}},
		"cut":   {Text: "par", Finish: "length", In: 1, Out: 1},
	} {
		t.Run(name, func(t *testing.T) {
			reply.Repeat = true
			s := llmtest.New(reply)
			defer s.Close()
			client := openai.NewClient(option.WithBaseURL(s.URL+"/v1"), option.WithAPIKey(key), option.WithMaxRetries(0))
			params := openai.ChatCompletionNewParams{Model: "gpt-5", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("x")}}
			whole, err := client.Chat.Completions.New(t.Context(), params)
			if err != nil {
				t.Fatal(err)
			}
			params.StreamOptions.IncludeUsage = openai.Bool(true)
			var streamed openai.ChatCompletionAccumulator
			stream := client.Chat.Completions.NewStreaming(t.Context(), params)
			for stream.Next() {
				if !streamed.AddChunk(stream.Current()) {
					t.Fatal("the client does not take a chunk")
				}
			}
			if err := stream.Err(); err != nil {
				t.Fatal(err)
			}
			r := llm.New(llm.WithSecrets(llm.SecretsFunc(func(name string) (string, bool) { return key, name == "OPENAI_API_KEY" })), llm.WithBaseURL("openai", s.URL+"/v1"))
			defer r.Close()
			for _, listening := range []bool{false, true} {
				out := r.Do(t.Context(), &engine.Effect{Kind: engine.EffectModel, Name: "openai/gpt-5", Stream: listening, Req: &model.Request{
					Messages: []model.Message{model.TextMessage(model.RoleUser, "x")},
				}}, func(engine.Token) {})
				if out.Err != nil {
					t.Fatal(out.Err)
				}
				for kind, c := range map[string]*openai.ChatCompletion{"whole": whole, "streamed": &streamed.ChatCompletion} {
					if got, want := readOf(out.Response), completed(c); !reflect.DeepEqual(got, want) {
						t.Errorf("%s: got %+v\nthe client reads %+v", kind, got, want)
					}
				}
			}
		})
	}
}

func completed(c *openai.ChatCompletion) read {
	choice := c.Choices[0]
	r := read{text: choice.Message.Content, finish: choice.FinishReason, in: int(c.Usage.PromptTokens), out: int(c.Usage.CompletionTokens)}
	for _, call := range choice.Message.ToolCalls {
		r.calls = append(r.calls, [3]string{call.ID, call.Function.Name, call.Function.Arguments})
	}
	return r
}
