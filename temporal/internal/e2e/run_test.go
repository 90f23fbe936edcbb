package e2e

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/internal/hang"
	"github.com/agentscript/agentscript/temporal"
)

var silent = slog.New(slog.DiscardHandler)

const sequence = `
a = agent("a", prompt = "Work.")
def main(n = int, words = ""):
    last = ""
    for i in range(n):
        last = a("step %d %s" % (i, words))
    return last
`

func TestSequence(t *testing.T) {
	c := on(t, shared(t))
	c.worker("one")
	id := c.begin(sequence, agentscript.Args(map[string]any{"n": 20}))
	info := c.ends(id)
	if info.Status != engine.RunDone || info.Text != "did step 19 " || info.Steps != 20 {
		t.Errorf("%s %q %s, %d steps", info.Status, info.Text, info.Err, info.Steps)
	}
	starts, _ := c.counts()
	if len(starts) != 20 {
		t.Errorf("%d effects", len(starts))
	}
}

// done fails the test unless a run has ended well with a text, and returns how often each effect began.
func (c *cluster) done(id, text string) (starts map[string]int) {
	c.t.Helper()
	info := c.ends(id)
	if info.Status != engine.RunDone || info.Text != text {
		c.t.Errorf("%s %q %s, want %q", info.Status, info.Text, info.Err, text)
	}
	starts, _ = c.counts()
	return starts
}

// A run goes on in one history after the other, and nothing is done again.
func TestNewHistories(t *testing.T) {
	c := on(t, shared(t))
	c.with(temporal.Options{Events: 60})
	c.worker("one")
	id := c.begin(sequence, agentscript.Args(map[string]any{"n": 60}))
	for at, n := range c.done(id, "did step 59 ") {
		if n != 1 {
			t.Errorf("%s began %d times", at, n)
		}
	}
	if n := c.histories(id); n < 4 {
		t.Errorf("it had %d histories", n)
	}
	info, err := c.Run(t.Context(), id)
	if err != nil || info.Steps != 60 || info.Usage.In != 60*7 {
		t.Errorf("%d steps, %+v %v", info.Steps, info.Usage, err)
	}
}

// histories counts those of a run.
func (c *cluster) histories(id string) (n int) {
	c.t.Helper()
	hang.Until(c.t, "the server lists the histories", func() bool {
		n = c.listed("WorkflowId = '" + id + "'")
		return n > 0
	})
	return n
}

// listed counts the workflows that the server finds.
func (c *cluster) listed(query string) int {
	c.t.Helper()
	page, err := c.client.ListWorkflow(c.t.Context(), &workflowservice.ListWorkflowExecutionsRequest{Query: query})
	if err != nil {
		c.t.Fatal(err)
	}
	return len(page.Executions)
}

// What a run waits for is shown, and is answered once, also where the answer was there before and across histories.
func TestAnswers(t *testing.T) {
	c := on(t, shared(t))
	c.with(temporal.Options{Events: 30})
	c.worker("one")
	id := c.begin(`
a = agent("a", prompt = "Work.")
def main():
    early = wait("early", int)
    for i in range(12):
        a("step %d" % i)
    return "%d %s" % (early, wait("late"))
`)
	send := func(to, value string) error {
		return journal.Send(t.Context(), c.Store, id, to, "", "test", time.Now(), engine.Answer{Result: json.RawMessage(value)})
	}
	if err := send("late", `"b"`); err != nil { // before the run has come to it
		t.Fatal(err)
	}
	hang.Until(t, "the run waits", func() bool {
		info, err := c.Run(t.Context(), id)
		return err == nil && info.Waiting == 1
	})
	if err := send("early", "41"); err != nil {
		t.Fatal(err)
	}
	if err := send("early", "41"); err != nil {
		t.Errorf("an equal answer: %v", err)
	}
	c.done(id, "41 b")
	if err := send("early", "42"); err == nil {
		t.Error("another answer changes nothing, and nobody says so")
	}
}

// A run is cancelled, and what is under way in its worker with it.
func TestCancel(t *testing.T) {
	c := on(t, shared(t))
	c.worker("one")
	id := c.begin(sequence, agentscript.Args(map[string]any{"n": 2, "words": "sleep=60s"}))
	hang.Until(t, "an effect goes on", func() bool { return len(c.world()) > 0 })
	begun := time.Now()
	if err := c.CancelRun(t.Context(), id, "enough"); err != nil {
		t.Fatal(err)
	}
	if info := c.ends(id); info.Status != engine.RunCancelled {
		t.Errorf("%s %s", info.Status, info.Err)
	}
	hang.Until(t, "the effect hears of it", func() bool {
		all := c.world()
		return all[len(all)-1].What == "cancelled"
	})
	t.Logf("after %s", time.Since(begun))
	if starts, _ := c.counts(); len(starts) != 1 {
		t.Errorf("%d effects", len(starts))
	}
}

// A worker is killed in the midst of a run: another goes on, and does again only what was under way.
func TestKilledWorker(t *testing.T) {
	c := on(t, shared(t))
	first := c.worker("one")
	id := c.begin(sequence, agentscript.Args(map[string]any{"n": 12, "words": "sleep=100ms"}))
	hang.Until(t, "it is half-way", func() bool { return len(c.world()) > 12 })
	_ = first.Process.Kill()
	_, ended := c.counts()
	killed := time.Now()
	c.worker("two")
	c.done(id, "did step 11 sleep=100ms")
	t.Logf("ended %s after the kill", time.Since(killed))
	starts, _ := c.counts()
	for at := range ended {
		if starts[at] != 1 {
			t.Errorf("%s had ended, and began %d times", at, starts[at])
		}
	}
	if len(starts) != 12 {
		t.Errorf("%d effects", len(starts))
	}
}

// A loop of many steps is no deadlock, and one of too many is the script's own failure.
func TestLoops(t *testing.T) {
	c := on(t, shared(t))
	c.worker("one")
	const loop = `
def main(n = int):
    x = 0
    for i in range(n):
        x += i % 7
    return str(x)
`
	id := c.begin(loop, agentscript.Args(map[string]any{"n": 3_000_000}))
	c.done(id, "8999994")
	id = c.begin(loop, agentscript.Args(map[string]any{"n": 100_000_000}))
	if info := c.ends(id); info.Status != engine.RunFailed || !strings.Contains(string(info.Err), "flow.star") {
		t.Errorf("%s %s", info.Status, info.Err)
	}
}

// Every task replays all of the history.
func TestNothingSticks(t *testing.T) {
	c := on(t, shared(t))
	c.job.Sticky = 0
	c.worker("one")
	id := c.begin(sequence, agentscript.Args(map[string]any{"n": 20}))
	if starts := c.done(id, "did step 19 "); len(starts) != 20 {
		t.Errorf("%d effects", len(starts))
	}
}

const fan = `
a = agent("a", prompt = "Work.")
b = agent("b", prompt = "Work.")
words = fn(lambda n: ["first %d size=50000" % i for i in range(n)], input = int, output = list[str])
main = words >> each(a >> b) >> fn(lambda all: str(len(all)), input = list[str], output = str)
`

// Branches run at once, and what is large stands apart from the history.
func TestFanOut(t *testing.T) {
	c := on(t, shared(t))
	c.worker("one")
	id := c.begin(fan, agentscript.Input(100))
	c.done(id, "100")
	starts, _ := c.counts()
	if len(starts) != 200 {
		t.Errorf("%d effects", len(starts))
	}
}
