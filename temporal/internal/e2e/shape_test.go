package e2e

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/hang"
	"github.com/agentscript/agentscript/temporal"
)

// Promise 31.30 (temporal): the text that a model writes is streamed outside the history while it is written. If its
// worker is lost, the answer begins again with the next attempt, whose pieces are those that are recorded.
func TestPromise_31_30_Stream(t *testing.T) {
	c := newCluster(t, shared(t))
	c.job.Stream = c.job.World + ".stream"
	first := c.worker("one")
	id := c.startRun(sequence, agentscript.Args(map[string]any{"n": 1, "words": "slowly one two three four five six seven"}))
	pieces := func() (all []piece) {
		text, err := os.ReadFile(c.job.Stream)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			var p piece
			if json.Unmarshal([]byte(line), &p) == nil {
				all = append(all, p)
			}
		}
		return all
	}
	hang.Until(t, "the model writes", func() bool { return len(pieces()) > 2 })
	_ = first.Process.Kill()
	c.worker("two")
	info := c.waitEnd(id)
	written := map[int]string{}
	for _, p := range pieces() {
		if p.Run != id {
			t.Errorf("a piece of run %s", p.Run)
		}
		written[p.Attempt] += p.Text
	}
	if len(written) != 2 || written[2] != info.Text || written[1] == info.Text {
		t.Errorf("the attempts wrote %v, and the result is %q", written, info.Text)
	}
}

// Promise 31.31 (temporal): everything that a pinned run was granted is carried out by one worker, across histories. If
// that worker is lost, the run fails with AS786.
func TestPromise_31_31_Pinned(t *testing.T) {
	for _, kill := range []bool{false, true} {
		t.Run(map[bool]string{false: "stays", true: "lost"}[kill], func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, shared(t))
			c.job.Env = true
			c.setOptions(temporal.Options{Events: 60, Pin: true})
			c.worker("one")
			id := c.startRun(`
a = agent("a", prompt = "Work.")
def main():
    names = []
    for i in range(20):
        a("step %d sleep=50ms" % i)
        names.append(env.get("WORKER"))
    return ",".join(sorted(set(names)))
`)
			hang.Until(t, "something is done", func() bool { return len(c.effectLog()) > 4 })
			c.worker("two")
			if !kill {
				info := c.waitEnd(id)
				if info.Status != engine.RunDone || info.Text != "one" {
					t.Errorf("%s %q %s", info.Status, info.Text, info.Err)
				}
				return
			}
			_ = c.workers[0].Process.Kill()
			if info := c.waitEnd(id); info.Status != engine.RunFailed || !strings.Contains(string(info.Err), "AS786") {
				t.Errorf("%s %q %s", info.Status, info.Text, info.Err)
			}
		})
	}
}

// Promise 31.32 (temporal): the search attributes of listed runs say whose they are, how far they are and what they
// cost.
func TestPromise_31_32_Listed(t *testing.T) {
	c := newCluster(t, shared(t))
	c.setOptions(temporal.Options{Listed: true, Tenant: "ann"})
	c.worker("one")
	id := c.startRun(`
a = agent("a", prompt = "Work.")
def main():
    return a("step " + wait("word"))
`)
	found := func(status string) {
		t.Helper()
		hang.Until(t, "the run is listed as "+status, func() bool {
			return c.countListed("AgentscriptTenant = 'ann' AND AgentscriptFlow = 'flow.star' AND AgentscriptStatus = '"+status+"' AND WorkflowId = '"+id+"'") == 1
		})
	}
	found("parked")
	c.answer(id, "word", engine.Answer{Result: json.RawMessage(`"on"`)})
	c.wantDone(id, "did step on")
	found("done")
}

// Promise 31.33 (temporal): the end of a cancelled run contains the reason for its cancellation.
func TestPromise_31_33_WhyCancelled(t *testing.T) {
	c := newCluster(t, shared(t))
	c.worker("one")
	id := c.startRun(`
def main():
    return wait("word")
`)
	c.waitingStep(id)
	if err := c.CancelRun(t.Context(), id, "no need any more"); err != nil {
		t.Fatal(err)
	}
	if info := c.waitEnd(id); info.Status != engine.RunCancelled || !strings.Contains(string(info.Err), "no need any more") {
		t.Errorf("%s %s", info.Status, info.Err)
	}
	if err := c.CancelRun(t.Context(), id, "again"); err != nil {
		t.Errorf("a run that has ended is cancelled: %v", err)
	}
	if err := c.CancelRun(t.Context(), "nowhere", "x"); err == nil {
		t.Error("a run that is not there is cancelled")
	}
}

// Promise 31.34 (temporal): what a run has recorded can be read while the run continues, however much it is.
func TestPromise_31_34_ReadMeanwhile(t *testing.T) {
	c := newCluster(t, shared(t))
	c.worker("one")
	id := c.startRun(`
a = agent("a", prompt = "Work.")
def main():
    for i in range(40):
        a("step %d size=100000" % i)
    return wait("word")
`)
	c.waitingStep(id)
	n, bytes := 0, 0
	err := c.Steps(t.Context(), id, 0, func(s engine.Step) error {
		n++
		bytes += len(s.Outcome)
		return nil
	})
	if err != nil || n != 41 || bytes < 40*100_000 {
		t.Errorf("%d steps with %d bytes, %v", n, bytes, err)
	}
	c.answer(id, "word", engine.Answer{Result: json.RawMessage(`"on"`)})
	c.wantDone(id, "on")
}
