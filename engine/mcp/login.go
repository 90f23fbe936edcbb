package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// SignedIn is what may be told of a sign-in.
type SignedIn struct {
	URL     string    `json:"url"` // of the server
	Issuer  string    `json:"issuer"`
	Scopes  []string  `json:"scopes"`
	Hosts   []string  `json:"hosts"`            // that a run with the server talks to
	Expires time.Time `json:"expires,omitzero"` // the zero time when nobody said
	Renews  bool      `json:"renews"`           // by itself, when it expires
}

func (k *kept) told() SignedIn {
	out := SignedIn{URL: k.Server, Issuer: k.Issuer, Scopes: append([]string{}, k.Scopes...), Hosts: []string{}, Expires: k.Expiry, Renews: k.Refresh != ""}
	addresses := []string{k.Server}
	if out.Renews {
		addresses = append(addresses, k.TokenURL)
	}
	for _, at := range addresses {
		if host, err := engine.Host(at); err == nil && !slices.Contains(out.Hosts, host) {
			out.Hosts = append(out.Hosts, host)
		}
	}
	return out
}

// SignIn has a person sign in to a server at a URL, also where somebody is signed in, and says hello to
// it with the token. Runs that find the same [Tokens] need nobody then. How is nil for what [engine.OAuth]
// says when it is empty. A server that lets everybody in is the error AS771.
func (c *Client) SignIn(ctx context.Context, server string, how *engine.OAuth) (SignedIn, error) {
	if how == nil {
		how = &engine.OAuth{}
	}
	own := *how
	own.Grant = engine.GrantAuthorizationCode
	host, err := engine.Host(server)
	if err != nil || !engine.Confidential(server) {
		return SignedIn{}, engine.Errorf(engine.KindInput, diag.BadServer, "%q is no https URL of an MCP server", plain(server)).WithHelp("write https://host/path")
	}
	spec := &engine.ServerSpec{Name: host, URL: server, Transport: engine.TransportAuto, OAuth: &own}
	s, failed := c.server(spec)
	if failed != nil {
		return SignedIn{}, failed
	}
	if c.cfg.signIns == nil {
		return SignedIn{}, s.auth.failure("the host has nobody sign in")
	}
	a := s.auth
	if err := a.begins(ctx, true); err != nil {
		return SignedIn{}, interrupted(ctx, spec)
	}
	a.hold(nil)
	s.retire(nil)
	hello := func() engine.Outcome {
		ctx, cancel := context.WithTimeoutCause(ctx, engine.DefaultServerTimeout, tooSlow{engine.DefaultServerTimeout})
		defer cancel()
		x, err := s.session(ctx)
		if err != nil {
			return engine.Failed(err)
		}
		s.release(x)
		return engine.Outcome{}
	}
	out := s.signedIn(ctx, hello)
	k := a.has()
	if err := a.begins(context.WithoutCancel(ctx), false); err != nil {
		return SignedIn{}, interrupted(ctx, spec)
	}
	switch {
	case out.Err != nil:
		return SignedIn{}, out.Err
	case k == nil:
		return SignedIn{}, engine.Errorf(engine.KindAuth, diag.SignInFailed, "MCP server %q lets everybody in and asks for no sign-in", host).WithHelp("leave auth = out of the script")
	}
	return k.told(), nil
}

// begins has what is kept count again, or not.
func (a *authority) begins(ctx context.Context, anew bool) error {
	free, err := a.take(ctx)
	if err != nil {
		return err
	}
	defer free()
	a.anew = anew
	return nil
}

// SignOut forgets the sign-in to a server, and has its authorization server take back the tokens where
// that is possible. It reports whether there was one; the error is that of taking back, what was kept is
// gone all the same.
func (c *Client) SignOut(ctx context.Context, server string) (bool, error) {
	var k *kept
	err := c.cfg.tokens.Update(ctx, key(server), func(data []byte) ([]byte, error) {
		if data != nil {
			k = &kept{}
			if json.Unmarshal(data, k) != nil {
				*k = kept{} // it is of no use, and forgotten
			}
		}
		return nil, nil
	})
	c.mu.Lock()
	for _, s := range c.servers {
		if s.auth != nil && key(s.spec.URL) == key(server) {
			s.auth.hold(nil)
		}
	}
	c.mu.Unlock()
	if err != nil || k == nil {
		return false, err
	}
	if k.Revoke == "" {
		return true, nil
	}
	return true, c.revoke(ctx, k)
}

// revoke takes tokens back (RFC 7009).
func (c *Client) revoke(ctx context.Context, k *kept) error {
	a := &authority{client: c, spec: &engine.ServerSpec{Name: k.Server, URL: k.Server}, how: &engine.OAuth{}, hidden: &veil{}}
	a.hold(k)
	ask := &asker{a: a}
	var wrong []error
	for hint, token := range map[string]string{"refresh_token": k.Refresh, "access_token": k.Access} {
		if token == "" {
			continue
		}
		form := url.Values{"token": {token}, "token_type_hint": {hint}}
		if k.Style != int(oauth2.AuthStyleInHeader) {
			form.Set("client_id", k.Client)
			if k.Secret != "" {
				form.Set("client_secret", k.Secret)
			}
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, k.Revoke, strings.NewReader(form.Encode()))
		if err != nil {
			return a.failure("%s is no URL", k.Revoke)
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if k.Style == int(oauth2.AuthStyleInHeader) {
			req.SetBasicAuth(url.QueryEscape(k.Client), url.QueryEscape(k.Secret))
		}
		res, err := ask.client().Do(req)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		_ = res.Body.Close()
		if res.StatusCode != http.StatusOK {
			wrong = append(wrong, errors.New(res.Status))
		}
	}
	if err := errors.Join(wrong...); err != nil {
		e := ask.failed(err, "")
		e.Message = a.hidden.text(brief(fmt.Sprintf("the sign-in to MCP server %q is forgotten here, and %s did not take its tokens back: %s", k.Server, k.Issuer, err)))
		return e.WithHelp("see at the authorization server what it lists as granted")
	}
	return nil
}

// List tells of the sign-ins in the directory, beside an error of those that cannot be read.
func (d TokenDir) List() ([]SignedIn, error) {
	files, err := d.all()
	out := []SignedIn{}
	for _, data := range files {
		var k kept
		if json.Unmarshal(data, &k) == nil && k.Server != "" {
			out = append(out, k.told())
		}
	}
	slices.SortFunc(out, func(a, b SignedIn) int { return strings.Compare(a.URL, b.URL) })
	return out, err
}
