//go:build unix

package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/scripted"
	"github.com/agentscript/agentscript/engine/mcp"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/internal/hang"
	"github.com/agentscript/agentscript/internal/mcptest"
)

func text(t *testing.T, out engine.Outcome) string {
	t.Helper()
	if out.Err != nil {
		t.Fatalf("%s: %s", out.Err.Code, out.Err.Message)
	}
	return mcptest.Text(out.Value)
}

func TestCalls(t *testing.T) {
	t.Parallel()
	overEach(t, func(t *testing.T, spec *remote.Server) {
		c := client(t)
		if got := text(t, list(t, c, spec)); !strings.Contains(got, `"echo"`) || !strings.Contains(got, "what to say") {
			t.Errorf("the list is %.300s", got)
		}
		for _, tt := range []struct{ tool, args, want string }{
			{"echo", `{"text": "a\nb"}`, "echo: a\nb"},
			{"echo", `{"text": "x", "times": 2.0}`, "echo: xecho: x"},
			{"sum", `{"a": 1.5, "b": 2}`, `{"sum":3.5}`},
			{"picture", `{}`, `["look\n[resource file:///a.txt] a\n[audio audio/wav, 3 bytes]",{"url":"data:image/png;base64,cG5n","mime":""}]`},
		} {
			if got := text(t, call(t.Context(), c, spec, tt.tool, tt.args, nil)); got != tt.want {
				t.Errorf("%s(%s) gives %s, want %s", tt.tool, tt.args, got, tt.want)
			}
		}
		if out := call(t.Context(), c, spec, "fail", `{}`, nil); out.Err == nil || out.Err.Kind != engine.KindTool || out.Err.Message != "the disk is full" {
			t.Errorf("an error inside the result is %v", out.Err)
		}
		if out := call(t.Context(), c, spec, "none", `{}`, nil); out.Err == nil || out.Err.Code != diag.ServerProtocol {
			t.Errorf("an unknown tool is %v", out.Err)
		}
	})
}

// Promise 24.9 (MCP): progress that a server reports during a call reaches every observer, and a change of its tools is
// reported once to each run that listed them before.
func TestPromise_24_9_Progress(t *testing.T) {
	t.Parallel()
	overEach(t, func(t *testing.T, spec *remote.Server) {
		c := client(t)
		text(t, list(t, c, spec))
		var mu sync.Mutex
		var told []string
		sink := func(tok engine.Token) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, tok.Notice)
		}
		done := make(chan engine.Outcome, 1)
		go func() { done <- call(t.Context(), c, spec, "steps", `{}`, sink) }()
		hang.Until(t, "progress is told", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return strings.Contains(strings.Join(told, "; "), "1 of 3: working; 2 of 3: working; 3 of 3: working")
		})
		text(t, call(t.Context(), c, spec, "release", `{}`, nil))
		if got := text(t, <-done); got != "done" {
			t.Error(got)
		}
		mu.Lock()
		told = nil
		mu.Unlock()
		text(t, call(t.Context(), c, spec, "grow", `{}`, nil))
		hang.Until(t, "the change is told", func() bool {
			text(t, call(t.Context(), c, spec, "echo", `{"text": "x"}`, sink))
			mu.Lock()
			defer mu.Unlock()
			return strings.Contains(strings.Join(told, ";"), "changed its list of tools")
		})
		if got := text(t, list(t, c, spec)); !strings.Contains(got, "grown") {
			t.Error("the next list is not new")
		}
	})
}

// Promise 24.10 (MCP): a call that is cancelled or takes too long ends immediately, its server is notified, and the
// session continues.
func TestPromise_24_10_CancelledCalls(t *testing.T) {
	t.Parallel()
	overEach(t, func(t *testing.T, spec *remote.Server) {
		c := client(t)
		text(t, list(t, c, spec))
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		if out := call(ctx, c, spec, "hang", `{}`, nil); out.Err == nil || out.Err.Kind != engine.KindCancelled {
			t.Errorf("a cancelled call gives %v", out.Err)
		}
		if got := text(t, call(t.Context(), c, spec, "echo", `{"text": "still there"}`, nil)); got != "echo: still there" {
			t.Error(got)
		}
	})
}

func TestCallTimeout(t *testing.T) {
	t.Parallel()
	overEach(t, func(t *testing.T, spec *remote.Server) {
		c := client(t)
		text(t, list(t, c, spec))
		slow := &remote.Server{Name: spec.Name, Command: spec.Command, Env: spec.Env, URL: spec.URL, Transport: spec.Transport, Call: 1}
		out := call(t.Context(), c, slow, "hang", `{}`, nil)
		if out.Err == nil || out.Err.Code != diag.ServerTimeout || !strings.Contains(out.Err.Message, "is not known") {
			t.Errorf("a call that is not answered gives %v", out.Err)
		}
	})
}

