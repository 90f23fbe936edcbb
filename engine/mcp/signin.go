package mcp

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// SignIn is what a person is to agree to.
type SignIn struct {
	Server  string   // its name
	URL     string   // of the server
	Issuer  string   // the authorization server, at which the person signs in
	Scopes  []string // that are asked for
	Address string   // where the person goes with a browser. Whoever reads it can break off the sign-in, and do no more
}

// SignIns is how people sign in to servers that want it.
type SignIns struct {
	// Show shows a person where to go, and returns. An error of it ends the sign-in.
	Show func(context.Context, SignIn) error
	// Redirect is where the browser comes back to. Unless Await is given it is an address of this machine,
	// "http://127.0.0.1:8765/callback", at which is listened meanwhile; "" is one with a free port.
	Redirect string
	// Await waits for the browser of a host that has a Redirect of its own, and gives the query with
	// which it came back.
	Await func(context.Context, SignIn) (url.Values, error)
	// Wait bounds how long a person is waited for: 5 minutes when it is 0.
	Wait time.Duration
	// ClientID is the https URL of the host's client ID metadata document, "" when it has none: then a
	// client is registered, unless the script names one.
	ClientID string
}

const signInWait = 5 * time.Minute

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
		if more := s.auth.wantsMore(); n == mostSignIns || n > 0 && !more {
			e := s.auth.failure("it does not take the token that its authorization server gave")
			if more {
				e = s.auth.failure("it wants more than the token covers that somebody agreed to")
			}
			return engine.Failed(e.WithHelp("tell whoever runs the server; its scopes may be at odds with those of its authorization server"))
		}
		if err := s.auth.signIn(ctx, s.client.cfg.signIns); err != nil {
			var own *engine.Error
			if !errors.As(err, &own) {
				own = interrupted(ctx, s.spec)
			}
			return engine.Failed(own)
		}
		out = do()
	}
	return out
}

// wantsMore reports whether the server took the token and wants one that covers more.
func (a *authority) wantsMore() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.wanted != nil && a.wanted.more
}

// signIn has a person sign in, for the challenge that the server refused by last.
func (a *authority) signIn(ctx context.Context, ways *SignIns) error {
	free, err := a.take(ctx)
	if err != nil {
		return err
	}
	defer free()
	a.mu.Lock()
	ch, held := a.wanted, a.held
	a.mu.Unlock()
	if ch == nil || held != nil && held.Access != ch.used {
		return nil // somebody did meanwhile
	}
	wait := ways.Wait
	if wait <= 0 {
		wait = signInWait
	}
	ctx, cancel := context.WithTimeoutCause(ctx, wait, tooSlow{wait})
	defer cancel()
	k, err := a.begin(ctx, ways, ch)
	if err != nil {
		if slow(context.Cause(ctx)) > 0 {
			e := a.failure("nobody came back from the browser within %s", wait.String())
			e.Kind = engine.KindTimeout
			return e.WithHelp("sign in before: %s", loginCommand(a.spec.URL, a.how))
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	err = a.client.cfg.tokens.Update(ctx, key(a.spec.URL), func([]byte) ([]byte, error) { return json.Marshal(k) })
	if err != nil {
		return a.failure("it cannot be kept: %s", err.Error())
	}
	a.hold(k)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wanted, a.read, a.ended = nil, true, false
	return nil
}

// begin goes the way of a person who signs in, by the authorization code grant with PKCE.
func (a *authority) begin(ctx context.Context, ways *SignIns, ch *challenge) (*kept, error) {
	r, err := a.discover(ctx, ch)
	if err != nil {
		return nil, err
	}
	switch {
	case r.meta.AuthorizationEndpoint == "":
		return nil, a.failure("its authorization server %s signs nobody in", r.meta.Issuer)
	case onThisMachine(r.meta.AuthorizationEndpoint) && !onThisMachine(a.spec.URL): // and would have the browser do something here
		return nil, a.failure("its authorization server sends people to %s on this machine", r.meta.AuthorizationEndpoint)
	}
	back, err := a.back(ways)
	if err != nil {
		return nil, err
	}
	defer back.close()
	at, err := a.register(ctx, ways, r, back.redirect)
	if err != nil {
		return nil, err
	}
	scopes := slices.Clone(a.scopes(r, ch))
	if slices.Contains(r.meta.ScopesSupported, "offline_access") && !slices.Contains(scopes, "offline_access") {
		scopes = append(scopes, "offline_access") // without it some renew nothing
	}
	cfg := oauth2.Config{ClientID: at.id, RedirectURL: back.redirect, Scopes: scopes, Endpoint: oauth2.Endpoint{AuthURL: r.meta.AuthorizationEndpoint}}
	state, verifier := rand.Text(), oauth2.GenerateVerifier()
	a.hidden.add("sign-in", verifier)
	signIn := SignIn{Server: a.spec.Name, URL: a.spec.URL, Issuer: r.meta.Issuer, Scopes: scopes,
		Address: cfg.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier), oauth2.SetAuthURLParam("resource", r.resource))}
	came, err := back.await(ctx, signIn)
	if err != nil {
		return nil, a.asFailure(err, "the browser did not come back")
	}
	code, err := a.code(came, state, r.meta)
	if err != nil {
		return nil, err
	}
	tok, err := a.request(ctx, at, "authorization_code", url.Values{"code": {code}, "redirect_uri": {back.redirect}, "code_verifier": {verifier}, "resource": {r.resource}})
	if err != nil {
		return nil, a.denied(err)
	}
	k := kept{Server: a.spec.URL, Issuer: r.meta.Issuer, Resource: r.resource, Client: at.id, Style: int(at.style), TokenURL: at.url, Revoke: r.meta.RevocationEndpoint, Scopes: scopes}
	if at.id != a.how.ID {
		k.Secret = at.secret
	}
	return k.got(tok), nil
}

