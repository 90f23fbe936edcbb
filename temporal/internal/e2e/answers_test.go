package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
)

// payments counts the payments that began.
func (c *cluster) payments() (n int) {
	for _, s := range c.effectLog() {
		if s.What == "start" && strings.Contains(s.ID, "tool:pay") {
			n++
		}
	}
	return n
}

// killedWhilePaying returns a run whose worker was killed during a payment, after another worker has started.
func killedWhilePaying(t *testing.T, script string) (*cluster, string) {
	c := newCluster(t, shared(t))
	first := c.worker("one")
	id := c.startRun(script, withArgs(map[string]any{"what": "sleep=3s"}))
	c.waitEffects(1)
	_ = first.Process.Kill()
	c.worker("two")
	return c, id
}

// Promise 31.14 (temporal): an effect that must not happen twice and was in progress on a worker that was killed is
// unknown: the run asks about it, and continues with a result, with a failure, or by repeating the effect.
func TestPromise_31_14_UnknownIsAsked(t *testing.T) {
	shared(t)
	t.Parallel()
	refused := "the bank refused"
	for _, tt := range []struct {
		name string
		engine.Answer
		says string
		paid int
	}{
		{"result", engine.Answer{Result: json.RawMessage(`"paid before"`)}, "paid before", 1},
		{"failure", engine.Answer{Failed: &refused}, "error: the bank refused", 1},
		{"again", engine.Answer{Again: true}, "did sleep=3s", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, id := killedWhilePaying(t, paying)
			step := c.waitingStep(id)
			if !strings.Contains(step.ID, "tool:pay") || c.payments() != 1 {
				t.Errorf("%s waits after %d payments", step.ID, c.payments())
			}
			c.answer(id, step.ID, tt.Answer)
			c.wantDone(id, tt.says)
			if c.payments() != tt.paid {
				t.Errorf("%d payments, want %d", c.payments(), tt.paid)
			}
		})
	}
}

// Promise 31.26 (temporal): on_unknown of a tool says what is done about a call whose worker was killed, as on one
// machine: fail, retry or a function.
func TestPromise_31_26_OnUnknown(t *testing.T) {
	shared(t)
	t.Parallel()
	for _, tt := range []struct {
		name, decl, word, says string
		paid                   int
	}{
		{"fail", "", `"fail"`, `error: it is unknown whether tool "pay" was carried out: its process ended before it could say`, 1},
		{"retry", "", `"retry"`, "did sleep=3s", 2},
		{"function", "def seen(call):\n    return fixed(call.kind + \" \" + call.tool)\n", "seen", "unknown pay", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, id := killedWhilePaying(t, tt.decl+strings.Replace(paying, "[pay]", "[tool(pay, on_unknown = "+tt.word+")]", 1))
			c.wantDone(id, tt.says)
			if c.payments() != tt.paid {
				t.Errorf("%d payments, want %d", c.payments(), tt.paid)
			}
		})
	}
}

// Promise 31.15 (temporal): an answer may arrive before it is asked for, and while no worker runs. An equal answer
// changes nothing, a different one is refused, also after the end, and one that does not fit is asked for again.
func TestPromise_31_15_Signals(t *testing.T) {
	t.Parallel()
	c := newCluster(t, shared(t))
	first := c.worker("one")
	id := c.startRun(`
a = agent("a", prompt = "Work.")
def main():
    n = wait("number", int)
    a("between")
    return "%d %s" % (n, wait("word"))
`)
	is := func(value string) engine.Answer { return engine.Answer{Result: json.RawMessage(value)} }
	c.answer(id, "word", is(`"b"`)) // before the run waits for it
	step := c.waitingStep(id)
	if err := c.send(id, step.ID, is(`"no number"`)); err == nil {
		if again := c.waitingStep(id); again.ID != step.ID {
			t.Errorf("%s waits after an answer that does not fit %s", again.ID, step.ID)
		}
	}
	c.answer(id, "number", is("41"))
	if err := c.send(id, step.ID, is("41")); err != nil {
		t.Errorf("an equal answer: %v", err)
	}
	if err := c.send(id, step.ID, is("42")); err == nil {
		t.Error("another answer changes nothing, and nobody says so")
	}
	c.wantDone(id, "41 b")
	if err := c.send(id, step.ID, is("41")); err != nil {
		t.Errorf("an equal answer after the end: %v", err)
	}
	if err := c.send(id, step.ID, is("42")); err == nil {
		t.Error("another answer after the end changes nothing, and nobody says so")
	}

	const waits = "def main():\n    return wait(\"word\")\n"
	id = c.startRun(waits, agentscript.ID(c.job.Queue+"-late"))
	c.waitingStep(id)
	_ = first.Process.Kill()
	_ = first.Wait()
	signal := engine.Signal{Name: "word", Value: json.RawMessage(`{"result": "late"}`), Dedup: "one"}
	for range 2 { // the same signal twice
		if _, err := c.Signal(t.Context(), id, signal); err != nil {
			t.Fatal(err)
		}
	}
	c.worker("two")
	c.wantDone(id, "late")
}
