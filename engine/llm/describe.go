package llm

import (
	"slices"
	"strings"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/llm/internal/wire"
	"github.com/agentscript/agentscript/engine/model"
)

// ModelInfo describes a model for people. It holds no key.
type ModelInfo struct {
	Model   string   `json:"model"`             // provider/model
	Listed  bool     `json:"listed"`            // in the table of prices, or the host's own
	Caps    Caps     `json:"caps"`              // what the port knows to ask of it
	Context int      `json:"context,omitempty"` // tokens that it reads and writes in all; 0 is not known
	Prices  *PriceOf `json:"usd_per_million_tokens,omitempty"`
	Ready   bool     `json:"ready"`             // key and address of its provider are there
	Problem string   `json:"problem,omitempty"` // why not
}

// PriceOf is what a million tokens of a model cost in US dollars, of a prompt that is not long.
type PriceOf struct {
	In         float64 `json:"input"`
	Out        float64 `json:"output"`
	CacheRead  float64 `json:"cache_read"`
	CacheWrite float64 `json:"cache_write"`
}

// Models describes the models whose name holds pattern, whatever its case, in which * stands for
// anything: those of the table of prices that a provider here offers, and the host's own. A full
// name that neither knows is described as well, as far as its provider is known. No network is
// used: a provider may offer more, and less.
func (r *Registry) Models(pattern string) []ModelInfo {
	pattern = r.fullName(pattern)
	seen := map[string]bool{}
	var out []ModelInfo
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			out = append(out, r.describe(name))
		}
	}
	for _, name := range r.hostModels() {
		if like(pattern, name) {
			add(name)
		}
	}
	if table := r.Prices(); table != nil {
		for _, provider := range r.names() {
			for _, m := range table.Models(provider) {
				name := m.ID
				if !strings.HasPrefix(name, provider+"/") || provider == "openrouter" {
					name = provider + "/" + m.ID
				}
				if like(pattern, name) {
					add(name)
				}
			}
		}
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
			info.Prices = &PriceOf{rates.In, rates.Out, rates.CacheRead, rates.CacheWrite}
		}
	}
	if err := r.Check(name); err != nil {
		info.Ready, info.Problem = false, err.Message
	}
	return info
}

// Caps says what the port knows to ask of a model. It needs no key and no network; of a model
// whose provider is not known it is an error.
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
	if err != nil {
		return Caps{}, r.keys().Error(err)
	}
	return t.host.caps, nil
}

// like reports whether name holds pattern, in which * stands for anything.
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

// Constrains says why an agent's model cannot be held to the agent's output type by its provider,
// "" when it can, or when nothing is known of the model. It needs no key and no network.
func (r *Registry) Constrains(m string, a *agent.AgentSpec) (why string) {
	if a.Out == nil {
		return ""
	}
	if !a.Out.HasSchema() {
		return "its output is free text, and has no schema"
	}
	if _, ok := r.models[m]; ok {
		return "the model's interface carries no schema"
	}
	t := r.targetOf(m)
	if t == nil {
		return ""
	}
	req := &model.Request{System: "JSON", Output: &model.Output{Type: a.Out, Structured: model.StructuredConstrained}}
	for _, tool := range a.Tools {
		req.Tools = append(req.Tools, model.ToolDef{Name: tool.Name, Params: tool.Params})
	}
	for _, s := range a.Skills {
		for _, tool := range s.Tools {
			req.Tools = append(req.Tools, model.ToolDef{Name: tool.Name, Params: tool.Params})
		}
		for _, k := range s.Knowledge {
			req.Tools = append(req.Tools, model.ToolDef{Name: k.Key})
		}
	}
	c := &call{target: t, req: req, forms: &r.forms}
	if out, why := c.constraint(a.Out); out == nil || out.Schema == nil {
		return why
	}
	return ""
}

// targetOf is the target of a built-in provider's model as far as it is known without a key.
func (r *Registry) targetOf(name string) *target {
	prefix, model, _ := strings.Cut(r.fullName(name), "/")
	if p := r.providers[prefix]; p != nil && model != "" {
		return &target{provider: prefix, model: model, row: p}
	}
	return nil
}
