package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/internal/hang"
)

const twiceScript = `
def main():
    first = wait("word")
    if approve("Really?").approved:
        return first + "|" + wait("word")
`

// Promise 31.52 (temporal): if different answers to one step arrive at the same moment, one is taken, and the senders
// of the others are told who answered what. None of the others is kept for the next step of that name, nor sent to it.
func TestPromise_31_52_AnswersAtOnce(t *testing.T) {
	t.Parallel()
	c := newCluster(t, shared(t))
	c.worker("one")
	id := c.startRun(twiceScript)
	at := c.waitingStep(id)
	var all sync.WaitGroup
	var mu sync.Mutex
	var taken []string
	for i := range 8 {
		all.Go(func() {
			value := fmt.Sprintf("w%d", i)
			err := journal.Send(t.Context(), c.Store, id, at.ID, "", "person "+value, time.Now(), wordAnswer(value))
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				taken = append(taken, value)
				return
			}
			if e := engine.AsError(err); e.Code != diag.BadSignal || !strings.Contains(e.Message, "was answered by person w") || e.Help != "the first answer stays" {
				t.Errorf("another answer: %s %v %q", e.Code, err, e.Help)
			}
		})
	}
	all.Wait()
	if len(taken) != 1 {
		t.Fatalf("%q were taken", taken)
	}
	var approval engine.Step
	hang.Until(t, "the next step asks", func() bool { approval = c.waitingStep(id); return approval.Kind == engine.EffectApproval })
	no := "no"
	results := make(chan error, 2)
	for _, a := range []engine.Answer{{Approved: true}, {Failed: &no}} {
		go func() { results <- c.send(id, approval.ID, a) }()
	}
	a, b := <-results, <-results
	if (a == nil) == (b == nil) {
		t.Errorf("two decisions: %v, %v", a, b)
	}
	info, err := c.Run(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if info.Status == engine.RunRunning { // it was approved
		if next := c.waitingStep(id); next.ID == at.ID || next.Kind != engine.EffectWait {
			t.Errorf("%s waits", next.ID)
		}
		if err := c.send(id, at.ID, wordAnswer("late")); err == nil || !strings.Contains(err.Error(), "was answered by") {
			t.Errorf("an answer to a step that waits no more: %v", err)
		}
		c.answer(id, "word", wordAnswer("end"))
		c.wantDone(id, taken[0]+"|end")
	}
}

// Promise 31.53 (temporal): an answer that does not fit what a run waits for is refused before it is in the history,
// with the same error as for a run on one machine.
func TestPromise_31_53_AnswersThatDoNotFit(t *testing.T) {
	t.Parallel()
	c := newCluster(t, shared(t))
	c.worker("one")
	id := c.startRun("def main():\n    return str(wait(\"number\", int))\n")
	step := c.waitingStep(id)
	for _, to := range []string{step.ID, "number", journal.Position(step.ID)} {
		err := c.send(id, to, engine.Answer{Result: json.RawMessage(`"no number"`)})
		if e := engine.AsError(err); err == nil || e.Code != diag.BadSignal || e.Kind != engine.KindInput || !strings.Contains(e.Message, `what was sent to "number" is no int`) {
			t.Errorf("to %s: %v", to, err)
		}
		if err := c.send(id, to, engine.Answer{Approved: true}); err == nil || !strings.Contains(engine.AsError(err).Help, "--result JSON") {
			t.Errorf("an approval to %s: %v", to, err)
		}
	}
	for kind, n := range countTypes(c.histories(id)[0]) {
		if strings.Contains(kind.String(), "Update") || kind == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED {
			t.Errorf("%d events %s", n, kind)
		}
	}
	c.answer(id, "number", engine.Answer{Result: json.RawMessage("41")})
	c.wantDone(id, "41")
}

// Promise 31.54 (temporal): answers that are sent while no worker runs are processed by the next worker, once each: one
// that does not fit is ignored, the first of different ones to a step is taken, and none is kept for the next step.
func TestPromise_31_54_AnswersWithoutWorker(t *testing.T) {
	t.Parallel()
	c := newCluster(t, shared(t))
	first := c.worker("one")
	id := c.startRun(`
def main():
    first = wait("number", int)
    return "%d %d" % (first, wait("number", int))
`)
	step := c.waitingStep(id)
	_ = first.Process.Kill()
	_ = first.Wait()
	at := time.Now()
	for _, value := range []string{`"none"`, "1", "1", "2"} { // the second "1" repeats the first one, whose sender received no reply
		if err := journal.Send(t.Context(), c.Store, id, step.ID, "", "test", at, engine.Answer{Result: json.RawMessage(value)}); err != nil {
			t.Errorf("%s: %v", value, err)
		}
	}
	c.worker("two")
	hang.Until(t, "the second one waits", func() bool { return c.waitingStep(id).ID != step.ID })
	signals, err := c.Signals(t.Context(), id)
	if err != nil || len(signals) != 1 {
		t.Errorf("%d answers are stored, %v", len(signals), err)
	}
	c.answer(id, "number", engine.Answer{Result: json.RawMessage("3")})
	c.wantDone(id, "1 3")
}
