//go:build unix

package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine/llm/llmtest"
	"github.com/agentscript/agentscript/internal/cli/term"
)

const keptFlow = `a = agent(model = "openai/x", prompt = "A.")
b = agent(model = "openai/x", prompt = "B.")
main = a >> b
`

// keptIn starts the command in another command's directory, with a home and a store of runs there.
func keptIn(t *testing.T, dir string, provider *llmtest.Server, args ...string) *exec.Cmd {
	t.Helper()
	cmd := process(t, nil, []string{"AGENTSCRIPT_STORE=", "OPENAI_API_KEY=key-of-a-test"}, args...)
	if provider != nil {
		cmd.Env = append(cmd.Env, "OPENAI_BASE_URL="+provider.OpenAI())
	}
	cmd.Dir = dir
	cmd.Env = append(cmd.Env, "HOME="+dir)
	return cmd
}

// ran runs a command to its end.
func ran(t *testing.T, cmd *exec.Cmd) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func flowDir(t *testing.T, text string) string {
	t.Helper()
	return filepath.Dir(written(t, "flow.star", text))
}

// A killed run continues from what it did, with the user's store, whose creation it announces.
func TestKilledRunGoesOn(t *testing.T) {
	for _, end := range []os.Signal{os.Kill, os.Interrupt} {
		t.Run(end.String(), func(t *testing.T) {
			dir := flowDir(t, keptFlow)
			first := llmtest.New(llmtest.Reply{Text: "one"}, llmtest.Reply{Fault: llmtest.StallHeaders})
			defer first.Close()
			code, stderr := awaited(t, keptIn(t, dir, first, "run", "-v", "flow.star", "go"), "call   main/b", func(p *os.Process) {
				for len(first.Requests()) < 2 {
					time.Sleep(time.Millisecond)
				}
				if err := p.Signal(end); err != nil {
					t.Error(err)
				}
			})
			db := filepath.Join(dir, ".local", "state", "agentscript", "runs.db")
			if !strings.Contains(stderr, "runs are kept from now on, for 30 days, in "+db) {
				t.Errorf("it does not say where runs are kept:\n%s", stderr)
			}
			for path, mode := range map[string]os.FileMode{db: 0o600, filepath.Dir(db): 0o700} {
				if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
					t.Errorf("%s: %v %v, want mode %o", path, info.Mode(), err, mode)
				}
			}
			status := "stopped"
			if end == os.Interrupt {
				if status = "interrupted"; code != term.ExitInterrupted || !strings.Contains(stderr, "continue with agentscript runs resume ") {
					t.Errorf("exit %d, and no line that goes on:\n%s", code, stderr)
				}
			}
			if _, stdout, _ := ran(t, keptIn(t, dir, nil, "runs", "ls")); !strings.Contains(stdout, "  "+status+"  ") {
				t.Errorf("runs ls prints\n%s", stdout)
			}
			second := llmtest.New(llmtest.Reply{Text: "two"})
			defer second.Close()
			code, stdout, stderr := ran(t, keptIn(t, dir, second, "runs", "resume", "last"))
			if code != 0 || stdout != "two\n" || len(second.Requests()) != 1 || !strings.Contains(stderr, "reused 1 effect, ran 1") {
				t.Errorf("exit %d after %d calls: %q\n%s", code, len(second.Requests()), stdout, stderr)
			}
			if strings.Contains(stderr, "runs are kept from now on") {
				t.Errorf("it says again where runs are kept:\n%s", stderr)
			}
		})
	}
}

// A store that nobody named breaks no run.
func TestRunWithoutTheUsersStore(t *testing.T) {
	for name, spoil := range map[string]func(dir string) (env string){
		"no home":     func(string) string { return "HOME=" },
		"a file":      func(dir string) string { return "XDG_STATE_HOME=" + filepath.Join(dir, "flow.star") },
		"damaged":     func(dir string) string { return "XDG_STATE_HOME=" + spoiled(t, dir) },
		"--ephemeral": nil,
	} {
		t.Run(name, func(t *testing.T) {
			dir := flowDir(t, keptFlow)
			s := llmtest.New(llmtest.Reply{Text: "one"}, llmtest.Reply{Text: "two"})
			defer s.Close()
			args := []string{"run", "flow.star", "go"}
			if spoil == nil {
				args = append(args, "--ephemeral")
			}
			cmd := keptIn(t, dir, s, args...)
			if spoil != nil {
				cmd.Env = append(cmd.Env, spoil(dir))
			}
			code, stdout, stderr := ran(t, cmd)
			if code != 0 || stdout != "two\n" {
				t.Errorf("exit %d: %q\n%s", code, stdout, stderr)
			}
			want := 1
			if spoil == nil {
				want = 0
			}
			if n := strings.Count(stderr, "warning"); n != want {
				t.Errorf("%d warnings, want %d:\n%s", n, want, stderr)
			}
			if _, err := os.Stat(filepath.Join(dir, ".local")); err == nil {
				t.Error("something is in the user's directory")
			}
		})
	}
}

// spoiled creates a directory of a user in which the store is not a database.
func spoiled(t *testing.T, dir string) string {
	t.Helper()
	at := filepath.Join(dir, "state", "agentscript")
	if err := errors.Join(os.MkdirAll(at, 0o700), os.WriteFile(filepath.Join(at, "runs.db"), []byte(strings.Repeat("no database\n", 1000)), 0o600)); err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(at)
}

// A run of another process is cancelled, and followed to its end.
func TestCancelAnotherProcess(t *testing.T) {
	dir := flowDir(t, keptFlow)
	s := llmtest.New(llmtest.Reply{Text: "one"}, llmtest.Reply{Fault: llmtest.StallHeaders})
	defer s.Close()
	var followed string
	code, stderr := awaited(t, keptIn(t, dir, s, "run", "-v", "flow.star", "go"), "call   main/b", func(p *os.Process) {
		watching := keptIn(t, dir, nil, "runs", "show", "last", "--follow")
		var out strings.Builder
		watching.Stdout = &out
		if err := watching.Start(); err != nil {
			t.Fatal(err)
		}
		if code, stdout, stderr := ran(t, keptIn(t, dir, nil, "runs", "cancel", "last", "too dear")); code != 0 || !strings.HasSuffix(stdout, " cancelled\n") {
			t.Errorf("exit %d: %q\n%s", code, stdout, stderr)
		}
		if err := watching.Wait(); err != nil {
			t.Error(err)
		}
		followed = out.String()
	})
	if code != term.ExitInterrupted || !strings.Contains(stderr, "too dear") {
		t.Errorf("exit %d:\n%s", code, stderr)
	}
	if !strings.Contains(followed, "agent:a#0/llm0  done model openai/x") || !strings.Contains(followed, "\ncancelled\n") {
		t.Errorf("what was followed:\n%s", followed)
	}
}
