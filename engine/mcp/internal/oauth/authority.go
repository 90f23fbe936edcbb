// Package oauth obtains the tokens of MCP servers and renews them: it discovers the authorization server, lets a person
// sign in or authenticates the client, and stores the result. Each of its requests is subject to the grants of the
// client that it works for, see [Deps].
package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/internal/redact"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/internal/text"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// tokens stores sign-ins, see Tokens of package mcp.
type tokens interface {
	Update(ctx context.Context, key string, f func(kept []byte) ([]byte, error)) error
}

// Deps is what an authority needs from the client that it works for.
type Deps struct {
	Base    http.RoundTripper
	Keeps   tokens
	Name    string // the name that the client sends
	Allowed func(spec *remote.Server, kind engine.EffectKind, target string) *engine.Error
	Secret  func(spec *remote.Server, name, use string, hidden *redact.Redactor) (string, *engine.Error)
}

// New returns the authority of a server with auth = oauth().
func New(d Deps, spec *remote.Server, hidden *redact.Redactor) *Authority {
	return &Authority{Deps: d, spec: spec, how: spec.OAuth, hidden: hidden, turn: make(chan struct{}, 1)}
}

// Authority obtains the token of one server and renews it. All sessions with the server share it.
type Authority struct {
	Deps
	spec   *remote.Server
	how    *remote.OAuth
	hidden *redact.Redactor
	turn   chan struct{} // held while a token is obtained, so that it is done once

	// Guarded by the turn.
	read  bool // the sign-in stored by an earlier process
	anew  bool // somebody signs in anew, whatever is stored
	ended bool // the stored sign-in is no longer accepted

	mu     sync.Mutex
	held   *kept      // nil without one
	wanted *challenge // the last challenge by which the server refused
}

// kept is a token and everything that is needed to renew it. Its JSON is what [mcp.Tokens] store.
type kept struct {
	Server   string    `json:"server"`
	Issuer   string    `json:"issuer"`
	Resource string    `json:"resource"`
	Client   string    `json:"client_id"`
	Secret   string    `json:"client_secret,omitempty"` // of a client that was registered; others belong to the host
	Style    int       `json:"auth_style"`              // how the client authenticates, see oauth2.AuthStyle
	TokenURL string    `json:"token_endpoint"`
	Revoke   string    `json:"revocation_endpoint,omitempty"`
	Scopes   []string  `json:"scopes,omitempty"`
	Access   string    `json:"access_token"`
	Refresh  string    `json:"refresh_token,omitempty"`
	Expiry   time.Time `json:"expiry,omitzero"`
}

// challenge is the content of a server's refusal.
type challenge struct {
	metadata string   // the URL where the server describes itself, "" if not stated
	scopes   []string // that it requires
	more     bool     // the token was valid but covers too little
	used     string   // that token
}

// skew is how long before its expiry a token is renewed.
const skew = 10 * time.Second

