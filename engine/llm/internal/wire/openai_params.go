package wire

import (
	"encoding/json"
	"fmt"

	"github.com/agentscript/agentscript/engine"
)

// Thinking is how a speaker of chat completions takes what a request says of thinking.
type Thinking string

// The ways to ask for thinking.
const (
	ThinkEffort    Thinking = ""          // reasoning_effort: a word
	ThinkReasoning Thinking = "reasoning" // an object of effort or max_tokens
	ThinkSwitch    Thinking = "thinking"  // an object that turns it on or off, beside the effort
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
		switch {
		case off:
			return b.Set("reasoning", map[string]any{"enabled": false})
		case budget != nil:
			return b.Set("reasoning", map[string]any{"max_tokens": *budget})
		}
		return b.Set("reasoning", map[string]any{"effort": effort})
	case ThinkSwitch:
		if off {
			return b.Set("thinking", map[string]any{"type": "disabled"})
		}
		if err := b.Set("thinking", map[string]any{"type": "enabled"}); err != nil {
			return err
		}
	default:
		if off {
			effort = "none"
		}
	}
	return b.Set("reasoning_effort", effort)
}

// Choice is a request's word on tools.
func (d *OpenAI) Choice(c engine.ToolChoice) any {
	switch c.Mode {
	case engine.ChoiceTool:
		return map[string]any{"type": "function", "function": map[string]string{"name": c.Tool}}
	case engine.ChoiceRequired:
		if d.AnyTool != "" {
			return d.AnyTool
		}
	}
	return string(c.Mode)
}

// mark makes the system text a piece that is marked for the cache.
func (d *OpenAI) mark(b *Body, r *engine.Request) error {
	if !d.CacheMarks || !r.Params.Cache {
		return nil
	}
	return eachMessage(b, func(m *Body) (bool, error) {
		if text(m.Get("role")) != "system" {
			return false, nil
		}
		return true, m.Set("content", []any{struct {
			Type  string            `json:"type"`
			Text  json.RawMessage   `json:"text"`
			Cache map[string]string `json:"cache_control"`
		}{"text", m.Get("content"), map[string]string{"type": "ephemeral"}}})
	})
}

// echo sends an assistant's reasoning back where the provider demands it. The client above
// writes one assistant message for each of the request's, so the nth is the nth.
func (d *OpenAI) echo(b *Body, r *engine.Request) error {
	if !d.EchoReasoning && !d.EchoDetails {
		return nil
	}
	all := d.EchoAll != nil && d.EchoAll(text(b.Get("model")))
	var said []*engine.Message
	asked := 0 // how many were said before the user spoke last
	for i := range r.Messages {
		switch r.Messages[i].Role {
		case engine.RoleAssistant:
			said = append(said, &r.Messages[i])
		case engine.RoleUser:
			asked = len(said)
		}
	}
	n := 0
	return eachMessage(b, func(m *Body) (changed bool, err error) {
		if text(m.Get("role")) != "assistant" || n == len(said) {
			return false, nil
		}
		parts := said[n].Parts
		since := n >= asked
		n++
		if thought := joined(parts, engine.PartReasoning, ""); d.EchoReasoning && (all || since && thought != "") {
			changed, err = true, m.Set("reasoning_content", thought)
		}
		if d.EchoDetails {
			for i := range parts {
				if o := parts[i].Opaque; o != nil && o.Provider == detailsOf && json.Valid([]byte(o.Data)) {
					changed = true
					m.SetRaw("reasoning_details", json.RawMessage(o.Data))
				}
			}
		}
		return changed, err
	})
}

// bridgeWords are the turn of the model's that stands between results of tools and the user's next
// turn, where a provider demands one. It says as little as can be: an empty one is refused too.
const bridgeWords = "OK."

// bridge puts a turn of the model's between results of tools and a turn of the user's, as pictures
// that a tool gave, or the words that ask for a last answer.
func (d *OpenAI) bridge(b *Body) error {
	if d.Bridges == nil || !d.Bridges(text(b.Get("model"))) {
		return nil
	}
	var messages, out []json.RawMessage
	if err := json.Unmarshal(b.Get("messages"), &messages); err != nil {
		return fmt.Errorf("messages: %w", err)
	}
	before := ""
	for i, raw := range messages {
		var m struct {
			Role string `json:"role"`
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		if before == "tool" && m.Role == "user" {
			out = append(out, json.RawMessage(`{"role":"assistant","content":`+quoted(bridgeWords)+`}`))
		}
		before, out = m.Role, append(out, raw)
	}
	if len(out) == len(messages) {
		return nil
	}
	return b.Set("messages", out)
}

// eachMessage lets f change the messages of a request one by one; f reports whether it did.
func eachMessage(b *Body, f func(m *Body) (bool, error)) error {
	var messages []json.RawMessage
	if err := json.Unmarshal(b.Get("messages"), &messages); err != nil {
		return fmt.Errorf("messages: %w", err)
	}
	some := false
	for i, raw := range messages {
		m, err := ParseBody(raw)
		if err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		changed, err := f(m)
		if err == nil && changed {
			some = true
			messages[i], err = encode(m)
		}
		if err != nil {
			return err
		}
	}
	if !some {
		return nil
	}
	return b.Set("messages", messages)
}
