//go:build unix

package mcp_test

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/mcp"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/internal/oauthtest"
)

// Promise 24.50 (MCP): a program with its own account obtains tokens without a person, over streamable HTTP and SSE. It
// requests a new token when the server no longer accepts the old one, and more scopes when a call requires them.
func TestPromise_24_50_ClientCredentials(t *testing.T) {
	t.Parallel()
	for _, transport := range []string{remote.TransportHTTP, remote.TransportSSE, remote.TransportAuto} {
		behind := transport
		if transport == remote.TransportAuto {
			behind = remote.TransportSSE
		}
		w := newWorld(t, behind)
		w.mcp.Transport, w.mcp.OAuth, w.Wants = transport, account(), "write"
		w.mcp.OAuth.Scopes = []string{"read"}
		c := client(t, withAccount)
		if got := text(t, list(t, c, w.mcp)); !strings.Contains(got, `"echo"`) {
			t.Errorf("%s: the list is %.100s", transport, got)
		}
		given := w.Given("client_credentials")
		if len(given) != 1 || given[0].Get("scope") != "read" || given[0].Get("resource") != w.Resource || given[0].Get("client_id") != "robot" {
			t.Fatalf("%s: tokens were asked for with %v", transport, given)
		}
		for range 2 {
			if got := text(t, call(t.Context(), c, w.mcp, "echo", `{"text": "hi"}`, nil)); got != "echo: hi" {
				t.Error(got)
			}
			w.Revoke(true)
		}
		given = w.Given("client_credentials")
		if len(given) != 3 || given[1].Get("scope") != "read write" {
			t.Errorf("%s: tokens were asked for with %v", transport, given)
		}
	}
}

// Concurrent calls whose token the server no longer accepts obtain one new token together.
func TestOneTokenForAll(t *testing.T) {
	t.Parallel()
	const calls = 8
	var refused sync.WaitGroup // all calls made with the old token
	refused.Add(calls)
	w := newWorld(t, remote.TransportHTTP)
	served := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		to, _ := url.Parse(w.Resource)
		proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: to.Host})
		proxy.ModifyResponse = func(res *http.Response) error {
			if res.StatusCode == http.StatusUnauthorized && r.Header.Get("Authorization") != "" {
				refused.Done()
			}
			return nil
		}
		proxy.ServeHTTP(rw, r)
	}))
	t.Cleanup(served.Close)
	w.mcp.OAuth = account()
	c := client(t, withAccount)
	w.mcp.URL, w.Describes = served.URL, func() (int, map[string]any) {
		return 200, map[string]any{"resource": served.URL, "authorization_servers": []string{w.URL}}
	}
	text(t, list(t, c, w.mcp))
	w.Revoke(true)
	w.Token = func(http.ResponseWriter, *http.Request) { refused.Wait() } // then as usual
	var all sync.WaitGroup
	for range calls {
		all.Go(func() {
			if out := call(t.Context(), c, w.mcp, "echo", `{"text": "hi"}`, nil); out.Err != nil {
				t.Error(out.Err)
			}
		})
	}
	all.Wait()
	if given := w.Given("client_credentials"); len(given) != 2 {
		t.Errorf("tokens were asked for %d times", len(given))
	}
}

