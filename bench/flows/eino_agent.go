package main

import (
	"context"
	"errors"

	"github.com/cloudwego/eino/adk"
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

func einoTools() (compose.ToolsNodeConfig, error) {
	look, err := utils.InferTool(toolName, toolDoc, func(_ context.Context, in lookInput) (string, error) { return look(in), nil })
	return compose.ToolsNodeConfig{Tools: []tool.BaseTool{look}}, err
}

// einoReact is the agent of the library's flow package.
func einoReact(turns int, _ step) (once, error) {
	ctx := context.Background()
	tools, err := einoTools()
	if err != nil {
		return nil, err
	}
	agent, err := react.NewAgent(ctx, &react.AgentConfig{ToolCallingModel: einoModel{turns}, ToolsConfig: tools, MaxStep: 2*turns + 10})
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

// einoADK is the agent of the library's agent development kit, whose runner reports events.
func einoADK(turns int, _ step) (once, error) {
	ctx := context.Background()
	tools, err := einoTools()
	if err != nil {
		return nil, err
	}
	agent, err := adk.NewChatModelAgent(ctx, &adk.ChatModelAgentConfig{Name: "reviewer", Description: "Reviews code.", Instruction: prompt,
		Model: einoModel{turns}, ToolsConfig: adk.ToolsConfig{ToolsNodeConfig: tools}, MaxIterations: turns + 1})
	if err != nil {
		return nil, err
	}
	runner := adk.NewRunner(ctx, adk.RunnerConfig{Agent: agent})
	parser := schema.NewMessageJSONParser[findings](nil)
	return func() (any, error) {
		var last *schema.Message
		events := runner.Query(ctx, question)
		for {
			event, ok := events.Next()
			if !ok {
				break
			}
			if event.Err != nil {
				return nil, event.Err
			}
			if event.Output != nil && event.Output.MessageOutput != nil {
				last = event.Output.MessageOutput.Message
			}
		}
		if last == nil {
			return nil, errors.New("no answer")
		}
		return parser.Parse(ctx, last)
	}, nil
}
