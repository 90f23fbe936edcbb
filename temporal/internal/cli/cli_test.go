package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/hang"
)

// roleEnv makes the test binary act as the command.
const roleEnv = "AGENTSCRIPT_CLI_ROLE"

func TestMain(m *testing.M) {
	if os.Getenv(roleEnv) != "" {
		os.Exit(Main(""))
	}
	code := m.Run()
	if shared != nil {
		_ = shared.Process.Kill()
		_ = shared.Wait()
	}
	os.Exit(code)
}

// bench runs commands in the root of the repository, with a separate state.
type bench struct {
	t   *testing.T
	env []string
}

func newBench(t *testing.T, env ...string) *bench {
	dir := t.TempDir()
	return &bench{t, append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_STATE_HOME=" + dir, "XDG_CONFIG_HOME=" + dir, "NO_COLOR=1"}, env...)}
}

func (b *bench) command(name string, args ...string) *exec.Cmd {
	b.t.Helper()
	if name == "temporal" {
		name = os.Args[0]
	}
	cmd := hang.Command(b.t, name, args...)
	cmd.Env, cmd.Dir = append(b.env, roleEnv+"=1"), repository
	return cmd
}

var repository = filepath.Join("..", "..", "..")

// agentscript builds the command for local runs, and returns its path.
func (b *bench) agentscript() string {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "agentscript")
	build := hang.Command(b.t, "go", "build", "-trimpath", "-o", path, "./cmd/agentscript")
	build.Dir = repository
	if out, err := build.CombinedOutput(); err != nil {
		b.t.Fatalf("%v\n%s", err, out)
	}
	return path
}

// commandResult is the result of a command.
type commandResult struct {
	out, err string
	code     int
}

func (b *bench) exec(name string, args ...string) (s commandResult) {
	b.t.Helper()
	cmd := b.command(name, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		b.t.Fatal(err)
	}
	return commandResult{strings.TrimSuffix(out.String(), "\n"), errs.String(), cmd.ProcessState.ExitCode()}
}

// temporal runs the command, and fails the test unless it exits with the code and its stderr contains words.
func (b *bench) temporal(code int, words string, args ...string) commandResult {
	b.t.Helper()
	s := b.exec("temporal", args...)
	if s.code != code || !strings.Contains(s.err, words) {
		b.t.Fatalf("%s: exit %d, want %d, and %q in\n%s\n%s", strings.Join(args, " "), s.code, code, words, s.err, s.out)
	}
	return s
}

// script writes a script, and returns its path.
func (b *bench) script(text string) string {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "flow.star")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
	return path
}

func TestUsage(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct {
		line, words string
		code        int
	}{
		{"", "Available Commands", term.ExitUsage},
		{"wroker", `did you mean "worker"?`, term.ExitUsage},
		{"run", "run needs a FILE", term.ExitUsage},
		{"run nothing.star", "there is no such file", term.ExitUsage},
		{"run --namspace x examples/count.star 41", "did you mean --namespace?", term.ExitUsage},
		{"run --scripted x examples/count.star 41", "agentscript temporal worker --scripted", term.ExitUsage},
		{"run --session / examples/count.star 41", "is no id of a session", term.ExitUsage},
		{"run --session x --session-store y examples/count.star 41", "agentscript temporal worker --session-store", term.ExitUsage},
		{"run --model a=b/c examples/count.star 41", `the script has no agent "a"`, term.ExitUsage},
		{"run examples/workspace.star --dir examples/notes", "is not granted", term.ExitCheck},
		{"worker now", "worker takes no argument", term.ExitUsage},
		{"worker --drain -1s", "--drain must not be negative", term.ExitUsage},
		{"worker --session-store=", "--session-store needs the name of a directory", term.ExitUsage},
		{"worker --wait -1s", "--wait must not be negative", term.ExitUsage},
		{"worker --log-level loud", "debug, info, warn or error", term.ExitUsage},
		{"worker --deployment flows", "is no NAME:BUILD", term.ExitUsage},
		{"worker --scripted nothing.jsonl", "there is no such file", term.ExitUsage},
		{"worker --tls-cert-path x", "belong together", term.ExitUsage},
		{"runs gc", `runs has no verb "gc"`, term.ExitUsage},
		{"dev", "agentscript-temporal-devserver", term.ExitUsage},
	} {
		t.Run(c.line, func(t *testing.T) {
			b := &bench{t, append(b.env, "PATH=")}
			b.temporal(c.code, c.words, strings.Fields(c.line)...)
		})
	}
	for _, verb := range []string{"worker", "run", "runs", "runs fork"} {
		if s := b.temporal(0, "", append(strings.Fields(verb), "--help")...); !strings.Contains(s.out, "agentscript temporal "+verb) {
			t.Errorf("help of %s:\n%s", verb, s.out)
		}
	}
}

// A server that cannot be reached ends each verb with its own exit code, within the given time.
func TestNoServer(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections, and sends nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	b := newBench(t)
	for _, address := range []string{"127.0.0.1:1", silent.Addr().String()} {
		for _, line := range []string{"run examples/count.star 41", "worker --wait 0s", "runs ls", "runs show last", "runs fork last", "runs answer last --approve"} {
			s := b.temporal(term.ExitProvider, "no Temporal server is reached at "+address, append(strings.Fields(line), "--address", address, "--connect-timeout", "1s")...)
			if !strings.Contains(s.err, "agentscript temporal dev") {
				t.Errorf("%s:\n%s", line, s.err)
			}
		}
	}
}

var shared *exec.Cmd

// address is that of the server that tests share, as seen by what runs there.
var address string

// serverEnv names the development server that `make temporal-server` builds.
const serverEnv = "AGENTSCRIPT_TEMPORAL_SERVER"

// serverPath returns the path of the development server. Without one the test is skipped.
func serverPath(t *testing.T) string {
	t.Helper()
	path := os.Getenv(serverEnv)
	if path == "" {
		t.Skip("not here: " + serverEnv + " names no server")
	}
	return path
}

// onServer returns a bench whose commands use a server. Without one the test is skipped.
func onServer(t *testing.T) *bench {
	t.Helper()
	path := serverPath(t)
	if shared == nil {
		var err error
		if shared, address, err = launch(path, "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
	}
	return newBench(t, "TEMPORAL_ADDRESS="+address)
}

// launch starts a server that ends with this process at the latest.
func launch(path, at string) (*exec.Cmd, string, error) {
	cmd := exec.Command(path, "--addr", at, "--quiet", "--with-parent")
	if _, err := cmd.StdinPipe(); err != nil {
		return nil, "", err
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	var ready struct{ Address string }
	if err == nil {
		err = json.NewDecoder(out).Decode(&ready)
	}
	return cmd, ready.Address, err
}

// worker starts a worker, and returns when it is ready.
func (b *bench) worker(args ...string) *exec.Cmd {
	b.t.Helper()
	cmd, _ := b.workerWithLog(args...)
	return cmd
}

// workerWithLog is like worker, and also returns what the worker writes to stderr.
func (b *bench) workerWithLog(args ...string) (*exec.Cmd, *syncBuffer) {
	b.t.Helper()
	cmd := b.command("temporal", append([]string{"worker"}, args...)...)
	errs := &syncBuffer{}
	cmd.Stderr = errs
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	hang.Until(b.t, "the worker is ready", func() bool { return strings.Contains(errs.String(), "ready: ") })
	return cmd, errs
}
