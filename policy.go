package agentscript

import (
	"context"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/agent"
	"github.com/agentscript/agentscript/engine/policy"
)

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
