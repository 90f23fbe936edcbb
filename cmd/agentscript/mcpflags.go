package main

import (
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/mcp"
)

// servers makes what reaches MCP servers, as far as scripts may touch anything. It contacts nobody
// before a run needs it. A person at the terminal answers what servers ask; --yes does not, since
// it is about calls that the script makes.
func (c *command) servers(o *runOptions, models, asks engine.Handler) (*mcp.Client, *failure) {
	secrets, problem := c.secrets(o.envFile)
	if problem != nil {
		return nil, problem
	}
	opts := []mcp.Option{mcp.WithSecrets(secrets.Lookup), mcp.WithClientName("agentscript", c.version), mcp.WithRoots(o.grants.dirs()...)}
	if o.granted != nil {
		opts = append(opts, mcp.WithGrants(o.granted))
		if t := o.granted.Transport(); t != nil {
			opts = append(opts, mcp.WithHTTPTransport(t))
		}
	}
	if ask, ok := asks.(engine.Approvals); ok && !o.policy.yes {
		opts = append(opts, mcp.WithApprovals(ask))
	}
	if o.sampling != "" {
		opts = append(opts, mcp.WithSampling(models, o.sampling))
	}
	if dir := c.tokenDir(); dir != "" {
		opts = append(opts, mcp.WithTokens(mcp.TokenDir(dir)))
	}
	if c.stdinTerminal && c.stderrTerminal {
		opts = append(opts, mcp.WithSignIn(mcp.SignIns{Show: showSignIn(c)}))
	}
	return mcp.New(opts...), nil
}

// dirs are the directories that are granted.
func (f *grantFlags) dirs() []string {
	var dirs []string
	for _, d := range f.fs {
		dirs = append(dirs, strings.TrimSuffix(strings.TrimSuffix(d, ":rw"), ":ro"))
	}
	return dirs
}
