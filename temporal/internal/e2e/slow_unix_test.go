//go:build unix

package e2e

import (
	"syscall"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
)

// Promise 31.55 (temporal): a worker many times slower than others can execute a script that computes: the server waits
// for it, and if a task ended too late, the run is not computed over and over.
func TestPromise_31_55_SlowWorker(t *testing.T) {
	t.Parallel()
	c := newCluster(t, shared(t))
	slow := c.worker("slow")
	id := c.startRun(computing, withArgs(map[string]any{"n": 7_000_000}))
	done := make(chan struct{})
	defer close(done)
	go func() {
		for { // it gets a twelfth of a processor
			select {
			case <-done:
				return
			default:
			}
			_ = slow.Process.Signal(syscall.SIGSTOP) // it has ended after the test
			time.Sleep(55 * time.Millisecond)
			_ = slow.Process.Signal(syscall.SIGCONT)
			time.Sleep(5 * time.Millisecond)
		}
	}()
	begun := time.Now()
	c.wantDone(id, "21000000")
	if took := time.Since(begun); took < 11*time.Second {
		t.Errorf("it took %s, as no slow worker does", took)
	}
	for i, events := range c.histories(id) {
		if n := countTypes(events)[enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT]; n > 0 {
			t.Errorf("%d tasks of history %d ended too late", n, i)
		}
	}
}
