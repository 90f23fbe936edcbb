package wire

import (
	"encoding/json"
	"net/http"
	"strings"
)

// Anthropic is the dialect of Anthropic's messages.
type Anthropic struct{}

// claudeFamily is the name under which the provider's signatures are kept.
const claudeFamily = "anthropic"

// callID returns the id, or a derived one in this provider's form for an id from another provider.
func (d *Anthropic) callID(id string) string {
	if id == "" || !isAlnum(strings.NewReplacer("_", "", "-", "").Replace(id)) {
		return "toolu_" + shortID(id)
	}
	return id
}

func (d *Anthropic) limit() (object string, names []string) {
	return "", []string{"max_tokens"}
}

// write writes only the parameters that the request has: newer models refuse some.
func (d *Anthropic) write(p *Plan) (*Body, error) {
	b := modelBody(p)
	call, err := claudeCallOf(p)
	if err != nil {
		return nil, err
	}
	messages, err := d.messages(p.Request)
	if err != nil {
		return nil, err
	}
	system, cache := p.Request.System, p.Request.Params.Cache
	switch {
	case system == "":
	case cache:
		b.Set("system", []any{claudeBlock{Type: "text", Text: system, Cache: ephemeral}})
	default:
		b.Set("system", system)
	}
	if cache {
		messages.mark()
	}
	b.Set("messages", messages)
	tools := d.tools(p)
	if n := len(tools); n > 0 {
		if len(p.Tools) == 0 {
			call.choice = &claudeChoice{Type: "none"}
		}
		if cache {
			tools[n-1].Cache = ephemeral
		}
		b.Set("tools", tools)
	}
	call.write(b, p)
	return b, nil
}

type claudeTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema"`
	Strict      bool            `json:"strict,omitempty"`
	Cache       *cacheMark      `json:"cache_control,omitempty"`
}

// tools returns the request's tools or, if it has none, those that its conversation has called: the provider requires
// them, and the request forbids further calls.
func (d *Anthropic) tools(p *Plan) []claudeTool {
	var out []claudeTool
	for _, t := range p.Tools {
		out = append(out, claudeTool{Name: t.Name, Description: t.Description, Schema: t.Schema, Strict: t.Strict})
	}
	if len(out) > 0 {
		return out
	}
	told := map[string]bool{}
	for i := range p.Request.Messages {
		for j := range p.Request.Messages[i].Parts {
			if c := p.Request.Messages[i].Parts[j].Call; c != nil && !told[c.Name] {
				told[c.Name] = true
				out = append(out, claudeTool{Name: c.Name, Schema: json.RawMessage(`{"type":"object"}`)})
			}
		}
	}
	return out
}

// address puts the key into this provider's header.
func (d *Anthropic) address(req *http.Request, p *Plan) {
	req.Header.Del("Authorization")
	req.Header.Set("X-Api-Key", p.Bearer)
	req.Header.Set("Anthropic-Version", "2023-06-01")
}
