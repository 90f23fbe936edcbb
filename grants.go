package agentscript

import "github.com/agentscript/agentscript/engine"

// WithGrants lets scripts touch what g allows, by sh, http, fs and env. Without it they touch
// nothing: a use that is written out in a script is the error AS620 when it loads, any other one
// AS758 when a run comes to it. See the package engine/grant.
func WithGrants(g engine.Grants) Option { return func(c *config) { c.grants = g } }

// WithUngranted has Load and Check pass over uses of sh, http, fs and env that are not granted: to
// look at a script, or to draw it. They are not granted by it.
func WithUngranted() Option { return func(c *config) { c.ungranted = true } }

// grant has the effects of capabilities carried out by what grants them. A handler that the host
// set for a kind of its own stays.
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