// A program authenticates by its key, which never leaves it, like a secret.
func TestClientKey(t *testing.T) {
	t.Parallel()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	text := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	w := newWorld(t, remote.TransportHTTP)
	w.mcp.OAuth = &remote.OAuth{Grant: remote.GrantClientCredentials, ID: "robot", Key: "KEY"}
	w.Assertion = func(made string) bool {
		i := strings.LastIndexByte(made, '.')
		signature, err := base64.RawURLEncoding.DecodeString(made[i+1:])
		return err == nil && ed25519.Verify(public, []byte(made[:i]), signature)
	}
	with := func(value string) *mcp.Client {
		return client(t, mcp.WithSecrets(func(name string) (string, bool) { return value, name == "KEY" }))
	}
	text1 := strings.ReplaceAll(text, "\n", `\n`) // in one line
	for _, value := range []string{text, text1} {
		if got := list(t, with(value), w.mcp); got.Err != nil {
			t.Error(got.Err)
		}
	}
	for _, g := range w.Given("client_credentials") {
		if g.Has("client_secret") || g.Get("client_id") != "robot" || strings.Contains(g.Encode(), "PRIVATE") {
			t.Errorf("asked with %v", g)
		}
	}
	w.Assertion = func(string) bool { return false }
	for value, want := range map[string]string{text: "returned no token: invalid_client", "canary": "the key KEY cannot be used: it is no private key"} {
		if e := list(t, with(value), w.mcp).Err; e == nil || e.Code != diag.SignInFailed || !strings.Contains(e.Message, want) || strings.Contains(e.Message, "canary") {
			t.Errorf("%v, want %s", e, want)
		}
	}
}

// Promise 24.51 (MCP): a person signs in once, with PKCE and a client that is registered for that. The sign-in is kept
// in a file that only its owner can read, for other processes and beyond the expiry of the token, until sign-out.
func TestPromise_24_51_SignInIsKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, remote.TransportHTTP)
	w.Meta = map[string]any{"scopes_supported": []string{"read", "offline_access"}}
	w.Challenge = `, scope="read"`
	w.Lives = 1 // each request needs another token
	dir := filepath.Join(t.TempDir(), "config", "mcp")
	var shown []mcp.SignIn
	kept := mcp.WithTokens(mcp.TokenDir(dir))
	first := client(t, kept, browser(&shown))
	if got := text(t, list(t, first, w.mcp)); !strings.Contains(got, `"echo"`) {
		t.Errorf("the list is %.100s", got)
	}
	if len(shown) != 1 || shown[0].Issuer != w.URL || strings.Join(shown[0].Scopes, " ") != "read offline_access" || !strings.Contains(shown[0].Address, "code_challenge_method=S256") {
		t.Fatalf("shown %+v", shown)
	}
	if n := len(w.Clients()); n != 1 || w.Clients()[0]["application_type"] != "native" {
		t.Errorf("registered %v", w.Clients())
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 2 { // and its lock
		t.Fatal(files, err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", f.Name(), info.Mode(), err)
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	// Nobody is there any more; concurrent calls come from two clients that share only the file.
	second, third := client(t, kept), client(t, kept)
	var all sync.WaitGroup
	for _, c := range []*mcp.Client{second, third} {
		for range 4 {
			all.Add(1)
			go func() {
				defer all.Done()
				if out := call(t.Context(), c, w.mcp, "echo", `{"text": "hi"}`, nil); out.Err != nil {
					t.Error(out.Err, out.Err.Help)
				}
			}()
		}
	}
	all.Wait()
	for _, g := range w.Given("refresh_token") {
		if g.Get("resource") != w.Resource || g.Get("client_secret") != "canary-client" {
			t.Errorf("renewed with %v", g)
		}
	}
	if all, err := mcp.TokenDir(dir).List(); err != nil || len(all) != 1 || all[0].URL != w.mcp.URL || all[0].Issuer != w.URL || !all[0].Renews || len(all[0].Hosts) != 2 {
		t.Errorf("%+v %v", all, err)
	}
	if was, err := third.SignOut(t.Context(), w.mcp.URL+"/"); !was || err != nil {
		t.Error(was, err)
	}
	if was, err := third.SignOut(t.Context(), w.mcp.URL); was || err != nil {
		t.Error(was, err)
	}
	last := list(t, client(t, kept), w.mcp)
	if last.Err == nil || last.Err.Code != diag.ServerSignIn {
		t.Errorf("signed out: %v", last.Err)
	}
}

// Promise 24.52 (MCP): without a sign-in and without a person, the error names the command that signs in. Nothing in
// the run continues after it, and it is not recorded.
func TestPromise_24_52_NobodyIsSignedIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, remote.TransportHTTP)
	w.mcp.OAuth = &remote.OAuth{Grant: remote.GrantAuthorizationCode, ID: "my app", Secret: "APP", Scopes: []string{"read"}, Issuer: w.URL}
	e := list(t, client(t), w.mcp).Err
	if e == nil || e.Code != diag.ServerSignIn || e.Kind != engine.KindAuth || !e.OfRun {
		t.Fatalf("%+v", e)
	}
	if want := "sign in: agentscript mcp login " + w.mcp.URL + " --client-id 'my app' --client-secret-env APP --issuer " + w.URL + " --scope read"; e.Help != want {
		t.Errorf("help: %s\nwant: %s", e.Help, want)
	}
	if len(w.Asked()) != 0 {
		t.Errorf("the authorization server was asked %q", w.Asked())
	}
}

