package wire

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/agentscript/agentscript/engine/model"
)

// Gemini is the dialect of Google's generateContent.
type Gemini struct{}

// geminiFamily is the family of state that is only sent back to Google.
const geminiFamily = "google"

// address puts the key into Google's header and selects the endpoint: streams have a separate one.
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

func (d *Gemini) limit() (object string, names []string) {
	return "generationConfig", []string{"maxOutputTokens"}
}

// spelled returns the members that a script adds to a request, with the names that the request itself uses: Google also
// accepts generation_config for generationConfig.
func spelled(d Dialect, extra json.RawMessage) json.RawMessage {
	if _, ok := d.(*Gemini); !ok || !bytes.ContainsRune(extra, '_') {
		return extra
	}
	b, err := ParseBody(extra)
	if err != nil {
		return extra // merging it reports the error
	}
	raw, _ := encode(inCamelCase(b, true)) // its members are JSON
	return raw
}

// inCamelCase renames the members of objects that a request itself has. whole means that b is the request, whose other
// members stay unchanged.
func inCamelCase(b *Body, whole bool) *Body {
	out := newBody()
	for _, key := range b.keys {
		name, value := camel(key), b.values[key]
		switch name {
		case "generationConfig", "thinkingConfig", "toolConfig", "functionCallingConfig":
			if inner, err := ParseBody(value); err == nil {
				value, _ = encode(inCamelCase(inner, false))
			}
		case "systemInstruction":
		default:
			if whole {
				name = key
			}
		}
		out.SetRaw(name, value)
	}
	return out
}

// camel converts max_output_tokens to maxOutputTokens.
func camel(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words[1:] {
		if w != "" {
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}

// write writes the conversation and only the parameters that the request has. The address contains the model.
func (d *Gemini) write(p *Plan) (*Body, error) {
	b, r := newBody(), p.Request
	if c := r.Params.ParallelCalls; c != nil && !*c {
		return nil, &Unsupported{"cannot be held to one call of a tool at a time", "leave out parallel_tool_calls"}
	}
	if r.System != "" {
		b.Set("systemInstruction", geminiContent{Parts: []geminiPart{{Text: &r.System}}})
	}
	contents, err := geminiContents(r, GeminiVersion(p.Model))
	if err != nil {
		return nil, err
	}
	b.Set("contents", contents)
	if len(p.Tools) > 0 {
		b.Set("tools", geminiTools(p.Tools))
		geminiChoice(b, r.Choice)
	}
	config := geminiConfig(p)
	b.add(member{config.Len() > 0, "generationConfig", config})
	return b, nil
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

func geminiChoice(b *Body, c model.ToolChoice) {
	config := map[string]any{"mode": "ANY"}
	switch c.Mode {
	case model.ChoiceRequired:
	case model.ChoiceNone:
		config["mode"] = "NONE"
	case model.ChoiceTool:
		config["allowedFunctionNames"] = []string{c.Tool}
	default:
		return
	}
	b.Set("toolConfig", map[string]any{"functionCallingConfig": config})
}

func geminiConfig(p *Plan) *Body {
	params, thinking := &p.Request.Params, geminiThinking(p.Model, &p.Request.Params)
	config := newBody()
	config.add(
		member{params.Temperature != nil, "temperature", params.Temperature},
		member{params.TopP != nil, "topP", params.TopP},
		member{params.MaxTokens != nil, "maxOutputTokens", params.MaxTokens},
		member{params.Seed != nil, "seed", params.Seed},
		member{len(params.Stop) > 0, "stopSequences", params.Stop},
		member{p.Output != nil, "responseMimeType", "application/json"},
	)
	if p.Output != nil && p.Output.Schema != nil {
		config.SetRaw("responseJsonSchema", p.Output.Schema)
	}
	config.add(member{thinking != nil, "thinkingConfig", thinking})
	return config
}
