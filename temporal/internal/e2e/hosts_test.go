package e2e

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/worker"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/hang"
	"github.com/agentscript/agentscript/temporal"
)

// Promise 31.57 (temporal): a panic in a tool of the host is a failure of its call, as on one machine: the worker
// continues, and the tool is not called again.
func TestPromise_31_57_ToolPanics(t *testing.T) {
	t.Parallel()
	c := newCluster(t, shared(t))
	type args struct {
		What string `json:"what"`
	}
	calls := 0
	breaks, err := agentscript.ToolFunc("breaks", "Breaks.", func(context.Context, args) (string, error) {
		calls++
		panic("out of paper")
	})
	if err != nil {
		t.Fatal(err)
	}
	c.inProcessWorker(temporal.Options{}, worker.Options{}, agentscript.WithTool(breaks))
	m, err := agentscript.New(agentscript.WithDefaultModel("test/model"), agentscript.WithTool(breaks)).LoadBundle(t.Context(), bundle(`
a = agent("a", prompt = "Work.", tools = [breaks])
def main():
    return a("call breaks it")
`), "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	id, err := c.Start(t.Context(), m, "main")
	if err != nil {
		t.Fatal(err)
	}
	info := c.waitEnd(id)
	if text := info.Text + string(info.Err); info.Status == engine.RunRunning || !strings.Contains(text, "out of paper") || calls != 1 {
		t.Errorf("%s %q %s after %d calls", info.Status, info.Text, info.Err, calls)
	}
	if n := countTypes(c.histories(id)[0])[enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED]; n > 0 {
		t.Errorf("%d activities failed", n)
	}
	c.wantDone(c.startRun("def main():\n    return \"on\"\n"), "on")
}

// Promise 31.58 (temporal): the result of an effect may be as large as a hundred megabytes.
func TestPromise_31_58_HugeOutcomes(t *testing.T) {
	c := newCluster(t, shared(t))
	c.worker("one")
	id := c.startRun(`
a = agent("a", prompt = "Work.")
def main():
    return str(len(a("first size=100000000")))
`)
	c.wantDone(id, "100000000")
	c.wantEffects(1)
	c.wantSmall(id)
}

// Promise 31.59 (temporal): a client whose codec is not that of the workers gets an error about it, and nothing of a
// run is lost.
func TestPromise_31_59_AnotherCodec(t *testing.T) {
	t.Parallel()
	c := newCluster(t, shared(t), func(j *job) { j.Key = 3 })
	first := c.worker("one")
	id := c.startRun("def main():\n    return wait(\"word\") + \" \" + wait(\"word\")\n")
	step := c.waitingStep(id)
	right := c.Store
	c.job.Key = 4
	c.setOptions(c.job.options())
	codec := func(what string, err error) {
		t.Helper()
		if e := engine.AsError(err); err == nil || e.Code != diag.StoreFailed || !strings.Contains(e.Message, "codec") {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := c.Run(t.Context(), id)
	codec("it looks at a run", err)
	codec("it answers", c.send(id, step.ID, wordAnswer("lost")))
	codec("it answers a name", c.send(id, "word", wordAnswer("lost")))
	begun := c.startRun("def main():\n    return wait(\"word\")\n")
	hang.Until(t, "the task fails", func() bool {
		return countTypes(c.histories(begun)[0])[enumspb.EVENT_TYPE_WORKFLOW_TASK_FAILED] > 0
	})
	for _, e := range c.histories(begun)[0] {
		if failed := e.GetWorkflowTaskFailedEventAttributes(); failed != nil && !strings.Contains(failed.GetFailure().GetMessage(), "codec") {
			t.Errorf("the task failed with %s", failed.GetFailure().GetMessage())
		}
	}
	left := c.Store
	c.Store = right
	c.answer(id, step.ID, wordAnswer("x"))
	c.answer(id, "word", wordAnswer("y"))
	c.wantDone(id, "x y")

	_ = first.Process.Kill()
	_ = first.Wait()
	c.Store, c.runs = left, []string{begun} // the histories of the other run have another codec
	c.worker("of that client's codec")
	c.answer(begun, "word", wordAnswer("a"))
	c.wantDone(begun, "a")
}

// Promise 31.60 (temporal): if several clients start a run of one id at the same time, one of them starts it.
func TestPromise_31_60_StartedAtOnce(t *testing.T) {
	t.Parallel()
	c := newCluster(t, shared(t))
	c.worker("one")
	m, err := recordingEngine(&c.job).LoadBundle(t.Context(), bundle(sequence), "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	id := c.job.Queue + "-one"
	errs := make([]error, 8)
	var all sync.WaitGroup
	for i := range errs {
		s, err := temporal.NewStore(c.client, c.job.options())
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() { _, errs[i] = s.Start(t.Context(), m, "main", agentscript.ID(id), withN(3, "")) })
	}
	all.Wait()
	begun := 0
	for _, err := range errs {
		var is *engine.Error
		switch {
		case err == nil:
			begun++
		case !errors.As(err, &is) || is.Kind != engine.KindInput && is.Kind != engine.KindStore || !strings.Contains(is.Message, id):
			t.Errorf("another one: %v", err)
		}
	}
	if begun != 1 {
		t.Errorf("%d began it", begun)
	}
	c.wantDone(id, "did step 2 ")
	c.wantEffects(3)
}
