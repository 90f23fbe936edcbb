//go:build unix

package mcp_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/mcp"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/internal/oauthtest"
)

// answer makes the token endpoint return this answer.
func answer(status int, body string) http.HandlerFunc {
	return func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(status)
		_, _ = rw.Write([]byte(body))
	}
}

// Promise 24.53 (MCP): an authorization server that is not the expected one, refuses, fails, answers with something
// that it must not send, or redirects to another host, and a person who does not agree, cause a typed error that
// contains no secret. Nothing is stored then, and no token, code or secret is sent to anybody else.
func TestPromise_24_53_FailingSignIns(t *testing.T) {
	t.Parallel()
	var leaked atomic.Int64
	thief := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		leaked.Add(1)
		oauthtest.Write(rw, 200, map[string]any{"access_token": "canary-stolen", "token_type": "Bearer", "issuer": "x", "resource": "x"})
	}))
	defer thief.Close()
	toThief := func(status int) http.HandlerFunc {
		return func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Location", thief.URL+r.URL.Path)
			rw.WriteHeader(status)
		}
	}
	for name, tt := range map[string]struct {
		set  func(w *world)
		want string
	}{
		"issuer of the description": {func(w *world) { w.Meta = map[string]any{"issuer": "https://other.example.com"} }, `metadata issuer "https://other.example.com" does not match`},
		"issuer of the script":      {func(w *world) { w.mcp.OAuth.Issuer = "https://trusted.example.com" }, "and https://trusted.example.com alone is trusted"},
		"issuer of the answer":      {func(w *world) { w.Authorize = func(a url.Values) { a.Set("iss", "https://other.example.com") } }, `the answer is of the authorization server "https://other.example.com"`},
		"no issuer in the answer":   {func(w *world) { w.Meta = map[string]any{"authorization_response_iss_parameter_supported": true} }, `the answer is of the authorization server ""`},
		"denied": {func(w *world) {
			w.Authorize = func(a url.Values) {
				a.Del("code")
				a.Set("error", "access_denied")
				a.Set("error_description", "the person\x1b[31m said no")
			}
		}, "refuses it: access_denied (the person"},
		"another state":   {func(w *world) { w.Authorize = func(a url.Values) { a.Set("state", "guessed") } }, "from another sign-in than the one that was begun"},
		"no state":        {func(w *world) { w.Authorize = func(a url.Values) { a.Del("state") } }, "from another sign-in than the one that was begun"},
		"no code":         {func(w *world) { w.Authorize = func(a url.Values) { a.Set("code", "") } }, "without a code"},
		"no tokens":       {func(w *world) { w.Token = answer(500, `canary-body`) }, "answers the request for a token with HTTP 500"},
		"code of another": {func(w *world) { w.Authorize = func(a url.Values) { a.Set("code", "canary-other") } }, "returned no token: invalid_grant (because of [sign-in][client secret])"},
		"no JSON":         {func(w *world) { w.Token = answer(200, `<html>canary-body`) }, "returned no token"},
		"nothing in it":   {func(w *world) { w.Token = answer(200, `{"refresh_token": "canary-x"}`) }, "returned no token"},
		"bound token":     {func(w *world) { w.Token = answer(200, `{"access_token": "canary-x", "token_type": "DPoP"}`) }, "a token of type DPoP"},
		"sent on, 307":    {func(w *world) { w.Token = toThief(307) }, "it redirects to another host"},
		"sent on, 302":    {func(w *world) { w.Token = toThief(302) }, "it redirects to another host"},
		"sent on at home": {func(w *world) {
			w.Token = func(rw http.ResponseWriter, r *http.Request) {
				http.Redirect(rw, r, "/elsewhere", http.StatusTemporaryRedirect)
			}
		}, "it redirects to another host"},
		"description sent on": {func(w *world) { w.Meta = map[string]any{"token_endpoint": "http://tokens.example.com/"} }, "does not use HTTPS"},
		"another resource": {func(w *world) {
			w.Describes = func() (int, map[string]any) {
				return 200, map[string]any{"resource": "https://other.example.com", "authorization_servers": []string{w.URL}}
			}
		}, "what it says of itself cannot be used"},
		"broken description": {func(w *world) { w.Describes = func() (int, map[string]any) { return 500, nil } }, "what it says of itself cannot be used"},
		"no server named": {func(w *world) {
			w.Describes = func() (int, map[string]any) { return 200, map[string]any{"resource": w.Resource} }
		}, "names no authorization server"},
		"no PKCE":         {func(w *world) { w.Meta = map[string]any{"code_challenge_methods_supported": []string{}} }, "PKCE"},
		"no registration": {func(w *world) { w.Meta = map[string]any{"registration_endpoint": ""} }, "does not register clients automatically"},
		"no documents":    {func(w *world) { w.mcp.OAuth.ID = "https://example.com/client.json" }, "does not read metadata documents"},
		"wrong account":   {func(w *world) { w.mcp.OAuth = account() }, "returned no token: invalid_client (because of [ROBOT])"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, remote.TransportHTTP)
			tt.set(w)
			dir := t.TempDir()
			secret := mcp.WithSecrets(func(string) (string, bool) { return "canary-wrong", true })
			c := client(t, browser(nil), secret, mcp.WithTokens(mcp.TokenDir(dir)))
			e := list(t, c, w.mcp).Err
			if e == nil || e.Code != diag.SignInFailed || e.Kind != engine.KindAuth || !strings.Contains(e.Message, tt.want) {
				t.Fatalf("%v\nwant %s", e, tt.want)
			}
			if all := e.Error() + e.Help + e.Message; strings.Contains(all, "canary") || strings.Contains(all, "\x1b") {
				t.Errorf("a secret is told: %s", all)
			}
			if files, _ := filepath.Glob(filepath.Join(dir, "*.json")); files != nil {
				t.Errorf("%q is kept", files)
			}
		})
	}
	if leaked.Load() > 0 {
		t.Errorf("%d requests went to another host", leaked.Load())
	}
}

