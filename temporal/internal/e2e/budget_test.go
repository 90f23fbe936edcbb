package e2e

import (
	"encoding/json"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
)

// Promise 31.21 (temporal): a budget of a run, and one of a script, apply to all workers together.
func TestPromise_31_21_WholeBudgets(t *testing.T) {
	shared(t)
	t.Parallel()
	for name, tt := range map[string]struct {
		script   string
		settings string
		effects  int
	}{
		"run":    {fan, `{"Calls": 25}`, 25},
		"script": {"a = agent(\"a\", prompt = \"Work.\")\nall = bounded(each(a, limit = 400), budget(model_calls = 30))\ndef main(n = int, words = \"\"):\n    return all([\"branch %d\" % i for i in range(n)])\n", "", 30},
		"tokens": {"a = agent(\"a\", prompt = \"Work.\", max_tokens = 50)\nall = bounded(each(a, limit = 400), budget(tokens = 2000))\ndef main(n = int, words = \"\"):\n    return all([\"branch %d\" % i for i in range(n)])\n", "", 2000 / 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, shared(t), func(j *job) { j.Slots = 5 })
			c.worker("one")
			c.worker("two")
			opts := []agentscript.RunOption{withN(300, "sleep=50ms")}
			if tt.settings != "" {
				opts = append(opts, agentscript.RunSettings(json.RawMessage(tt.settings)))
			}
			id := c.startRun(tt.script, opts...)
			if e := c.wantFailed(id); e.Code != diag.BudgetExceeded {
				t.Errorf("%s %s", e.Code, &e)
			}
			starts, _ := c.counts()
			by := map[string]int{}
			for _, s := range c.effectLog() {
				if s.What == "start" {
					by[s.Worker]++
				}
			}
			if len(starts) > tt.effects || len(by) != 2 {
				t.Errorf("%d effects, %v, want at most %d", len(starts), by, tt.effects)
			}
			t.Logf("%d effects, %v", len(starts), by)
		})
	}
}
