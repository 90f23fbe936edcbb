package e2e

import (
	"encoding/json"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/temporal"
)

const allSorts = `
def work():
    return agent("a", prompt = "Work.")
a = work()
b = agent("b", prompt = "Work.", tools = [pay, look])
failing = fn(lambda s: fail("no " + s), input = str, output = str)
late = bounded(work(), budget(wall = "300ms"))
poor = bounded(agent("c", prompt = "Work.") >> agent("d", prompt = "Work."), budget(model_calls = 1))
fast = race(agent("e", prompt = "Work."), agent("f", prompt = "Work."))
many = each(fn(lambda i: "part %d sleep=%dms" % (i, 10 * (7 - i)), input = int, output = str) >> agent("g", prompt = "Work."), limit = 3)
both = par(agent("h", prompt = "Work."), failing)
def main():
    got = []
    got.append(str(now())[:0] + uuid()[:0] + str(random() < 2))
    got.append(attempt(late, "slow sleep=2s").ok)
    got.append(attempt(poor, "poor").ok)
    got.append(attempt(both, "both sleep=200ms").ok)
    got.append(fallback([failing, a], "then"))
    got.append(fast("racing sleep=100ms"))
    sleep("700ms")
    got.append(b("call look x"))
    got.append(len(many([0, 1, 2, 3, 4, 5, 6])))
    got.append(wait("word"))
    sleep("50ms")
    return "|".join([str(x) for x in got])
`

// Promise 31.40 (temporal): runs of all kinds have the same result over several histories when every task replays the
// whole history.
func TestPromise_31_40_Replays(t *testing.T) {
	var texts []string
	for _, sticky := range []int{-1, 0} {
		c := newCluster(t, shared(t))
		c.job.Queue += string(rune('a' + sticky + 1))
		c.job.Sticky = sticky
		c.setOptions(temporal.Options{Events: 40})
		c.worker("one")
		id := c.startRun(allSorts, agentscript.Seed(1))
		step := c.waitingStep(id)
		c.answer(id, step.ID, engine.Answer{Result: json.RawMessage(`"word"`)})
		info := c.waitEnd(id)
		if info.Status != engine.RunDone {
			t.Fatalf("%s %s", info.Status, info.Err)
		}
		t.Log(info.Text, len(c.histories(id)))
		texts = append(texts, info.Text)
		for _, e := range c.events(id) {
			// If something arrives while a task ends its history, the server repeats the task: that is not a failure of
			// the task.
			if failed := e.GetWorkflowTaskFailedEventAttributes(); failed != nil && failed.Cause != enumspb.WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND {
				t.Errorf("a task failed: %s", failed.GetFailure().GetMessage())
			}
		}
	}
	if texts[0] != texts[1] {
		t.Errorf("%s\n%s", texts[0], texts[1])
	}
}

// events returns the events of all histories of a run.
func (c *cluster) events(id string) (all []*historypb.HistoryEvent) {
	c.t.Helper()
	page, err := c.client.ListWorkflow(c.t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Query: "WorkflowId = '" + id + "'"})
	if err != nil {
		c.t.Fatal(err)
	}
	for _, is := range page.Executions {
		for h := c.client.GetWorkflowHistory(c.t.Context(), id, is.Execution.RunId, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); h.HasNext(); {
			e, err := h.Next()
			if err != nil {
				c.t.Fatal(err)
			}
			all = append(all, e)
		}
	}
	return all
}

// The effects that a run has under way, and the bytes that it sends in one task, are bounded. Both cost few events.
func TestManyAtOnce(t *testing.T) {
	c := newCluster(t, shared(t))
	c.worker("one")
	id := c.startRun(`
a = agent("a", prompt = "Work.")
words = fn(lambda n: ["%s %d" % ("x" * 20000, i) for i in range(n)], input = int, output = list[str])
main = words >> each(a) >> fn(lambda all: str(len(all)), input = list[str], output = str)
`, agentscript.Input(600))
	begun := time.Now()
	starts := c.wantDone(id, "600")
	if len(starts) != 600 {
		t.Errorf("%d effects", len(starts))
	}
	kinds := map[string]int{}
	for _, e := range c.events(id) {
		kinds[e.EventType.String()]++
	}
	t.Logf("%s: %v", time.Since(begun), kinds)
}

// Promise 31.61 (temporal): of 1,000 branches with large requests at most 200 are in progress at the same time, and no
// task sends more than 1 MB.
func TestPromise_31_61_ThousandBranches(t *testing.T) {
	c := newCluster(t, shared(t), func(j *job) { j.Inline = 100_000 })
	c.worker("one")
	id := c.startRun(`
a = agent("a", prompt = "Work.")
words = fn(lambda n: ["%s size=10 %d" % ("x" * 10000, i) for i in range(n)], input = int, output = list[str])
main = words >> each(a, limit = 1000) >> fn(lambda all: str(len(all)), input = list[str], output = str)
`, agentscript.Input(1000), agentscript.RunSettings(json.RawMessage(`{"Calls": 1000}`)))
	c.wantDone(id, "1000")
	c.wantEffects(1000)
	most, largest := 0, 0
	for _, events := range c.histories(id) {
		underway, sent := 0, map[int64]int{}
		for _, e := range events {
			switch e.EventType {
			case enumspb.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED:
				of := e.GetActivityTaskScheduledEventAttributes()
				underway++
				sent[of.WorkflowTaskCompletedEventId] += len(of.Input.Payloads[0].Data)
				largest = max(largest, sent[of.WorkflowTaskCompletedEventId])
			case enumspb.EVENT_TYPE_ACTIVITY_TASK_COMPLETED:
				underway--
			}
			most = max(most, underway)
		}
	}
	if most > 200 || most < 20 || largest > 3<<19 { // encoded as text, the bytes are a third more
		t.Errorf("%d at once, %d bytes in a task", most, largest)
	}
	t.Logf("%d at once, %d bytes in a task, %d histories", most, largest, len(c.histories(id)))
}
