package e2e

import (
	"strings"
	"testing"
	"time"
)

// bestOf repeats the measurement f until one time is within the limit, since other load on the machine must not decide
// a test. It fails the test if none is.
func bestOf(t *testing.T, what string, limit time.Duration, n int, f func(t *testing.T) time.Duration) {
	t.Helper()
	best := time.Duration(0)
	for range n {
		took := f(t)
		t.Logf("%s: %s", what, took)
		if best == 0 || took < best {
			best = took
		}
		if best <= limit || t.Failed() {
			return
		}
	}
	t.Errorf("%s took %s at best, want at most %s", what, best, limit)
}

// Promise 31.4 (temporal): when the worker of a run is killed, the run continues on another worker within six seconds
// of that worker's start, and no recorded effect is carried out again.
func TestPromise_31_4_WorkerKilled(t *testing.T) {
	bestOf(t, "from the new worker to the end", 6*time.Second, 3, func(t *testing.T) time.Duration {
		c := newCluster(t, shared(t))
		first := c.worker("one")
		id := c.startRun(sequence, withN(40, "sleep=50ms"))
		c.waitEffects(26)
		_ = first.Process.Kill()
		recorded := c.recorded(id)
		if len(recorded) < 24 {
			t.Errorf("%d effects were recorded", len(recorded))
		}
		c.worker("two")
		begun := time.Now()
		starts := c.wantDone(id, "did step 39 sleep=50ms")
		took := time.Since(begun)
		c.wantNotRepeated(recorded)
		if len(starts) != 40 {
			t.Errorf("%d effects", len(starts))
		}
		return took
	})
}

// Promise 31.5 (temporal): two workers share the branches of one run. When one of them is killed, the other does the
// rest, and repeats only what was in progress.
func TestPromise_31_5_OneOfTwoKilled(t *testing.T) {
	c := newCluster(t, shared(t), func(j *job) { j.Slots = 10 })
	first := c.worker("one")
	c.worker("two")
	id := c.startRun(fan, withN(100, "sleep=300ms"))
	c.waitEffects(1)
	time.Sleep(2500 * time.Millisecond)
	_ = first.Process.Kill()
	recorded := c.recorded(id)
	did := map[string]int{}
	for _, s := range c.effectLog() {
		if s.What == "end" {
			did[s.Worker]++
		}
	}
	all := did["one"] + did["two"]
	t.Logf("%v ended, %d were recorded", did, len(recorded))
	if did["one"]*10 < all*3 || did["two"]*10 < all*3 || all >= 200 {
		t.Errorf("before the kill they did %v", did)
	}
	starts := c.wantDone(id, "100")
	c.wantNotRepeated(recorded)
	if len(starts) != 200 {
		t.Errorf("%d effects", len(starts))
	}
}

// Promise 31.6 (temporal): when the server is killed and started again on its file, runs continue and nothing is
// repeated.
func TestPromise_31_6_ServerKilled(t *testing.T) {
	db := t.TempDir() + "/server.db"
	s := startServer(t, freeAddress, "--db", db)
	c := newCluster(t, s)
	c.worker("one")
	id := c.startRun(sequence, withN(60, "sleep=50ms"))
	c.waitEffects(20)
	recorded := c.recorded(id)
	s.kill()
	again := startServer(t, s.address, "--db", db)
	t.Cleanup(again.kill)
	if starts := c.wantDone(id, "did step 59 sleep=50ms"); len(starts) != 60 {
		t.Errorf("%d effects", len(starts))
	}
	c.wantNotRepeated(recorded)
}

// Promise 31.16 (temporal): a run whose workers were all killed continues when workers start again.
func TestPromise_31_16_AllWorkersKilled(t *testing.T) {
	t.Parallel()
	c := newCluster(t, shared(t))
	first, second := c.worker("one"), c.worker("two")
	id := c.startRun(fan, withN(20, "sleep=500ms"))
	c.waitEffects(25)
	_, _ = first.Process.Kill(), second.Process.Kill()
	recorded := c.recorded(id)
	c.worker("three")
	c.worker("four")
	starts := c.wantDone(id, "20")
	c.wantNotRepeated(recorded)
	if len(starts) != 40 {
		t.Errorf("%d effects", len(starts))
	}
	for _, s := range c.effectLog() {
		if _, of, _ := strings.Cut(s.ID, " "); recorded[of] && (s.Worker == "three" || s.Worker == "four") {
			t.Errorf("%s does what was recorded: %s", s.Worker, of)
		}
	}
}
