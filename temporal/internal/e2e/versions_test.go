package e2e

import (
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/hang"
)

// Promise 31.17 (temporal): a worker takes no runs of another abi: the runs wait, a reader learns that no worker
// answers, and they continue with a worker of their abi.
func TestPromise_31_17_AnotherABI(t *testing.T) {
	t.Parallel()
	c := newCluster(t, shared(t))
	other := c.worker("other", func(j *job) { j.Type = "agentscript.v999" })
	id := c.startRun(sequence, withN(3, ""))
	hang.Until(t, "the other worker refuses the task", func() bool {
		return countTypes(c.histories(id)[0])[enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED] > 0
	})
	_, err := c.Run(t.Context(), id)
	if e := engine.AsError(err); e == nil || e.Code != diag.NoWorker {
		t.Errorf("who looks at it learns %v", err)
	}
	_ = other.Process.Kill()
	_ = other.Wait()
	c.worker("one")
	c.wantDone(id, "did step 2 ")
	c.wantEffects(3)
}

// Promise 31.29 (temporal): runs of different versions of a script continue next to each other on one worker, each with
// its own version.
func TestPromise_31_29_AnotherVersion(t *testing.T) {
	t.Parallel()
	c := newCluster(t, shared(t))
	c.worker("one")
	version := func(word string) string {
		return c.startRun("a = agent(\"a\", prompt = \"" + word + "\")\ndef main():\n    return wait(\"go\") + a(\"" + word + "\")\n")
	}
	older, newer := version("old"), version("new")
	c.waitingStep(older)
	c.waitingStep(newer)
	c.answer(newer, "go", engine.Answer{Result: []byte(`"1 "`)})
	c.wantDone(newer, "1 did new")
	c.answer(older, "go", engine.Answer{Result: []byte(`"2 "`)})
	c.wantDone(older, "2 did old")
	c.wantEffects(2)
}

// Promise 31.18 (temporal): if all workers lack a tool of a script, its runs fail with an error that names the tool and
// the worker.
func TestPromise_31_18_ToolMissing(t *testing.T) {
	t.Parallel()
	shared(t)
	for name, begin := range map[string]func(c *cluster){
		"of the script": func(c *cluster) { c.worker("bare", func(j *job) { j.Lacks = "pay" }) },
		"of the effect": func(c *cluster) {
			c.worker("whole", func(j *job) { j.Flows = true })
			c.worker("bare", func(j *job) { j.Lacks, j.Type = "pay", "agentscript.v999" })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, shared(t), func(j *job) { j.Find = time.Second })
			begin(c)
			e := c.wantFailed(c.startRun(paying, withArgs(map[string]any{"what": "it"})))
			if text := e.Error() + " " + e.Help; !strings.Contains(text, "pay") || !strings.Contains(text, "worker bare") {
				t.Errorf("%s: %s", e.Code, text)
			}
			c.runs = nil // the replay would differ, since its engine has the tool
		})
	}
}
