package e2e

import (
	"encoding/json"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/hang"
)

// Promise 31.7 (temporal): a script may compute for seconds: it is taken for no deadlock, and makes no events. One that computes
// beyond its bound fails within three seconds with the line, and is not tried again and again.
func TestPromise_31_7_Loops(t *testing.T) {
	shared(t)
	t.Run("long", longLoop)
	t.Run("endless", endlessLoop)
}

func longLoop(t *testing.T) {
	c := on(t, shared(t))
	c.worker("one")
	short := c.begin(computing, with(map[string]any{"n": 10}))
	c.done(short, "24")
	begun := time.Now()
	id := c.begin(computing, with(map[string]any{"n": 30_000_000}), agentscript.RunSettings(json.RawMessage(`{"Steps": 400000000}`)))
	hang.Until(t, "the run ends", func() bool {
		events := c.histories(id)[0]
		if types(events)[enumspb.EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT] > 0 {
			t.Skip("not here: a machine that computes for five seconds within ten")
		}
		time.Sleep(50 * time.Millisecond)
		return events[len(events)-1].EventType == enumspb.EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED
	})
	c.done(id, "89999995")
	t.Logf("30,000,000 iterations took %s", time.Since(begun))
	want, got := types(c.histories(short)[0]), types(c.histories(id)[0])
	for kind, n := range got {
		if n != want[kind] {
			t.Errorf("%d events %s, want %d", n, kind, want[kind])
		}
	}
}

func endlessLoop(t *testing.T) {
	rounds(t, "to the bound", 3*time.Second, 3, func(t *testing.T) time.Duration {
		c := on(t, shared(t))
		c.worker("one")
		begun := time.Now()
		id := c.begin(computing, with(map[string]any{"n": 1_000_000_000}), agentscript.RunSettings(json.RawMessage(`{"Steps": 50000000}`)))
		e := c.fails(id)
		took := time.Since(begun)
		if e.Code != diag.StepLimit || e.Pos.Line != 4 {
			t.Errorf("%s %s at %s", e.Code, &e, e.Pos)
		}
		if n := types(c.histories(id)[0])[enumspb.EVENT_TYPE_WORKFLOW_TASK_STARTED]; n != 1 {
			t.Errorf("%d tasks", n)
		}
		return took
	})
}
