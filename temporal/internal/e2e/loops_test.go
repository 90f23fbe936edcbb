package e2e

import (
	"encoding/json"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
)

// Promise 31.7 (temporal): a script may compute for seconds: it is not taken for a deadlock, and produces only the
// events of a few histories. A script that computes beyond its bound fails within three seconds with the line, and is
// not retried again and again.
func TestPromise_31_7_Loops(t *testing.T) {
	shared(t)
	t.Run("long", longLoop)
	t.Run("endless", endlessLoop)
}

func longLoop(t *testing.T) {
	c := newCluster(t, shared(t))
	c.worker("one")
	short := c.startRun(computing, withArgs(map[string]any{"n": 10}))
	c.wantDone(short, "24")
	begun := time.Now()
	id := c.startRun(computing, withArgs(map[string]any{"n": 30_000_000}), agentscript.RunSettings(json.RawMessage(`{"Steps": 400000000}`)))
	c.wantDone(id, "89999995")
	t.Logf("30,000,000 iterations took %s", time.Since(begun))
	all := c.histories(id)
	if len(all) < 2 || len(all) > 4 {
		t.Errorf("it had %d histories", len(all))
	}
	want := len(c.histories(short)[0])
	for i, events := range all {
		if n := len(events); n != want {
			t.Errorf("history %d has %d events, want %d", i, n, want)
		}
	}
}

func endlessLoop(t *testing.T) {
	bestOf(t, "to the bound", 3*time.Second, 3, func(t *testing.T) time.Duration {
		c := newCluster(t, shared(t))
		c.worker("one")
		begun := time.Now()
		id := c.startRun(computing, withArgs(map[string]any{"n": 1_000_000_000}), agentscript.RunSettings(json.RawMessage(`{"Steps": 50000000}`)))
		e := c.wantFailed(id)
		took := time.Since(begun)
		if e.Code != diag.StepLimit || e.Pos.Line != 4 {
			t.Errorf("%s %s at %s", e.Code, &e, e.Pos)
		}
		if n := countTypes(c.histories(id)[0])[enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED]; n != 1 {
			t.Errorf("%d tasks", n)
		}
		return took
	})
}

// Promise 31.56 (temporal): effects in progress next to a branch that computes finish before the run continues in a
// history whose tasks may take longer, and are not repeated.
func TestPromise_31_56_ComputesBesideEffects(t *testing.T) {
	t.Parallel()
	c := newCluster(t, shared(t))
	c.worker("one")
	id := c.startRun(`
a = agent("a", prompt = "Work.")
def compute():
    x = 0
    for i in range(4000000):
        x += i % 7
    return x
def ask():
    return a("step sleep=1s") + a("then sleep=20ms")
def main():
    return parallel([compute, ask])
`)
	c.wantDone(id, `[11999994,"did step sleep=1sdid then sleep=20ms"]`)
	c.wantEffects(2)
	if n := len(c.histories(id)); n != 2 {
		t.Errorf("it had %d histories", n)
	}
}
