package e2e

import (
	"os"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/hang"
)

const largeScript = `
a = agent("a", prompt = "Work.")
def main():
    text = a("first size=100000")
    wait("go")
    return str(len(a("second " + text)))
`

// Promise 31.19 (temporal): a run that needs a missing blob fails with AS785, and is not retried again and again. While
// the blob store fails, a run waits, and results that it paid for are kept.
func TestPromise_31_19_Blobs(t *testing.T) {
	shared(t)
	t.Parallel()
	t.Run("gone", blobGone)
	t.Run("failing", blobsFail)
}

func blobGone(t *testing.T) {
	t.Parallel()
	c := newCluster(t, shared(t), func(j *job) { j.Find = time.Second })
	first := c.worker("one")
	id := c.startRun(largeScript)
	c.waitingStep(id)
	_ = first.Process.Kill()
	_ = first.Wait()
	if err := os.RemoveAll(c.job.Blobs); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Signal(t.Context(), id, engine.Signal{Name: "go", Value: []byte(`{"result": "go"}`)}); err != nil {
		t.Fatal(err)
	}
	c.worker("two")
	if e := c.wantFailed(id); e.Code != diag.BlobGone {
		t.Errorf("%s %s", e.Code, &e)
	}
	if n := countTypes(c.histories(id)[0])[enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED]; n > 2 {
		t.Errorf("%d tasks failed", n)
	}
}

func blobsFail(t *testing.T) {
	t.Parallel()
	c := newCluster(t, shared(t))
	c.worker("one", func(j *job) { j.Sticky = 0 })
	id := c.startRun(`
a = agent("a", prompt = "Work.")
def main():
    text = a("first sleep=1s size=100000")
    return str(len(a("second " + text)))
`)
	c.waitEffects(1)
	if err := os.WriteFile(c.job.Blobs+".fail", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	hang.Until(t, "the effect ends", func() bool { _, ends := c.counts(); return len(ends) == 1 })
	info, err := c.client.DescribeWorkflowExecution(t.Context(), id, "")
	if err != nil || info.WorkflowExecutionInfo.Status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		t.Errorf("%v %v", info, err)
	}
	if err := os.Remove(c.job.Blobs + ".fail"); err != nil {
		t.Fatal(err)
	}
	c.wantDone(id, "100011")
	c.wantEffects(2)
}
