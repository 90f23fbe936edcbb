package llm

import (
	"context"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/internal/langchain"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/generable"
	"github.com/tmc/langchaingo/llms"
)

// Factory makes a host's own model, given the part of a model string after the provider. It is called once per model
// and must be safe for concurrent use.
type Factory func(model string) (llms.Model, Caps, error)

// WithProvider adds a provider whose models the host makes. It replaces a built-in provider of that name.
func WithProvider(name string, f Factory) Option {
	return func(r *Registry) {
		delete(r.providers, name)
		r.factories[name] = f
	}
}

// WithModel adds one model of the host under a full name such as "acme/x". Its GenerateContent is called concurrently
// and must honour its context.
func WithModel(name string, m llms.Model, caps Caps) Option {
	return func(r *Registry) { r.models[name] = hosted{m, caps} }
}

// hosted is a model that the host made.
type hosted struct {
	model llms.Model
	caps  Caps
}

// hosted makes a call of a host's own model. A request that the model does not support is an error; nothing is silently
// left out.
func (c *call) hosted(ctx context.Context) (*model.Response, *engine.Error) {
	plan := c.plan(c.req, c.reg.timeouts, c.keys)
	plan.MaxOut, plan.Short = c.maxOut, c.short
	caps := c.host.caps
	if len(c.req.Tools) > 0 && !caps.Tools {
		return nil, plan.Fail(engine.KindUnsupported, nil, "register it with Caps{Tools: true} if it can, or use another model", "the model takes no tools")
	}
	made := langchain.Call{Request: c.req, OnePart: caps.OnePart, MaxOut: c.maxOut, Keys: c.keys}
	if o := c.req.Output; o != nil && o.Type != nil && o.Type.Deref().Kind != generable.StrType {
		switch {
		case o.Structured == model.StructuredConstrained:
			return nil, plan.Fail(engine.KindUnsupported, nil, `use structured = "auto", or another model`, "structured = \"constrained\" cannot be had: the model's interface carries no schema")
		case o.Structured != model.StructuredGuided && caps.JSONMode && hasObjectRoot(o.Type) && len(c.req.Tools) == 0:
			made.JSON = true
		}
	}
	if c.sink != nil && caps.Stream {
		made.Text = func(text string) { c.sink(engine.Token{Text: text}) }
	}
	r, err := made.Generate(ctx, c.host.model)
	if err != nil {
		return nil, langchain.Error(ctx, &plan, err)
	}
	if done := plan.Interrupted(ctx); done != nil {
		return nil, done // some clients report the part of a cancelled stream as success
	}
	if r == nil {
		return nil, plan.Fail(engine.KindBadResponse, nil, "try again", "the model's answer holds no choice")
	}
	r.Model = c.model
	return plan.Settle(r)
}
