package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store/sqlite"
)

// runLocally carries out a run in the process of the job, as on a laptop.
func runLocally(j *job) error {
	kept, err := sqlite.Open(context.Background(), j.Local)
	if err != nil {
		return err
	}
	m, err := recordingEngine(j).LoadBundle(context.Background(), bundle(sequence), "flow.star")
	if err != nil {
		return err
	}
	var args map[string]any
	if err := json.Unmarshal(j.Args, &args); err != nil {
		return err
	}
	run := m.Start(context.Background(), agentscript.StoreRun(kept), agentscript.ID("local"), agentscript.Args(args))
	fmt.Println("ready")
	_, err = run.Wait()
	return err
}

// Promise 31.13 (temporal): a run that began on one machine and was killed halfway can be forked onto Temporal: nothing
// that it recorded is repeated, and only the rest is executed.
func TestPromise_31_13_ForkOfLocal(t *testing.T) {
	t.Parallel()
	c := newCluster(t, shared(t))
	j := c.job
	j.Local, j.Args = filepath.Join(t.TempDir(), "runs.db"), json.RawMessage(`{"n": 10, "words": "sleep=200ms"}`)
	process := startProcess(t, j)
	c.waitEffects(6)
	_ = process.Process.Kill()
	_ = process.Wait()
	kept, err := sqlite.Open(t.Context(), j.Local)
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close() // it is only read
	recorded := map[string]bool{}
	err = kept.Steps(t.Context(), "local", 0, func(s engine.Step) error {
		if s.State == engine.StepDone {
			recorded[s.ID] = true
		}
		return nil
	})
	if err != nil || len(recorded) < 4 || len(recorded) > 6 {
		t.Fatalf("%d effects were recorded, %v", len(recorded), err)
	}
	c.worker("one")
	m, err := recordingEngine(&c.job).LoadBundle(t.Context(), bundle(sequence), "flow.star")
	if err != nil {
		t.Fatal(err)
	}
	id, err := c.Fork(t.Context(), kept, "local", m, "main")
	if err != nil {
		t.Fatal(err)
	}
	c.wantDone(id, "did step 9 sleep=200ms")
	on := map[string]bool{} // effects that began on the server
	for _, s := range c.effectLog() {
		if run, of, _ := strings.Cut(s.ID, " "); s.What == "start" && run == id {
			on[of] = true
		}
	}
	for is := range recorded {
		if on[is] {
			t.Errorf("%s was recorded, and was done again", is)
		}
	}
	if len(on) != 10-len(recorded) {
		t.Errorf("%d effects on the server, %d were recorded before", len(on), len(recorded))
	}
	if got := c.recorded(id); len(got) != len(on) {
		t.Errorf("%d effects in the history", len(got))
	}
}
