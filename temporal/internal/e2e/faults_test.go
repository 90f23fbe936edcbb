package e2e

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/internal/hang"
)

const paying = `
a = agent("a", prompt = "Work.", tools = [pay])
def main(what = str):
    return a("call pay " + what)
`

// waiting returns the step that a run waits for.
func (c *cluster) waiting(id string) (step engine.Step) {
	c.t.Helper()
	hang.Until(c.t, "the run waits", func() bool {
		info, err := c.Run(c.t.Context(), id)
		if err != nil || info.Waiting != 1 {
			return false
		}
		err = c.Steps(c.t.Context(), id, 0, func(s engine.Step) error {
			if s.State == engine.StepWaiting {
				step = s
			}
			return nil
		})
		return err == nil && step.ID != ""
	})
	return step
}

func (c *cluster) answer(id, to string, a engine.Answer) {
	c.t.Helper()
	if err := journal.Send(c.t.Context(), c.Store, id, to, "", "test", time.Now(), a); err != nil {
		c.t.Fatal(err)
	}
}

// What must not happen twice and was under way in a worker that was killed is unknown: it is asked about, and not done again.
func TestUnknown(t *testing.T) {
	for _, answer := range []struct {
		name string
		engine.Answer
		want  string
		calls int
	}{
		{"result", engine.Answer{Result: json.RawMessage(`"paid before"`)}, "paid before", 1},
		{"again", engine.Answer{Again: true}, "did sleep=3s", 2},
	} {
		t.Run(answer.name, func(t *testing.T) {
			t.Parallel()
			c := on(t, shared(t))
			first := c.worker("one")
			id := c.begin(paying, agentscript.Args(map[string]any{"what": "sleep=3s"}))
			pays := func() (n int) {
				for _, s := range c.world() {
					if s.What == "start" && strings.Contains(s.ID, "tool:pay") {
						n++
					}
				}
				return n
			}
			hang.Until(t, "it pays", func() bool { return pays() == 1 })
			_ = first.Process.Kill()
			c.worker("two")
			step := c.waiting(id)
			if !strings.Contains(step.ID, "tool:pay") || pays() != 1 {
				t.Errorf("%s waits after %d payments", step.ID, pays())
			}
			c.answer(id, step.ID, answer.Answer)
			c.done(id, answer.want)
			if pays() != answer.calls {
				t.Errorf("%d payments, want %d", pays(), answer.calls)
			}
		})
	}
}

// A run that began on this machine and was killed half-way goes on, as a fork, on the server: what it had done is not
// done again.
func TestForkOfLocal(t *testing.T) {
	c := on(t, shared(t))
	e := worldly(&c.job)
	m, err := e.LoadBundle(t.Context(), engine.Bundle{Entry: "flow.star", Files: map[string][]byte{"flow.star": []byte(sequence)}}, "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	kept := store.NewMemory()
	local := m.Start(t.Context(), agentscript.StoreRun(kept), agentscript.ID("local"), agentscript.Args(map[string]any{"n": 10, "words": "sleep=50ms"}))
	hang.Until(t, "it is half-way", func() bool { return len(c.world()) > 10 })
	local.Cancel()
	_, _ = local.Wait()
	_, ended := c.counts()
	c.worker("one")
	id, err := c.Fork(t.Context(), kept, "local", m, "main")
	if err != nil {
		t.Fatal(err)
	}
	c.done(id, "did step 9 sleep=50ms")
	starts := map[string]int{}
	for at, n := range func() map[string]int { s, _ := c.counts(); return s }() {
		_, position, _ := strings.Cut(at, " ")
		starts[position] += n
	}
	for at := range ended {
		if _, position, _ := strings.Cut(at, " "); starts[position] != 1 {
			t.Errorf("%s had ended, and began %d times", position, starts[position])
		}
	}
	if len(starts) != 10 {
		t.Errorf("%d effects", len(starts))
	}
}

// Large results, requests and fan-outs stand apart from the history, and are made once.
func TestSizes(t *testing.T) {
	c := on(t, shared(t))
	c.worker("one")
	id := c.begin(sequence, agentscript.Args(map[string]any{"n": 3, "words": "size=3000000"}))
	info := c.ends(id)
	if info.Status != engine.RunDone || len(info.Text) != 3_000_000 {
		t.Errorf("%s, %d bytes, %s", info.Status, len(info.Text), info.Err)
	}
	starts, _ := c.counts()
	for at, n := range starts {
		if n != 1 {
			t.Errorf("%s began %d times", at, n)
		}
	}
}
