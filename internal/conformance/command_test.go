package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/internal/hang"
	"github.com/agentscript/agentscript/internal/testenv"
)

// built is the command, built on demand for the tests that need it.
var built struct {
	once sync.Once
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	_ = os.Setenv("AGENTSCRIPT_STORE", "off") // no test stores runs in the user's home
	code := m.Run()
	if built.dir != "" {
		if err := os.RemoveAll(built.dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(code)
}

// command returns the path of the built command. Under the race detector it skips the test: the command has none.
func command(t testing.TB) string {
	t.Helper()
	if testenv.RaceDetector {
		t.Skip("the command is built without the race detector")
	}
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "agentscript"); built.err != nil {
			return
		}
		build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", built.dir, "./cmd/agentscript")
		build.Dir = repository("")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("%w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return filepath.Join(built.dir, "agentscript")
}

// output is the result of a run of the command.
type output struct {
	code           int
	stdout, stderr string
}

// offline runs the command in the repository, with no key and no address of a provider.
func offline(t testing.TB, args ...string) output {
	t.Helper()
	return runCommand(t, nil, args...)
}

// runCommand runs the command with variables, given as NAME=VALUE, and without the parts of this process's environment
// that could lead to a provider.
func runCommand(t testing.TB, env []string, args ...string) output {
	t.Helper()
	return runCommandIn(t, repository(""), env, args...)
}

// runCommandIn does that in a directory.
func runCommandIn(t testing.TB, dir string, env []string, args ...string) output {
	t.Helper()
	path := command(t) // building may take long
	cmd := hang.Command(t, path, args...)
	cmd.Dir = dir
	cmd.Env = append([]string{"NO_COLOR=1", "HOME=" + os.Getenv("HOME"), "XDG_STATE_HOME=" + filepath.Join(built.dir, "state"), "XDG_CACHE_HOME=" + filepath.Join(built.dir, "cache"), "AGENTSCRIPT_STORE=off", "PATH=" + os.Getenv("PATH"), "SYSTEMROOT=" + os.Getenv("SYSTEMROOT")}, env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("agentscript %s: %v", strings.Join(args, " "), err)
	}
	return output{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// loadedFile loads a script of the repository that must be sound.
func loadedFile(t *testing.T, eng *agentscript.Engine, path string) *agentscript.Module {
	t.Helper()
	mod, err := eng.LoadFile(t.Context(), repository(path))
	if err != nil {
		t.Fatal(err)
	}
	return mod
}

// meeting is a point that n calls must reach before any of them continues: it shows that they run concurrently.
type meeting struct {
	mu      sync.Mutex
	missing int
	all     chan struct{}
	over    <-chan struct{} // the test's
}

func newMeeting(t testing.TB, n int) *meeting {
	return &meeting{missing: n, all: make(chan struct{}), over: hang.Context(t).Done()}
}

// arrive waits for the others and reports whether they came.
func (m *meeting) arrive(ctx context.Context) bool {
	m.mu.Lock()
	m.missing--
	if m.missing == 0 {
		close(m.all)
	}
	m.mu.Unlock()
	select {
	case <-m.all:
		return true
	case <-ctx.Done():
	case <-m.over:
	}
	return false
}
