//go:build unix

package conformance

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentscript/agentscript/internal/hang"
)

// chaosEnv sets how long processes are killed and stopped at random.
const chaosEnv = "AGENTSCRIPT_KILL_TIME"

// TestDurableChaos kills and stops processes at random moments until its time is up: it checks the promises of the
// tests that count their kills, for any length of time.
func TestDurableChaos(t *testing.T) {
	if os.Getenv(chaosEnv) == "" {
		t.Skip(chaosEnv + " does not say for how long")
	}
	long, err := time.ParseDuration(os.Getenv(chaosEnv))
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 30))
	want, _ := durableResults(t, t.TempDir(), durableFlows, 0)
	var killed, stopped, paid, rounds int
	for begun := time.Now(); time.Since(begun) < long && !t.Failed(); rounds++ {
		switch rounds % 3 {
		case 0: // payments
			dir := t.TempDir()
			got, n := durableResults(t, dir, payingFlows, 10+random.IntN(15))
			killed += n
			for name, result := range got {
				if result != "done 50" {
					t.Errorf("%s: %s", name, result)
				}
			}
			made := doneOnce(t, dir)
			if paid += made; made != 400 {
				t.Errorf("%d payments, want 400", made)
			}
		case 1: // flows of every kind
			dir := t.TempDir()
			got, n := durableResults(t, dir, durableFlows, 5+random.IntN(10))
			killed += n
			paid += doneOnce(t, dir)
			sameResults(t, got, want)
		case 2: // owners that continue after they have lost their runs
			n, m := stoppedRound(t, random, want)
			killed, stopped = killed+n, stopped+m
		}
	}
	t.Logf("%d kills and %d stops in %d rounds: %d payments, none of them twice; nothing that was recorded ran again; all results are equal: %v", killed, stopped, rounds, paid, !t.Failed())
}

// sameResults compares results, except for those that depend on what the books say about payments.
func sameResults(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if got[name] != want[name] && !slices.Contains([]string{"tools", "tooled", "both"}, name) {
			t.Errorf("%s: %s, want %s", name, got[name], want[name])
		}
	}
}

// stoppedRound kills or stops processes in turn, and lets stopped ones continue after all runs have ended. They must
// not change anything then.
func stoppedRound(t *testing.T, random *rand.Rand, want map[string]string) (killed, stopped int) {
	t.Helper()
	dir := t.TempDir()
	var former []*exec.Cmd
	var pids []string
	begin := func() (*exec.Cmd, *strings.Builder) {
		cmd, said := durableCommand(dir, durableFlows), &strings.Builder{}
		cmd.Env = append(cmd.Env, durableEnv+"_LEASE=1s")
		cmd.Stdout, cmd.Stderr = said, said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd, said
	}
	for range 3 + random.IntN(3) {
		cmd, _ := begin()
		time.Sleep(time.Duration(100+random.IntN(200)) * time.Millisecond)
		if len(former) == 2 || random.IntN(2) == 0 {
			killed++
			_ = cmd.Process.Kill() // it may have ended
			_ = cmd.Wait()
			continue
		}
		stopped++
		former, pids = append(former, cmd), append(pids, fmt.Sprint(cmd.Process.Pid))
		// One that is stopped in the middle of a write makes all others wait.
		_ = cmd.Process.Signal(syscall.SIGSTOP)
		hang.Until(t, "it is stopped between two writes", func() bool {
			if free(t, filepath.Join(dir, "runs.db")) {
				return true
			}
			_ = cmd.Process.Signal(syscall.SIGCONT)
			time.Sleep(time.Duration(random.IntN(5)) * time.Millisecond)
			_ = cmd.Process.Signal(syscall.SIGSTOP)
			return false
		})
	}
	if cmd, said := begin(); cmd.Wait() != nil {
		t.Errorf("%s", said)
	}
	got := resultsIn(t, dir, durableFlows)
	for _, cmd := range former {
		_ = cmd.Process.Signal(syscall.SIGCONT)
		ended := make(chan bool)
		go func() { _ = cmd.Wait(); close(ended) }() // its runs are lost: it fails
		hang.Until(t, "a former owner ends", func() bool {
			select {
			case <-ended:
				return true
			default:
				return false
			}
		})
	}
	if after := resultsIn(t, dir, durableFlows); !reflect.DeepEqual(got, after) {
		t.Errorf("former owners changed %v to %v", got, after)
	}
	sameResults(t, got, want)
	lines, err := world(dir)
	if err != nil {
		t.Fatal(err)
	}
	recorded := map[string]bool{}
	for _, l := range lines { // payments that former owners had begun are made: nothing can prevent that
		switch id := l[1] + " " + l[2]; l[0] {
		case "recorded":
			recorded[id] = true
		case "start":
			if recorded[id] && !slices.Contains(pids, l[len(l)-1]) {
				t.Errorf("%s was recorded, and run again", id)
			}
		}
	}
	return killed, stopped
}

// free reports whether nobody is writing to a store.
func free(t *testing.T, path string) bool {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(context.Background())
	if err == nil {
		_, err = conn.ExecContext(context.Background(), "PRAGMA busy_timeout = 0; BEGIN IMMEDIATE; ROLLBACK")
		err = errors.Join(err, conn.Close())
	}
	return err == nil
}
