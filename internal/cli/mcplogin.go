package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/mcp"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/internal/cli/setup"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/text"
)

func needTokenDir(c *term.Console) (mcp.TokenDir, *term.Failure) {
	dir := setup.TokenDir(c)
	if dir == "" {
		return "", term.Usagef("set XDG_CONFIG_HOME", "there is no directory for sign-ins")
	}
	return mcp.TokenDir(dir), nil
}

// oneURL rejects the arguments of a verb that are not one URL.
func oneURL(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return term.Usagef("usage: agentscript mcp "+cmd.Use, "%s takes the URL of one MCP server, and got %d arguments", cmd.Name(), len(args))
}

// login are the flags of mcp login.
type login struct {
	id, secret, issuer, envFile, proxy string
	scopes, net                        []string
	port                               uint16
	browser, json                      bool
	timeout                            time.Duration
}

func mcpLoginVerb(c *term.Console) *cobra.Command {
	var o login
	cmd := &cobra.Command{
		Use:   "login URL",
		Short: "Sign in to a server, once for all runs that use it",
		Long: `Login asks the MCP server at URL which authorization server it trusts, prints the address where you
sign in, and waits until your browser returns to this machine. Scripts that name the server with
auth = oauth() use the sign-in, which is renewed for as long as the server allows.`,
		Args: oneURL,
		RunE: func(_ *cobra.Command, args []string) error {
			return signIn(c, args[0], &o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.id, "client-id", "", "use this client `ID`, which may be the URL of a metadata document; without one, a client is registered")
	f.StringVar(&o.secret, "client-secret-env", "", "the environment variable `NAME` that holds the client's secret")
	f.StringArrayVar(&o.scopes, "scope", nil, "ask for this `SCOPE` instead of those that the server names; repeatable")
	f.StringVar(&o.issuer, "issuer", "", "trust only the authorization server at this `URL`")
	f.StringArrayVar(&o.net, "allow-net", nil, "also connect to this `HOST`, address or range of a private network; repeatable")
	f.StringVar(&o.proxy, "net-proxy", "", "make requests through the proxy at this `URL`")
	f.Uint16Var(&o.port, "port", 0, "let the browser return to this `PORT`: http://127.0.0.1:PORT/callback")
	f.BoolVar(&o.browser, "browser", false, "open the address in your browser")
	f.DurationVar(&o.timeout, "timeout", 5*time.Minute, "how long to wait for the sign-in")
	f.StringVar(&o.envFile, "env-file", "", "look for the secret in this `FILE` of NAME=VALUE lines first")
	f.BoolVar(&o.json, "json", false, "print JSON")
	return cmd
}

// signIn signs in to a server.
func signIn(c *term.Console, url string, o *login) error {
	secrets, problem := setup.Secrets(c, o.envFile)
	if problem != nil {
		return problem
	}
	tokens, problem := needTokenDir(c)
	if problem != nil {
		return problem
	}
	if o.timeout <= 0 {
		return term.Usagef("", "--timeout: want more than 0, got %s", o.timeout)
	}
	if o.secret != "" && o.id == "" {
		return term.Usagef("set --client-id as well", "--client-secret-env: nothing says whose secret it is")
	}
	ctx, stop := c.Interruptible()
	defer stop()
	hosts := append([]string{"*"}, o.net...)
	if host, err := capability.Host(url); err == nil && remote.Confidential(url) {
		hosts = append(hosts, host)
		if remote.Confidential("http://" + host) { // this machine
			hosts = append(hosts, "localhost", "127.0.0.1", "::1")
		}
	}
	grants := setup.GrantFlags{Net: hosts, Proxy: o.proxy}
	if o.secret != "" {
		grants.Env = []string{o.secret}
	}
	granted, _, problem := grants.Open(c)
	if problem != nil {
		return problem
	}
	defer func() { _ = granted.Close() }() // it holds no data that could be lost
	ways := mcp.SignIns{Wait: o.timeout, Show: setup.ShowSignIn(c)}
	if o.port != 0 {
		ways.Redirect = fmt.Sprintf("http://127.0.0.1:%d/callback", o.port)
	}
	if o.browser {
		show := ways.Show
		ways.Show = func(ctx context.Context, s mcp.SignIn) error {
			err := show(ctx, s)
			if err == nil && c.Browse(s.Address) != nil {
				_, err = fmt.Fprintln(c.Stderr, "no browser could be opened: open it yourself")
			}
			return err
		}
	}
	client := mcp.New(mcp.WithGrants(granted), mcp.WithHTTPTransport(granted.Transport()), mcp.WithSecrets(secrets.Lookup), mcp.WithClientName("agentscript", c.Version),
		mcp.WithTokens(tokens), mcp.WithSignIn(ways))
	in, err := client.SignIn(ctx, url, &remote.OAuth{ID: o.id, Secret: o.secret, Issuer: o.issuer, Scopes: o.scopes})
	if err != nil {
		return setup.StoreFailure(err)
	}
	return c.PrintAs(o.json, in, func() string { return signedIn(in) })
}

// signedIn describes a sign-in, and what a run needs to use it.
func signedIn(in mcp.SignedIn) string {
	var b strings.Builder
	fmt.Fprintf(&b, "signed in to %s at %s", in.URL, in.Issuer)
	if len(in.Scopes) > 0 {
		fmt.Fprintf(&b, ", for %s", strings.Join(in.Scopes, " "))
	}
	if !in.Renews && !in.Expires.IsZero() {
		fmt.Fprintf(&b, ", until %s", in.Expires.Format(time.RFC3339))
	}
	b.WriteString("\nin a script: mcp(url = ")
	fmt.Fprintf(&b, "%q, auth = oauth())\nto run it:", in.URL)
	for _, host := range in.Hosts {
		fmt.Fprintf(&b, " %s", capability.Use{Kind: engine.EffectHTTP, Target: host}.Flag())
	}
	return text.Terminal(b.String())
}

func mcpLogoutVerb(c *term.Console) *cobra.Command {
	return &cobra.Command{
		Use:   "logout URL",
		Short: "Delete the sign-in to a server and revoke it",
		Args:  oneURL,
		RunE: func(_ *cobra.Command, args []string) error {
			tokens, problem := needTokenDir(c)
			if problem != nil {
				return problem
			}
			ctx, stop := c.Interruptible()
			defer stop()
			client := mcp.New(mcp.WithTokens(tokens), mcp.WithAllow(func(capability.Use) error { return nil }))
			was, err := client.SignOut(ctx, args[0])
			switch {
			case !was && err == nil:
				return term.Usagef("agentscript mcp logins lists them", "no one is signed in to %s", text.Visible(args[0]))
			case err != nil:
				return setup.StoreFailure(err)
			}
			return nil
		},
	}
}

func mcpLoginsVerb(c *term.Console) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "logins",
		Short: "List the servers that you are signed in to",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			tokens, problem := needTokenDir(c)
			if problem != nil {
				return problem
			}
			all, err := tokens.List() // next to an error, it returns those that could be read
			if len(all) == 0 && !asJSON {
				return err
			}
			return errors.Join(err, c.PrintAs(asJSON, all, func() string { return loginList(all) }))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func loginList(all []mcp.SignedIn) string {
	return term.Table(2, func(w io.Writer) {
		fmt.Fprintln(w, "SERVER\tAT\tSCOPES\tEXPIRES")
		for _, in := range all {
			ends := "renews itself"
			switch {
			case in.Renews:
			case in.Expires.IsZero():
				ends = "not known"
			default:
				ends = in.Expires.Format(time.RFC3339)
			}
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", text.Visible(in.URL), text.Visible(in.Issuer), text.Visible(strings.Join(in.Scopes, " ")), ends)
		}
	})
}
