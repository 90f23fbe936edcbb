package main

import (
	"context"
	"encoding/json"

	"github.com/tmc/langchaingo/agents"
	"github.com/tmc/langchaingo/chains"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/outputparser"
	"github.com/tmc/langchaingo/tools"
)

// langchainModel is a fake model.
type langchainModel struct{ turns int }

func (m langchainModel) Call(ctx context.Context, prompt string, options ...llms.CallOption) (string, error) {
	return llms.GenerateFromSinglePrompt(ctx, m, prompt, options...)
}

func (m langchainModel) GenerateContent(_ context.Context, conversation []llms.MessageContent, _ ...llms.CallOption) (*llms.ContentResponse, error) {
	answered := 0
	for _, m := range conversation {
		for _, p := range m.Parts {
			if r, ok := p.(llms.ToolCallResponse); ok && r.Content == seen {
				answered++
			}
		}
	}
	said := &llms.ContentChoice{Content: "```json" + answer + "```"} // the form that the library's parser expects
	if calls(answered, m.turns) {
		said = &llms.ContentChoice{ToolCalls: []llms.ToolCall{{ID: "call_1", Type: "function",
			FunctionCall: &llms.FunctionCall{Name: toolName, Arguments: toolArgs}}}}
	}
	return &llms.ContentResponse{Choices: []*llms.ContentChoice{said}}, nil
}

// langchainLook is the tool. The library passes a text to tools.
type langchainLook struct{}

var _ tools.Tool = langchainLook{}

func (langchainLook) Name() string        { return toolName }
func (langchainLook) Description() string { return toolDoc }

func (langchainLook) Call(_ context.Context, text string) (string, error) {
	var in lookInput
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		return "", err
	}
	return look(in), nil
}

func langchainAgent(turns int, _ step) (once, error) {
	parser, err := outputparser.NewDefined(findings{})
	if err != nil {
		return nil, err
	}
	agent := agents.NewOpenAIFunctionsAgent(langchainModel{turns}, []tools.Tool{langchainLook{}},
		agents.NewOpenAIOption().WithSystemMessage(prompt+"\n"+parser.GetFormatInstructions()))
	executor := agents.NewExecutor(agent, agents.WithMaxIterations(turns+1))
	return func() (any, error) {
		said, err := chains.Run(context.Background(), executor, question)
		if err != nil {
			return nil, err
		}
		return parser.Parse(said)
	}, nil
}
