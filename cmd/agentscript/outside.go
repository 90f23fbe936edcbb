package main

import (
	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
)

// touches are the kinds of effects by which scripts touch the world, as far as it is granted.
var touches = []engine.EffectKind{engine.EffectExec, engine.EffectHTTP, engine.EffectFS, engine.EffectEnv}

// outside settles what carries out all that a run does outside of it: models, MCP servers, people who
// decide, and what is granted. With --record all of it is written, with --replay none of it is there.
func (c *command) outside(set *modelSetup, o *runOptions, models engine.Handler, redact func(string) string, file string) (problem *failure) {
	handlers := engine.Handlers{}
	if set.replayed != nil {
		for _, kind := range append(touches, engine.EffectModel, engine.EffectMCP, engine.EffectApproval) {
			handlers[kind] = set.replayed
		}
	} else if handlers, problem = c.world(set, o, models, redact, file); problem != nil {
		return problem
	}
	for kind, h := range handlers {
		set.options = append(set.options, agentscript.HandlerFor(kind, h))
	}
	return nil
}

func (c *command) world(set *modelSetup, o *runOptions, models engine.Handler, redact func(string) string, file string) (handlers engine.Handlers, problem *failure) {
	if models, problem = o.calls.cached(models, redact); problem != nil {
		return nil, problem
	}
	if set.recorder, set.record, problem = o.calls.recorder(models, redact, file, o.scripted, o.envFile, o.inputFile, o.trace); problem != nil {
		return nil, problem
	}
	asks := c.approver(o.policy.yes)
	if set.servers, problem = c.servers(o, models, asks); problem != nil { // what servers ask models is part of their calls
		return nil, problem
	}
	handlers = engine.Handlers{engine.EffectModel: models, engine.EffectMCP: set.servers}
	if asks != nil {
		handlers[engine.EffectApproval] = asks
	}
	if set.recorder == nil {
		return handlers, nil // what is granted is known to the engine
	}
	for _, kind := range touches {
		if handlers[kind] = engine.Handlers(nil); o.granted != nil { // else it is refused, which is recorded
			handlers[kind] = o.granted
		}
	}
	for kind, h := range handlers {
		handlers[kind] = set.recorder.Around(h)
	}
	return handlers, nil
}
