package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store/sqlite"
	"github.com/agentscript/agentscript/internal/hang"
)

// chat is one turn of a conversation.
const chat = `main = agent("chat", prompt = "Talk.", history = compress(after = 40))`

// noting keeps a note, and fails where it is asked to.
const noting = `
facts = memory("facts", scope = "session")
own = memory("own")
a = agent("a", prompt = "Work.")
def main(fact = str, fails = False):
    facts.append(fact)
    own.append(fact)
    a(fact)
    if fails:
        fail("it failed")
    return facts.read()
`

// inSession is a cluster whose workers keep sessions.
func inSession(t *testing.T, set ...func(*job)) *cluster {
	file := filepath.Join(t.TempDir(), "sessions.db")
	return newCluster(t, shared(t), append([]func(*job){func(j *job) { j.Sessions = file }}, set...)...)
}

func session(id string) agentscript.RunOption { return agentscript.Session(nil, id) }

// Promise 31.74 (temporal): runs of a session continue its conversation and its notes on any worker, even if a worker is killed
// and if the run continues in new histories.
func TestPromise_31_74_Sessions(t *testing.T) {
	t.Parallel()
	t.Run("the conversation", func(t *testing.T) {
		t.Parallel()
		c := inSession(t)
		workers := []*exec.Cmd{c.worker("one"), c.worker("two")}
		c.wantDone(c.startRun(chat, session("ada"), agentscript.InputText("first")), "did first")
		second := c.startRun(chat, session("ada"), agentscript.InputText("second sleep=3s"))
		c.waitEffects(2)
		for _, line := range c.effectLog() {
			if line.What == "start" && strings.HasPrefix(line.ID, second) {
				for i, name := range []string{"one", "two"} {
					if line.Worker == name {
						_ = workers[i].Process.Kill()
					}
				}
			}
		}
		c.wantDone(second, "did second sleep=3s")
		c.wantDone(c.startRun(chat, session("ada"), agentscript.InputText("recall")), "first | second sleep=3s | recall")
		c.wantDone(c.startRun(chat, session("bob"), agentscript.InputText("recall")), "recall")
		c.wantDone(c.startRun(chat, agentscript.InputText("recall")), "recall")
	})
	t.Run("the notes", func(t *testing.T) {
		t.Parallel()
		c := inSession(t, func(j *job) { j.Events = 10 }) // each run goes on in new histories
		c.worker("one")
		c.worker("two")
		c.wantDone(c.startRun(noting, session("ada"), withArgs(map[string]any{"fact": "water is wet"})), "water is wet")
		if e := c.wantFailed(c.startRun(noting, session("ada"), withArgs(map[string]any{"fact": "fire is cold", "fails": true}))); !strings.Contains(e.Message, "it failed") {
			t.Errorf("%v", &e)
		}
		c.wantDone(c.startRun(noting, session("ada"), withArgs(map[string]any{"fact": "ice is cold"})), "water is wet\nice is cold")
		held, err := c.sessions().ReadSession(t.Context(), "ada")
		if err != nil || held["memory/facts/"].Text != "water is wet\nice is cold" || held["memory/own/"].Text != "" {
			t.Errorf("%v, %v", held, err)
		}
	})
}

