package llm

import (
	"slices"
	"strings"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/internal/wire"
	"github.com/agentscript/agentscript/engine/llm/prices"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
)

// ModelInfo describes a model for people. It contains no key.
type ModelInfo struct {
	Model   string        `json:"model"`             // provider/model
	Listed  bool          `json:"listed"`            // in the price table, or one of the host's models
	Caps    Caps          `json:"caps"`              // what the port can request from it
	Context int           `json:"context,omitempty"` // context window, in tokens; 0 if unknown
	Prices  *prices.Rates `json:"usd_per_million_tokens,omitempty"`
	Ready   bool          `json:"ready"`             // its provider's key and address are set
	Problem string        `json:"problem,omitempty"` // why it is not ready
}

// Models describes the models whose name contains pattern, ignoring case; * matches anything. It lists the models in
// the price table that a registered provider offers, and the host's own. A full name found in neither is described as
// far as its provider is known. Models uses no network: a provider may offer more models, or fewer.
func (r *Registry) Models(pattern string) []ModelInfo {
	pattern = r.fullName(pattern)
	seen := map[string]bool{}
	var out []ModelInfo
	add := func(name string) {
		if like(pattern, name) && !seen[name] {
			seen[name] = true
			out = append(out, r.describe(name))
		}
	}
	for _, name := range r.hostModels() {
		add(name)
	}
	for provider, name := range r.priced() {
		if !strings.HasPrefix(name, provider+"/") || provider == "openrouter" {
			name = provider + "/" + name
		}
		add(name)
	}
	if provider, model, ok := strings.Cut(pattern, "/"); len(out) == 0 && ok && model != "" && !strings.Contains(pattern, "*") && slices.Contains(r.names(), provider) {
		add(pattern)
	}
	return out
}

func (r *Registry) describe(name string) ModelInfo {
	info := ModelInfo{Model: name, Ready: true}
	info.Caps, _ = r.Caps(name)
	_, info.Listed = r.models[name]
	if m, ok := r.Price(name); ok {
		info.Listed = true
		info.Context = m.Window
		if rates, known := m.Rates(time.Now()); known {
			info.Prices = &rates
		}
	}
	if err := r.Check(name); err != nil {
		info.Ready, info.Problem = false, err.Message
	}
	return info
}

// Caps returns what the port can request from a model. It needs no key and no network. A model with an unknown provider
// is an error.
func (r *Registry) Caps(name string) (Caps, *engine.Error) {
	if m, ok := r.models[name]; ok {
		return m.caps, nil
	}
	prefix, model, _ := strings.Cut(r.fullName(name), "/")
	if p := r.providers[prefix]; p != nil {
		caps := p.caps
		if p.bare != nil && p.bare(model) {
			caps.Schema = false
			if _, all := p.dialect.(*wire.Gemini); all {
				caps.JSONMode = false
			}
		}
		return caps, nil
	}
	t, err := r.resolve(name)
	if err != nil || t.host == nil {
		return Caps{}, r.keys().Error(err)
	}
	return t.host.caps, nil
}

// like reports whether name contains pattern, in which * matches anything.
func like(pattern, name string) bool {
	pattern, name = strings.ToLower(pattern), strings.ToLower(name)
	for part := range strings.SplitSeq(pattern, "*") {
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name = name[i+len(part):]
	}
	return true
}

// Constrains returns why a model, with or without tools, cannot be constrained to an output type by its provider. It
// returns "" if it can, or if nothing is known about the model. It needs no key and no network.
func (r *Registry) Constrains(name string, out *generable.Type, tools bool) (why string) {
	prefix, id, _ := strings.Cut(r.fullName(name), "/")
	row := r.providers[prefix]
	switch _, host := r.models[name]; {
	case out == nil:
		return ""
	case !out.HasSchema():
		return "its output is free text, and has no schema"
	case host:
		return "the model's interface carries no schema"
	case row == nil || id == "":
		return ""
	}
	c := &call{target: &target{model: id, row: row}, reg: r, req: &model.Request{System: "JSON"}}
	if tools {
		c.req.Tools = make([]model.ToolDef, 1)
	}
	if held, why := c.constraint(out); held == nil || held.Schema == nil {
		return why
	}
	return ""
}
