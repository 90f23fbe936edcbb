package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/mcp/internal/transport"
	"github.com/agentscript/agentscript/engine/remote"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// askTimeout bounds one request to an authorization server.
const askTimeout = 15 * time.Second

// asker makes the requests of a sign-in: only to granted hosts, only over confidential connections, and never
// redirected to another host, which would receive a code or a secret.
type asker struct {
	a      *Authority
	status int   // of the last answer, 0 without one
	own    error // the error by which this side refused a request: the SDK hides it
}

func (k *asker) client() *http.Client {
	return &http.Client{Transport: k, Timeout: askTimeout, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		first := via[0]
		if first.Method != http.MethodGet || req.URL.Scheme != first.URL.Scheme || req.URL.Host != first.URL.Host {
			return transport.ErrNoRedirect
		}
		if len(via) >= 5 {
			return errors.New("it redirects for ever")
		}
		return nil
	}}
}

// RoundTrip implements http.RoundTripper.
func (k *asker) RoundTrip(req *http.Request) (*http.Response, error) {
	k.status = 0
	address := req.URL.String()
	host, err := capability.Host(address)
	if err != nil {
		return nil, err
	}
	if !remote.Confidential(address) {
		k.own = k.a.Failure("%s is no https URL", req.URL.Scheme+"://"+host)
		return nil, k.own
	}
	if err := k.a.Allowed(k.a.spec, engine.EffectHTTP, host); err != nil {
		k.own = err
		return nil, err
	}
	res, err := k.a.Base.RoundTrip(req)
	if err == nil {
		k.status = res.StatusCode
	}
	return res, err
}

// endpoint is where a client requests tokens, and its identity there.
type endpoint struct {
	url, id, secret string
	style           oauth2.AuthStyle
}

// request requests a token. The code is that of an authorization server's refusal.
func (a *Authority) request(ctx context.Context, at endpoint, grant string, params url.Values) (tok *oauth2.Token, code string, err error) {
	params.Set("grant_type", grant)
	ask := &asker{a: a}
	cfg := clientcredentials.Config{ClientID: at.id, ClientSecret: at.secret, TokenURL: at.url, AuthStyle: at.style, EndpointParams: params}
	tok, err = cfg.Token(context.WithValue(ctx, oauth2.HTTPClient, ask.client()))
	no, refused := errors.AsType[*oauth2.RetrieveError](err)
	host, _ := capability.Host(at.url)
	switch {
	case refused && no.ErrorCode == "":
		return nil, "", a.Failure("%s answers the request for a token with HTTP %d", host, no.Response.StatusCode)
	case refused:
		return nil, no.ErrorCode, a.Failure("%s returned no token: %s", host, said(no.ErrorCode, no.ErrorDescription))
	case err != nil:
		return nil, "", a.asFailure(err, host+" returned no token")
	case !strings.EqualFold(tok.Type(), "Bearer"):
		return nil, "", a.Failure("%s returned a token of type %s, and only bearer tokens are usable", host, tok.TokenType)
	}
	return tok, "", nil
}

func said(code, description string) string {
	if description == "" {
		return code
	}
	return fmt.Sprintf("%s (%s)", code, description)
}

// got returns the sign-in updated by a token. An answer may omit unchanged parts.
func (k kept) got(tok *oauth2.Token) *kept {
	k.Access, k.Expiry = tok.AccessToken, tok.Expiry
	if tok.RefreshToken != "" {
		k.Refresh = tok.RefreshToken
	}
	if scope, ok := tok.Extra("scope").(string); ok && scope != "" {
		k.Scopes = strings.Fields(scope)
	}
	return &k
}

// refusals are the errors that end the renewal of a token, from the standard and from other practice.
var refusals = []string{"invalid_grant", "invalid_client", "unauthorized_client", "bad_refresh_token"}

// refresh renews a token. It returns nil if the authorization server no longer renews it. It waits for a renewal in
// progress even if its run ends: a refresh token is valid only once.
func (a *Authority) refresh(ctx context.Context, k *kept) (*kept, error) {
	at := endpoint{url: k.TokenURL, id: k.Client, secret: k.Secret, style: oauth2.AuthStyle(k.Style)}
	if a.how.ID == k.Client && a.how.Secret != "" {
		secret, err := a.lookUp(a.how.Secret)
		if err != nil {
			return nil, err
		}
		at.secret = secret
	}
	params := url.Values{"refresh_token": {k.Refresh}}
	if k.Resource != "" {
		params.Set("resource", k.Resource)
	}
	tok, code, err := a.request(context.WithoutCancel(ctx), at, "refresh_token", params)
	switch {
	case slices.Contains(refusals, code):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return k.got(tok), nil
}

// lookUp returns the value of a named secret, "" without a name.
func (a *Authority) lookUp(name string) (string, error) {
	if name == "" {
		return "", nil
	}
	value, err := a.Secret(a.spec, name, "oauth", a.hidden)
	if err != nil {
		return "", err
	}
	return value, nil
}

// account obtains the token of a client that has its own account.
func (a *Authority) account(ctx context.Context, ch *challenge) (*kept, error) {
	secret, err := a.lookUp(a.how.Secret)
	if err != nil {
		return nil, err
	}
	r, err := a.discover(ctx, ch)
	if err != nil {
		return nil, err
	}
	scopes := union(a.Has(), a.scopes(r, ch))
	params := url.Values{"resource": {r.resource}}
	if len(scopes) > 0 {
		params.Set("scope", strings.Join(scopes, " "))
	}
	if a.how.Key != "" {
		if err := a.signed(params, r.meta.Issuer); err != nil {
			return nil, err
		}
	}
	style := styleOf(r.meta.TokenEndpointAuthMethodsSupported, secret)
	tok, _, err := a.request(ctx, endpoint{r.meta.TokenEndpoint, a.how.ID, secret, style}, "client_credentials", params)
	if err != nil {
		return nil, err
	}
	return kept{Server: a.spec.URL, Issuer: r.meta.Issuer, Resource: r.resource, Client: a.how.ID, TokenURL: r.meta.TokenEndpoint, Scopes: scopes}.got(tok), nil
}

// styleOf chooses how a client authenticates among the methods that the authorization server accepts.
func styleOf(methods []string, secret string) oauth2.AuthStyle {
	switch {
	case secret == "", slices.Contains(methods, "client_secret_post"):
		return oauth2.AuthStyleInParams
	case slices.Contains(methods, "client_secret_basic"):
		return oauth2.AuthStyleInHeader
	}
	return oauth2.AuthStyleAutoDetect
}

// failed returns the failure of a request as an error of the sign-in, unless it already is an engine error.
func (k *asker) failed(err error, what string) *engine.Error {
	return k.a.asFailure(errors.Join(k.own, err), what)
}

// asFailure returns an error as that of the sign-in, unless it already is an engine error.
func (a *Authority) asFailure(err error, what string) *engine.Error {
	if own, ok := errors.AsType[*engine.Error](err); ok {
		return own
	}
	return a.Failure("%s: %s", what, err.Error())
}
