//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// installed returns a file below the directory that `make e2e` fills, or skips the test.
func installed(t *testing.T, parts ...string) string {
	t.Helper()
	dir := os.Getenv("AGENTSCRIPT_E2E_DIR")
	if dir == "" {
		t.Skip("SKIPPED: AGENTSCRIPT_E2E_DIR does not say where the servers are: run make e2e")
	}
	path := filepath.Join(append([]string{dir}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("SKIPPED: %s is not installed: run make e2e", filepath.Join(parts...))
	}
	return path
}

// freePort returns a port that is currently unused.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// start runs a server until the test ends and waits until url answers.
func start(t *testing.T, url string, cmd *exec.Cmd) {
	t.Helper()
	var out lockedBuffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Skipf("SKIPPED: %s cannot be started: %v", cmd.Path, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended already
		<-ended
		if t.Failed() {
			t.Logf("%s said:\n%s", filepath.Base(cmd.Path), out.tail())
		}
	})
	for deadline := time.Now().Add(60 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if res, err := http.Get(url); err == nil {
			res.Body.Close()
			return
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("%s ended: %v\n%s", cmd.Path, err, out.tail())
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not answer at %s\n%s", cmd.Path, url, out.tail())
		}
	}
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()[max(0, l.b.Len()-4000):]
}

// mock starts aimock with the fixtures and more flags, and returns its address.
func mock(t *testing.T, flags ...string) string {
	t.Helper()
	return mockOf(t, "testdata/fixtures.json", append([]string{"--validate-on-load"}, flags...)...)
}

// mockOf starts aimock with other fixtures.
func mockOf(t *testing.T, fixtures string, flags ...string) string {
	t.Helper()
	cli := installed(t, "node_modules", "@copilotkit", "aimock", "dist", "cli.js")
	port := freePort(t)
	base := fmt.Sprintf("http://127.0.0.1:%d", port)
	args := append([]string{cli, "-p", fmt.Sprint(port), "-f", fixtures, "--log-level", "warn", "--journal-max", "0"}, flags...)
	start(t, base+"/health", exec.Command("node", args...))
	return base
}

// sent is a request as aimock saw it.
type sent struct {
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers"`
	Body    json.RawMessage   `json:"body"`
}

// journal returns what was sent to the mock, in order.
func journal(t *testing.T, base string) []sent {
	t.Helper()
	var list []sent
	data := get(t, base+"/__aimock/journal")
	if err := json.Unmarshal(data, &list); err != nil {
		var wrapped struct {
			Entries  []sent `json:"entries"`
			Requests []sent `json:"requests"`
		}
		if json.Unmarshal(data, &wrapped) != nil {
			t.Fatalf("the journal is %.300s", data)
		}
		list = append(wrapped.Entries, wrapped.Requests...)
	}
	return list
}

func get(t *testing.T, url string) []byte {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func post(t *testing.T, url, body string) []byte {
	t.Helper()
	res, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= 300 {
		t.Fatalf("%s: %s %s %v", url, res.Status, data, err)
	}
	return data
}
