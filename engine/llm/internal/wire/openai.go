package wire

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/agentscript/agentscript/engine/model"
)

// OpenAI is the dialect of chat completions, with the differences between the servers that speak it.
type OpenAI struct {
	MaxTokens       string                  // the member for the answer's limit; default max_completion_tokens
	Seed            string                  // default seed
	NoSeed          bool                    // seed is not supported
	NoParallel      bool                    // it cannot be limited to one tool call at a time
	NoSchema        bool                    // response_format supports only JSON mode, no schema
	NoStreamOptions bool                    // stream_options is refused; usage is sent anyway
	ShortCallIDs    bool                    // ids of calls must be 9 letters and digits
	EchoReasoning   bool                    // reasoning since the last user message must be sent back as reasoning_content
	EchoAll         func(model string) bool // all reasoning must be, and an empty one where there was none; nil: for no model
	EchoDetails     bool                    // reasoning_details must be sent back unchanged
	Thinking        Thinking                // how thinking is requested
	AnyTool         string                  // the word for "some tool must be called"; default required
	CacheMarks      bool                    // the parts to cache must be marked
	HoldsCalls      bool                    // a schema may constrain the whole answer, so that no tool can be called
	Bridges         func(model string) bool // no user's turn may follow results of tools: a turn of the model is inserted; nil: for no model
	MayCut          bool                    // servers of this kind may silently cut a prompt that is too long
	TellsCost       bool                    // usage, and the cost of a call, are reported on request
}

func (d *OpenAI) limit() (object string, names []string) {
	return "", []string{cmp.Or(d.MaxTokens, "max_completion_tokens"), "max_tokens", "max_completion_tokens", "max_output_tokens"}
}

// write writes only the parameters that the request has.
func (d *OpenAI) write(p *Plan) (*Body, error) {
	params := &p.Request.Params
	switch {
	case d.NoSeed && params.Seed != nil:
		return nil, &Unsupported{"takes no seed", "leave out seed"}
	case d.NoParallel && params.ParallelCalls != nil:
		return nil, &Unsupported{"cannot be held to one call of a tool at a time, nor allowed several", "leave out parallel_tool_calls"}
	}
	b := modelBody(p)
	tools := len(p.Tools) > 0
	b.add(
		member{true, "messages", d.messages(p)},
		member{tools, "tools", openAITools(p.Tools)},
		member{params.Temperature != nil, "temperature", params.Temperature},
		member{params.TopP != nil, "top_p", params.TopP},
		member{params.MaxTokens != nil, cmp.Or(d.MaxTokens, "max_completion_tokens"), params.MaxTokens},
		member{params.Seed != nil, cmp.Or(d.Seed, "seed"), params.Seed},
		member{len(params.Stop) > 0, "stop", params.Stop},
		member{p.Stream, "stream", true},
		member{p.Stream && !d.NoStreamOptions, "stream_options", map[string]bool{"include_usage": true}},
		member{p.Output != nil, "response_format", responseFormat(p.Output)},
		member{tools && p.Request.Choice != (model.ToolChoice{}), "tool_choice", d.Choice(p.Request.Choice)},
		member{tools && params.ParallelCalls != nil, "parallel_tool_calls", params.ParallelCalls},
	)
	if err := d.think(b, p); err != nil {
		return nil, err
	}
	b.add(member{d.TellsCost, "usage", map[string]bool{"include": true}})
	return b, nil
}

func responseFormat(o *Output) any {
	if o == nil || o.Schema == nil {
		return map[string]string{"type": "json_object"}
	}
	return struct {
		Type   string `json:"type"`
		Schema any    `json:"json_schema"`
	}{"json_schema", struct {
		Name   string          `json:"name"`
		Strict bool            `json:"strict"`
		Schema json.RawMessage `json:"schema"`
	}{o.Name, o.Strict, o.Schema}}
}

// Joined returns the texts of the parts with a kind as one text.
func Joined(parts []model.Part, kind model.PartKind, sep string) string {
	var texts []string
	for i := range parts {
		if parts[i].Kind == kind {
			texts = append(texts, parts[i].Text)
		}
	}
	return strings.Join(texts, sep)
}

// Thinking is how a server of chat completions accepts a request's thinking parameters.
type Thinking string

// The ways to request thinking.
const (
	ThinkEffort    Thinking = ""          // reasoning_effort: a word
	ThinkReasoning Thinking = "reasoning" // an object with effort or max_tokens
	ThinkSwitch    Thinking = "thinking"  // an object that turns it on or off, in addition to the effort
)

// think writes the effort and budget of thinking. A budget that cannot be sent is an error: a limit that nobody
// enforces is worse than none.
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

// Choice returns a request's tool choice.
func (d *OpenAI) Choice(c model.ToolChoice) any {
	switch c.Mode {
	case model.ChoiceTool:
		return map[string]any{"type": "function", "function": map[string]string{"name": c.Tool}}
	case model.ChoiceRequired:
		return cmp.Or(d.AnyTool, string(c.Mode))
	}
	return string(c.Mode)
}
