package e2e

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/internal/exampleruns"
)

const repository = "../../.."

// portableRun is a run of a script with the same result wherever it is carried out.
type portableRun struct {
	name, file string
	double     double
	opts       func(t *testing.T, m *agentscript.Module) agentscript.RunOption
	want       string // "": the local result
}

// allRuns lists the runs of examples and of test flows.
func allRuns(t *testing.T) (runs []portableRun) {
	for _, ex := range exampleruns.All {
		if ex.Grants != nil {
			continue
		}
		answers := filepath.Join(repository, "examples", strings.TrimSuffix(ex.File, ".star")+".jsonl")
		runs = append(runs, portableRun{ex.Name(), filepath.Join(repository, "examples", ex.File), double{Answers: answers},
			func(t *testing.T, _ *agentscript.Module) agentscript.RunOption { return ex.Options(t, repository)[0] }, ex.Want})
	}
	files, err := filepath.Glob(filepath.Join(repository, "starlib", "testdata", "flows", "*.star"))
	if err != nil || len(files) == 0 {
		t.Fatal("there are no test flows", err)
	}
	for _, file := range files {
		flow := exampleruns.ReadFlow(t, file)
		for _, c := range flow.Cases {
			runs = append(runs, portableRun{fmt.Sprintf("%s:%d", filepath.Base(file), c.Line), file, double{Texts: flow.Texts}, c.Option, ""})
		}
	}
	for i := range runs {
		runs[i].double.Run = fmt.Sprintf("%s-%d", t.Name(), i)
	}
	return runs
}

// compareRuns runs all of them in this process and on the server, and compares the results and the effects.
func compareRuns(t *testing.T, set func(*job)) {
	runs := allRuns(t)
	c := newCluster(t, shared(t), set)
	for _, r := range runs {
		c.job.Doubles = append(c.job.Doubles, r.double)
	}
	c.worker("one")
	e, err := preparedEngine(c.job.Doubles)
	if err != nil {
		t.Fatal(err)
	}
	begin := func(r portableRun, to func(m *agentscript.Module, opts ...agentscript.RunOption)) {
		m, err := e.LoadFile(t.Context(), r.file)
		if err != nil {
			t.Fatal(err)
		}
		to(m, r.opts(t, m), agentscript.ID(r.double.Run), agentscript.Seed(1))
	}
	for _, r := range runs { // on the server they run concurrently
		begin(r, func(m *agentscript.Module, opts ...agentscript.RunOption) {
			if _, err := c.Start(t.Context(), m, "main", opts...); err != nil {
				t.Fatalf("%s: %v", r.name, err)
			}
		})
	}
	for _, r := range runs {
		begin(r, func(m *agentscript.Module, opts ...agentscript.RunOption) {
			kept := store.NewMemory()
			result, failed := m.Start(t.Context(), append(opts, agentscript.StoreRun(kept))...).Wait()
			info := c.waitEnd(r.double.Run)
			var e engine.Error
			switch {
			case failed == nil && (info.Status != engine.RunDone || info.Text != result.Text()):
				t.Errorf("%s: %s %q %s, locally %q", r.name, info.Status, info.Text, info.Err, result.Text())
			case failed != nil && (json.Unmarshal(info.Err, &e) != nil || e.Error() != failed.Error()):
				t.Errorf("%s: %s %s, locally %v", r.name, info.Status, info.Err, failed)
			case r.want != "" && info.Text != r.want:
				t.Errorf("%s: got %q, want %q", r.name, info.Text, r.want)
			}
			if a, b := effectIDs(t, c, r.double.Run), effectIDs(t, kept, r.double.Run); !slices.Equal(a, b) {
				t.Errorf("%s: the effects are\n%s\nlocally\n%s", r.name, strings.Join(a, "\n"), strings.Join(b, "\n"))
			}
		})
	}
	t.Logf("%d runs", len(runs))
}

// effectIDs lists the effects of a run with their states.
func effectIDs(t *testing.T, s interface {
	engine.Store
}, run string) (all []string) {
	t.Helper()
	if _, err := s.Run(t.Context(), run); err != nil {
		return nil // it was refused before it began
	}
	err := s.Steps(t.Context(), run, 0, func(step engine.Step) error {
		all = append(all, step.ID+" "+string(step.State))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// Promise 31.2 (temporal): every example and test flow that touches no local process has the same result on a server as
// on one machine, byte for byte and with the same effects.
func TestPromise_31_2_SameOnServer(t *testing.T) {
	compareRuns(t, func(*job) {})
}

// Promise 31.3 (temporal): every example and test flow that touches no local process also has the same result on a
// server, byte for byte and with the same effects, when workers keep nothing in memory and replay the history for every
// task.
func TestPromise_31_3_SameWhenReplayed(t *testing.T) {
	compareRuns(t, func(j *job) { j.Sticky = 0 })
	c := newCluster(t, shared(t), func(j *job) { j.Sticky = 0 })
	c.worker("one")
	c.wantDone(c.startRun(sequence, withN(20, "")), "did step 19 ")
	c.wantEffects(20)
}
