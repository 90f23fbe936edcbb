package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/oauthtest"
)

// signInWorld returns an MCP server that requires a sign-in, and the directory of a user.
func signInWorld(t *testing.T) (at string, auth *oauthtest.Server, user func(*term.Process)) {
	t.Helper()
	auth = oauthtest.New()
	t.Cleanup(auth.Close)
	server := sdk.NewServer(&sdk.Implementation{Name: "desk", Version: "1"}, nil)
	sdk.AddTool(server, &sdk.Tool{Name: "hours", Description: "Tells when the desk is open"}, func(_ context.Context, req *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "9 to 5, says who was sent " + req.Extra.Header.Get("Authorization")}}}, nil, nil
	})
	s := httptest.NewServer(auth.Guard(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	auth.Resource = s.URL
	config := t.TempDir()
	return s.URL, auth, func(s *term.Process) {
		s.LookupEnv = func(name string) (string, bool) {
			switch name {
			case "XDG_CONFIG_HOME":
				return config, true
			case "ROBOT":
				return "canary-account", true
			}
			return "", false
		}
		s.Browse = oauthtest.Browse
	}
}

func host(t *testing.T, address string) string {
	t.Helper()
	h, err := capability.Host(address)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Promise 24.57 (MCP): `mcp login URL` signs in once for all runs: a run without a sign-in ends with exit code 6 and
// the command that signs in, a run with one needs nobody, and `mcp logout URL` revokes it. No token, code or secret is
// in what is printed, traced or recorded.
func TestPromise_24_57_LoginVerb(t *testing.T) {
	at, auth, user := signInWorld(t)
	flow := written(t, "flow.star", `desk = mcp(url = "`+at+`", auth = oauth())
main = agent(prompt = "Answer.", tools = [desk])`)
	answers := written(t, "answers.jsonl", `{"agent": "main", "calls": [{"name": "hours"}]}
{"agent": "main", "text": "9 to 5"}`)
	dir := t.TempDir()
	trace, record := filepath.Join(dir, "trace"), filepath.Join(dir, "record")
	var all strings.Builder
	do := func(code int, args ...string) (string, string) {
		t.Helper()
		got, stdout, stderr := inProcess(t, user, args...)
		if got != code {
			t.Errorf("%v ends with %d, want %d:\n%s%s", args, got, code, stdout, stderr)
		}
		all.WriteString(stdout + stderr)
		return stdout, stderr
	}
	grants := []string{"--allow-net", host(t, at), "--allow-net", host(t, auth.URL)}
	run := append([]string{"run", flow, "When?", "--scripted", answers, "--json", "--trace", trace}, grants...)
	if _, stderr := do(term.ExitProvider, run...); !strings.Contains(stderr, "sign in: agentscript mcp login "+at) || !strings.Contains(stderr, "AS770") {
		t.Errorf("not signed in: %s", stderr)
	}
	stdout, stderr := do(term.ExitOK, "mcp", "login", at, "--browser", "--scope", "read")
	if !strings.Contains(stderr, "open this in a browser:\n\n  "+auth.URL+"/authorize?") {
		t.Errorf("it shows %s", stderr)
	}
	for _, want := range []string{"signed in to " + at + " at " + auth.URL + ", for read", "auth = oauth()", "--allow-net " + host(t, at) + " --allow-net " + host(t, auth.URL)} {
		if !strings.Contains(stdout, want) {
			t.Errorf("it says %s, want %s", stdout, want)
		}
	}
	if stdout, _ := do(term.ExitOK, run...); strings.TrimSpace(stdout) != "9 to 5" {
		t.Errorf("signed in: %s", stdout)
	}
	do(term.ExitOK, append([]string{"run", flow, "When?", "--scripted", answers, "--record", record}, grants...)...)
	if stdout, _ := do(term.ExitOK, "mcp", "logins"); !strings.Contains(stdout, at+"  "+auth.URL+"  read    renews itself") {
		t.Errorf("logins: %s", stdout)
	}
	var told []map[string]any
	stdout, _ = do(term.ExitOK, "mcp", "logins", "--json")
	if err := json.Unmarshal([]byte(stdout), &told); err != nil || len(told) != 1 || told[0]["url"] != at {
		t.Errorf("logins: %s %v", stdout, err)
	}
	// The results for an authorization server that fails, and for one that is not granted.
	do(term.ExitProvider, "run", flow, "When?", "--scripted", answers, "--allow-net", host(t, at))
	auth.Revoke(false)
	auth.Token = func(rw http.ResponseWriter, r *http.Request) {
		oauthtest.Write(rw, 400, map[string]any{"error": "invalid_request", "error_description": "what is " + r.PostForm.Get("refresh_token")})
	}
	if _, stderr := do(term.ExitProvider, run...); !strings.Contains(stderr, "what is [refresh token]") {
		t.Errorf("a refusal: %s", stderr)
	}
	auth.Token = nil
	do(term.ExitOK, "mcp", "logout", at)
	if asked := auth.Asked(); asked[len(asked)-1] != "/revoke" {
		t.Errorf("asked %q", asked)
	}
	do(term.ExitUsage, "mcp", "logout", at)
	if stdout, _ := do(term.ExitOK, "mcp", "logins"); stdout != "" {
		t.Errorf("logins: %s", stdout)
	}
	do(term.ExitProvider, run...)
	for _, file := range []string{trace, record} {
		data, err := os.ReadFile(file)
		if err != nil && file == trace {
			t.Fatal(err)
		}
		all.Write(data)
	}
	if text := all.String(); strings.Contains(text, "canary") || !strings.Contains(text, "[access token]") {
		t.Errorf("a secret is seen: %s", text)
	}
	for _, given := range auth.Given("authorization_code") {
		if strings.Contains(all.String(), given.Get("code_verifier")) {
			t.Error("the verifier of PKCE is seen")
		}
	}
}

// A person at the terminal signs in during the run; a program signs in by itself.
func TestSignInDuringRun(t *testing.T) {
	at, auth, user := signInWorld(t)
	answers := written(t, "answers.jsonl", `{"agent": "main", "text": "hello"}`)
	grants := []string{"--allow-net", host(t, at), "--allow-net", host(t, auth.URL), "--allow-env", "ROBOT"}
	robot := written(t, "robot.star", `desk = mcp(url = "`+at+`", auth = oauth(id = "robot", secret = secret("ROBOT"), issuer = "`+auth.URL+`"))
main = agent(prompt = "Answer.", tools = [desk])`)
	if code, stdout, stderr := inProcess(t, user, append([]string{"run", robot, "Hi", "--scripted", answers}, grants...)...); code != term.ExitOK || stdout != "hello\n" {
		t.Errorf("%d %s%s", code, stdout, stderr)
	}
	if code, _, stderr := inProcess(t, user, "check", robot, "--allow-net", host(t, at)); code != term.ExitCheck || !strings.Contains(stderr, "--allow-env ROBOT") || !strings.Contains(stderr, "--allow-net "+host(t, auth.URL)) {
		t.Errorf("%d %s", code, stderr)
	}
	person := written(t, "person.star", `desk = mcp(url = "`+at+`", auth = oauth())
main = agent(prompt = "Answer.", tools = [desk])`)
	shown := make(chan string, 1)
	go func() {
		_ = oauthtest.Browse(<-shown) // the run reports the result
	}()
	code, stdout, stderr := inProcess(t, func(s *term.Process) {
		user(s)
		s.StdinTerminal, s.StderrTerminal = true, true
		s.Stderr = &shows{to: s.Stderr.(*strings.Builder), shown: shown}
	}, append([]string{"run", person, "Hi", "--scripted", answers}, grants...)...)
	if code != term.ExitOK || stdout != "hello\n" {
		t.Errorf("%d %s%s", code, stdout, stderr)
	}
}

// shows finds the displayed address.
type shows struct {
	to    *strings.Builder
	shown chan string
}

func (s *shows) Write(b []byte) (int, error) {
	if _, address, ok := strings.Cut(string(b), "browser:\n\n  "); ok {
		address, _, _ = strings.Cut(address, "\n")
		s.shown <- address
	}
	return s.to.Write(b)
}

// Wrong arguments and failures of mcp login.
func TestLoginMistakes(t *testing.T) {
	at, auth, user := signInWorld(t)
	auth.Authorize = func(a url.Values) {
		a.Del("code")
		a.Set("error", "access_denied")
	}
	open := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server {
		return sdk.NewServer(&sdk.Implementation{Name: "open", Version: "1"}, nil)
	}, nil))
	defer open.Close()
	defer open.CloseClientConnections()
	for _, tt := range []struct {
		code int
		want string
		args []string
	}{
		{term.ExitUsage, "login takes the URL of one MCP server", []string{"login"}},
		{term.ExitUsage, "is no https URL of an MCP server", []string{"login", "http://example.com/mcp"}},
		{term.ExitUsage, "is no https URL of an MCP server", []string{"login", "files"}},
		{term.ExitUsage, "--timeout: want more than 0", []string{"login", at, "--timeout", "0s"}},
		{term.ExitUsage, "nothing says whose secret it is", []string{"login", at, "--client-secret-env", "X"}},
		{term.ExitUsage, "is no host", []string{"login", at, "--allow-net", "https://x"}},
		{term.ExitProvider, "needs the secret X", []string{"login", at, "--client-id", "a", "--client-secret-env", "X"}},
		{term.ExitProvider, "access_denied", []string{"login", at, "--browser"}},
		{term.ExitProvider, "asks for no sign-in", []string{"login", open.URL}},
		{term.ExitProvider, "https://other.example.com alone is trusted", []string{"login", at, "--issuer", "https://other.example.com"}},
		{term.ExitTimeout, "no one came back from the browser within 30ms", []string{"login", at, "--timeout", "30ms"}},
		{term.ExitUsage, "no one is signed in to", []string{"logout", at}},
		{term.ExitUsage, "logout takes the URL of one MCP server", []string{"logout"}},
		{term.ExitUsage, "mcp needs a verb: login", nil},
		{term.ExitUsage, `there is no verb "tool" of mcp`, []string{"tool"}},
	} {
		code, stdout, stderr := inProcess(t, user, append([]string{"mcp"}, tt.args...)...)
		if code != tt.code || !strings.Contains(stderr, tt.want) || stdout != "" {
			t.Errorf("mcp %v: %d %s%s\nwant %d %s", tt.args, code, stdout, stderr, tt.code, tt.want)
		}
	}
	if code, _, stderr := inProcess(t, nil, "mcp", "login", at); code != term.ExitUsage || !strings.Contains(stderr, "no directory for sign-ins") {
		t.Errorf("%d %s", code, stderr)
	}
}
