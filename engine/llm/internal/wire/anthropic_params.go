package wire

import (
	"fmt"

	"github.com/agentscript/agentscript/engine/model"
)

// longAnswer is the max_tokens above which an answer may take more than ten minutes, by the provider's rate of 128,000
// tokens an hour. Connections that are silent that long are cut on the way, so such a call is streamed even if nobody
// listens.
const longAnswer = 21_333

// leastBudget is the minimum thinking budget in tokens.
const leastBudget = 1024

// claudeBudgets are the thinking budgets for efforts, for models that know no efforts.
var claudeBudgets = map[string]int{"minimal": leastBudget, "low": 2048, "medium": 8192, "high": 16_384, "xhigh": 32_000, "max": 60_000}

// claudeThinking is how a request asks for thinking.
type claudeThinking struct {
	Type    string `json:"type"`
	Budget  int    `json:"budget_tokens,omitempty"`
	Display string `json:"display,omitempty"`
}

// claudeCall is the part of a request that depends on the model.
type claudeCall struct {
	model     Claude
	maxTokens int
	thinking  *claudeThinking
	effort    string
	choice    *claudeChoice
}

type claudeChoice struct {
	Type   string `json:"type"`
	Name   string `json:"name,omitempty"`
	Single bool   `json:"disable_parallel_tool_use,omitempty"`
}

func claudeCallOf(p *Plan) (*claudeCall, error) {
	c := &claudeCall{model: ClaudeOf(p.Model)}
	c.maxTokens = c.model.MaxTokens
	if n := p.Request.Params.MaxTokens; n != nil {
		c.maxTokens = *n
	}
	if err := c.choose(p.Request); err != nil {
		return nil, err
	}
	if err := c.think(p.Request); err != nil {
		return nil, err
	}
	return c, c.sampling(&p.Request.Params)
}

func (c *claudeCall) choose(r *model.Request) error {
	if len(r.Tools) == 0 {
		return nil
	}
	single := r.Params.ParallelCalls != nil && !*r.Params.ParallelCalls
	switch r.Choice.Mode {
	case model.ChoiceNone:
		c.choice = &claudeChoice{Type: "none"}
		return nil
	case model.ChoiceRequired:
		c.choice = &claudeChoice{Type: "any", Single: single}
	case model.ChoiceTool:
		c.choice = &claudeChoice{Type: "tool", Name: r.Choice.Tool, Single: single}
	default:
		if single {
			c.choice = &claudeChoice{Type: "auto", Single: true}
		}
		return nil
	}
	if c.model.free {
		return &Unsupported{"cannot be made to call a tool", "leave out tool_choice, or say in the prompt that the tool is to be called"}
	}
	return nil
}

// think determines whether and how much the model thinks. max_tokens includes thoughts and answer.
func (c *claudeCall) think(r *model.Request) error {
	word, tokens := r.Params.Effort, r.Params.ReasoningTokens
	m := &c.model
	switch {
	case word == "none" || tokens != nil && *tokens == 0:
		switch m.off {
		case "":
		case claudeAlways:
			return &Unsupported{"always thinks", `say effort = "low" for the least`}
		default:
			c.thinking = &claudeThinking{Type: m.off}
		}
		return nil
	case word == "" && tokens == nil:
		return nil
	case !m.budget && !m.adaptive:
		return &Unsupported{"does not think", "leave out effort and reasoning_tokens for this model"}
	case tokens != nil && !m.budget:
		return &Unsupported{"takes no reasoning_tokens", `say effort = "low", "medium" or "high" instead`}
	}
	if word != "" {
		c.effort = m.effort(word)
	}
	if c.choice != nil && (c.choice.Type == "any" || c.choice.Type == "tool") {
		return nil // the provider refuses thinking together with a forced call
	}
	if tokens == nil && m.adaptive {
		// Newer models omit their thoughts unless asked for them.
		c.thinking = &claudeThinking{Type: "adaptive", Display: "summarized"}
		return nil
	}
	if midCalls(r) {
		return nil
	}
	var budget int
	if tokens != nil {
		if budget = max(*tokens, leastBudget); budget >= c.maxTokens {
			return &Unsupported{fmt.Sprintf("counts thoughts and answer together: %d reasoning_tokens leave nothing of %d max_tokens", budget, c.maxTokens), "raise max_tokens, or lower reasoning_tokens"}
		}
	} else if budget = min(claudeBudgets[word], c.maxTokens/2); budget < leastBudget {
		return nil // no tokens left for thoughts
	}
	c.thinking = &claudeThinking{Type: "enabled", Budget: budget}
	return nil
}

// midCalls reports whether the model's last turn called tools without signed thoughts before them. Thinking with a
// budget cannot begin in the middle of such a turn.
func midCalls(r *model.Request) bool {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		m := &r.Messages[i]
		switch m.Role {
		case model.RoleTool:
			continue
		case model.RoleAssistant:
			for j := range m.Parts {
				if _, thought := stateBlock(&m.Parts[j]).(*claudeSeal); thought {
					return false
				}
				if m.Parts[j].Call != nil {
					return true
				}
			}
		}
		return false
	}
	return false
}

// sampling rejects parameters that the model rejects. 1 is the default of both numbers and need not be sent.
func (c *claudeCall) sampling(p *model.Params) error {
	t, top := p.Temperature, p.TopP
	thinks := c.thinking != nil && c.thinking.Type != "disabled"
	switch {
	case p.Seed != nil:
		return &Unsupported{"takes no seed", "leave out seed for this model"}
	case usual(t) && usual(top):
		return nil
	case !c.model.sampling && !usual(t):
		return &Unsupported{"takes no temperature", "leave out temperature for this model"}
	case !c.model.sampling:
		return &Unsupported{"takes no top_p", "leave out top_p for this model"}
	case thinks && !usual(t):
		return &Unsupported{"takes no temperature while it thinks", "leave out temperature, or effort and reasoning_tokens"}
	case !usual(t) && !usual(top):
		return &Unsupported{"takes temperature or top_p, not both", "leave out top_p"}
	}
	return nil
}

func usual(v *float64) bool { return v == nil || *v == 1 }

// write sets the members, in a fixed order.
func (c *claudeCall) write(b *Body, p *Plan) {
	params := &p.Request.Params
	type outputFormat struct {
		Type   string `json:"type"`
		Schema any    `json:"schema"`
	}
	type outputConfig struct {
		Effort string        `json:"effort,omitempty"`
		Format *outputFormat `json:"format,omitempty"`
	}
	config := outputConfig{Effort: c.effort}
	if p.Output != nil && p.Output.Schema != nil {
		config.Format = &outputFormat{"json_schema", p.Output.Schema}
	}
	stream := p.Stream || c.maxTokens > longAnswer
	b.add(
		member{true, "max_tokens", c.maxTokens},
		member{!usual(params.Temperature), "temperature", params.Temperature},
		member{!usual(params.TopP), "top_p", params.TopP},
		member{len(params.Stop) > 0, "stop_sequences", params.Stop},
		member{c.choice != nil, "tool_choice", c.choice},
		member{c.thinking != nil, "thinking", c.thinking},
		member{config != (outputConfig{}), "output_config", config},
		member{stream, "stream", true},
	)
}