// Key returns the key under which the sign-in to a server is stored.
func Key(server string) string {
	u, err := url.Parse(server)
	if err != nil {
		return server
	}
	u.Scheme, u.Host, u.Fragment = strings.ToLower(u.Scheme), strings.ToLower(u.Host), ""
	if port := u.Port(); port != "" && u.Scheme+port == "http80" || u.Scheme+port == "https443" {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return u.String()
}

// byPerson reports whether a person must sign in.
func (a *Authority) byPerson() bool { return a.how.Grant != remote.GrantClientCredentials }

// take acquires the turn to obtain a token.
func (a *Authority) take(ctx context.Context) (func(), error) {
	select {
	case a.turn <- struct{}{}:
		return func() { <-a.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Has returns the current token.
func (a *Authority) Has() *kept {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.held
}

// Hold sets the token for the next requests, nil for none, and hides its secrets in all texts.
func (a *Authority) Hold(k *kept) {
	if k != nil {
		for name, value := range map[string]string{"access token": k.Access, "refresh token": k.Refresh, "client secret": k.Secret} {
			a.hidden.Add(name, value)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.held = k
}

// Token returns the token for the next request, "" without one: the server then says what it requires.
func (a *Authority) Token(ctx context.Context) (string, error) {
	if k := a.Has(); k != nil && !k.ends() {
		return k.Access, nil
	}
	free, err := a.take(ctx)
	if err != nil {
		return "", err
	}
	defer free()
	k := a.Has()
	switch {
	case k != nil && !k.ends(): // it was renewed meanwhile
	case !a.byPerson():
		k = nil
	case k == nil && (a.anew || a.read):
		return "", nil
	default:
		err := a.renew(ctx, "", true)
		if k = a.Has(); err != nil && (k == nil || !time.Now().Before(k.Expiry)) {
			return "", err
		}
	}
	if k == nil {
		return "", nil
	}
	return k.Access, nil
}

// ends reports whether a token is expired or about to expire.
func (k *kept) ends() bool { return !k.Expiry.IsZero() && time.Until(k.Expiry) < skew }

// renew loads the stored token, which another process may have renewed, and renews it if it expires or is the one that
// the server rejected, provided that refresh allows it. Afterwards no token is held if nobody is signed in.
func (a *Authority) renew(ctx context.Context, not string, refresh bool) error {
	a.read = true
	var now *kept
	err := a.Keeps.Update(ctx, Key(a.spec.URL), func(data []byte) ([]byte, error) {
		var k kept
		if data == nil || json.Unmarshal(data, &k) != nil || k.Access == "" || !a.fits(&k) {
			return data, nil
		}
		if err := a.may(&k); err != nil {
			return data, err
		}
		a.Hold(&k) // still usable if it cannot be renewed
		if now = &k; !refresh || !k.ends() && k.Access != not {
			return data, nil
		}
		if k.Refresh == "" {
			if k.Access != not { // it is expired only by this clock: the server decides
				return data, nil
			}
			now, a.ended = nil, true
			return nil, nil
		}
		next, err := a.refresh(ctx, &k)
		if err != nil {
			return data, err
		}
		if now = next; now == nil {
			a.ended = true
			return nil, nil
		}
		return json.Marshal(now)
	})
	own, typed := errors.AsType[*engine.Error](err)
	switch {
	case err == nil:
		a.Hold(now)
	case typed:
		return own
	case ctx.Err() != nil:
		return context.Cause(ctx)
	default:
		return engine.Errorf(engine.KindConfig, diag.SignInFailed, "the sign-in to MCP server %q cannot be kept: %s", a.spec.Name, a.hidden.Text(err.Error())).
			WithHelp("see that the directory can be read and written by you alone")
	}
	return err
}

// fits reports whether a sign-in belongs to the client and the authorization server that the script names.
func (a *Authority) fits(k *kept) bool {
	return (a.how.ID == "" || a.how.ID == k.Client) && (a.how.Issuer == "" || sameIssuer(a.how.Issuer, k.Issuer))
}

func sameIssuer(a, b string) bool { return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/") }

// may checks that the host that renews a token is granted, from the first request on, not only when the token expires.
func (a *Authority) may(k *kept) error {
	if k.Refresh == "" {
		return nil
	}
	host, err := capability.Host(k.TokenURL)
	if err != nil {
		return a.Failure("it is kept with a token endpoint that is no URL")
	}
	if err := a.Allowed(a.spec, engine.EffectHTTP, host); err != nil {
		return err
	}
	return nil
}

// Refuses reports whether an answer requires another token.
func (a *Authority) Refuses(res *http.Response) bool {
	if res.StatusCode == http.StatusForbidden {
		return challengeOf(res, "").more
	}
	return res.StatusCode == http.StatusUnauthorized
}

// challengeOf reads a server's challenge. It ignores what it cannot read.
func challengeOf(res *http.Response, used string) *challenge {
	ch := &challenge{used: used}
	said, err := oauthex.ParseWWWAuthenticate(res.Header["Www-Authenticate"])
	if err != nil {
		return ch
	}
	for _, c := range said {
		if ch.metadata == "" {
			ch.metadata = c.Params["resource_metadata"]
		}
		if c.Scheme != "bearer" {
			continue
		}
		if ch.scopes == nil {
			ch.scopes = strings.Fields(c.Params["scope"])
		}
		ch.more = ch.more || c.Params["error"] == "insufficient_scope"
	}
	return ch
}

// Another returns the token for repeating a request that the server refused. It closes the answer.
func (a *Authority) Another(ctx context.Context, res *http.Response, used string) (string, error) {
	ch := challengeOf(res, used)
	ch.more = ch.more && res.StatusCode == http.StatusForbidden
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // so that the connection can be reused
	_ = res.Body.Close()
	free, err := a.take(ctx)
	if err != nil {
		return "", err
	}
	defer free()
	if k := a.Has(); k != nil && k.Access != used {
		return k.Access, nil // somebody obtained one meanwhile
	}
	if !a.byPerson() {
		k, err := a.account(ctx, ch)
		if err != nil {
			return "", err
		}
		a.Hold(k)
		return k.Access, nil
	}
	if !a.anew {
		if err := a.renew(ctx, used, !ch.more); err != nil {
			return "", err
		}
		if k := a.Has(); k != nil && k.Access != used {
			return k.Access, nil
		}
	}
	if ch.more {
		ch.scopes = union(a.Has(), ch.scopes)
	}
	a.mu.Lock()
	a.wanted = ch
	a.mu.Unlock()
	return "", a.unsigned(ch)
}

// union returns the scopes that a token covers, and more.
func union(k *kept, more []string) []string {
	var out []string
	if k != nil {
		out = slices.Clone(k.Scopes)
	}
	for _, s := range more {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// unsigned returns the error that ends a run which needs somebody to sign in.
func (a *Authority) unsigned(ch *challenge) *engine.Error {
	how := *a.how
	at := fmt.Sprintf("MCP server %q at %s", a.spec.Name, a.spec.URL)
	why := "no one is signed in to " + at
	switch {
	case ch.more:
		how.Scopes = ch.scopes
		why = "the sign-in to " + at + " covers too little: it wants " + text.Brief(strings.Join(ch.scopes, " "))
	case a.ended:
		why = "the sign-in to " + at + " has ended"
	}
	e := engine.Errorf(engine.KindAuth, diag.ServerSignIn, "%s", why)
	e.OfRun = true // a run that continued without would take another path when it is resumed
	return e.WithHelp("%s", "sign in: "+loginCommand(a.spec.URL, &how))
}

// loginCommand returns the command by which a person at a terminal signs in.
func loginCommand(server string, how *remote.OAuth) string {
	words := []string{"agentscript mcp login", text.ShellWord(server)}
	flag := func(name, value string) {
		if value != "" {
			words = append(words, name, text.ShellWord(text.Brief(value)))
		}
	}
	flag("--client-id", how.ID)
	flag("--client-secret-env", how.Secret)
	flag("--issuer", how.Issuer)
	for _, s := range how.Scopes {
		flag("--scope", s)
	}
	return strings.Join(words, " ")
}

// Failure returns the error of a token that could not be obtained. Texts from others are shortened and freed of
// secrets.
func (a *Authority) Failure(format string, args ...any) *engine.Error {
	for i, arg := range args {
		if s, ok := arg.(string); ok {
			args[i] = a.hidden.Brief(s)
		}
	}
	e := engine.Errorf(engine.KindAuth, diag.SignInFailed, format, args...)
	e.Message = "the sign-in to MCP server \"" + a.spec.Name + "\" failed: " + e.Message
	return e
}