// Promise 24.56 (MCP): no token, code or secret of a sign-in is in an event, a record, a result or an error, even if
// the server repeats it. A replay needs neither a server nor a sign-in, and a run that failed because a sign-in was
// missing continues once there is one.
func TestPromise_24_56_SecretsOfSignIns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, remote.TransportHTTP)
	w.Lives = 1
	script := `
s = mcp(url = "` + w.mcp.URL + `", auth = oauth())
main = agent(prompt = "x", tools = [s])`
	const answers = `
{"calls": [{"name": "header"}, {"name": "echo", "args": {"text": "hi"}}]}
{"text": "done"}`
	var j store.Memory
	var all strings.Builder
	kept := mcp.WithTokens(mcp.TokenDir(t.TempDir()))
	note := func(r *ran) {
		t.Helper()
		all.WriteString(r.recorded(t, &j))
	}
	none := run(t, client(t, kept), script, "", agentscript.RunJournal(&j), agentscript.ID("one"))
	note(none)
	if e := none.failure(t); e.Code != diag.ServerSignIn || e.Pos.Line != 2 || len(j.IDs()) != 0 {
		t.Errorf("%v at %s, and %q is recorded", e, e.Pos, j.IDs())
	}
	first := run(t, client(t, kept, browser(nil)), script, answers, agentscript.RunJournal(&j), agentscript.ID("one"))
	note(first)
	if first.text != "done" || len(first.told()) != 2 || first.told()[0] != "I was sent Bearer [access token]" {
		t.Fatalf("%q %v", first.told(), first.err)
	}
	again := run(t, nil, script, "", agentscript.RunJournal(&j), agentscript.ID("one"))
	note(again)
	if again.text != "done" {
		t.Errorf("the replay gives %q, %v", again.text, again.err)
	}
	w.Revoke(false)
	w.Token = func(rw http.ResponseWriter, r *http.Request) {
		oauthtest.Write(rw, 400, map[string]any{"error": "invalid_request", "error_description": "what is " + r.PostForm.Get("refresh_token")})
	}
	note(run(t, client(t, kept), script, "", agentscript.ID("two")))
	if text := all.String(); strings.Contains(text, "canary") || !strings.Contains(text, "[access token]") || !strings.Contains(text, "what is [refresh token]") {
		t.Errorf("a secret is seen: %s", text)
	}
	if given := w.Given("authorization_code"); len(given) != 1 || strings.Contains(all.String(), given[0].Get("code_verifier")) {
		t.Errorf("the verifiers were in %q", given)
	}
}

