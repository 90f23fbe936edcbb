//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/jsonschema"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/testing/llmtest"
)

// asModel is a model of the port in the form that langchaingo's own test of models needs.
type asModel struct {
	port *llm.Registry
	name string
}

func (m asModel) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, m, prompt, options...)
}

func (m asModel) GenerateContent(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (*llms.ContentResponse, error) {
	return m.ask(ctx, messages, options, nil)
}

func (m asModel) GenerateContentStream(ctx context.Context, messages []llms.MessageContent, options ...llms.CallOption) (<-chan llms.ContentResponse, error) {
	var pieces []llms.ContentResponse
	_, err := m.ask(ctx, messages, options, func(tok engine.Token) {
		pieces = append(pieces, llms.ContentResponse{Choices: []*llms.ContentChoice{{Content: tok.Text}}})
	})
	if err != nil {
		return nil, err
	}
	out := make(chan llms.ContentResponse, len(pieces))
	for _, p := range pieces {
		out <- p
	}
	close(out)
	return out, nil
}

func (m asModel) ask(ctx context.Context, messages []llms.MessageContent, options []llms.CallOption, sink engine.Sink) (*llms.ContentResponse, error) {
	var o llms.CallOptions
	for _, set := range options {
		set(&o)
	}
	req := &model.Request{}
	if o.MaxTokens > 0 {
		req.Params.MaxTokens = &o.MaxTokens
	}
	for _, msg := range messages {
		text := ""
		for _, part := range msg.Parts {
			t, ok := part.(llms.TextContent)
			if !ok {
				return nil, errors.New("a part is no text")
			}
			text += t.Text
		}
		if msg.Role == llms.ChatMessageTypeSystem {
			req.System = text
			continue
		}
		req.Messages = append(req.Messages, model.TextMessage(model.RoleUser, text))
	}
	for _, tool := range o.Tools {
		schema, err := json.Marshal(tool.Function.Parameters)
		if err != nil {
			return nil, err
		}
		typ, _, errs := jsonschema.Parse(string(schema), jsonschema.Options{})
		if len(errs) > 0 {
			return nil, errs
		}
		if typ.Kind != generable.RecordType {
			typ = nil // an object without properties
		}
		req.Tools = append(req.Tools, model.ToolDef{Name: tool.Function.Name, Description: tool.Function.Description, Params: typ})
	}
	out := m.port.Do(ctx, &engine.Effect{Kind: engine.EffectModel, Name: m.name, Req: req, Stream: sink != nil}, sink)
	if out.Err != nil {
		return nil, out.Err
	}
	choice := &llms.ContentChoice{Content: out.Response.Text(), StopReason: string(out.Response.Finish), GenerationInfo: map[string]any{
		"PromptTokens": out.Response.Usage.In, "CompletionTokens": out.Response.Usage.Out,
	}}
	for _, c := range out.Response.Calls() {
		choice.ToolCalls = append(choice.ToolCalls, llms.ToolCall{ID: c.ID, Type: "function", FunctionCall: &llms.FunctionCall{Name: c.Name, Arguments: c.Args}})
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{choice}}, nil
}

// TestOllamaConformance checks the port, at both endpoints, against what langchaingo requires from a model.
func TestOllamaConformance(t *testing.T) {
	base := talker(t, conversation,
		[]string{"<|plain|>", "Hello ", "there, 42"},
		[]string{"<|call|>", `<tool_call>{"name": "get_weather", "arguments": {"location": "San Francisco"}}</tool_call>`},
	)
	for _, provider := range endpoints {
		t.Run(provider, func(t *testing.T) { llmtest.TestLLM(t, asModel{local(t, base), provider + "/talker"}) })
	}
}
