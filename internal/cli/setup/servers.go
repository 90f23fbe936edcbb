package setup

import (
	"context"
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/mcp"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

// servers returns the client for MCP servers, within the grants of scripts. It connects to none before a run needs it.
// A person at the terminal answers requests of servers; --yes does not, since it concerns the calls that the script
// makes.
func servers(c *term.Console, o *RunFlags, models, asks engine.Handler) (*mcp.Client, *term.Failure) {
	secrets, problem := Secrets(c, o.EnvFile)
	if problem != nil {
		return nil, problem
	}
	opts := []mcp.Option{mcp.WithSecrets(secrets.Lookup), mcp.WithClientName("agentscript", c.Version), mcp.WithRoots(text.Each(o.Grants.fs, DirOf)...)}
	if o.Granted != nil {
		opts = append(opts, mcp.WithGrants(o.Granted))
		if t := o.Granted.Transport(); t != nil {
			opts = append(opts, mcp.WithHTTPTransport(t))
		}
	}
	if ask, ok := asks.(engine.Approvals); ok && !o.policy.yes {
		opts = append(opts, mcp.WithApprovals(ask))
	}
	if o.sampling != "" {
		opts = append(opts, mcp.WithSampling(models, o.sampling))
	}
	if dir := TokenDir(c); dir != "" {
		opts = append(opts, mcp.WithTokens(mcp.TokenDir(dir)))
	}
	if c.StdinTerminal && c.StderrTerminal {
		opts = append(opts, mcp.WithSignIn(mcp.SignIns{Show: ShowSignIn(c)}))
	}
	return mcp.New(opts...), nil
}

// TokenDir returns the directory that keeps sign-ins, or "" if the user has no directory for it.
func TokenDir(c *term.Console) string {
	dir, _ := UserDir(c, "mcp", "XDG_CONFIG_HOME", "APPDATA", ".config")
	return dir
}

// ShowSignIn shows the person at the terminal where to sign in.
func ShowSignIn(c *term.Console) func(context.Context, mcp.SignIn) error {
	return func(_ context.Context, s mcp.SignIn) error {
		defer c.Alone()()
		what := ""
		if len(s.Scopes) > 0 {
			what = ", for " + strings.Join(s.Scopes, " ")
		}
		_, err := fmt.Fprintf(c.Stderr, "\nsign in to MCP server %s at %s%s\nopen this in a browser:\n\n  %s\n\nwaiting until it comes back\n",
			text.Visible(s.Server), text.Visible(s.Issuer), text.Visible(what), text.Visible(s.Address))
		return err
	}
}
