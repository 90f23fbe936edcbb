package llm

import (
	"strings"

	"github.com/agentscript/agentscript/engine"
)

// Constrains says why an agent's model cannot be held to the agent's output type by its provider,
// "" when it can, or when nothing is known of the model. It needs no key and no network.
func (r *Registry) Constrains(model string, a *engine.AgentSpec) (why string) {
	if a.Out == nil {
		return ""
	}
	if !a.Out.HasSchema() {
		return "its output is free text, and has no schema"
	}
	if _, ok := r.models[model]; ok {
		return "the model's interface carries no schema"
	}
	t := r.targetOf(model)
	if t == nil {
		return ""
	}
	req := &engine.Request{System: "JSON", Output: &engine.Output{Type: a.Out, Structured: engine.StructuredConstrained}}
	for _, tool := range a.Tools {
		req.Tools = append(req.Tools, engine.ToolDef{Name: tool.Name, Params: tool.Params})
	}
	for _, s := range a.Skills {
		for _, tool := range s.Tools {
			req.Tools = append(req.Tools, engine.ToolDef{Name: tool.Name, Params: tool.Params})
		}
		for _, k := range s.Knowledge {
			req.Tools = append(req.Tools, engine.ToolDef{Name: k.Key})
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
