package mcp

import (
	"context"
	"errors"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/mcp/internal/oauth"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/internal/text"
)

// SignIn is the sign-in that a person is asked to agree to.
type SignIn = remote.SignIn

// SignIns says how people sign in to servers that require it.
type SignIns = remote.SignIns

// SignedIn is the public part of a sign-in.
type SignedIn = remote.SignedIn

// deps returns what the client provides for obtaining tokens.
func (c *Client) deps() oauth.Deps {
	return oauth.Deps{Base: c.cfg.transport, Keeps: c.cfg.tokens, Name: c.cfg.name, Allowed: c.allowed, Secret: c.secret}
}

// WithSignIn sets how people sign in to servers with auth = oauth(). Without it, and without a stored sign-in, using
// such a server is the error AS770.
func WithSignIn(s SignIns) Option { return func(c *config) { c.signIns = &s } }

// mostSignIns is how often a person is asked for one call: to sign in, and to agree to more.
const mostSignIns = 2

// signedIn runs do, and runs it again after a person has signed in for it: what is refused for its token was not
// executed. Nobody is asked twice for the same.
func (s *server) signedIn(ctx context.Context, do func() engine.Outcome) engine.Outcome {
	out := do()
	if s.auth == nil || s.client.cfg.signIns == nil {
		return out
	}
	for n := 0; out.Err != nil && out.Err.Code == diag.ServerSignIn; n++ {
		if more := s.auth.WantsMore(); n == mostSignIns || n > 0 && !more {
			e := s.auth.Failure("it does not accept the token of its authorization server")
			if more {
				e = s.auth.Failure("it wants more than the token covers that somebody agreed to")
			}
			return engine.Failed(e.WithHelp("report this to the server's operator; its scopes may not match those of its authorization server"))
		}
		if err := s.auth.SignIn(ctx, s.client.cfg.signIns); err != nil {
			own, ok := errors.AsType[*engine.Error](err)
			if !ok {
				own = interrupted(ctx, s.spec)
			}
			return engine.Failed(own)
		}
		out = do()
	}
	return out
}

// SignIn lets a person sign in to a server at a URL, even if somebody is already signed in, and connects to it with the
// token. Later runs that use the same [Tokens] need no further sign-in. A nil how is the same as an empty
// [remote.OAuth]. A server that requires no sign-in is the error AS771.
func (c *Client) SignIn(ctx context.Context, server string, how *remote.OAuth) (SignedIn, error) {
	if how == nil {
		how = &remote.OAuth{}
	}
	own := *how
	own.Grant = remote.GrantAuthorizationCode
	host, err := capability.Host(server)
	if err != nil || !remote.Confidential(server) {
		return SignedIn{}, engine.Errorf(engine.KindInput, diag.BadServer, "%q is no https URL of an MCP server", text.Plain(server)).WithHelp("write https://host/path")
	}
	spec := &remote.Server{Name: host, URL: server, Transport: remote.TransportAuto, OAuth: &own}
	s, failed := c.server(spec)
	if failed != nil {
		return SignedIn{}, failed
	}
	if c.cfg.signIns == nil {
		return SignedIn{}, s.auth.Failure("the host lets no one sign in")
	}
	a := s.auth
	if err := a.Begins(ctx, true); err != nil {
		return SignedIn{}, interrupted(ctx, spec)
	}
	a.Hold(nil)
	s.hangUp()
	hello := func() engine.Outcome {
		ctx, cancel := context.WithTimeoutCause(ctx, remote.DefaultTimeout, tooSlow{remote.DefaultTimeout})
		defer cancel()
		x, err := s.session(ctx)
		if err != nil {
			return engine.Failed(err)
		}
		s.release(x)
		return engine.Outcome{}
	}
	out := s.signedIn(ctx, hello)
	k := a.Has()
	if err := a.Begins(context.WithoutCancel(ctx), false); err != nil {
		return SignedIn{}, interrupted(ctx, spec)
	}
	switch {
	case out.Err != nil:
		return SignedIn{}, out.Err
	case k == nil:
		return SignedIn{}, engine.Errorf(engine.KindAuth, diag.SignInFailed, "MCP server %q lets everybody in and asks for no sign-in", host).WithHelp("leave auth = out of the script")
	}
	return k.SignedIn(), nil
}

// SignOut deletes the sign-in to a server, and revokes the tokens if the authorization server supports that. It reports
// whether there was a sign-in. An error concerns the revocation: the stored sign-in is deleted anyway.
func (c *Client) SignOut(ctx context.Context, server string) (bool, error) {
	k, err := oauth.Forget(ctx, c.cfg.tokens, server)
	c.mu.Lock()
	for _, s := range c.servers {
		if s.auth != nil && oauth.Key(s.spec.URL) == oauth.Key(server) {
			s.auth.Hold(nil)
		}
	}
	c.mu.Unlock()
	if err != nil || k == nil {
		return false, err
	}
	return true, k.Withdraw(ctx, c.deps())
}
