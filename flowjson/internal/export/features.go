package export

import (
	"math"
	"strings"
	"unicode/utf8"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/model"
)

// feature is something that an agent may have and the format cannot express.
type feature struct {
	has        bool
	what, help string
	at         diag.Span // position in the script; if it is not valid, the agent's
}

const leaveOut = "leave it out"

// features lists what agents may have that the format cannot express.
func features(a *agent.Spec) []feature {
	p, code := &a.Params, a.Run != nil
	budget := bounds(&a.Budget)
	return []feature{
		{code, "run", "let a model do it, or leave the step out", diag.Span{}},
		{!code && skilled(a), "skills", "say what to do in prompt and task", diag.Span{}},
		{a.Select != nil, "select", "branch on the output of an agent that chooses", diag.Span{}},
		{a.Template != nil, "a template as prompt", "write a text: the input is passed next to the task", a.PromptSpan},
		{a.TaskText != nil, "a template as task", "write a text: the input is passed next to the task", a.TaskSpan},
		{len(a.Fallbacks) > 0, "fallbacks of the model", "name one model", a.ModelSpan},
		{!utf8.ValidString(a.Prompt + a.Task), "a text that is not UTF-8", "write it in UTF-8", a.PromptSpan},
		{!finite(p.Temperature), "a temperature that is not a number", leaveOut, diag.Span{}},
		{!finite(p.TopP), "a top_p that is not a number", leaveOut, diag.Span{}},
		{p.Seed != nil, "seed", leaveOut, diag.Span{}},
		{len(p.Stop) > 0, "stop", leaveOut, diag.Span{}},
		{p.Effort != "", "effort", leaveOut, diag.Span{}},
		{p.ReasoningTokens != nil, "reasoning_tokens", leaveOut, diag.Span{}},
		{p.Cache, "cache", leaveOut, diag.Span{}},
		{p.ParallelCalls != nil, "parallel_tool_calls", leaveOut, diag.Span{}},
		{len(p.Extra) > 0 && speculation(a) == "", "extra", leaveOut, diag.Span{}},
		{a.Structured != "" && a.Structured != model.StructuredAuto, "structured", leaveOut, diag.Span{}},
		{a.Choice.Tool == "auto" || a.Choice.Tool == "required" || a.Choice.Tool == "none", "a tool_choice of a tool that is called " + a.Choice.Tool, "rename the tool", diag.Span{}},
		{a.Enough != nil, "enough", leaveOut, a.EnoughSpan},
		{budget != "", "budget(" + budget + ")", "leave it out, and bound the run; only budget(turns = n) can be expressed", diag.Span{}},
		{a.OnBadOutput != nil, "on_bad_output", leaveOut, diag.Span{}},
		{a.Observer != nil, "on_token or on_partial", "leave it out: a host follows the events of a run", diag.Span{}},
		{a.Repairs > 1, "repairs", leaveOut, diag.Span{}},
		{a.OnToolError != nil, "on_tool_error", leaveOut, diag.Span{}},
		{a.ToolsAtOnce > 0 && a.ToolsAtOnce != agent.DefaultToolsAtOnce, "tools_at_once", leaveOut, diag.Span{}},
		{a.Policy != nil, "policy", "leave it out, and pass the rules to the host", diag.Span{}},
		{len(a.Hooks) > 0, "hooks", "leave them out, and pass them to the host", diag.Span{}},
		{a.Memory != nil, "memory", "leave it out: agents of the format share the conversation alone", a.MemorySpan},
	}
}

// skilled reports whether an agent was given skills. The skill that stands for its prompt only has its name.
func skilled(a *agent.Spec) bool {
	if len(a.Skills) == 0 {
		return false
	}
	sk := a.Skills[0]
	return len(a.Skills) > 1 || sk.Name != a.Name || sk.Doc != "" || sk.Run != nil || sk.Description != "" || sk.Policy != nil ||
		len(sk.Tools)+len(sk.Servers)+len(sk.Knowledge) > 0
}

// bounds names what a budget bounds other than turns.
func bounds(l *engine.Limits) string {
	var names []string
	add := func(has bool, name string) {
		if has {
			names = append(names, name)
		}
	}
	add(l.Name != "", "name")
	add(l.Turns == engine.Unlimited(), "turns without a bound")
	add(l.ToolCalls.Set(), "tool_calls")
	add(l.ModelCalls.Set(), "model_calls")
	add(l.Tokens.Set(), "tokens")
	add(l.USD.Set(), "usd")
	add(l.Steps.Set(), "steps")
	add(l.Wall != 0, "wall")
	add(l.Depth.Set(), "depth")
	add(l.SameCall.Set(), "same_call")
	add(l.ArgBytes.Set(), "arg_bytes")
	add(l.OnLimit != engine.OnLimitFail, "on_limit")
	add(l.WarnAt != nil, "warn_at")
	return strings.Join(names, ", ")
}

func finite(f *float64) bool { return f == nil || !math.IsNaN(*f) && !math.IsInf(*f, 0) }
