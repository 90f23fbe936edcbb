//go:build unix

package mcp_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/mcp"
)

// withToken knows one secret.
var withToken = mcp.WithSecrets(func(name string) (string, bool) { return "s3cret-value", name == "MINE" })

// children counts the processes that this one has started and that are no zombies.
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

// Promise 24.13 (MCP): a server that never answers, ends at once, prints what is no message, sends what is
// broken or too large, or does not let us in is a typed error with the server's last words.
func TestPromise_24_13_UnreachableServers(t *testing.T) {
	for mode, want := range map[string]struct {
		code  diag.Code
		words []string
	}{
		"silent":  {diag.ServerTimeout, []string{"did not say hello within", "I will not talk"}},
		"gone":    {diag.ServerUnreachable, []string{"exit status 7", "no configuration found: [MINE]"}},
		"garbage": {diag.ServerProtocol, []string{"no message", "this is no message"}},
		"broken":  {diag.ServerProtocol, []string{"does not speak MCP"}},
		"huge":    {diag.ServerProtocol, []string{"more than 16 MB"}},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			spec := process(t, mode)
			spec.Env = append(spec.Env, engine.Setting{Name: "TOKEN", Secret: "MINE"})
			spec.Timeout = 20 * time.Second
			if mode == "silent" {
				spec.Timeout = 5 * time.Second // it is up by then, however busy the machine is
			}
			c := client(t, withToken)
			out := list(t, c, spec)
			if out.Err == nil || out.Err.Code != want.code {
				t.Fatalf("%v", out.Err)
			}
			for _, w := range want.words {
				if !strings.Contains(out.Err.Message, w) {
					t.Errorf("%q does not say %q", out.Err.Message, w)
				}
			}
			if out.Err.Help == "" {
				t.Error("no help")
			}
		})
	}
	if out := list(t, client(t), &engine.ServerSpec{Name: "none", Command: "no-such-command-anywhere"}); out.Err == nil || out.Err.Code != diag.ServerUnreachable {
		t.Errorf("a command that is not there: %v", out.Err)
	}
	if out := list(t, client(t), &engine.ServerSpec{Name: "none", URL: "http://127.0.0.1:1/mcp", Transport: engine.TransportAuto}); out.Err == nil || out.Err.Code != diag.ServerUnreachable {
		t.Errorf("nobody listens: %v", out.Err)
	}
	for _, transport := range []string{engine.TransportHTTP, engine.TransportSSE, engine.TransportAuto} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }))
		if out := list(t, client(t), &engine.ServerSpec{Name: "locked", URL: s.URL, Transport: transport}); out.Err == nil || !strings.Contains(out.Err.Message, "HTTP 401") {
			t.Errorf("%s: %v", transport, out.Err)
		}
		s.Close()
		enough := make(chan struct{})
		s = httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-enough }))
		if out := list(t, client(t), &engine.ServerSpec{Name: "mute", URL: s.URL, Transport: transport, Timeout: 300 * time.Millisecond}); out.Err == nil || out.Err.Code != diag.ServerTimeout {
			t.Errorf("%s: %v", transport, out.Err)
		}
		close(enough)
		s.Close()
	}
}

// Promise 24.14 (MCP): a server that dies, floods, refuses or answers nonsense in a call gives a typed error
// that a model can read, and the call after it is made anew.
func TestPromise_24_14_FailingServers(t *testing.T) {
	for mode, want := range map[string]struct {
		code  diag.Code
		words []string
	}{
		"dies":     {diag.ServerLost, []string{"exit status 3", "whether it was carried out is not known", "out of memory"}},
		"floods":   {diag.ServerProtocol, []string{"nobody asked for"}},
		"refuses":  {diag.ServerProtocol, []string{"no such city"}},
		"nonsense": {diag.ServerProtocol, nil},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			spec, c := process(t, mode), client(t)
			for i := range 2 { // the second call connects anew where the first lost the server
				out := call(t.Context(), c, spec, "go", `{}`, nil)
				if out.Err == nil || out.Err.Code != want.code || out.Err.Kind != engine.KindTool {
					t.Fatalf("call %d: %v", i, out.Err)
				}
				for _, w := range want.words {
					if !strings.Contains(out.Err.Message, w) {
						t.Errorf("%q does not say %q", out.Err.Message, w)
					}
				}
			}
		})
	}
}

// A server that is lost again and again is left alone.
func TestRestartsAreBounded(t *testing.T) {
	spec, c := process(t, "dies"), client(t)
	var last *engine.Error
	for range 5 {
		last = call(t.Context(), c, spec, "go", `{}`, nil).Err
	}
	if last == nil || last.Code != diag.ServerLost || !strings.Contains(last.Message, "3 times in a row") {
		t.Errorf("%v", last)
	}
}

// Promise 24.15 (MCP): no process and no goroutine is left of servers when their client is closed, whatever
// they do: also of one that neither the end of its input nor a signal ends.
func TestPromise_24_15_NothingIsLeft(t *testing.T) {
	before, goroutines := children(t), runtime.NumGoroutine()
	for _, mode := range []string{"good", "stubborn", "silent", "garbage", "dies", "hangs"} {
		c := client(t)
		spec := process(t, mode)
		spec.Timeout, spec.Call = 2*time.Second, 300*time.Millisecond
		list(t, c, spec)
		call(t.Context(), c, spec, "go", `{}`, nil)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if n := children(t); n > before {
			t.Errorf("%s: %d processes are left", mode, n-before)
		}
	}
	eventually(t, "the goroutines end", func() bool { return runtime.NumGoroutine() <= goroutines+2 })
}

// A client that is closed while it connects does not wait for the server's hello, and a call that is
// cancelled there does not wait for the server's end; both leave nothing.
func TestStoppedWhileConnecting(t *testing.T) {
	for _, how := range []string{"closed", "cancelled"} {
		c := mcp.New(mcp.WithAllow(func(engine.Use) error { return nil }))
		spec := process(t, "silent")
		ctx, cancel := context.WithCancel(t.Context())
		outcome := make(chan engine.Outcome, 1)
		go func() {
			outcome <- c.Do(ctx, &engine.Effect{Kind: engine.EffectMCP, Name: "s", At: &engine.Frame{}, Req: &engine.ServerRequest{Server: spec}}, nil)
		}()
		eventually(t, "a process", func() bool { return children(t) > 0 })
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
