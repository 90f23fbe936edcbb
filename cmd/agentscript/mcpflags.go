package main

import (
	"errors"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/mcp"
)

// mayServe decides about a command, host or secret of an MCP server: by the flags that grant it
// to scripts.
func (o *runOptions) mayServe(u mcp.Use) error {
	kinds := map[string]engine.EffectKind{"exec": engine.EffectExec, "net": engine.EffectHTTP, "env": engine.EffectEnv}
	if o.granted != nil && o.granted.Allows(engine.Use{Kind: kinds[u.Kind], Target: u.Target}) {
		return nil
	}
	return errors.New("it was not granted")
}

// servers makes what reaches MCP servers. It contacts nobody before a run needs it.
func (c *command) servers(o *runOptions) (*mcp.Client, *failure) {
	secrets, problem := c.secrets(o.envFile)
	if problem != nil {
		return nil, problem
	}
	return mcp.New(mcp.WithAllow(o.mayServe), mcp.WithSecrets(secrets.Lookup), mcp.WithClientName("agentscript", version)), nil
}
