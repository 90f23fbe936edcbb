package e2e

import (
	"testing"

	"github.com/agentscript/agentscript/engine"
)

// maxHistoryBytes is how large a history may become.
const maxHistoryBytes = 5 << 20

func (c *cluster) wantSmall(id string) {
	c.t.Helper()
	if n := c.size(id); n > maxHistoryBytes || n == 0 {
		c.t.Errorf("the history has %d bytes", n)
	} else {
		c.t.Logf("the history has %d bytes", n)
	}
}

// Promise 31.9 (temporal): results of 3 MB, and requests and results of 100 KB, are stored outside the history, which
// stays small, and each effect is carried out once.
func TestPromise_31_9_LargeResults(t *testing.T) {
	t.Parallel()
	c := newCluster(t, shared(t))
	c.worker("one")
	id := c.startRun(`
a = agent("a", prompt = "Work.", tools = [tool(look, max_result = 4000000)])
def main(what = str):
    return str(len(a("call look " + what)))
`, withArgs(map[string]any{"what": "size=3000000"}))
	c.wantDone(id, "3000000")
	c.wantSmall(id)
	id = c.startRun(`
a = agent("a", prompt = "Work.")
def main(n = int):
    for i in range(n):
        a("step %d size=100000 " % i + "y" * 100000)
    return "done"
`, withArgs(map[string]any{"n": 300}))
	c.wantDone(id, "done")
	c.wantSmall(id)
	c.wantEffects(301)
}

// Promise 31.27 (temporal): a fan-out of 200 requests of 50 KB is sent in parts that the server accepts, each once.
func TestPromise_31_27_LargeFanOut(t *testing.T) {
	shared(t)
	t.Parallel()
	for name, inline := range map[string]int{"apart": 0, "inline": 100_000} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, shared(t), func(j *job) { j.Inline = inline })
			c.worker("one")
			id := c.startRun(`
a = agent("a", prompt = "Work.")
branches = each(a, limit = 400)
def main(n = int):
    return str(len(branches(["branch %d size=10 " % i + "y" * 50000 for i in range(n)])))
`, withArgs(map[string]any{"n": 200}))
			c.wantDone(id, "200")
			c.wantEffects(200)
			if inline == 0 {
				c.wantSmall(id)
			}
		})
	}
}

// Promise 31.22 (temporal): a run may have 20,000 effects.
//
// It has 2,000 effects if AGENTSCRIPT_TEMPORAL_FULL is not set.
func TestPromise_31_22_ManyEffects(t *testing.T) {
	n := 20_000
	if !full() {
		n = 2_000
	}
	c := newCluster(t, shared(t))
	c.worker("one")
	id := c.startRun(`
a = agent("a", prompt = "Work.")
branches = each(a, limit = 400)
def main(n = int):
    rounds = 0
    for i in range(n // 100):
        rounds += len(branches(["branch %d %d" % (i, k) for k in range(100)]))
    return str(rounds)
`, withArgs(map[string]any{"n": n}), withCallLimit(n))
	info := c.waitEnd(id)
	if info.Status != engine.RunDone || info.Steps != n {
		t.Errorf("%s %s, %d steps", info.Status, info.Err, info.Steps)
	}
	c.wantEffects(n)
	c.wantSmall(id)
	t.Logf("%d effects in %d histories", n, len(c.histories(id)))
}
