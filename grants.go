package agentscript

import (
	"context"
	"reflect"
	"slices"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/policy"
)

// WithGrants lets scripts touch what g allows, by sh, http, fs and env. Without it they touch
// nothing: a use that is written out in a script is the error AS620 when it loads, any other one
// AS758 when a run reaches it. See the package engine/grant.
//
// The command, the host and the secrets of an MCP server that are written out are held to g as
// well, unless [WithMCP] sets what reaches servers: that decides when the script loads, if it has
// a method Allows(capability.Use) bool, and when a run reaches the server, which is the error AS633.
func WithGrants(g capability.Grants) Option { return func(c *config) { c.grants = g } }

// WithUngranted has Load and Check pass over uses of sh, http, fs, env and MCP servers that are not granted: to
// look at a script, or to draw it. They are not granted by it.
func WithUngranted() Option { return func(c *config) { c.ungranted = true } }

// grant has the effects of capabilities carried out by what grants them. A handler that the host
// set itself for a kind stays.
func (c *config) grant() {
	if c.grants == nil {
		return
	}
	for _, kind := range []engine.EffectKind{engine.EffectExec, engine.EffectHTTP, engine.EffectFS, engine.EffectEnv} {
		if c.handlers[kind] == nil {
			c.handlers[kind] = c.grants
		}
	}
}

// serverMay is what decides about MCP servers when a script loads, nil where its grants do.
func (c *config) serverMay() func(capability.Use) bool {
	switch h := c.handlers[engine.EffectMCP].(type) {
	case nil:
		return nil
	case interface{ Allows(capability.Use) bool }:
		return h.Allows
	}
	return func(capability.Use) bool { return true } // a run finds out
}

// holder is a handler that holds secrets, see docs/seams.md.
type holder interface{ Secrets() []string }

// secretsOf returns what lists the secrets that handlers hold by now, nil where none of them can hold any.
func secretsOf(h engine.Handler, grants capability.Grants) func() []string {
	var holders []holder
	add := func(h engine.Handler) {
		if one, ok := h.(holder); ok && !(reflect.ValueOf(h).Comparable() && slices.Contains(holders, one)) {
			holders = append(holders, one)
		}
	}
	add(h)
	if all, ok := h.(engine.Handlers); ok {
		for _, one := range all {
			add(one)
		}
	}
	if grants != nil {
		add(grants)
	}
	if holders == nil {
		return nil
	}
	return func() []string {
		var values []string
		for _, one := range holders {
			values = append(values, one.Secrets()...)
		}
		slices.Sort(values) // handlers have no order
		return values
	}
}

// WithPolicy holds every run to a policy, see [policy.New]. All that are given hold, with those of
// scripts and of the run: the strictest decides. A nil policy is ignored.
func WithPolicy(p *policy.Policy) Option {
	return func(c *config) {
		if p != nil {
			c.policies = append(c.policies, p)
		}
	}
}

// WithHooks puts functions around what the agents of every run do, see [agent.Hooks]. They come
// before those of scripts. Interceptors must return the same for the same arguments: they run again
// on a replay.
func WithHooks(h *agent.Hooks) Option {
	return func(c *config) {
		if h != nil {
			c.hooks = append(c.hooks, h)
		}
	}
}

// WithApproval sets who decides about calls that a policy has asked, and about what scripts ask
// with approve. f may take as long as it likes and must end when ctx does. It is called at once for
// calls that wait at the same time, which may be answered in any order: each decision is for its
// own call. Without it, such a call is not made, and the run fails with engine.ErrApproval.
func WithApproval(f func(ctx context.Context, r *engine.ApprovalRequest) (engine.Decision, error)) Option {
	return WithHandler(engine.EffectApproval, engine.Approvals(f))
}

// RunPolicy holds this run to a policy, besides those of the engine and the script.
func RunPolicy(p *policy.Policy) RunOption {
	return func(r *runConfig) {
		if p != nil {
			r.spec.Policies = append(r.spec.Policies, p)
		}
	}
}