// A person agrees to more scopes when a call requires more.
func TestMoreScopes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, remote.TransportHTTP)
	w.Wants, w.Challenge = "write", `, scope="read"`
	var shown []mcp.SignIn
	c := client(t, browser(&shown))
	for range 2 {
		if got := text(t, call(t.Context(), c, w.mcp, "echo", `{"text": "hi"}`, nil)); got != "echo: hi" {
			t.Error(got)
		}
	}
	if len(shown) != 2 || strings.Join(shown[1].Scopes, " ") != "read write" {
		t.Errorf("shown %+v", shown)
	}
	kept := mcp.WithTokens(mcp.TokenDir(t.TempDir()))
	w.Wants = ""
	text(t, list(t, client(t, kept, browser(nil)), w.mcp))
	w.Wants = "write"
	e := call(t.Context(), client(t, kept), w.mcp, "echo", `{"text": "hi"}`, nil).Err
	if e == nil || e.Code != diag.ServerSignIn || !strings.Contains(e.Message, "covers too little: it wants read write") || !strings.HasSuffix(e.Help, "--scope read --scope write") {
		t.Errorf("%v, %v", e, e.Help)
	}
}

// A server's metadata may cover the whole host or a path above, or be at the host's root, and anything that is not
// metadata is ignored.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		path, known, resource string // of the server, of its metadata, and the one named in it
		ok                    bool
	}{
		"exact":         {"/a/mcp", "/.well-known/oauth-protected-resource/a/mcp", "/a/mcp", true},
		"a slash more":  {"/a/mcp", "/.well-known/oauth-protected-resource/a/mcp", "/a/mcp/", true},
		"a path above":  {"/a/mcp", "/.well-known/oauth-protected-resource/a/mcp", "/a", true},
		"the host":      {"/a/mcp", "/.well-known/oauth-protected-resource", "", true},
		"at the top":    {"/a/mcp", "/.well-known/oauth-protected-resource", "/a/mcp", true},
		"a path beside": {"/a/mcp", "/.well-known/oauth-protected-resource", "/a/mc", false},
		"a path below":  {"/a/mcp", "/.well-known/oauth-protected-resource", "/a/mcp/x", false},
		"another part":  {"/a/mcp", "/.well-known/oauth-protected-resource", "/a/mcp?tenant=2", false},
	} {
		w := newWorld(t, remote.TransportHTTP)
		root := w.Resource
		s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == tt.known:
				oauthtest.Write(rw, 200, map[string]any{"resource": "http://" + r.Host + tt.resource, "authorization_servers": []string{w.URL}})
			case strings.HasSuffix(r.URL.Path, "/a/mcp") && strings.HasPrefix(r.URL.Path, "/.well-known/"):
				_, _ = rw.Write([]byte("<html>Welcome!"))
			case strings.HasPrefix(r.URL.Path, "/.well-known/"):
				http.Redirect(rw, r, "https://www.example.com/", http.StatusFound)
			case r.Header.Get("Authorization") == "":
				rw.WriteHeader(http.StatusUnauthorized)
			default:
				to, _ := url.Parse(root)
				httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: to.Host}).ServeHTTP(rw, r)
			}
		}))
		w.mcp.URL = s.URL + tt.path
		out := list(t, client(t, browser(nil)), w.mcp)
		if given := w.Given("authorization_code"); tt.ok && (out.Err != nil || given[0].Get("resource") != s.URL+tt.resource) || !tt.ok && (out.Err == nil || out.Err.Code != diag.SignInFailed) {
			t.Errorf("%s: %v, %v", name, out.Err, given)
		}
		s.CloseClientConnections()
		s.Close()
	}
}

// A client that was signed out must sign in again, even if nobody revokes tokens.
func TestSignedOutClientsForget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, remote.TransportHTTP)
	w.Meta = map[string]any{"revocation_endpoint": ""}
	var shown []mcp.SignIn
	c := client(t, browser(&shown))
	for times := 1; times < 3; times++ {
		text(t, list(t, c, w.mcp))
		if len(shown) != times {
			t.Fatalf("a person was asked %d times, want %d", len(shown), times)
		}
		if was, err := c.SignOut(t.Context(), w.mcp.URL); !was || err != nil {
			t.Error(was, err)
		}
	}
}
