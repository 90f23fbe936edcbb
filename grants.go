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

// WithGrants lets scripts touch what g allows, through sh, http, fs and env. Without it they touch nothing: a use
// that is written out in a script is the error AS620 when the script loads, any other use is the error AS758 when a
// run reaches it. See the package engine/grant.
//
// The command, the host and the secrets of an MCP server that are written out must also be allowed by g, unless
// [WithMCP] sets a client. A client with a method Allows(capability.Use) bool then decides when the script loads; any
// other client decides when a run reaches the server, with the error AS633.
func WithGrants(g capability.Grants) Option { return func(c *config) { c.grants = g } }

// WithUngranted makes Load and Check accept uses of sh, http, fs, env and MCP servers that are not granted, in order
// to look at a script or to draw it. It does not grant them.
func WithUngranted() Option { return func(c *config) { c.ungranted = true } }

// grant lets the grants carry out the effects of capabilities. A handler that the host set itself for a kind stays.
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

// serverMay returns what decides about MCP servers when a script loads, or nil if the grants decide.
func (c *config) serverMay() func(capability.Use) bool {
	switch h := c.handlers[engine.EffectMCP].(type) {
	case nil:
		return nil
	case interface{ Allows(capability.Use) bool }:
		return h.Allows
	}
	return func(capability.Use) bool { return true } // the client decides during the run
}

// holder is a handler that holds secrets; see docs/seams.md.
type holder interface{ Secrets() []string }

// secretsOf returns a function that lists the secrets that handlers hold when it is called, or nil if none can hold
// any.
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

// WithPolicy applies a policy to every run; see [policy.New]. All policies apply, together with those of scripts and
// of the run: the strictest decides. A nil policy is ignored.
func WithPolicy(p *policy.Policy) Option {
	return func(c *config) {
		if p != nil {
			c.policies = append(c.policies, p)
		}
	}
}

// WithHooks puts functions around what the agents of every run do; see [agent.Hooks]. They run before those of
// scripts. Interceptors must return the same result for the same arguments: they run again in a replay.
func WithHooks(h *agent.Hooks) Option {
	return func(c *config) {
		if h != nil {
			c.hooks = append(c.hooks, h)
		}
	}
}

// WithApproval sets who decides about calls for which a policy asks, and about what scripts ask with approve. f may
// take as long as it likes, and must end when ctx does. It is called concurrently for calls that wait at the same
// time; they may be answered in any order, because each decision is for its own call. Without WithApproval, such a
// call is not made, and the run fails with engine.ErrApproval.
func WithApproval(f func(ctx context.Context, r *engine.ApprovalRequest) (engine.Decision, error)) Option {
	return WithHandler(engine.EffectApproval, engine.Approvals(f))
}

// RunPolicy applies a policy to this run, in addition to those of the engine and the script.
func RunPolicy(p *policy.Policy) RunOption {
	return func(r *runConfig) {
		if p != nil {
			r.spec.Policies = append(r.spec.Policies, p)
		}
	}
}
