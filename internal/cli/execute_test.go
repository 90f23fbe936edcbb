package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/hang"
)

// inProcess runs the command with its own state.
func inProcess(t *testing.T, set func(s *term.Process), args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	s := &term.Process{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		LookupEnv: func(string) (string, bool) { return "", false },
		Signals:   func() (<-chan os.Signal, func()) { return nil, func() {} },
		Kill:      func(code int) { t.Errorf("killed with %d", code) },
	}
	if set != nil {
		set(s)
	}
	own := s.LookupEnv
	s.LookupEnv = func(name string) (string, bool) {
		if v, ok := own(name); ok || name != "AGENTSCRIPT_STORE" {
			return v, ok
		}
		return "off", true
	}
	code = Execute(s)
	return code, out.String(), errs.String()
}

func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// A script is parsed once, even if its flags are read before it is loaded, and if it is loaded again for more reports.
func TestParsedOnce(t *testing.T) {
	file := written(t, "flow.star", "def main(name = str):\n    return \"hello \" + name\n")
	parsed := agentscript.NewParsed()
	code, stdout, stderr := inProcess(t, func(s *term.Process) { s.Parsed = parsed }, "run", "--strict", file, "--name", "you")
	if code != 0 || stdout != "hello you\n" {
		t.Fatalf("exit %d: %q\n%s", code, stdout, stderr)
	}
	if parsed.Count() != 1 {
		t.Errorf("it was parsed %d times", parsed.Count())
	}
}

// Colours are only used on terminals whose user wants them.
func TestColor(t *testing.T) {
	bad := written(t, "bad.star", "main = nothing\n")
	for _, tt := range []struct {
		name     string
		terminal bool
		env      map[string]string
		want     bool
	}{
		{"a pipe", false, nil, false},
		{"a terminal", true, map[string]string{"TERM": "xterm"}, true},
		{"NO_COLOR", true, map[string]string{"TERM": "xterm", "NO_COLOR": "1"}, false},
		{"an empty NO_COLOR", true, map[string]string{"TERM": "xterm", "NO_COLOR": ""}, true},
		{"a dumb terminal", true, map[string]string{"TERM": "dumb"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set := func(s *term.Process) {
				s.StderrTerminal = tt.terminal
				s.LookupEnv = func(name string) (string, bool) { v, ok := tt.env[name]; return v, ok }
			}
			if _, _, stderr := inProcess(t, set, "check", bad); strings.Contains(stderr, "\x1b[") != tt.want {
				t.Errorf("diagnostics: %q", stderr)
			}
			good := written(t, "good.star", "main = agent(run = lambda s: s)\n")
			if _, _, stderr := inProcess(t, set, "run", good, "x"); strings.Contains(stderr, "\x1b[") != tt.want {
				t.Errorf("progress: %q", stderr)
			}
		})
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}
}

// A result that cannot be written is a failure, whatever the verb; a closed stderr is not.
func TestBrokenPipe(t *testing.T) {
	good := written(t, "good.star", "main = agent(run = lambda s: s)\n")
	for _, args := range [][]string{{"run", good, "x"}, {"graph", good}, {"explain"}, {"fmt", good}, {"version"}, {"doc"}, {"check", "--format", "json", good}, {"run", good, "--help"},
		{"--help"}, {"--version"}, {"help", "run"}, {"run", "--help"}, {"check", "-h"}, {"completion", "bash"}} {
		code, _, stderr := inProcess(t, func(s *term.Process) { s.Stdout = brokenPipe{} }, args...)
		if code != term.ExitFailed || !strings.Contains(stderr, "the result could not be written") {
			t.Errorf("%v: exit code %d, stderr %q", args, code, stderr)
		}
		code, stdout, _ := inProcess(t, func(s *term.Process) { s.Stderr = brokenPipe{} }, args...)
		if code != term.ExitOK || stdout == "" {
			t.Errorf("%v without stderr: exit code %d, stdout %q", args, code, stdout)
		}
	}
}

// The second interrupt ends the process, in case something ignores the first.
func TestSecondInterruptKills(t *testing.T) {
	flow := written(t, "flow.star", "main = agent(run = lambda s: s)\n")
	killed := make(chan int, 1)
	inProcess(t, func(s *term.Process) {
		interrupts := make(chan os.Signal, 2)
		s.Signals = func() (<-chan os.Signal, func()) { return interrupts, func() {} }
		released := make(chan struct{})
		s.Kill = func(code int) {
			killed <- code
			close(released)
		}
		first := true
		s.Stderr = writerFunc(func(b []byte) (int, error) { // a terminal that hangs
			if first {
				first = false
				interrupts <- os.Interrupt
				interrupts <- os.Interrupt
				select {
				case <-released:
				case <-hang.Context(t).Done():
					t.Error("not killed")
				}
			}
			return len(b), nil
		})
	}, "run", flow, "x")
	if code := <-killed; code != term.ExitInterrupted {
		t.Errorf("killed with %d", code)
	}
}

// What the first interrupt requests reaches others before a second one ends the process.
func TestSecondInterruptWaitsForWhatIsOwed(t *testing.T) {
	signals, killed := make(chan os.Signal), make(chan bool, 1)
	reached := false
	c := &term.Console{Process: &term.Process{Signals: func() (<-chan os.Signal, func()) { return signals, func() {} }, Kill: func(int) { killed <- reached }}}
	ctx, stop := c.Interruptible()
	defer stop()
	paid := c.Owes()
	signals <- os.Interrupt
	<-ctx.Done()
	signals <- os.Interrupt
	reached = true
	paid()
	if !<-killed {
		t.Error("the process ended before")
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// A run that does not end within --timeout is ended, even while its input is read. The error says which flag allows
// more time.
func TestTimeoutOfARun(t *testing.T) {
	flow := written(t, "flow.star", "main = agent(run = lambda s: s)\n")
	synctest.Test(t, func(t *testing.T) { // time passes only while the input is awaited
		input, person := io.Pipe()
		defer person.Close()
		code, stdout, stderr := inProcess(t, func(p *term.Process) { p.Stdin = input }, "run", "-q", flow, "--input-file", "-", "--timeout", "2s")
		want := `error[AS711]: the run did not end within 2s
  = help: allow more time with --timeout, or find the slow step in the events
`
		if code != term.ExitTimeout || stdout != "" || stderr != want {
			t.Errorf("exit %d, %q\n%s", code, stdout, stderr)
		}
	})
}
