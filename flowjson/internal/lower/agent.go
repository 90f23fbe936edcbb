package lower

import (
	"encoding/json"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/flowjson/internal/plan"
	"github.com/agentscript/agentscript/flowjson/internal/spec"
	"github.com/agentscript/agentscript/internal/text"
)

// spec declares an agent that a model executes.
func (l *lowering) spec(a *plan.Agent) *agent.Spec {
	at := a.Span()
	s := &agent.Spec{Name: a.Name, In: a.In, Out: a.Out, Model: a.Model, ModelSpan: at, Repairs: 1, PromptSpan: at, TaskSpan: at, Verbatim: true,
		ToolsAtOnce: agent.DefaultToolsAtOnce, Prompt: text.Written(a.System), Task: Task(a.Agent)}
	if a.Type == spec.Verify {
		s.Out = flow.VerdictType
		s.Prompt, s.Task = flow.JudgeText(s.Prompt, s.Task), ""
	}
	if a.Type == spec.React {
		s.ReasoningEvery = a.Every
	}
	l.settings(s, &a.Config)
	for _, t := range a.Local {
		if tool := l.o.Tools[t.Name]; tool != nil {
			s.Tools = append(s.Tools, tool)
			continue
		}
		d := l.s.Errorf(diag.FlowTool, t.NameAt.Span, "%s may call the local tool %q, and nothing offers it", a.Name, t.Name)
		d.Helpf("offer it: agentscript run --tools tools.star, load_flow(..., tools = {%q: f}), or a tool of the host", t.Name)
	}
	s.Offer = a.Offer
	for _, t := range a.Servers {
		s.Servers = append(s.Servers, l.server(t))
	}
	return s
}

// Task returns what an agent's model is asked to do with its input: the user's prompt and the task.
func Task(a *spec.Agent) string {
	user, do := text.Written(a.User), text.Written(a.Do)
	if user != "" && do != "" {
		return text.Written("\n" + user + "\n\n" + do) // in one text, a first line inside it has no trailing blanks
	}
	return user + do
}

// settings sets the parameters of the model.
func (l *lowering) settings(s *agent.Spec, c *spec.Config) {
	s.Params = model.Params{Temperature: c.Temperature, TopP: c.TopP, MaxTokens: c.MaxTokens}
	if c.Turns > 0 {
		s.Budget.Turns = engine.AtMost(int64(c.Turns))
	}
	if c.Speculation != "" {
		s.Params.Extra, _ = json.Marshal(map[string]any{"prediction": map[string]string{"type": "content", "content": c.Speculation}}) // texts only
	}
	s.Choice = model.ToolChoiceOf(c.ToolChoice)
}

// server declares a server of tools: one for all agents that have it.
func (l *lowering) server(t *spec.Tool) *remote.Server {
	if s := l.servers[t]; s != nil {
		return s
	}
	s := &remote.Server{Name: remote.NameOf(t.Name), Transport: t.Transport, Command: t.Command, Args: t.Args, URL: t.URL,
		Timeout: remote.DefaultTimeout, Call: remote.DefaultCallTimeout, Class: engine.ClassOnce, Span: t.NameAt.Span}
	for _, v := range t.Env {
		s.Env = append(s.Env, remote.Setting{Name: v.Name, Value: v.Value})
	}
	for _, v := range t.Headers {
		s.Headers = append(s.Headers, remote.Setting{Name: v.Name, Value: v.Value})
	}
	l.servers[t] = s
	return s
}