// A server that rejects its token leads to only one sign-in; a server that redirects, or names another address, gets no
// token there.
func TestTokensStayAtHome(t *testing.T) {
	t.Parallel()
	w := newWorld(t, remote.TransportHTTP)
	w.Token = answer(200, `{"access_token": "canary-of-nobody", "token_type": "bearer"}`)
	var shown []mcp.SignIn
	e := list(t, client(t, browser(&shown)), w.mcp).Err
	if e == nil || e.Code != diag.SignInFailed || !strings.Contains(e.Message, "does not accept the token") || len(shown) != 1 {
		t.Errorf("%v, shown %d times", e, len(shown))
	}
	w = newWorld(t, remote.TransportHTTP)
	w.Wants, w.Challenge = "write", `, scope="read"`
	shown = nil
	w.Authorize = func(url.Values) { w.Wants += "x" } // the more somebody agrees to, the more it requires
	e = call(t.Context(), client(t, browser(&shown)), w.mcp, "echo", `{"text": "x"}`, nil).Err
	if e == nil || e.Code != diag.SignInFailed || !strings.Contains(e.Message, "wants more than the token covers") || len(shown) != 2 {
		t.Errorf("%v, shown %d times", e, len(shown))
	}

	var sent atomic.Int64
	thief := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || strings.Contains(r.URL.String(), "canary") {
			sent.Add(1)
		}
		rw.WriteHeader(http.StatusUnauthorized)
	}))
	defer thief.Close()
	for _, transport := range []string{remote.TransportHTTP, remote.TransportSSE} {
		w := newWorld(t, transport)
		away := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			switch {
			case strings.HasPrefix(r.URL.Path, "/.well-known/"):
				oauthtest.Write(rw, 200, map[string]any{"resource": "http://" + r.Host, "authorization_servers": []string{w.URL}})
			case r.Header.Get("Authorization") == "":
				rw.WriteHeader(http.StatusUnauthorized)
			case r.Method == http.MethodGet && transport == remote.TransportSSE:
				rw.Header().Set("Content-Type", "text/event-stream")
				_, _ = rw.Write([]byte("event: endpoint\ndata: " + thief.URL + "/messages\n\n"))
			default:
				http.Redirect(rw, r, thief.URL+"/mcp", http.StatusTemporaryRedirect)
			}
		}))
		w.mcp.URL = away.URL
		if e := list(t, client(t, browser(nil)), w.mcp).Err; e == nil || strings.Contains(e.Message, "canary") {
			t.Errorf("%s: %v", transport, e)
		}
		away.CloseClientConnections()
		away.Close()
	}
	if sent.Load() > 0 {
		t.Errorf("a token went to another host %d times", sent.Load())
	}
}

