package main

import (
	"context"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"
)

// einoModel is a fake model.
type einoModel struct{ turns int }

func (m einoModel) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) { return m, nil }

func (m einoModel) Generate(_ context.Context, conversation []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	answered := 0
	for _, m := range conversation {
		if m.Role == schema.Tool && m.Content == seen {
			answered++
		}
	}
	if calls(answered, m.turns) {
		return schema.AssistantMessage("", []schema.ToolCall{{ID: "call_1", Type: "function",
			Function: schema.FunctionCall{Name: toolName, Arguments: toolArgs}}}), nil
	}
	return schema.AssistantMessage(answer, nil), nil
}

func (m einoModel) Stream(ctx context.Context, conversation []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	said, err := m.Generate(ctx, conversation, opts...)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]*schema.Message{said}), nil
}

func einoAgent(turns int, _ step) (once, error) {
	ctx := context.Background()
	look, err := utils.InferTool(toolName, toolDoc, func(_ context.Context, in lookInput) (string, error) { return look(in), nil })
	if err != nil {
		return nil, err
	}
	agent, err := react.NewAgent(ctx, &react.AgentConfig{
		ToolCallingModel: einoModel{turns},
		ToolsConfig:      compose.ToolsNodeConfig{Tools: []tool.BaseTool{look}},
		MaxStep:          2*turns + 10,
	})
	if err != nil {
		return nil, err
	}
	parser := schema.NewMessageJSONParser[findings](nil)
	conversation := []*schema.Message{schema.SystemMessage(prompt), schema.UserMessage(question)}
	return func() (any, error) {
		said, err := agent.Generate(ctx, conversation)
		if err != nil {
			return nil, err
		}
		return parser.Parse(ctx, said)
	}, nil
}
