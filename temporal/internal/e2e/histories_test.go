package e2e

import (
	"encoding/json"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/hang"
)

// Promise 31.8 (temporal): a run continues in a new history before the current one is too long, and nothing is
// repeated: 3,000 steps, in histories of 1,000 events.
func TestPromise_31_8_NewHistories(t *testing.T) {
	c := newCluster(t, shared(t), func(j *job) { j.Events = 1000 })
	c.worker("one")
	id := c.startRun(sequence, withN(3000, ""), withCallLimit(3000))
	c.wantDone(id, "did step 2999 ")
	c.wantEffects(3000)
	all := c.histories(id)
	if len(all) < 15 {
		t.Errorf("it had %d histories", len(all))
	}
	for i, events := range all {
		if len(events) > 1020 {
			t.Errorf("history %d has %d events", i, len(events))
		}
	}
	info, err := c.Run(t.Context(), id)
	if err != nil || info.Steps != 3000 || info.Usage.In != 3000*7 {
		t.Errorf("%d steps, %+v %v", info.Steps, info.Usage, err)
	}
	t.Logf("%d histories", len(all))
}

// Promise 31.24 (temporal): a run of many branches also continues in a new history: effects in progress end first, and
// nothing is repeated.
func TestPromise_31_24_NewHistoriesOfBranches(t *testing.T) {
	c := newCluster(t, shared(t), func(j *job) { j.Events = 1000 })
	c.worker("one")
	c.worker("two")
	id := c.startRun(fan, withN(400, ""))
	c.wantDone(id, "400")
	c.wantEffects(800)
	if n := len(c.histories(id)); n < 3 {
		t.Errorf("it had %d histories", n)
	}
}

// Promise 31.23 (temporal): an effect that must not happen twice happens once across new histories, and the run does
// not ask about an effect that was waiting for its turn when a history ended.
func TestPromise_31_23_OnceOverHistories(t *testing.T) {
	t.Parallel()
	c := newCluster(t, shared(t), func(j *job) { j.Events, j.Slots = 150, 10 })
	c.worker("one")
	id := c.startRun(`
a = agent("a", prompt = "Work.", tools = [pay])
branches = each(a, limit = 400)
def main(n = int):
    return str(len(branches(["call pay branch%d sleep=20ms" % i for i in range(n)])))
`, withArgs(map[string]any{"n": 60}))
	ended := false
	hang.Until(t, "the run ends or asks", func() bool {
		info, err := c.Run(t.Context(), id)
		ended = err == nil && info.Status == engine.RunDone
		return err == nil && (ended || info.Waiting > 0)
	})
	if !ended {
		t.Fatalf("it asks about %s", c.waitingStep(id).ID)
	}
	c.wantDone(id, "60")
	c.wantEffects(60)
	t.Logf("%d histories", len(c.histories(id)))
}

// Promise 31.25 (temporal): values that a run was sent and has not used yet, what it waits for, and a sleep carry over
// from one history to the next.
func TestPromise_31_25_WaitsAcrossHistories(t *testing.T) {
	t.Parallel()
	c := newCluster(t, shared(t), func(j *job) { j.Events = 40 })
	c.worker("one")
	id := c.startRun(`
a = agent("a", prompt = "Work.")
def work():
    for i in range(30):
        a("step %d sleep=20ms" % i)
    return wait("late")
def ask():
    return approve("Really?").approved
def rest():
    sleep("2s")
    return a("awake")
def main():
    return parallel([work, ask, rest])
`)
	if err := c.send(id, "late", engine.Answer{Result: json.RawMessage(`"b"`)}); err != nil { // before the run waits for it
		t.Fatal(err)
	}
	c.waitEffects(31)
	if n := len(c.histories(id)); n < 4 {
		t.Errorf("it had %d histories", n)
	}
	step := c.waitingStep(id)
	c.answer(id, step.ID, engine.Answer{Approved: true})
	hang.Until(t, "the run ends", func() bool {
		info, err := c.Run(t.Context(), id)
		return err == nil && !info.Live
	})
	c.wantDone(id, `["b",true,"did awake"]`)
	c.wantEffects(31)
}
