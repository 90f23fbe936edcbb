//go:build unix

package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store/sqlite"
)

// Promise 30.46 (durable): an owner that is stopped until after its lease cannot write when it continues.
func TestPromise_30_46_StoppedOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	c := start(t, "hold", path, "one")
	c.says(t, "holds")
	fmt.Fprintln(c.in, "a")
	if said := c.says(t, "put"); said != "put a <nil>" {
		t.Fatal(said)
	}
	s := open(t, path, sqlite.Lease(lease))
	_, err := s.TakeRun(t.Context(), "one", engine.Owner{})
	if !errors.Is(err, &engine.Error{Kind: engine.KindStore, Code: diag.RunHeld}) || !strings.Contains(err.Error(), "held by holder") && !strings.Contains(err.Error(), fmt.Sprint("process ", c.Process.Pid)) {
		t.Errorf("taken from an owner that lives: %v", err)
	}
	if err := c.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	stopped := time.Now()
	var r engine.OpenRun
	for {
		r, err = s.TakeRun(t.Context(), "one", engine.Owner{})
		if err == nil {
			break
		}
		if time.Since(stopped) > time.Minute {
			t.Fatal(err)
		}
		if errors.Is(err, &engine.Error{Code: diag.StoreFailed}) { // it was stopped in the middle of a write, which blocks others
			for _, sig := range []syscall.Signal{syscall.SIGCONT, syscall.SIGSTOP} {
				if err := c.Process.Signal(sig); err != nil {
					t.Fatal(err)
				}
				time.Sleep(20 * time.Millisecond)
			}
			continue
		}
		if !errors.Is(err, &engine.Error{Code: diag.RunHeld}) {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Logf("taken %s after its owner was stopped", time.Since(stopped))
	if err := r.Put(t.Context(), engine.Step{ID: "b", State: engine.StepDone}, true); err != nil {
		t.Fatal(err)
	}
	if err := c.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"c", "lazy", "c", "end", "c"} {
		fmt.Fprintln(c.in, word)
		// A write that is not waited for may report only later that it did nothing.
		if said := c.says(t, "put"); word != "lazy" && !strings.Contains(said, "run one was taken over") {
			t.Errorf("the old owner: %s", said)
		}
	}
	if err := r.Put(t.Context(), engine.Step{ID: "d", State: engine.StepDone}, true); err != nil {
		t.Error(err)
	}
	if info, err := s.Run(t.Context(), "one"); err != nil || info.Status != engine.RunRunning || !info.Live || info.Epoch != 2 || info.Owner.PID != os.Getpid() {
		t.Errorf("the old owner changed the run to %+v, %v", info, err)
	}
	c.kill(t)
	if ids := stepIDs(t, s, "one"); fmt.Sprint(ids) != "[a b d]" {
		t.Errorf("the run has %v", ids)
	}
}

// TestToldByOthers: a run that another process cancels or sends a signal to notices within a second.
func TestToldByOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	c := start(t, "hold", path, "one")
	c.says(t, "holds")
	s := open(t, path)
	begun := time.Now()
	if err := s.CancelRun(t.Context(), "one", "enough"); err != nil {
		t.Fatal(err)
	}
	if said := c.says(t, "stop"); said != "stop run one was cancelled: enough" {
		t.Error(said)
	}
	t.Logf("told after %s", time.Since(begun))
	if sqlite.Poll > time.Second/2 { // the time that a loaded machine takes decides nothing
		t.Errorf("a store looks only every %s", sqlite.Poll)
	}
	fmt.Fprintln(c.in, "a")
	if said := c.says(t, "put"); said != "put a <nil>" {
		t.Errorf("what it still has to write: %s", said)
	}
	c.kill(t)
}
