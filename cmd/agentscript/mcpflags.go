package main

import (
	"errors"
	"slices"

	"github.com/spf13/pflag"

	"github.com/agentscript/agentscript/engine/mcp"
)

// mcpFlags say what MCP servers may be started, talked to and given.
type mcpFlags struct {
	exec, net, env []string
}

func (m *mcpFlags) addTo(f *pflag.FlagSet) {
	f.StringArrayVar(&m.exec, "allow-exec", nil, "let the script start this `CMD`; repeatable")
	f.StringArrayVar(&m.net, "allow-net", nil, "let the script talk to this `HOST`; repeatable")
	f.StringArrayVar(&m.env, "allow-env", nil, "let the script use the environment variable `NAME`; repeatable")
}

// allow decides about a use.
func (m *mcpFlags) allow(u mcp.Use) error {
	if slices.Contains(map[string][]string{"exec": m.exec, "net": m.net, "env": m.env}[u.Kind], u.Target) {
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
	return mcp.New(mcp.WithAllow(o.mcp.allow), mcp.WithSecrets(secrets.Lookup), mcp.WithClientName("agentscript", version)), nil
}