// A sign-in that nobody completes is abandoned in time, and the port is free again.
func TestNobodyComesBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, remote.TransportHTTP)
	var address string
	c := client(t, mcp.WithSignIn(mcp.SignIns{Wait: 50 * time.Millisecond, Show: func(_ context.Context, s mcp.SignIn) error {
		address = s.Address
		return nil
	}}))
	e := list(t, c, w.mcp).Err
	if e == nil || e.Kind != engine.KindTimeout || e.Code != diag.SignInFailed || !strings.Contains(e.Message, "no one came back from the browser within 50ms") || !strings.Contains(e.Help, "agentscript mcp login") {
		t.Errorf("%v %v", e, e.Help)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := http.Get(u.Query().Get("redirect_uri")); err == nil {
		t.Error("somebody listens still")
	}
	// A run that is ended does not wait either, and a closed screen is not a sign-in.
	ctx, cancel := context.WithCancel(t.Context())
	c = client(t, mcp.WithSignIn(mcp.SignIns{Show: func(context.Context, mcp.SignIn) error { cancel(); return nil }}))
	if e := call(ctx, c, w.mcp, "echo", `{"text": "x"}`, nil).Err; e == nil || e.Kind != engine.KindCancelled {
		t.Error(e)
	}
	c = client(t, mcp.WithSignIn(mcp.SignIns{Show: func(context.Context, mcp.SignIn) error { return errors.New("the screen is gone") }}))
	if e := list(t, c, w.mcp).Err; e == nil || e.Code != diag.SignInFailed || !strings.Contains(e.Message, "the screen is gone") {
		t.Error(e)
	}
}

// Promise 24.54 (MCP): a token is renewed before it expires. A token that can no longer be renewed requires a new
// sign-in, and a failure of the authorization server in the meantime deletes nothing that is stored.
func TestPromise_24_54_RenewedTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t, remote.TransportHTTP)
	dir := t.TempDir()
	kept := mcp.WithTokens(mcp.TokenDir(dir))
	text(t, list(t, client(t, kept, browser(nil)), w.mcp))
	c := client(t, kept)
	text(t, list(t, c, w.mcp))
	if n := len(w.Given("refresh_token")); n != 0 {
		t.Errorf("a good token was renewed %d times", n)
	}
	w.Revoke(false) // the server forgot its tokens; they are renewed
	text(t, list(t, c, w.mcp))
	if n := len(w.Given("refresh_token")); n != 1 {
		t.Errorf("renewed %d times", n)
	}
	w.Revoke(false)
	w.Token = answer(500, "canary")
	e := list(t, c, w.mcp).Err
	if e == nil || e.Code != diag.SignInFailed || !strings.Contains(e.Message, "HTTP 500") {
		t.Errorf("%v", e)
	}
	w.Token = nil
	text(t, list(t, c, w.mcp)) // the stored token is still valid
	w.Revoke(true)
	e = list(t, c, w.mcp).Err
	if e == nil || e.Code != diag.ServerSignIn || !strings.Contains(e.Message, "has ended") {
		t.Errorf("%v", e)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*.json")); files != nil {
		t.Errorf("%q is kept", files)
	}
	// Somebody signs in elsewhere: the running host finds it.
	if in, err := client(t, kept, browser(nil)).SignIn(t.Context(), w.mcp.URL, nil); err != nil || in.Issuer != w.URL {
		t.Error(in, err)
	}
	text(t, list(t, c, w.mcp))
	// A token that is never renewed.
	w.Revoke(true)
	w.NoRefresh = true
	if _, err := client(t, kept, browser(nil)).SignIn(t.Context(), w.mcp.URL, nil); err != nil {
		t.Error(err)
	}
	c = client(t, kept)
	text(t, list(t, c, w.mcp))
	w.Revoke(true)
	if e := list(t, c, w.mcp).Err; e == nil || e.Code != diag.ServerSignIn || !strings.Contains(e.Message, "has ended") {
		t.Errorf("%v", e)
	}
}

