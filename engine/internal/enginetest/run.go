package enginetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/flow"
	"github.com/agentscript/agentscript/engine/policy"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/generable"
)

// IDs collects the effect ids of a run.
type IDs struct {
	mu  sync.Mutex
	All []string
}

// Listener returns the listener that collects.
func (i *IDs) Listener() engine.Listener {
	return engine.Listener{Kinds: engine.EventEffect, Emit: func(ev engine.Event) {
		if ev.Phase() == engine.PhaseEnd {
			i.mu.Lock()
			i.All = append(i.All, ev.ID)
			i.mu.Unlock()
		}
	}}
}

// Set returns the ids in order, one a line.
func (i *IDs) Set() string {
	slices.Sort(i.All)
	return strings.Join(i.All, "\n")
}

// Everywhere runs a spec on goroutines, on the cooperative scheduler with several seeds and
// on replay, and demands equal results and equal effect ids. It returns the result.
func Everywhere(t *testing.T, spec run.Spec) (generable.Value, error) {
	t.Helper()
	if spec.Handler == nil {
		spec.Handler = Echo
	}
	record := &store.Memory{}
	var first IDs
	spec.Journal, spec.Listener = record, first.Listener()
	want, wantErr := run.Exec(sched.NewGoSched(t.Context()), &spec)
	check := func(how string, s engine.Sched, j engine.Journal, h engine.Handler) {
		t.Helper()
		var seen IDs
		again := spec
		again.Journal, again.Handler, again.Listener = j, h, seen.Listener()
		got, err := run.Exec(s, &again)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%s: error %v, on goroutines %v", how, err, wantErr)
		}
		if err == nil && !generable.Equal(got, want) {
			t.Errorf("%s: %s, on goroutines %s", how, generable.JSON(got, nil), generable.JSON(want, nil))
		}
		if wantErr == nil && seen.Set() != first.Set() {
			t.Errorf("%s: effect ids\n%s\non goroutines\n%s", how, seen.Set(), first.Set())
		}
	}
	for seed := range uint64(5) {
		check(fmt.Sprintf("cooperative, seed %d", seed), sched.NewCoopSched(seed), &store.Memory{}, spec.Handler)
	}
	if wantErr == nil {
		check("replay", sched.NewGoSched(t.Context()), record, Refuse)
		check("cooperative replay", sched.NewCoopSched(99), record, Refuse)
	}
	return want, wantErr
}

// RunNode runs a node on goroutines with a text as its input.
func RunNode(t *testing.T, main *flow.Node, h engine.Handler, in string) (generable.Value, error) {
	t.Helper()
	return run.Exec(sched.NewGoSched(t.Context()), &run.Spec{Node: main, Input: generable.StrOf(in), Handler: h, Model: "test/model"})
}

// Schedulers runs a test on goroutines, whose hang or leak fails it at once, and on the cooperative scheduler with
// several seeds.
func Schedulers(t *testing.T, f func(t *testing.T, s engine.Sched)) {
	t.Run("goroutines", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { f(t, sched.NewGoSched(t.Context())) })
	})
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { f(t, sched.NewCoopSched(seed)) })
	}
}

// Policy makes a policy of rules.
func Policy(t testing.TB, r policy.Rules) *policy.Policy {
	t.Helper()
	p, err := policy.New("the test", r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
