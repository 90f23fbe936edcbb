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

// SignIn is what a person is to agree to.
type SignIn = remote.SignIn

// SignIns is how people sign in to servers that want it.
type SignIns = remote.SignIns

// SignedIn is what may be shown of a sign-in.
type SignedIn = remote.SignedIn

// Deps is what comes by tokens for the client.
func (c *Client) deps() oauth.Deps {
	return oauth.Deps{Base: c.cfg.transport, Keeps: c.cfg.tokens, Name: c.cfg.name, Allowed: c.allowed, Secret: c.secret}
}

// WithSignIn sets how people sign in to servers with auth = oauth(). Without it, and without a sign-in
// that was kept, such a server is the error AS770.
func WithSignIn(s SignIns) Option { return func(c *config) { c.signIns = &s } }

// mostSignIns is how often a person is asked for one call: to sign in, and for more.
const mostSignIns = 2

// signedIn carries something out, and again when a person signed in for it: what is refused for its
// token was not carried out. Nobody is asked for the same again.
func (s *server) signedIn(ctx context.Context, do func() engine.Outcome) engine.Outcome {
	out := do()
	if s.auth == nil || s.client.cfg.signIns == nil {
		return out
	}
	for n := 0; out.Err != nil && out.Err.Code == diag.ServerSignIn; n++ {
		if more := s.auth.WantsMore(); n == mostSignIns || n > 0 && !more {
			e := s.auth.Failure("it does not take the token that its authorization server gave")
			if more {
				e = s.auth.Failure("it wants more than the token covers that somebody agreed to")
			}
			return engine.Failed(e.WithHelp("tell whoever runs the server; its scopes may be at odds with those of its authorization server"))
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

// SignIn has a person sign in to a server at a URL, also where somebody is signed in, and says hello to
// it with the token. Runs that find the same [Tokens] need nobody then. How is nil for what [remote.OAuth]
// says when it is empty. A server that lets everybody in is the error AS771.
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
		return SignedIn{}, s.auth.Failure("the host has nobody sign in")
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

// SignOut forgets the sign-in to a server, and has its authorization server take back the tokens where
// that is possible. It reports whether there was one; the error is that of taking back, what was kept is
// gone all the same.
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
