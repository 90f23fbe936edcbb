package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/hang"
)

// inList returns a run as lists show it, without querying a worker.
func (c *cluster) inList(id string, status ...engine.RunStatus) (info engine.RunInfo, is bool) {
	c.t.Helper()
	all, err := c.Runs(c.t.Context(), engine.RunFilter{Prefix: id, Status: status})
	for range 3 { // the server for tests may block a query for lists while another client writes to them
		if err == nil || !strings.Contains(err.Error(), "deadline exceeded") {
			break
		}
		c.t.Log(err)
		all, err = c.Runs(c.t.Context(), engine.RunFilter{Prefix: id, Status: status})
	}
	if err != nil {
		c.t.Fatal(err)
	}
	if len(all) == 0 {
		return info, false
	}
	return all[0], true
}

// Promise 31.70 (temporal): lists report whether a run is parked, how many steps it has and what they used, including a
// run that continued in new histories and while no worker runs. Filters agree with that. A run adds an event when it
// parks, continues, continues in a new history and ends, and none for its steps.
func TestPromise_31_70_Standing(t *testing.T) {
	c := newCluster(t, shared(t), func(j *job) { j.Events = 60 })
	worker := c.worker("one")
	id := c.startRun(`
a = agent("a", prompt = "Work.")
def main():
    for i in range(20):
        a("step %d" % i)
    word = wait("word")
    return a("last " + word)
`)
	wantListed := func(what engine.RunStatus, steps, waiting int) {
		t.Helper()
		var is engine.RunInfo
		hang.Until(t, "the run is listed as "+string(what), func() (there bool) {
			is, there = c.inList(id, what)
			return there
		})
		if is.Steps != steps || is.Waiting != waiting || is.Usage.In != 7*(steps-1) {
			t.Errorf("%s: %d steps, %d waiting, %+v", what, is.Steps, is.Waiting, is.Usage)
		}
	}
	wantListed(engine.RunParked, 21, 1)
	if info, err := c.Run(t.Context(), id); err != nil || info.Status != engine.RunParked || !info.Live {
		t.Errorf("%s, live %t, %v", info.Status, info.Live, err)
	}
	if _, is := c.inList(id, engine.RunRunning); is {
		t.Error("a filter for running finds it")
	}
	_ = worker.Process.Kill()
	wantListed(engine.RunParked, 21, 1)
	c.worker("two")
	c.answer(id, "word", engine.Answer{Result: json.RawMessage(`"on"`)})
	c.wantDone(id, "did last on")
	wantListed(engine.RunDone, 22, 0)
	if info, err := c.Run(t.Context(), id); err != nil || info.Steps != 22 || info.Waiting != 0 || info.Usage.In != 7*21 {
		t.Errorf("when it has ended: %d steps, %d waiting, %+v, %v", info.Steps, info.Waiting, info.Usage, err)
	}
	for _, status := range []engine.RunStatus{engine.RunRunning, engine.RunParked} {
		if _, is := c.inList(id, status); is {
			t.Errorf("a filter for %s finds it", status)
		}
	}
	events, histories := 0, c.histories(id)
	for _, one := range histories {
		events += countTypes(one)[enumspb.EVENT_TYPE_WORKFLOW_PROPERTIES_MODIFIED]
	}
	if n := len(histories); n < 2 || events != n-1+3 { // it parks, resumes and ends
		t.Errorf("%d events in %d histories", events, n)
	}
}
