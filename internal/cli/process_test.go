//go:build unix

package cli

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/internal/cli/term"
	"github.com/agentscript/agentscript/internal/hang"
)

// heard enables the signals that ask a process to end in processes that the tests start, even if the tests themselves
// were started with one ignored, as by nohup: a child inherits ignored signals, but not caught ones.
var heard = sync.OnceFunc(func() {
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
})

// process starts the command as a separate process in a directory with these files.
func process(t *testing.T, files map[string]string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	heard()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := hang.Command(t, exe, args...)
	cmd.Args[0] = "agentscript" // TestMain recognizes it by this name
	cmd.Dir = dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GORACE=" + quickRace, "AGENTSCRIPT_STORE=off"}, env...)
	return cmd
}

// awaited starts cmd, waits for a line on stderr that contains text, calls do, and returns the exit code and all of
// stderr.
func awaited(t *testing.T, cmd *exec.Cmd, text string, do func(p *os.Process)) (int, string) {
	t.Helper()
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	lines := bufio.NewScanner(stderr)
	seen := false
	for lines.Scan() {
		all.WriteString(lines.Text() + "\n")
		if !seen && strings.Contains(lines.Text(), text) {
			seen = true
			do(cmd.Process)
		}
	}
	err = cmd.Wait()
	if !seen {
		t.Fatalf("stderr never said %q:\n%s", text, all.String())
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), all.String()
}

func interrupt(t *testing.T) func(p *os.Process) {
	return func(p *os.Process) {
		if err := p.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
	}
}

// ctrl-C ends a run that waits for a model over a real connection, at once and with its exit code; the trace contains
// whole lines up to the end of the run.
func TestInterruptCall(t *testing.T) {
	s := llmtest.New(llmtest.Reply{Fault: llmtest.StallHeaders})
	defer s.Close()
	cmd := process(t, map[string]string{"flow.star": `main = agent(model = "openai/x", prompt = "Wait.")`},
		[]string{"OPENAI_API_KEY=key-of-a-test", "OPENAI_BASE_URL=" + s.OpenAI()}, "run", "-v", "flow.star", "go", "--trace", "trace")
	code, stderr := awaited(t, cmd, "call ", interrupt(t))
	if code != term.ExitInterrupted || !strings.Contains(stderr, "error[AS712]") {
		t.Errorf("exit code %d, stderr:\n%s", code, stderr)
	}
	trace, err := os.ReadFile(filepath.Join(cmd.Dir, "trace"))
	if err != nil {
		t.Fatal(err)
	}
	last := strings.Split(strings.TrimSuffix(string(trace), "\n"), "\n")
	if end := last[len(last)-1]; !strings.HasPrefix(end, `{"kind":"run","phase":"end"`) || !strings.HasSuffix(end, "}") {
		t.Errorf("the trace ends with %s", end)
	}
}

// So do the signals that stop services, and that of a closed terminal.
func TestOtherSignals(t *testing.T) {
	for _, sig := range []os.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		s := llmtest.New(llmtest.Reply{Fault: llmtest.StallHeaders})
		defer s.Close()
		cmd := process(t, map[string]string{"flow.star": `main = agent(model = "openai/x", prompt = "Wait.")`},
			[]string{"OPENAI_API_KEY=key-of-a-test", "OPENAI_BASE_URL=" + s.OpenAI()}, "run", "-v", "flow.star", "go", "--trace", "trace")
		code, stderr := awaited(t, cmd, "call ", func(p *os.Process) {
			if err := p.Signal(sig); err != nil {
				t.Error(err)
			}
		})
		if code != term.ExitInterrupted || !strings.Contains(stderr, "error[AS712]") {
			t.Errorf("%v: exit code %d, stderr:\n%s", sig, code, stderr)
		}
		trace, err := os.ReadFile(filepath.Join(cmd.Dir, "trace"))
		if err != nil || !strings.Contains(string(trace), `{"kind":"run","phase":"end"`) {
			t.Errorf("%v: %v, the trace is\n%s", sig, err, trace)
		}
	}
}

// A signal that the parent has ignored stays ignored, for example by nohup, or by a shell script for commands started
// with &.
func TestIgnoredSignals(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	for _, tt := range []struct {
		name string
		sig  os.Signal
	}{{"HUP", syscall.SIGHUP}, {"INT", os.Interrupt}} {
		cmd := process(t, map[string]string{"flow.star": "print(\"loaded\")\nmain = agent(run = lambda s: s)\n"}, nil)
		in, err := cmd.StdinPipe() // it is read to its end
		if err != nil {
			t.Fatal(err)
		}
		// The shell starts the command by the name that TestMain recognizes, with the signal ignored.
		dir := t.TempDir()
		if err := os.Symlink(cmd.Path, filepath.Join(dir, "agentscript")); err != nil {
			t.Skip("no symbolic links here:", err)
		}
		cmd.Path, cmd.Args = sh, []string{"sh", "-c", "trap '' " + tt.name + "; exec " + filepath.Join(dir, "agentscript") + " run flow.star -"}
		code, stderr := awaited(t, cmd, "loaded", func(p *os.Process) {
			if err := errors.Join(p.Signal(tt.sig), in.Close()); err != nil {
				t.Error(err)
			}
		})
		if code != term.ExitOK {
			t.Errorf("%s ignored: exit code %d, stderr:\n%s", tt.name, code, stderr)
		}
	}
}

