package e2e

import (
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/hang"
)

// Promise 31.10 (temporal): when a run is cancelled, the operations in progress in its workers are notified within two
// seconds, and nothing more is started.
func TestPromise_31_10_Cancel(t *testing.T) {
	bestOf(t, "from the cancel to the effect", 2*time.Second, 3, func(t *testing.T) time.Duration {
		c := newCluster(t, shared(t), func(j *job) { j.Slots = 20 })
		c.worker("one")
		id := c.startRun(fan, withN(300, "sleep=30s"))
		c.waitEffects(20)
		begun := time.Now()
		if err := c.CancelRun(t.Context(), id, "enough"); err != nil {
			t.Fatal(err)
		}
		if info := c.waitEnd(id); info.Status != engine.RunCancelled {
			t.Errorf("%s %s", info.Status, info.Err)
		}
		cancellations := func() (n int, last time.Time) {
			for _, s := range c.effectLog() {
				if s.What == "cancelled" {
					n, last = n+1, s.At
				}
			}
			return n, last
		}
		hang.Until(t, "the effects hear of it", func() bool { n, _ := cancellations(); return n >= 20 })
		_, last := cancellations()
		after := false
		for _, e := range c.histories(id)[0] {
			switch {
			case e.EventType == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED:
				after = true
			case after && e.EventType == enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
				t.Errorf("event %d begins an effect", e.EventId)
			}
		}
		if !after {
			t.Error("nothing was cancelled")
		}
		return last.Sub(begun)
	})
}

// Promise 31.28 (temporal): a waiting run without a worker is cancelled as soon as there is a worker, and reports the
// reason.
func TestPromise_31_28_CancelWithoutWorker(t *testing.T) {
	t.Parallel()
	c := newCluster(t, shared(t))
	id := c.startRun("def main():\n    return wait(\"word\")\n", agentscript.ID(c.job.Queue))
	if err := c.CancelRun(t.Context(), id, "the order was withdrawn"); err != nil {
		t.Fatal(err)
	}
	c.worker("one")
	info := c.waitEnd(id)
	if info.Status != engine.RunCancelled || !containsText(info.Err, "the order was withdrawn") {
		t.Errorf("%s %s", info.Status, info.Err)
	}
}
