// Package servertest tests the command as a process, with the Go SDK. It does not import the
// server, so that its own build is short.
package servertest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
)

// command returns the path of the command under test: AGENTSCRIPT_TEMPORAL_SERVER, or a fresh
// build if AGENTSCRIPT_TEMPORAL is 1. Otherwise the test is skipped, as a cold build takes minutes.
func command(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("a server takes long")
	}
	if path := os.Getenv("AGENTSCRIPT_TEMPORAL_SERVER"); path != "" {
		return path
	}
	if os.Getenv("AGENTSCRIPT_TEMPORAL") != "1" {
		t.Skip("set AGENTSCRIPT_TEMPORAL=1 to build the server, which takes minutes the first time, or AGENTSCRIPT_TEMPORAL_SERVER to the path of one")
	}
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var buildDir string

// built builds the command once.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "devserver")
	if err != nil {
		return "", err
	}
	buildDir = dir
	path := filepath.Join(dir, "agentscript-temporal-devserver")
	out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, "..").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if buildDir != "" {
		_ = os.RemoveAll(buildDir)
	}
	os.Exit(code)
}

// process is a running server.
type process struct {
	*exec.Cmd
	stdin      io.Closer
	stderr     *strings.Builder
	Address    string
	Namespaces []string
}

// start starts a server and returns once it has reported that it is ready.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(command(t), append([]string{"--with-parent"}, args...)...), stderr: &strings.Builder{}}
	p.Stderr = p.stderr
	stdin, err := p.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdin = stdin
	stdout, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Process.Kill()
		_ = p.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil {
		_ = p.Wait()
		t.Fatalf("no line: %v\n%s", err, p.stderr)
	}
	if err := json.Unmarshal(line, p); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	t.Logf("answers after %v", time.Since(begun).Round(time.Millisecond))
	return p
}

// end waits until the server has ended, and returns what it wrote to standard error.
func (p *process) end(t *testing.T) string {
	t.Helper()
	kill := time.AfterFunc(20*time.Second, func() { _ = p.Process.Kill() })
	defer kill.Stop()
	if err := p.Wait(); err != nil {
		t.Errorf("%v\n%s", err, p.stderr)
	}
	return p.stderr.String()
}

// dial returns a client of the server.
func dial(t *testing.T, p *process, namespace string) client.Client {
	t.Helper()
	quiet := log.NewStructuredLogger(slogDiscard())
	c, err := client.Dial(client.Options{HostPort: p.Address, Namespace: namespace, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func TestErrors(t *testing.T) {
	path := command(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database\n", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--bogus"}, 2, "flag provided but not defined: -bogus"},
		{[]string{"more"}, 2, `unexpected argument "more"`},
		{[]string{"--addr", "here"}, 2, `--addr "here" must be`},
		{[]string{"--search-attribute", "A=Number"}, 2, "must be NAME=Keyword"},
		{[]string{"--search-attribute", "WorkflowId=Keyword"}, 2, "a name that the server itself uses"},
		{[]string{"--addr", taken.Addr().String()}, 1, "address already in use"},
		{[]string{"--addr", "127.0.0.1:0", "--db", text}, 1, "not an SQLite database"},
		{[]string{"--addr", "127.0.0.1:0", "--db", filepath.Join(text, "x")}, 1, "not a directory"},
	} {
		cmd := exec.Command(path, test.args...)
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != test.code || !strings.Contains(string(out), test.want) || strings.Count(string(out), "\n") != 1 {
			t.Errorf("%q: exit code %d, want %d with one line that has %q:\n%s", test.args, code, test.code, test.want, out)
		}
	}
}

func TestReadyAndStop(t *testing.T) {
	p := start(t, "--addr", "127.0.0.1:0", "--namespace", "one", "--namespace", "two")
	if !slices.Equal(p.Namespaces, []string{"one", "two"}) {
		t.Errorf("namespaces %q", p.Namespaces)
	}
	for _, namespace := range p.Namespaces {
		if _, err := dial(t, p, namespace).CheckHealth(context.Background(), nil); err != nil {
			t.Error(err)
		}
	}
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if out := p.end(t); out != "" {
		t.Errorf("a server that did nothing logged\n%s", out)
	}
}

func TestEndsWithParent(t *testing.T) {
	p := start(t, "--addr", "127.0.0.1:0", "--quiet")
	if err := p.stdin.Close(); err != nil {
		t.Fatal(err)
	}
	p.end(t)
	if _, err := net.DialTimeout("tcp", p.Address, time.Second); err == nil {
		t.Error("something still listens at", p.Address)
	}
}

func TestFile(t *testing.T) {
	db := filepath.Join(t.TempDir(), "t.db")
	p := start(t, "--addr", "127.0.0.1:0", "--db", db)
	for _, name := range []string{db, db + "-wal"} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	out, err := exec.Command(command(t), "--addr", "127.0.0.1:0", "--db", db).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "another process uses it") {
		t.Errorf("a second server on the file: %v, %s", err, out)
	}
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	p.end(t)
	// Another port, and a new namespace.
	p = start(t, "--addr", "127.0.0.1:0", "--db", db, "--namespace", "default", "--namespace", "late")
	if _, err := dial(t, p, "late").CheckHealth(context.Background(), nil); err != nil {
		t.Error(err)
	}
}

// TestKilledWhileStarting leaves a file in each state that a start goes through.
func TestKilledWhileStarting(t *testing.T) {
	path := command(t)
	db := filepath.Join(t.TempDir(), "t.db")
	for delay := 100 * time.Millisecond; delay < time.Second; delay += 50 * time.Millisecond {
		cmd := exec.Command(path, "--addr", "127.0.0.1:0", "--db", db, "--quiet")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(delay)
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	start(t, "--addr", "127.0.0.1:0", "--db", db)
}

func TestStopsWhileStarting(t *testing.T) {
	cmd := exec.Command(command(t), "--addr", "127.0.0.1:0", "--quiet")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
	_ = cmd.Wait() // a slow process gets the signal before it can handle it
	if !kill.Stop() {
		t.Error("still there 10 seconds after the signal")
	}
}
