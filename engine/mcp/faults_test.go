//go:build unix

package mcp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/mcp"
	"github.com/agentscript/agentscript/engine/remote"
	"github.com/agentscript/agentscript/internal/hang"
)

// withToken provides one secret.
var withToken = mcp.WithSecrets(func(name string) (string, bool) { return "s3cret-value", name == "MINE" })

// bounded limits what servers send, and returns how many MB a message may have: less under -short, since reading the
// default would take long.
func bounded() (mcp.Option, string) {
	if testing.Short() {
		return mcp.WithBounds(2<<20, 4<<20), "2 MB"
	}
	return mcp.WithBounds(16<<20, 32<<20), "16 MB"
}

// tooMuch returns how many bytes servers send that send too much.
func tooMuch() int {
	if testing.Short() {
		return 5 << 20
	}
	return 40 << 20
}

// soon makes processes that do not exit by themselves end without waiting for them.
var soon = mcp.WithPatience(50 * time.Millisecond)

// children counts the child processes of this one, without zombies.
func children(t *testing.T) int {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	n := 0
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		data, err := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		if err != nil {
			continue // the thread has ended
		}
		for _, pid := range strings.Fields(string(data)) {
			var id int
			if _, err := fmt.Sscan(pid, &id); err == nil && alive(id) {
				n++
			}
		}
	}
	return n
}

// Promise 24.13 (MCP): a server that never answers, exits immediately, prints something that is no message, sends
// broken or oversized data, or denies access causes a typed error, over each transport. For a process the error
// contains its last output.
func TestPromise_24_13_UnreachableServers(t *testing.T) {
	t.Parallel()
	bounds, most := bounded()
	for mode, want := range map[string]struct {
		code  diag.Code
		words []string // that a process wrote
		url   []string // in the error of a server at a URL
	}{
		"silent":  {diag.ServerTimeout, []string{"did not say hello within", "I will not talk"}, []string{"did not say hello within"}},
		"gone":    {diag.ServerUnreachable, []string{"exit status 7", "no configuration found: [MINE]"}, []string{"cannot be reached"}},
		"garbage": {diag.ServerProtocol, []string{"no message", "this is no message"}, []string{"does not speak MCP"}},
		"broken":  {diag.ServerProtocol, []string{"does not speak MCP"}, []string{"does not speak MCP"}},
		"huge":    {diag.ServerProtocol, []string{"more than " + most}, []string{"more than " + most}},
	} {
		for _, transport := range transports {
			t.Run(mode+" "+transport, func(t *testing.T) {
				t.Parallel()
				spec, words := wired(t, mode, transport), want.url
				if transport == remote.TransportStdio {
					words = want.words
					spec.Env = append(spec.Env, remote.Setting{Name: "TOKEN", Secret: "MINE"})
				}
				spec.Timeout = time.Minute
				if mode == "silent" {
					spec.Timeout = 200 * time.Millisecond
				}
				out := list(t, client(t, withToken, bounds), spec)
				for mode == "silent" && spec.Timeout < time.Minute && !strings.Contains(out.Err.Message, words[len(words)-1]) { // it is not running yet
					spec.Timeout *= 2
					out = list(t, client(t, withToken, soon), spec)
				}
				if out.Err == nil || out.Err.Code != want.code {
					t.Fatalf("%v", out.Err)
				}
				for _, w := range words {
					if !strings.Contains(out.Err.Message, w) {
						t.Errorf("%q does not say %q", out.Err.Message, w)
					}
				}
				if out.Err.Help == "" {
					t.Error("no help")
				}
			})
		}
	}
	if out := list(t, client(t), &remote.Server{Name: "none", Command: "no-such-command-anywhere"}); out.Err == nil || out.Err.Code != diag.ServerUnreachable {
		t.Errorf("a command that is not there: %v", out.Err)
	}
	if out := list(t, client(t), &remote.Server{Name: "none", URL: "http://127.0.0.1:1/mcp", Transport: remote.TransportAuto}); out.Err == nil || out.Err.Code != diag.ServerUnreachable {
		t.Errorf("nobody listens: %v", out.Err)
	}
	for _, transport := range []string{remote.TransportHTTP, remote.TransportSSE, remote.TransportAuto} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }))
		if out := list(t, client(t), &remote.Server{Name: "locked", URL: s.URL, Transport: transport}); out.Err == nil || !strings.Contains(out.Err.Message, "HTTP 401") {
			t.Errorf("%s: %v", transport, out.Err)
		}
		s.Close()
		enough := make(chan struct{})
		s = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-enough }))
		if out := list(t, client(t), &remote.Server{Name: "mute", URL: s.URL, Transport: transport, Timeout: 300 * time.Millisecond}); out.Err == nil || out.Err.Code != diag.ServerTimeout {
			t.Errorf("%s: %v", transport, out.Err)
		}
		close(enough)
		s.Close()
	}
}

