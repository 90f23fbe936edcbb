package main

import (
	"context"
	"errors"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
)

func genkitModel(turns int) ai.ModelFunc {
	return func(_ context.Context, r *ai.ModelRequest, _ ai.ModelStreamCallback) (*ai.ModelResponse, error) {
		answered := 0
		for _, m := range r.Messages {
			for _, p := range m.Content {
				if p.IsToolResponse() && p.ToolResponse.Output == seen {
					answered++
				}
			}
		}
		said := ai.NewTextPart(answer)
		if calls(answered, turns) {
			said = ai.NewToolRequestPart(&ai.ToolRequest{Ref: "call_1", Name: toolName,
				Input: map[string]any{"path": "engine/frame.go", "lines": 40}})
		}
		return &ai.ModelResponse{Request: r, FinishReason: ai.FinishReasonStop, Message: ai.NewModelMessage(said)}, nil
	}
}

func genkitAgent(turns int, _ step) (once, error) {
	g := newGenkit()
	model := genkit.DefineModel(g, "fake/model", &ai.ModelOptions{Supports: &ai.ModelSupports{
		Multiturn: true, SystemRole: true, Tools: true, Constrained: ai.ConstrainedSupportAll}}, genkitModel(turns))
	tool := genkit.DefineTool(g, toolName, toolDoc, func(_ *ai.ToolContext, in lookInput) (string, error) { return look(in), nil })
	return func() (any, error) {
		f, _, err := genkit.GenerateData[findings](context.Background(), g, ai.WithModel(model), ai.WithTools(tool),
			ai.WithMaxTurns(turns+1), ai.WithSystem(prompt), ai.WithPrompt(question))
		if err == nil && f == nil {
			err = errors.New("no answer")
		}
		return f, err
	}, nil
}