// Promise 31.75 (temporal): a session has one run at a time: a second one fails before it asks a model, and names the run that has
// the session, until that one has ended. A run of another script is refused.
func TestPromise_31_75_OneRunOfASession(t *testing.T) {
	t.Parallel()
	c := inSession(t)
	c.worker("one")
	c.worker("two")
	first := c.startRun(chat, session("ada"), agentscript.InputText("first sleep=4s"))
	c.waitEffects(1)
	e := c.wantFailed(c.startRun(chat, session("ada"), agentscript.InputText("second")))
	if e.Code != diag.SessionBusy || !strings.Contains(e.Message, "run "+first) {
		t.Errorf("%v", &e)
	}
	if starts, _ := c.counts(); len(starts) != 1 {
		t.Errorf("models were asked: %v", starts)
	}
	c.wantDone(first, "did first sleep=4s")
	third := c.startRun(chat, session("ada"), agentscript.InputText("third sleep=1m"))
	c.waitEffects(2)
	if err := c.CancelRun(t.Context(), third, "enough"); err != nil {
		t.Fatal(err)
	}
	if info := c.waitEnd(third); info.Status != engine.RunCancelled {
		t.Errorf("%s %s", info.Status, info.Err)
	}
	c.wantDone(c.startRun(chat, session("ada"), agentscript.InputText("recall")), "first sleep=4s | recall")

	m, err := recordingEngine(&c.job).LoadBundle(t.Context(), engine.Bundle{Entry: "other.star", Files: map[string][]byte{"other.star": []byte(chat)}}, "other.star")
	if err != nil {
		t.Fatal(err)
	}
	id, err := c.Start(t.Context(), m, "main", session("ada"), agentscript.InputText("recall"))
	if err != nil {
		t.Fatal(err)
	}
	if e := c.wantFailed(id); e.Code != diag.BadSession {
		t.Errorf("%v", &e)
	}
}

// Promise 31.76 (temporal): a worker that keeps no sessions leaves a run with a session to another worker; without one the run fails
// before it asks a model, and names what each worker lacks.
func TestPromise_31_76_NoStoreOfSessions(t *testing.T) {
	shared(t)
	t.Parallel()
	bare := func(j *job) { j.Sessions = "" }
	t.Run("another worker", func(t *testing.T) {
		t.Parallel()
		c := inSession(t)
		c.worker("bare", bare)
		c.worker("whole")
		c.wantDone(c.startRun(chat, session("ada"), agentscript.InputText("first")), "did first")
		c.wantDone(c.startRun(chat, session("ada"), agentscript.InputText("recall")), "first | recall")
	})
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		c := inSession(t, func(j *job) { j.Find = 4 * time.Second })
		c.worker("one", bare)
		c.worker("two", bare)
		e := c.wantFailed(c.startRun(chat, session("ada"), agentscript.InputText("first")))
		if e.Code != diag.NoSession || !strings.Contains(e.Message, "one") || !strings.Contains(e.Message, "two") || !strings.Contains(e.Help, "--session-store") {
			t.Errorf("%v\n%s", &e, e.Help)
		}
		if starts, _ := c.counts(); len(starts) != 0 {
			t.Errorf("models were asked: %v", starts)
		}
	})
}

// Promise 31.77 (temporal): a fork continues with what the session of its run held and saves nothing in it, from one machine
// onto Temporal and on Temporal.
func TestPromise_31_77_ForksOfSessions(t *testing.T) {
	t.Parallel()
	c := inSession(t)
	c.worker("one")
	kept, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	m, err := recordingEngine(&c.job).LoadBundle(t.Context(), bundle(chat), "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	local := func(id, input string) *agentscript.Run {
		return m.Start(t.Context(), agentscript.StoreRun(kept), agentscript.ID(id), agentscript.Session(kept, "ada"), agentscript.InputText(input))
	}
	if _, err := local("one", "first").Wait(); err != nil {
		t.Fatal(err)
	}
	two := local("two", "recall sleep=1m") // which a fork asks again
	c.waitEffects(2)
	two.Cancel()
	_, _ = two.Wait()
	before, err := kept.ReadSession(t.Context(), "ada")
	if err != nil {
		t.Fatal(err)
	}
	fork, err := c.Fork(t.Context(), kept, "two", m, "main", agentscript.InputText("recall"))
	if err != nil {
		t.Fatal(err)
	}
	c.wantDone(fork, "first | recall")
	if after, err := kept.ReadSession(t.Context(), "ada"); err != nil || after["transcript"] != before["transcript"] {
		t.Errorf("the fork changed the session: %v, %v", after, err)
	}

	c.wantDone(c.startRun(chat, session("eve"), agentscript.InputText("third")), "did third")
	on := c.startRun(chat, session("eve"), agentscript.InputText("fourth sleep=1m"))
	c.waitEffects(5)
	if err := c.CancelRun(t.Context(), on, "enough"); err != nil {
		t.Fatal(err)
	}
	c.waitEnd(on)
	again, err := c.Fork(t.Context(), c.Store, on, m, "main", agentscript.InputText("recall"))
	if err != nil {
		t.Fatal(err)
	}
	c.wantDone(again, "third | recall")
	c.wantDone(c.startRun(chat, session("eve"), agentscript.InputText("recall")), "third | recall")
	if _, err := c.Fork(t.Context(), c.Store, on, m, "main", session("eve")); err == nil || !strings.Contains(err.Error(), "keeps nothing in a session") {
		t.Errorf("a fork with a session: %v", err)
	}
}