// It also ends code of the script that spins, and branches.
func TestInterruptElsewhere(t *testing.T) {
	for _, tt := range []struct{ name, script, says string }{
		{"spinning", "def f(s):\n    print(\"spinning\")\n    while True:\n        pass\n\nmain = fn(f, input = str, output = str)\n", "spinning"},
		{"spinning in virtual time", "def f(s):\n    print(\"spinning\")\n    while True:\n        pass\n\na = agent(prompt = \"A.\")\nmain = race(a, fn(f, input = str, output = str))\n", "spinning"},
		{"branches", "a = agent(prompt = \"A.\")\nb = agent(prompt = \"B.\")\nmain = (a / b) >> fn(len, input = list[str], output = int)\n", "call "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := llmtest.New(llmtest.Reply{Fault: llmtest.StallHeaders})
			defer s.Close()
			args := []string{"run", "-v", "flow.star", "go", "--max-steps", "100000000000"}
			if strings.Contains(tt.name, "virtual") {
				args = append(args, "--scripted", "slow.jsonl")
			} else {
				args = append(args, "--model", "openai/x")
			}
			cmd := process(t, map[string]string{"flow.star": tt.script, "slow.jsonl": `{"agent": "*", "text": "late", "delay": 60}`},
				[]string{"OPENAI_API_KEY=key-of-a-test", "OPENAI_BASE_URL=" + s.OpenAI()}, args...)
			code, stderr := awaited(t, cmd, tt.says, interrupt(t))
			if code != term.ExitInterrupted {
				t.Errorf("exit code %d, stderr:\n%s", code, stderr)
			}
		})
	}
}

func TestInterruptStdin(t *testing.T) {
	cmd := process(t, map[string]string{"flow.star": "print(\"loaded\")\nmain = agent(run = lambda s: s)\n"}, nil, "run", "flow.star")
	in, err := cmd.StdinPipe() // never closed: somebody is still typing
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if code, stderr := awaited(t, cmd, "loaded", interrupt(t)); code != term.ExitInterrupted {
		t.Errorf("exit code %d, stderr:\n%s", code, stderr)
	}
}

// A closed stdout ends the command as in a pipe, and nothing panics.
func TestClosedStdout(t *testing.T) {
	cmd := process(t, map[string]string{"flow.star": "main = agent(run = lambda s: s * 100000)\n"}, nil, "run", "flow.star", "long")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	err = cmd.Run()
	_ = w.Close()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("%v, want a failure", err)
	}
	if strings.Contains(stderr.String(), "panic") || strings.Contains(stderr.String(), "goroutine") {
		t.Errorf("stderr:\n%s", stderr.String())
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); !ok || !(status.Signaled() && status.Signal() == syscall.SIGPIPE) && exit.ExitCode() != term.ExitFailed {
		t.Errorf("ended with %v", exit)
	}
}

// Loading is interrupted like a run: while a file executes, and while its functions are checked afterwards.
func TestInterruptLoading(t *testing.T) {
	executes := "print(\"begun\")\nx = []\nfor i in range(1000000000):\n    x.extend(sorted(range(100000)))\n    x.clear()\nmain = agent(run = lambda s: s)\n"
	checked := "print(\"begun\")\ndef main(x = list[int]):\n" + strings.Repeat("    for i in x:\n        for j in x:\n            for k in x: y = [y]\n", 10_000) + "    return x\n"
	for name, script := range map[string]string{"executes": executes, "checked": checked} {
		for _, verb := range []string{"check", "run"} {
			for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
				t.Run(fmt.Sprint(name, " ", verb, " ", sig), func(t *testing.T) {
					args := map[string][]string{"check": {"check", "flow.star"}, "run": {"run", "flow.star", "x"}}[verb]
					code, stderr := awaited(t, process(t, map[string]string{"flow.star": script}, nil, args...), "begun", func(p *os.Process) {
						if err := p.Signal(sig); err != nil {
							t.Error(err)
						}
					})
					if code != term.ExitInterrupted || !strings.Contains(stderr, "AS712") {
						t.Errorf("exit code %d, stderr:\n%s", code, stderr)
					}
				})
			}
		}
	}
}