// code reads with what the browser came back: for the sign-in that was begun, and from whom it was
// begun with (RFC 9207).
func (a *authority) code(came url.Values, state string, meta *oauthex.AuthServerMeta) (string, error) {
	if subtle.ConstantTimeCompare([]byte(came.Get("state")), []byte(state)) != 1 {
		return "", a.failure("the browser came back from another sign-in than the one that was begun")
	}
	iss := came.Get("iss")
	if iss == "" && meta.AuthorizationResponseIssParameterSupported || iss != "" && iss != meta.Issuer {
		return "", a.failure("the answer is of the authorization server %q, and was asked of %q", iss, meta.Issuer)
	}
	if no := came.Get("error"); no != "" {
		return "", a.failure("%s refuses it: %s", meta.Issuer, said(no, came.Get("error_description")))
	}
	code := came.Get("code")
	if code == "" {
		return "", a.failure("%s sent the browser back without a code", meta.Issuer)
	}
	a.hidden.add("sign-in", code)
	return code, nil
}

// register settles who we are at the authorization server: the client that the script names, the host's
// metadata document, or one that is registered for this sign-in.
func (a *authority) register(ctx context.Context, ways *SignIns, r *realm, redirect string) (endpoint, error) {
	at := endpoint{url: r.meta.TokenEndpoint, style: oauth2.AuthStyleInParams}
	switch documents := r.meta.ClientIDMetadataDocumentSupported; {
	case a.how.ID != "" && (documents || !a.how.IsDocument()):
		secret, err := a.lookUp(a.how.Secret)
		if err != nil {
			return at, err
		}
		at.id, at.secret, at.style = a.how.ID, secret, styleOf(r.meta.TokenEndpointAuthMethodsSupported, secret)
		return at, nil
	case a.how.ID == "" && ways.ClientID != "" && documents:
		at.id = ways.ClientID
		return at, nil
	case a.how.ID != "":
		return at, a.failure("%s does not read metadata documents of clients, and the script names one", r.meta.Issuer)
	case r.meta.RegistrationEndpoint == "":
		e := a.failure("%s registers no clients by itself", r.meta.Issuer)
		return at, e.WithHelp("register one there, with the redirect URL %s, and name it: oauth(id = \"...\"), agentscript mcp login --client-id", redirect)
	}
	methods := r.meta.TokenEndpointAuthMethodsSupported
	client := &oauthex.ClientRegistrationMetadata{RedirectURIs: []string{redirect}, ClientName: a.client.cfg.name, ApplicationType: applicationType(redirect),
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"}}
	for _, method := range []string{"none", "client_secret_post", "client_secret_basic"} {
		if slices.Contains(methods, method) {
			client.TokenEndpointAuthMethod = method
			break
		}
	}
	ask := &asker{a: a}
	made, err := oauthex.RegisterClient(ctx, r.meta.RegistrationEndpoint, client, ask.client())
	if err != nil {
		return at, ask.failed(err, r.meta.Issuer+" does not register us")
	}
	a.hidden.add("client secret", made.ClientSecret)
	at.id, at.secret = made.ClientID, made.ClientSecret
	switch method := made.TokenEndpointAuthMethod; {
	case made.ClientSecret == "" || method == "none":
		at.secret = ""
	case method == "client_secret_basic", method == "" && client.TokenEndpointAuthMethod != "client_secret_post":
		at.style = oauth2.AuthStyleInHeader
	}
	return at, nil
}

// onThisMachine reports whether a URL leads to this very machine.
func onThisMachine(address string) bool {
	u, err := url.Parse(address)
	return err == nil && engine.Confidential("http://"+u.Host)
}

// applicationType is what an authorization server goes by to judge redirect URLs.
func applicationType(redirect string) string {
	if strings.HasPrefix(redirect, "https:") {
		return "web"
	}
	return "native"
}
