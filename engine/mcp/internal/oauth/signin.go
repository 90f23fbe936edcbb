package oauth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

const signInWait = 5 * time.Minute

// WantsMore reports whether the server accepted the token but requires one that covers more.
func (a *Authority) WantsMore() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.wanted != nil && a.wanted.more
}

// SignIn lets a person sign in, for the last challenge by which the server refused.
func (a *Authority) SignIn(ctx context.Context, ways *remote.SignIns) error {
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
	ctx, cancel := context.WithTimeoutCause(ctx, wait, errNobody)
	defer cancel()
	k, err := a.begin(ctx, ways, ch)
	if err != nil {
		if context.Cause(ctx) == errNobody {
			e := a.Failure("no one came back from the browser within %s", wait.String())
			e.Kind = engine.KindTimeout
			return e.WithHelp("sign in before: %s", loginCommand(a.spec.URL, a.how))
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	err = a.Keeps.Update(ctx, Key(a.spec.URL), func([]byte) ([]byte, error) { return json.Marshal(k) })
	if err != nil {
		return a.Failure("it cannot be kept: %s", err.Error())
	}
	a.Hold(k)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wanted, a.read, a.ended = nil, true, false
	return nil
}

// begin lets a person sign in by the authorization code grant with PKCE.
func (a *Authority) begin(ctx context.Context, ways *remote.SignIns, ch *challenge) (*kept, error) {
	r, err := a.discover(ctx, ch)
	if err != nil {
		return nil, err
	}
	switch {
	case r.meta.AuthorizationEndpoint == "":
		return nil, a.Failure("its authorization server %s does not sign people in", r.meta.Issuer)
	case onThisMachine(r.meta.AuthorizationEndpoint) && !onThisMachine(a.spec.URL): // it would make the browser act on this machine
		return nil, a.Failure("its authorization server sends people to %s on this machine", r.meta.AuthorizationEndpoint)
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
		scopes = append(scopes, "offline_access") // some authorization servers issue no refresh token without it
	}
	cfg := oauth2.Config{ClientID: at.id, RedirectURL: back.redirect, Scopes: scopes, Endpoint: oauth2.Endpoint{AuthURL: r.meta.AuthorizationEndpoint}}
	state, verifier := rand.Text(), oauth2.GenerateVerifier()
	a.hidden.Add("sign-in", verifier)
	signIn := remote.SignIn{Server: a.spec.Name, URL: a.spec.URL, Issuer: r.meta.Issuer, Scopes: scopes,
		Address: cfg.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier), oauth2.SetAuthURLParam("resource", r.resource))}
	if ways.Show != nil {
		err = ways.Show(ctx, signIn)
	}
	var came url.Values
	if err == nil {
		came, err = back.await(ctx, signIn)
	}
	if err != nil {
		return nil, a.asFailure(err, "the browser did not come back")
	}
	code, err := a.code(came, state, r.meta)
	if err != nil {
		return nil, err
	}
	tok, _, err := a.request(ctx, at, "authorization_code", url.Values{"code": {code}, "redirect_uri": {back.redirect}, "code_verifier": {verifier}, "resource": {r.resource}})
	if err != nil {
		return nil, err
	}
	k := kept{Server: a.spec.URL, Issuer: r.meta.Issuer, Resource: r.resource, Client: at.id, Style: int(at.style), TokenURL: at.url, Revoke: r.meta.RevocationEndpoint, Scopes: scopes}
	if at.id != a.how.ID {
		k.Secret = at.secret
	}
	return k.got(tok), nil
}

// code reads the parameters with which the browser returned. They must belong to the sign-in that was begun and come
// from its authorization server (RFC 9207).
func (a *Authority) code(came url.Values, state string, meta *oauthex.AuthServerMeta) (string, error) {
	if subtle.ConstantTimeCompare([]byte(came.Get("state")), []byte(state)) != 1 {
		return "", a.Failure("the browser came back from another sign-in than the one that was begun")
	}
	iss := came.Get("iss")
	if iss == "" && meta.AuthorizationResponseIssParameterSupported || iss != "" && iss != meta.Issuer {
		return "", a.Failure("the answer is of the authorization server %q, and was asked of %q", iss, meta.Issuer)
	}
	if no := came.Get("error"); no != "" {
		return "", a.Failure("%s refuses it: %s", meta.Issuer, said(no, came.Get("error_description")))
	}
	code := came.Get("code")
	if code == "" {
		return "", a.Failure("%s sent the browser back without a code", meta.Issuer)
	}
	a.hidden.Add("sign-in", code)
	return code, nil
}

// register determines the client's identity at the authorization server: the client that the script names, the host's
// metadata document, or one registered for this sign-in.
func (a *Authority) register(ctx context.Context, ways *remote.SignIns, r *realm, redirect string) (endpoint, error) {
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
		return at, a.Failure("%s does not read metadata documents of clients, and the script names one", r.meta.Issuer)
	case r.meta.RegistrationEndpoint == "":
		e := a.Failure("%s does not register clients automatically", r.meta.Issuer)
		return at, e.WithHelp("register one there, with the redirect URL %s, and name it: oauth(id = \"...\"), agentscript mcp login --client-id", redirect)
	}
	methods := r.meta.TokenEndpointAuthMethodsSupported
	client := &oauthex.ClientRegistrationMetadata{RedirectURIs: []string{redirect}, ClientName: a.Name, ApplicationType: applicationType(redirect),
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
	a.hidden.Add("client secret", made.ClientSecret)
	at.id, at.secret = made.ClientID, made.ClientSecret
	switch method := made.TokenEndpointAuthMethod; {
	case made.ClientSecret == "" || method == "none":
		at.secret = ""
	case method == "client_secret_basic", method == "" && client.TokenEndpointAuthMethod != "client_secret_post":
		at.style = oauth2.AuthStyleInHeader
	}
	return at, nil
}

// onThisMachine reports whether a URL leads to this machine.
func onThisMachine(address string) bool {
	u, err := url.Parse(address)
	return err == nil && remote.Confidential("http://"+u.Host)
}

// applicationType returns the type by which an authorization server judges redirect URLs.
func applicationType(redirect string) string {
	if strings.HasPrefix(redirect, "https:") {
		return "web"
	}
	return "native"
}