func TestElicitation(t *testing.T) {
	t.Parallel()
	overEach(t, func(t *testing.T, spec *remote.Server) {
		var asked mcp.Question
		c := client(t, mcp.WithElicitation(func(_ context.Context, q mcp.Question) mcp.Reply {
			asked = q
			m := generable.NewMap(1)
			m.Set("n", generable.IntOf(3))
			return mcp.Reply{Accept: true, Values: m}
		}))
		if got := text(t, call(t.Context(), c, spec, "ask", `{}`, nil)); got != "accept 3" {
			t.Error(got)
		}
		if asked.Message != "How many?" || asked.Agent != "agent" || asked.Run != "run" || !strings.Contains(asked.Schema, `"n"`) {
			t.Errorf("asked %+v", asked)
		}
		declining := client(t, mcp.WithElicitation(func(context.Context, mcp.Question) mcp.Reply { return mcp.Reply{} }))
		if got := text(t, call(t.Context(), declining, spec, "ask", `{}`, nil)); !strings.HasPrefix(got, "decline") {
			t.Error(got)
		}
		if out := call(t.Context(), client(t), spec, "ask", `{}`, nil); out.Err == nil || !strings.Contains(out.Err.Message, "elicitation") {
			t.Errorf("without anybody to ask: %v", out)
		}
	})
}

// Promise 24.11 (MCP): the person who approves calls also answers the questions of servers, with data that fits the
// server's schema or not at all. If nobody answers, the server is told so.
func TestPromise_24_11_Elicitation(t *testing.T) {
	t.Parallel()
	four := func(*engine.ApprovalRequest) engine.Decision {
		m := generable.NewMap(1)
		m.Set("n", generable.IntOf(4))
		return engine.ApproveWith(m.Value())
	}
	overEach(t, func(t *testing.T, spec *remote.Server) {
		for _, tt := range []struct {
			decide func(*engine.ApprovalRequest) engine.Decision
			fails  error
			want   string
		}{
			{func(r *engine.ApprovalRequest) engine.Decision {
				v, err := r.Fits(`{"n": 4}`)
				if err != nil || !strings.Contains(r.Question, "How many?") || r.Agent != "agent" {
					t.Errorf("%v, %+v", err, r)
				}
				return engine.ApproveWith(v)
			}, nil, "accept 4"},
			{four, errors.New("nobody is there"), "decline <nil>"},
			{func(r *engine.ApprovalRequest) engine.Decision {
				d := four(r)
				d.Approved = false
				return d
			}, nil, "decline <nil>"},
			{func(*engine.ApprovalRequest) engine.Decision { return engine.Approve() }, nil, "decline <nil>"}, // n has no default
			{func(*engine.ApprovalRequest) engine.Decision { return engine.Deny("no") }, nil, "decline <nil>"},
		} {
			c := client(t, mcp.WithApprovals(func(_ context.Context, r *engine.ApprovalRequest) (engine.Decision, error) {
				return tt.decide(r), tt.fails
			}))
			said := generable.NewMap(1)
			said.Set("text", generable.StrOf("x"))
			text(t, c.Do(t.Context(), &engine.Effect{Kind: engine.EffectTool, Name: spec.Name + ".echo", Run: "run", Agent: "before", // and asks nothing
				Req: &engine.ToolRequest{Args: said.Value(), Server: spec, Tool: "echo"}}, nil))
			if got := text(t, call(t.Context(), c, spec, "ask", `{}`, nil)); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		}
	})
}

// Promise 24.12 (MCP): a server can query a model only if the host allows it, and the tokens used count as usage of the
// call.
func TestPromise_24_12_Sampling(t *testing.T) {
	t.Parallel()
	overEach(t, func(t *testing.T, spec *remote.Server) {
		models := scripted.Answers(map[string][]string{"agent": {"tree"}})
		c := client(t, mcp.WithSampling(models, "scripted/one"))
		out := call(t.Context(), c, spec, "think", `{}`, nil)
		if got := text(t, out); got != "the model said tree" {
			t.Error(got)
		}
		if out.Usage.In == 0 || out.Usage.Out == 0 {
			t.Errorf("the call used %+v", out.Usage)
		}
		if out := call(t.Context(), client(t), spec, "think", `{}`, nil); out.Err == nil {
			t.Error("a model was asked that nobody granted")
		}
	})
}

func TestRoots(t *testing.T) {
	t.Parallel()
	overEach(t, func(t *testing.T, spec *remote.Server) {
		dir := t.TempDir()
		if got := text(t, call(t.Context(), client(t, mcp.WithRoots(dir)), spec, "roots", `{}`, nil)); got != "file://"+dir {
			t.Errorf("the roots are %s", got)
		}
	})
}

