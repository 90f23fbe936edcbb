package wire

import (
	"cmp"

	"github.com/agentscript/agentscript/engine/model"
)

// Thinking is how a speaker of chat completions takes what a request says of thinking.
type Thinking string

// The ways to ask for thinking.
const (
	ThinkEffort    Thinking = ""          // reasoning_effort: a word
	ThinkReasoning Thinking = "reasoning" // an object of effort or max_tokens
	ThinkSwitch    Thinking = "thinking"  // an object that turns it on or off, besides the effort
)

// think writes effort and budget of the thinking. A budget where none can be given is an error:
// a bound that nobody keeps is worse than none.
func (d *OpenAI) think(b *Body, p *Plan) error {
	effort, budget := p.Request.Params.Effort, p.Request.Params.ReasoningTokens
	if effort == "" && budget == nil {
		return nil
	}
	off := effort == "none" || budget != nil && *budget == 0
	if budget != nil && *budget > 0 && d.Thinking != ThinkReasoning {
		return &Unsupported{"takes no reasoning_tokens", `say effort = "low", "medium" or "high" instead`}
	}
	switch d.Thinking {
	case ThinkReasoning:
		reasoning := map[string]any{"effort": effort}
		switch {
		case off:
			reasoning = map[string]any{"enabled": false}
		case budget != nil:
			reasoning = map[string]any{"max_tokens": *budget}
		}
		b.Set("reasoning", reasoning)
		return nil
	case ThinkSwitch:
		if off {
			b.Set("thinking", map[string]any{"type": "disabled"})
			return nil
		}
		b.Set("thinking", map[string]any{"type": "enabled"})
	default:
		if off {
			effort = "none"
		}
	}
	b.Set("reasoning_effort", effort)
	return nil
}

// Choice is a request's word on tools.
func (d *OpenAI) Choice(c model.ToolChoice) any {
	switch c.Mode {
	case model.ChoiceTool:
		return map[string]any{"type": "function", "function": map[string]string{"name": c.Tool}}
	case model.ChoiceRequired:
		return cmp.Or(d.AnyTool, string(c.Mode))
	}
	return string(c.Mode)
}
