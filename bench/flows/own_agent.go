package main

import (
	"context"
	"fmt"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/generable/govalue"
)

const ownAgentScript = `
Findings = schema(
    "What was found",
    summary = field(str, "In one sentence"),
    score = field(int, "0 to 100", ge = 0, le = 100),
    files = field(list[str], "What was looked at"),
)
main = agent(output = Findings, tools = [look], prompt = %q, budget = budget(turns = %[2]d, tool_calls = %[2]d, same_call = %[2]d))
`

func ownLook() (agent.HostTool, error) {
	params, errs := generable.NewSchema(toolName, "", []generable.Field{
		{Name: "path", Type: generable.StrT, Guide: "Which file"}, {Name: "lines", Type: generable.IntT, Guide: "How many lines"}})
	if errs != nil {
		return agent.HostTool{}, fmt.Errorf("%v", errs)
	}
	return agent.HostTool{
		Tool: agent.Tool{Name: toolName, Doc: toolDoc, Params: params, Returns: generable.StrT, Class: engine.ClassRead},
		Do: func(_ context.Context, _ agent.ToolCallInfo, args generable.Value) (generable.Value, error) {
			var in lookInput
			if err := govalue.Into(args, &in); err != nil {
				return generable.Value{}, err
			}
			return generable.StrOf(look(in)), nil
		},
	}, nil
}

func ownModel(turns int) engine.Handler {
	said := func(p model.Part, f model.Finish) engine.Outcome {
		return engine.Outcome{Attempt: 1, Response: &model.Response{Finish: f, Parts: []model.Part{p}}}
	}
	return engine.HandlerFunc(func(_ context.Context, e *engine.Effect, _ engine.Sink) engine.Outcome {
		answered := 0
		for _, m := range e.Req.(*model.Request).Messages {
			for _, p := range m.Parts {
				if p.Result != nil && p.Result.Text == seen {
					answered++
				}
			}
		}
		if calls(answered, turns) {
			return said(model.Part{Kind: model.PartCall, Call: &model.ToolCall{ID: "call_1", Name: toolName, Args: toolArgs}}, model.FinishCalls)
		}
		return said(model.Part{Kind: model.PartText, Text: answer}, model.FinishStop)
	})
}

// ownModule loads the agent, and returns the handlers of its effects.
func ownModule(turns int) (*agentscript.Module, engine.Handlers, error) {
	tool, err := ownLook()
	if err != nil {
		return nil, nil, err
	}
	eng := agentscript.New(agentscript.WithTool(tool))
	mod, err := eng.Load(context.Background(), files(fmt.Sprintf(ownAgentScript, prompt, max(1, turns))), entry)
	return mod, engine.Handlers{engine.EffectModel: ownModel(turns), engine.EffectTool: agent.HostTools{toolName: &tool}}, err
}

// ownAgent is a complete run in its own goroutine, which can be watched and cancelled.
func ownAgent(turns int, _ step) (once, error) {
	mod, handlers, err := ownModule(turns)
	if err != nil {
		return nil, err
	}
	return func() (any, error) {
		return agentscript.As[findings](mod.Start(context.Background(), agentscript.Input(question), agentscript.HandlerForAll(handlers)).Wait())
	}, nil
}

// ownAgentHere runs the same agent in the calling goroutine, as the other libraries do.
func ownAgentHere(turns int, _ step) (once, error) {
	mod, handlers, err := ownModule(turns)
	if err != nil {
		return nil, err
	}
	spec := &run.Spec{Node: mod.Node("main"), Input: generable.StrOf(question), Handler: handlers}
	return func() (any, error) {
		got, err := run.Exec(sched.NewGoSched(context.Background()), spec)
		if err != nil {
			return nil, err
		}
		return govalue.To[findings](got)
	}, nil
}