// Promise 31.78 (temporal): a run whose session cannot be saved for now waits until it can. A run that no longer has its session,
// because it was deleted or terminated, saves nothing.
func TestPromise_31_78_SavedLater(t *testing.T) {
	shared(t)
	t.Parallel()
	t.Run("in use", func(t *testing.T) {
		t.Parallel()
		c := inSession(t)
		c.worker("one")
		id := c.startRun(chat, session("ada"), agentscript.InputText("first sleep=1s"))
		c.waitEffects(1)
		kept := c.sessions()
		open, err := kept.OpenSession(t.Context(), "ada", "flow.star")
		if err != nil {
			t.Fatal(err)
		}
		hang.Until(t, "a save fails", func() bool {
			d, err := c.client.DescribeWorkflowExecution(t.Context(), id, "")
			return err == nil && len(d.PendingActivities) == 1 && d.PendingActivities[0].Attempt > 1
		})
		if err := open.Close(); err != nil {
			t.Fatal(err)
		}
		c.wantDone(id, "did first sleep=1s")
		c.wantDone(c.startRun(chat, session("ada"), agentscript.InputText("recall")), "first sleep=1s | recall")
	})
	t.Run("deleted", func(t *testing.T) {
		t.Parallel()
		c := inSession(t)
		c.worker("one")
		id := c.startRun(chat, session("ada"), agentscript.InputText("first sleep=3s"))
		c.waitEffects(1)
		if err := c.sessions().DeleteSession(t.Context(), "ada"); err != nil {
			t.Fatal(err)
		}
		if e := c.wantFailed(id); e.Code != diag.SessionBusy || !strings.Contains(e.Message, "nothing of this run was saved") {
			t.Errorf("%v", &e)
		}
		c.wantDone(c.startRun(chat, session("ada"), agentscript.InputText("recall")), "recall")
	})
	t.Run("terminated", func(t *testing.T) {
		t.Parallel()
		c := inSession(t)
		c.worker("one")
		id := c.startRun(chat, session("ada"), agentscript.InputText("first sleep=2s"))
		c.waitEffects(1)
		if err := c.client.TerminateWorkflow(t.Context(), id, "", "enough"); err != nil {
			t.Fatal(err)
		}
		c.runs = nil // a history that was cut off cannot be replayed to its end
		c.wantDone(c.startRun(chat, session("ada"), agentscript.InputText("recall")), "recall")
	})
	t.Run("not taken", func(t *testing.T) {
		t.Parallel()
		c := inSession(t)
		c.worker("one")
		first := c.startRun(chat, session("ada"), agentscript.InputText("first sleep=1m"))
		c.waitEffects(1)
		second := c.startRun(chat, session("ada"), agentscript.InputText("second"))
		c.wantFailed(second)
		m, err := recordingEngine(&c.job).LoadBundle(t.Context(), bundle(chat), "flow.star")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Fork(t.Context(), c.Store, second, m, "main"); err == nil || !strings.Contains(err.Error(), "has not taken session") {
			t.Errorf("a fork of a run that was refused the session: %v", err)
		}
		if err := c.CancelRun(t.Context(), first, ""); err != nil {
			t.Fatal(err)
		}
	})
}

// sessions opens the store of sessions of the workers.
func (c *cluster) sessions() *sqlite.Store {
	c.t.Helper()
	kept, err := sqlite.Open(c.t.Context(), c.job.Sessions)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = kept.Close() }) // it is only read, or what was changed is checked
	return kept
}
