package e2e

import (
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/sdk/worker"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/hang"
	"github.com/agentscript/agentscript/temporal"
	"github.com/agentscript/agentscript/temporal/blob"
)

// Promise 31.47 (temporal): a slow blob store makes tasks take longer than the server waits for one: each task gets
// further than the one before.
func TestPromise_31_47_SlowBlobs(t *testing.T) {
	c := newCluster(t, shared(t))
	slow := flakyStore{blob.Dir(c.job.Blobs), func(op, key string) error {
		time.Sleep(150 * time.Millisecond)
		return nil
	}}
	c.inProcessWorker(temporal.Options{Blobs: slow}, worker.Options{})
	id := c.startRun(`
a = agent("a", prompt = "Work.")
words = fn(lambda n: ["%s size=50000 %d" % ("x" * 40000, i) for i in range(n)], input = int, output = list[str])
main = words >> each(a, limit = 100) >> fn(lambda all: str(len(all)), input = list[str], output = str)
`, agentscript.Input(100))
	starts := c.wantDone(id, "100")
	if len(starts) != 100 {
		t.Errorf("%d effects", len(starts))
	}
}

// Promise 31.48 (temporal): a run that is cancelled during the transition to its next history is cancelled there.
func TestPromise_31_48_CancelledBetweenHistories(t *testing.T) {
	c := newCluster(t, shared(t))
	c.job.Env = true
	c.setOptions(temporal.Options{Events: 20, Pin: true})
	c.worker("one")
	var all sync.WaitGroup
	for i := range 40 {
		id := c.startRun(`
a = agent("a", prompt = "Work.")
def main():
    for i in range(60):
        env.get("WORKER")
        a("step %d" % i)
    return "done"
`)
		all.Go(func() {
			hang.Until(t, "it goes on", func() bool {
				info, err := c.Run(t.Context(), id)
				return err == nil && info.Steps > i%5
			})
			time.Sleep(time.Duration(rand.IntN(2000)) * time.Millisecond)
			if err := c.CancelRun(t.Context(), id, "enough"); err != nil {
				t.Error(err)
			}
			info := c.waitEnd(id)
			if info.Status != engine.RunCancelled || !strings.Contains(string(info.Err), "enough") {
				t.Errorf("%s %q %s after %d histories", info.Status, info.Text, info.Err, len(c.histories(id)))
			}
		})
		if i%8 == 7 {
			all.Wait()
		}
	}
	all.Wait()
}

// Promise 31.49 (temporal): an effect that must not happen twice and is interrupted because its worker is stopped is
// unknown.
func TestPromise_31_49_WorkerStopped(t *testing.T) {
	c := newCluster(t, shared(t))
	first := c.worker("one")
	id := c.startRun(paying, agentscript.Args(map[string]any{"what": "sleep=50s"}))
	hang.Until(t, "it pays", func() bool { return len(c.effectLog()) > 0 })
	c.worker("two")
	begun := time.Now()
	_ = first.Process.Signal(syscall.SIGTERM)
	_ = first.Wait()
	t.Logf("the worker ended after %s", time.Since(begun))
	if step := c.waitingStep(id); !strings.Contains(step.ID, "tool:pay") || c.payments() != 1 {
		t.Errorf("%s waits after %d payments", step.ID, c.payments())
	}
	_ = c.CancelRun(t.Context(), id, "")
}