func TestHeadersAndSecrets(t *testing.T) {
	for _, transport := range []string{remote.TransportHTTP, remote.TransportSSE, remote.TransportAuto} {
		var mu sync.Mutex
		var seen, wrong int
		behind := transport
		if transport == remote.TransportAuto {
			behind = remote.TransportSSE
		}
		spec := served(t, behind, func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				seen++
				if r.Header.Get("Authorization") != "Bearer s3cret-value" || r.Header.Get("X-Team") != "blue" {
					wrong++
				}
				mu.Unlock()
				next.ServeHTTP(w, r)
			})
		})
		spec.Transport = transport
		spec.Headers = []remote.Setting{{Name: "Authorization", Value: "Bearer ", Secret: "TOKEN"}, {Name: "X-Team", Value: "blue"}}
		c := client(t, mcp.WithSecrets(func(name string) (string, bool) { return "s3cret-value", name == "TOKEN" }))
		if got := text(t, call(t.Context(), c, spec, "echo", `{"text": "s3cret-value"}`, nil)); got != "echo: [TOKEN]" {
			t.Errorf("%s: the secret came back: %s", transport, got)
		}
		mu.Lock()
		if seen == 0 || wrong > 0 {
			t.Errorf("%s: %d of %d requests were without the headers", transport, wrong, seen)
		}
		mu.Unlock()
	}
	t.Setenv("HOST_ONLY", "of the host")
	spec := process(t, "good")
	spec.Env = append(spec.Env, remote.Setting{Name: "TOKEN", Secret: "MINE"})
	c := client(t, mcp.WithSecrets(func(name string) (string, bool) { return "s3cret-value", name == "MINE" }))
	if got := text(t, call(t.Context(), c, spec, "secret", `{}`, nil)); got != "the token is [MINE], home " {
		t.Error(got)
	}
	if out := call(t.Context(), client(t, mcp.WithSecrets(func(string) (string, bool) { return "", false })), spec, "secret", `{}`, nil); out.Err == nil || out.Err.Code != diag.NoSecret {
		t.Errorf("a secret that is not set: %v", out.Err)
	}
}

func TestNothingIsAllowedByItself(t *testing.T) {
	t.Parallel()
	for _, spec := range []*remote.Server{process(t, "good"), {Name: "web", URL: "http://127.0.0.1:1/mcp", Transport: remote.TransportAuto}} {
		c := mcp.New()
		if out := list(t, c, spec); out.Err == nil || out.Err.Code != diag.ServerNotGranted || !strings.Contains(out.Err.Help, "--allow-") {
			t.Errorf("%s: %v", spec.Name, out.Err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if out := list(t, c, spec); out.Err == nil || !strings.Contains(out.Err.Message, "closed") {
			t.Errorf("after Close: %v", out.Err)
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	asked := atomic.Bool{}
	other := served(t, remote.TransportHTTP, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked.Store(true); next.ServeHTTP(w, r) })
	})
	spec := served(t, remote.TransportHTTP, func(http.Handler) http.Handler {
		return http.RedirectHandler(other.URL, http.StatusTemporaryRedirect)
	})
	if out := list(t, client(t), spec); out.Err == nil || !strings.Contains(out.Err.Message, "another host") || asked.Load() {
		t.Errorf("%v, asked the other: %v", out.Err, asked.Load())
	}
}

// Connecting is shared: many concurrent calls start one process, or connect to a server at a URL once.
func TestOneSessionForAll(t *testing.T) {
	for _, transport := range transports {
		t.Run(transport, func(t *testing.T) {
			var greeted atomic.Int64
			spec, c := process(t, "good"), client(t)
			if transport != remote.TransportStdio {
				spec = served(t, transport, func(next http.Handler) http.Handler {
					return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						body, err := io.ReadAll(r.Body)
						if err != nil {
							t.Error(err)
						}
						if bytes.Contains(body, []byte(`"method":"initialize"`)) {
							greeted.Add(1)
						}
						r.Body = io.NopCloser(bytes.NewReader(body))
						next.ServeHTTP(w, r)
					})
				})
			}
			var wg sync.WaitGroup
			for range 20 {
				wg.Go(func() {
					if out := call(t.Context(), c, spec, "echo", `{"text": "x"}`, nil); out.Err != nil {
						t.Error(out.Err)
					}
				})
			}
			wg.Wait()
			if n := children(t); n > 2 {
				t.Errorf("%d processes were started for one server", n)
			}
			if n := greeted.Load(); n > 1 {
				t.Errorf("the server was greeted %d times", n)
			}
		})
	}
}