// Promise 24.55 (MCP): the hosts and the secret of a sign-in need grants like any other. Without a grant the
// authorization server is not contacted, and a file that others can read is not used.
func TestPromise_24_55_GrantsOfSignIns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, remote.TransportHTTP)
	home, err := capability.Host(w.mcp.URL)
	if err != nil {
		t.Fatal(err)
	}
	issuer, err := capability.Host(w.URL)
	if err != nil {
		t.Fatal(err)
	}
	only := func(kinds ...engine.EffectKind) mcp.Option {
		return mcp.WithAllow(func(u capability.Use) error {
			for _, kind := range kinds {
				if u.Kind == kind && (kind == engine.EffectEnv || u.Target == home) {
					return nil
				}
			}
			return os.ErrPermission
		})
	}
	dir := t.TempDir()
	kept := mcp.WithTokens(mcp.TokenDir(dir))
	for _, tt := range []struct {
		c    *mcp.Client
		how  *remote.OAuth
		flag string
	}{
		{client(t, only(engine.EffectHTTP), withAccount), account(), "--allow-env ROBOT"},
		{client(t, only(engine.EffectHTTP, engine.EffectEnv), withAccount), account(), "--allow-net " + issuer},
		{client(t, only(engine.EffectHTTP), browser(nil)), &remote.OAuth{Grant: remote.GrantAuthorizationCode}, "--allow-net " + issuer},
	} {
		spec := &remote.Server{Name: "s", URL: w.mcp.URL, Transport: w.mcp.Transport, OAuth: tt.how}
		if e := list(t, tt.c, spec).Err; e == nil || e.Code != diag.ServerNotGranted || e.Kind != engine.KindConfig || !strings.Contains(e.Help, tt.flag) {
			t.Errorf("%v, want %s", e, tt.flag)
		}
	}
	if len(w.Asked()) != 0 {
		t.Errorf("the authorization server was asked %q", w.Asked())
	}
	text(t, list(t, client(t, kept, browser(nil)), w.mcp))
	if e := list(t, client(t, kept, only(engine.EffectHTTP)), w.mcp).Err; e == nil || e.Code != diag.ServerNotGranted || !strings.Contains(e.Help, "--allow-net "+issuer) {
		t.Errorf("what renews is asked for later: %v", e)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.Chmod(files[0], 0o644); err != nil {
		t.Fatal(err)
	}
	if e := list(t, client(t, kept), w.mcp).Err; e == nil || e.Code != diag.SignInFailed || !strings.Contains(e.Message, "can be read by others") {
		t.Errorf("%v", e)
	}
	if err := os.Chmod(files[0], 0o600); err != nil {
		t.Fatal(err)
	}
	// A sign-in of another client or issuer does not count.
	for _, how := range []remote.OAuth{{ID: "other"}, {Issuer: "https://trusted.example.com"}} {
		how.Grant = remote.GrantAuthorizationCode
		spec := &remote.Server{Name: "s", URL: w.mcp.URL, Transport: w.mcp.Transport, OAuth: &how}
		if e := list(t, client(t, kept), spec).Err; e == nil || e.Code != diag.ServerSignIn {
			t.Errorf("%+v: %v", how, e)
		}
	}
	for _, broken := range []string{"", "{", "null", `{"access_token": 5}`, `{"access_token": "x", "refresh_token": "y", "token_endpoint": "::"}`} {
		if err := os.WriteFile(files[0], []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		if e := list(t, client(t, kept), w.mcp).Err; e == nil || e.Kind != engine.KindAuth {
			t.Errorf("%q: %v", broken, e)
		}
	}
}

// keptToken stores one sign-in.
type keptToken string

func (k keptToken) Update(_ context.Context, _ string, f func([]byte) ([]byte, error)) error {
	_, err := f([]byte(k))
	return err
}

// To revoke tokens, a client authenticates in the way in which it obtained them.
func TestSignOutShowsWho(t *testing.T) {
	t.Parallel()
	for style, want := range map[string]string{"1": "  robot canary-client", "2": "robot canary-client  "} {
		var mu sync.Mutex
		var asked []string
		s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			id, secret, _ := r.BasicAuth()
			asked = append(asked, strings.Join([]string{r.PostFormValue("token"), r.PostFormValue("token_type_hint"), id, secret, r.PostFormValue("client_id"), r.PostFormValue("client_secret")}, " "))
		}))
		defer s.Close()
		kept := keptToken(`{"server":"` + s.URL + `","client_id":"robot","client_secret":"canary-client","auth_style":` + style + `,"revocation_endpoint":"` + s.URL + `","access_token":"a","refresh_token":"r"}`)
		if was, err := client(t, mcp.WithTokens(kept)).SignOut(t.Context(), s.URL); !was || err != nil {
			t.Error(was, err)
		}
		slices.Sort(asked)
		if !slices.Equal(asked, []string{"a access_token " + want, "r refresh_token " + want}) {
			t.Errorf("style %s: asked %q", style, asked)
		}
	}
}
