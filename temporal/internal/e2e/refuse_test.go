package e2e

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/hang"
)

// Promise 31.36 (temporal): runs and effects that one worker refuses because it lacks something are taken by another
// worker on the same queue that has it, and what must not happen twice happens once.
func TestPromise_31_36_AnotherWorkerTakesIt(t *testing.T) {
	shared(t)
	t.Parallel()
	flows := func(j *job) { j.Flows = true }
	for name, c := range map[string]struct {
		script string
		whole  func(*job)
		lacks  []func(*job)
	}{
		"a tool of the script":   {paying, nil, []func(*job){func(j *job) { j.Lacks = "pay" }}},
		"a tool of the effect":   {paying, flows, []func(*job){func(j *job) { j.Lacks, j.Effects = "pay", true }, func(j *job) { j.Effects = true }}},
		"a model":                {paying, nil, []func(*job){func(j *job) { j.Lacks = "model" }}},
		"a grant":                {"a = agent(\"a\", prompt = \"Work.\", tools = [pay])\ndef main(what = str):\n    return a(\"call pay %s %s\" % (env.get(\"WORKER\"), what))\n", nil, []func(*job){func(j *job) { j.Env = false }}},
		"the blobs":              {paying, nil, []func(*job){func(j *job) { j.Blobs += ".other" }}},
		"the blob of the effect": {paying, func(j *job) { j.Flows, j.Inline = true, 1 }, []func(*job){func(j *job) { j.Blobs, j.Effects, j.Inline = j.Blobs+".other", true, 1 }, func(j *job) { j.Effects, j.Inline = true, 1 }}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cl := newCluster(t, shared(t), func(j *job) { j.Env = true })
			for i, set := range c.lacks {
				cl.worker(fmt.Sprintf("bare%d", i), set)
			}
			cl.worker("whole", append([]func(*job){}, orNothing(c.whole))...)
			var ids []string
			const n = 10
			for i := range n {
				ids = append(ids, cl.startRun(c.script, withArgs(map[string]any{"what": fmt.Sprintf("it%d", i)})))
			}
			refusals := 0
			for _, id := range ids {
				if info := cl.waitEnd(id); info.Status != engine.RunDone {
					t.Errorf("%s %.300q %s", info.Status, info.Text, info.Err)
				}
				all := cl.histories(id)
				refusals += len(all) - 1
				for _, events := range all {
					refusals += countTypes(events)[enumspb.EVENT_TYPE_ACTIVITY_TASK_FAILED]
				}
			}
			starts, _ := cl.counts()
			for at, n := range starts {
				if n != 1 {
					t.Errorf("%s began %d times", at, n)
				}
			}
			if len(starts) < n || refusals == 0 {
				t.Errorf("%d effects, %d refusals", len(starts), refusals)
			}
		})
	}
}

func orNothing(set func(*job)) func(*job) {
	if set == nil {
		return func(*job) {}
	}
	return set
}

const seekingScript = `
a = agent("a", prompt = "Work.", tools = [pay])
b = agent("b", prompt = "Work.", tools = [pay])
def main(what = str):
    return fallback([a, b], "call pay " + what)
`

// Promise 31.37 (temporal): if no worker has what is needed, the run or the effect fails after the search time, and the
// error names each worker and what it lacks. What no worker had before is not searched for again and fails immediately.
func TestPromise_31_37_NoWorkerHasIt(t *testing.T) {
	shared(t)
	t.Parallel()
	for name, set := range map[string]func(j *job){
		"the run":    func(j *job) { j.Lacks = "pay" },
		"the effect": func(j *job) { j.Lacks, j.Effects = "pay", true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, shared(t), func(j *job) { j.Find = 6 * time.Second })
			c.worker("one", set)
			c.worker("two", set)
			if name == "the effect" {
				c.worker("flows", func(j *job) { j.Flows = true })
			}
			begun := time.Now()
			id := c.startRun(seekingScript, withArgs(map[string]any{"what": "it"}))
			e := c.wantFailed(id)
			took := time.Since(begun)
			for _, word := range []string{"worker one: ", "worker two: ", "pay"} {
				if !strings.Contains(e.Error(), word) {
					t.Errorf("it does not say %q: %s", word, &e)
				}
			}
			if took < 6*time.Second || took > 20*time.Second {
				t.Errorf("after %s", took)
			}
			tries := map[string]int{} // of the tool, by the agent that calls it
			for _, events := range c.histories(id) {
				for _, event := range events {
					if id := event.GetActivityTaskScheduledEventAttributes().GetActivityId(); strings.Contains(id, "tool:pay") {
						agent := regexp.MustCompile("agent:[ab]#").FindString(id)
						tries[agent]++
					}
				}
			}
			t.Log(tries)
			if name == "the effect" && (tries["agent:a#"] < 2 || tries["agent:b#"] != 1) {
				t.Errorf("tries of the tool: %v, want several of a and one of b", tries)
			}
		})
	}
}

// Promise 31.38 (temporal): a run in progress, and what is sent to it, reach the worker that has what others lack.
func TestPromise_31_38_HandedOn(t *testing.T) {
	t.Parallel()
	c := newCluster(t, shared(t))
	bare := func(j *job) { j.Lacks = "pay" }
	const script = `
a = agent("a", prompt = "Work.", tools = [pay])
def main(what = str):
    a("call pay " + what)
    return wait("go") + a("call pay " + what + " again")
`
	lacking := c.worker("bare", bare)
	id := c.startRun(script, withArgs(map[string]any{"what": "it"}))
	hang.Until(t, "it is refused", func() bool { return len(c.histories(id)) > 1 })
	c.sendGo(id) // while no worker takes it
	first := c.worker("one")
	c.wantDone(id, "went did it again")
	_, _ = lacking, first

	id = c.startRun(script, withArgs(map[string]any{"what": "that"}))
	c.waitingStep(id)
	_ = first.Process.Kill()
	_ = first.Wait()
	c.sendGo(id)
	c.worker("two")
	c.wantDone(id, "went did that again")
	c.wantEffects(4)
}

// sendGo sends a run the word that it waits for, whichever worker takes the run.
func (c *cluster) sendGo(id string) {
	c.t.Helper()
	if _, err := c.Signal(c.t.Context(), id, engine.Signal{Name: "go", Value: []byte(`{"result": "went "}`)}); err != nil {
		c.t.Fatal(err)
	}
}

// Promise 31.39 (temporal): a run that waits for a worker can be cancelled and inspected.
func TestPromise_31_39_CancelledMeanwhile(t *testing.T) {
	t.Parallel()
	c := newCluster(t, shared(t), func(j *job) { j.Find = time.Minute })
	c.worker("bare", func(j *job) { j.Lacks = "pay" })
	id := c.startRun(paying, withArgs(map[string]any{"what": "it"}))
	hang.Until(t, "it is refused", func() bool { return len(c.histories(id)) > 1 })
	if _, err := c.Run(t.Context(), id); err != nil {
		if e := engine.AsError(err); e.Code != diag.NoWorker {
			t.Errorf("who looks at it learns %v", err)
		}
	}
	if err := c.CancelRun(t.Context(), id, "too late"); err != nil {
		t.Fatal(err)
	}
	if info := c.waitEnd(id); info.Status != engine.RunCancelled || !strings.Contains(string(info.Err), "too late") {
		t.Errorf("%s %s", info.Status, info.Err)
	}
}
