package wire

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/agentscript/agentscript/engine/model"
)

// Gemini is the dialect of Google's generateContent.
type Gemini struct{}

var _ Dialect = (*Gemini)(nil)

// geminiFamily owns the state that goes back to Google alone.
const geminiFamily = "google"

func (d *Gemini) lines() bool { return false }

// address puts the key into Google's header and names the endpoint: a stream has one of its own.
func (d *Gemini) address(req *http.Request, p *Plan) {
	req.Header.Del("Authorization")
	if p.Bearer != "" {
		req.Header.Set("X-Goog-Api-Key", p.Bearer)
	}
	if path, ok := strings.CutSuffix(req.URL.Path, ":generateContent"); ok && p.Stream {
		u := *req.URL
		u.Path, u.RawPath, u.RawQuery = path+":streamGenerateContent", "", "alt=sse"
		req.URL = &u
	}
}

// write writes the conversation and the parameters that the request has and no other. The address
// names the model.
func (d *Gemini) write(p *Plan) (*Body, error) {
	b, r := newBody(), p.Request
	if c := r.Params.ParallelCalls; c != nil && !*c {
		return nil, &Unsupported{"cannot be held to one call of a tool at a time", "leave out parallel_tool_calls"}
	}
	if r.System != "" {
		if err := b.Set("systemInstruction", geminiContent{Parts: []geminiPart{{Text: &r.System}}}); err != nil {
			return nil, err
		}
	}
	contents, err := geminiContents(r, GeminiVersion(p.Model))
	if err != nil {
		return nil, err
	}
	if err := b.Set("contents", contents); err != nil {
		return nil, err
	}
	if len(p.Tools) > 0 {
		if err := b.Set("tools", geminiTools(p.Tools)); err != nil {
			return nil, err
		}
		if err := geminiChoice(b, r.Choice); err != nil {
			return nil, err
		}
	}
	config, err := geminiConfig(p)
	if err != nil || config.Len() == 0 {
		return b, err
	}
	return b, b.Set("generationConfig", config)
}

type geminiFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Params      json.RawMessage `json:"parametersJsonSchema,omitempty"`
}

func geminiTools(tools []Tool) any {
	functions := make([]geminiFunction, len(tools))
	for i, t := range tools {
		functions[i] = geminiFunction{t.Name, t.Description, t.Schema}
		var shape struct {
			Properties map[string]json.RawMessage `json:"properties"`
			Ref        string                     `json:"$ref"`
		}
		if json.Unmarshal(t.Schema, &shape) == nil && len(shape.Properties) == 0 && shape.Ref == "" {
			functions[i].Params = nil // an object without members is refused
		}
	}
	return []any{map[string]any{"functionDeclarations": functions}}
}

func geminiChoice(b *Body, c model.ToolChoice) error {
	config := map[string]any{}
	switch c.Mode {
	case model.ChoiceRequired:
		config["mode"] = "ANY"
	case model.ChoiceNone:
		config["mode"] = "NONE"
	case model.ChoiceTool:
		config["mode"], config["allowedFunctionNames"] = "ANY", []string{c.Tool}
	default:
		return nil
	}
	return b.Set("toolConfig", map[string]any{"functionCallingConfig": config})
}

func geminiConfig(p *Plan) (*Body, error) {
	params := &p.Request.Params
	config := newBody()
	if err := config.add(
		member{params.Temperature != nil, "temperature", params.Temperature},
		member{params.TopP != nil, "topP", params.TopP},
		member{params.MaxTokens != nil, "maxOutputTokens", params.MaxTokens},
		member{params.Seed != nil, "seed", params.Seed},
		member{len(params.Stop) > 0, "stopSequences", params.Stop},
		member{p.Output != nil, "responseMimeType", "application/json"},
	); err != nil {
		return nil, err
	}
	if p.Output != nil && p.Output.Schema != nil {
		config.SetRaw("responseJsonSchema", p.Output.Schema)
	}
	if thinking := geminiThinking(p.Model, params); thinking != nil {
		return config, config.Set("thinkingConfig", thinking)
	}
	return config, nil
}
