//go:build unix

package conformance

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/store/sqlite"
	"github.com/agentscript/agentscript/internal/hang"
)

// ownerEnv makes the test binary a process that owns a run of the store in the directory that it names.
const ownerEnv = "AGENTSCRIPT_TEST_OWNER"

// ownedScript has three steps.
const ownedScript = `
say = agent("say", prompt = "Say it.")

def main(x = str):
    for i in range(3):
        x = say(x + str(i))
    return x
`

// ownedLease is long enough for a loaded machine.
const ownedLease = 2 * time.Second

// TestOwnerProcess is the first owner: it waits in its second step until the file "go" exists.
func TestOwnerProcess(t *testing.T) {
	dir := os.Getenv(ownerEnv)
	if dir == "" {
		t.Skip("it is begun by the test of owners")
	}
	s, err := sqlite.Open(t.Context(), filepath.Join(dir, "runs.db"), sqlite.Lease(ownedLease))
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int32
	_, mod := durableScript(t, s, ownedScript, agentscript.WithModels(engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
		if n := calls.Add(1); n == 2 {
			fmt.Println("waits")
			hang.Until(t, "the file", func() bool { _, err := os.Stat(filepath.Join(dir, "go")); return err == nil })
		} else if n > 2 {
			fmt.Println("goes on")
		}
		return callsOnce(ctx, e, sink)
	})))
	_, err = mod.Start(t.Context(), agentscript.Input("x"), agentscript.ID("one")).Wait()
	fmt.Println("ended", codeOf(err), err)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// Promise 30.2 (durable): a run has one owner. A second process is refused while the first is alive, and takes over
// when the first has died or its lease has ended; anything that the first still writes changes nothing and ends it.
func TestPromise_30_2_Fencing(t *testing.T) {
	for _, how := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP} {
		t.Run(how.String(), func(t *testing.T) {
			dir := t.TempDir()
			cmd := hang.Command(t, os.Args[0], "-test.run=^TestOwnerProcess$", "-test.count=1")
			cmd.Env = append(os.Environ(), ownerEnv+"="+dir)
			pipe, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = cmd.Process.Kill() }) // if it has not ended
			said := bufio.NewScanner(pipe)
			for said.Scan() && said.Text() != "waits" {
			}

			s, err := sqlite.Open(t.Context(), filepath.Join(dir, "runs.db"), sqlite.Lease(ownedLease))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			var asked []string
			eng, _ := durableScript(t, s, ownedScript, agentscript.WithModels(engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
				messages := e.Req.(*model.Request).Messages
				asked = append(asked, messages[len(messages)-1].Parts[0].Text)
				return callsOnce(ctx, e, sink)
			})))
			resume := func() (agentscript.Result, error) { return eng.Resume(t.Context(), "one").Wait() }
			held := &engine.Error{Code: diag.RunHeld}
			for range 2 {
				if _, err := resume(); !errors.Is(err, held) || !strings.Contains(err.Error(), fmt.Sprint("process ", cmd.Process.Pid)) || len(asked) != 0 {
					t.Fatalf("resumed beside its owner, after %d calls: %v", len(asked), err)
				}
			}
			if err := cmd.Process.Signal(how); err != nil {
				t.Fatal(err)
			}
			var res agentscript.Result
			if how == syscall.SIGKILL {
				_ = cmd.Wait() // it was killed
				res, err = resume()
			} else {
				hang.Until(t, "the lease ends", func() bool {
					if res, err = resume(); errors.Is(err, &engine.Error{Code: diag.StoreFailed}) { // it was stopped in the middle of a write, for which others wait
						_ = cmd.Process.Signal(syscall.SIGCONT)
						_ = cmd.Process.Signal(syscall.SIGSTOP)
						return false
					}
					return !errors.Is(err, held)
				})
			}
			if err != nil || res.Text() != "x012" || fmt.Sprint(asked) != "[x01 x012]" {
				t.Fatalf("taken over: %q, %v, asked %q", res.Text(), err, asked)
			}
			if how == syscall.SIGKILL {
				return
			}
			before, steps := runAndSteps(t, s, "one")
			if err := errors.Join(cmd.Process.Signal(syscall.SIGCONT), os.WriteFile(filepath.Join(dir, "go"), nil, 0o600)); err != nil {
				t.Fatal(err)
			}
			last := ""
			for said.Scan() {
				if line := said.Text(); line == "goes on" {
					t.Error("the first owner went on")
				} else if strings.HasPrefix(line, "ended") {
					last = line
				}
			}
			if err := cmd.Wait(); err != nil || !strings.HasPrefix(last, "ended "+string(diag.RunLost)+" ") {
				t.Errorf("the first owner says %q, %v", last, err)
			}
			if after, now := runAndSteps(t, s, "one"); !reflect.DeepEqual(before, after) || !reflect.DeepEqual(steps, now) {
				t.Errorf("the first owner changed\n%+v\nto\n%+v", before, after)
			}
		})
	}
}