// Promise 24.14 (MCP): a server that dies, floods, refuses, or answers with nonsense, with too much or with half a
// message during a call causes a typed error that a model can read, and the next call is made anew, over each
// transport.
func TestPromise_24_14_FailingServers(t *testing.T) {
	t.Parallel()
	bounds, most := bounded()
	for mode, want := range map[string]struct {
		code  diag.Code
		words []string
		told  []string // output of a process
	}{
		"dies":     {diag.ServerLost, []string{"whether it was carried out is not known"}, []string{"exit status 3", "out of memory"}},
		"floods":   {diag.ServerProtocol, []string{"MB unasked"}, nil},
		"swells":   {diag.ServerProtocol, []string{"more than " + most}, nil},
		"halves":   {diag.ServerProtocol, []string{"does not keep to MCP"}, nil},
		"refuses":  {diag.ServerProtocol, []string{"no such city"}, nil},
		"nonsense": {diag.ServerProtocol, nil, nil},
		"fails":    {diag.ToolFailed, []string{`{"why":"no ink"}`}, nil},
		"mum":      {diag.ToolFailed, []string{"does not say why"}, nil},
		"hangs":    {diag.ServerTimeout, []string{"did not answer"}, nil},
	} {
		for _, transport := range transports {
			t.Run(mode+" "+transport, func(t *testing.T) {
				t.Parallel()
				spec, c := wired(t, mode, transport), client(t, bounds)
				if mode != "dies" { // the error reports its end
					c = client(t, bounds, soon)
				}
				if mode == "hangs" {
					spec.Call = 200 * time.Millisecond
				}
				words := want.words
				if transport == remote.TransportStdio {
					words = append(words, want.told...)
				}
				for i := range 2 { // the second call reconnects if the first lost the server
					out := call(t.Context(), c, spec, "go", `{}`, nil)
					if out.Err == nil || out.Err.Code != want.code || out.Err.Kind != engine.KindTool {
						t.Fatalf("call %d: %v", i, out.Err)
					}
					for _, w := range words {
						if !strings.Contains(out.Err.Message, w) {
							t.Errorf("%q does not say %q", out.Err.Message, w)
						}
					}
				}
			})
		}
	}
}

// Large messages are not kept: an answer of 40 MB and a flood use less memory than their size.
func TestLargeAnswersAreNotHeld(t *testing.T) {
	modes := []string{"swells", "floods", "huge"}
	if testing.Short() {
		modes = modes[:1]
	}
	for _, mode := range modes {
		spec, c := process(t, mode), client(t, soon)
		spec.Env[1].Value = strconv.Itoa(40 << 20)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if out := call(t.Context(), c, spec, "go", `{}`, nil); out.Err == nil || out.Err.Code != diag.ServerProtocol {
			t.Errorf("%s: %v", mode, out.Err)
		}
		runtime.ReadMemStats(&after)
		if n := (after.Sys - before.Sys) >> 20; after.Sys > before.Sys && n > 100 {
			t.Errorf("%s: %d MiB more are held", mode, n)
		}
	}
}

// Additional messages of a server do not prevent its answer from being read.
func TestChatter(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"chatters", "prints", "strays", "once"} {
		for _, transport := range transports {
			if mode == "prints" && transport != remote.TransportStdio {
				continue // only there do servers print
			}
			t.Run(mode+" "+transport, func(t *testing.T) {
				spec, c := wired(t, mode, transport), client(t)
				if mode == "once" { // the second call uses another connection
					spec.Env = append(spec.Env, remote.Setting{Name: "DIED", Value: filepath.Join(t.TempDir(), "died")})
					if out := call(t.Context(), c, spec, "go", `{}`, nil); out.Err == nil || out.Err.Code != diag.ServerLost {
						t.Errorf("%v", out.Err)
					}
				}
				for range 2 {
					if got := text(t, call(t.Context(), c, spec, "go", `{}`, nil)); got != "went" {
						t.Error(got)
					}
				}
			})
		}
	}
}

// A server that is lost again and again is left alone.
func TestRestartsAreBounded(t *testing.T) {
	t.Parallel()
	for _, transport := range transports {
		spec, c := wired(t, "dies", transport), client(t)
		var last *engine.Error
		for range 5 {
			last = call(t.Context(), c, spec, "go", `{}`, nil).Err
		}
		if last == nil || last.Code != diag.ServerLost || !strings.Contains(last.Message, "3 times in a row") {
			t.Errorf("%s: %v", transport, last)
		}
	}
}

// Promise 24.15 (MCP): no process and no goroutine of a server is left when its client is closed, whatever the server
// does, even if neither the end of its input nor a signal stops it.
func TestPromise_24_15_NothingIsLeft(t *testing.T) {
	before, goroutines := children(t), runtime.NumGoroutine()
	for _, mode := range []string{"good", "stubborn", "silent", "garbage", "dies", "hangs"} {
		for _, transport := range transports {
			t.Run(mode+" "+transport, func(t *testing.T) { // so that the server at a URL has ended with it
				c := client(t, soon)
				spec := wired(t, mode, transport)
				spec.Timeout, spec.Call = 2*time.Second, 200*time.Millisecond
				if mode == "silent" {
					spec.Timeout = 200 * time.Millisecond
				}
				list(t, c, spec)
				call(t.Context(), c, spec, "go", `{}`, nil)
				if err := c.Close(); err != nil {
					t.Error(err)
				}
				if n := children(t); n > before {
					t.Errorf("%d processes are left", n-before)
				}
			})
		}
	}
	http.DefaultClient.CloseIdleConnections()
	hang.Until(t, "the goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines+2 })
}

// A client that is closed while it connects does not wait for the server to answer, and a call that is cancelled then
// does not wait for the server to end; both leave nothing behind.
func TestStoppedWhileConnecting(t *testing.T) {
	for _, how := range []string{"closed", "cancelled"} {
		c := mcp.New(mcp.WithAllow(func(capability.Use) error { return nil }), soon)
		spec := process(t, "silent")
		ctx, cancel := context.WithCancel(t.Context())
		outcome := make(chan engine.Outcome, 1)
		go func() {
			outcome <- c.Do(ctx, &engine.Effect{Kind: engine.EffectMCP, Name: "s", At: &engine.Frame{}, Req: &remote.ListRequest{Server: spec}}, nil)
		}()
		hang.Until(t, "a process", func() bool { return children(t) > 0 })
		want := engine.KindConfig
		if how == "cancelled" {
			want = engine.KindCancelled
			cancel()
		} else if err := c.Close(); err != nil {
			t.Error(err)
		}
		if out := <-outcome; out.Err == nil || out.Err.Kind != want {
			t.Errorf("%s: %v", how, out.Err)
		}
		cancel()
		if err := c.Close(); err != nil || children(t) > 0 {
			t.Errorf("%s: %v, and %d processes are left", how, err, children(t))
		}
	}
}
