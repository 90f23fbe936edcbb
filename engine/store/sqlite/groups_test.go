package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store/sqlite/internal/db"
)

func stored(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func create(t *testing.T, s *Store, id string) engine.OpenRun {
	t.Helper()
	r, err := s.CreateRun(t.Context(), engine.RunHead{ID: id}, engine.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestReplacedInFailedGroup: a step that replaces another does so once, even if its group fails because of another
// write and the step is written again.
func TestReplacedInFailedGroup(t *testing.T) {
	s := stored(t, filepath.Join(t.TempDir(), "runs.db"))
	r := create(t, s, "one")
	if err := r.Put(t.Context(), engine.Step{ID: "a", State: engine.StepIntent}, true); err != nil {
		t.Fatal(err)
	}
	begun, hold := make(chan bool), make(chan bool)
	s.file.Hand(func(*db.Tx) error { close(begun); <-hold; return nil }, func(error) {}, false)
	<-begun
	var all sync.WaitGroup
	hand := func(do func(*db.Tx) error, fails bool) {
		all.Add(1)
		s.file.Hand(do, func(err error) {
			if all.Done(); (err != nil) != fails {
				t.Error(err)
			}
		}, false)
	}
	for _, state := range []engine.StepState{engine.StepWaiting, engine.StepDone} {
		p, err := newStepRow(engine.Step{ID: "a", State: state})
		if err != nil {
			t.Fatal(err)
		}
		hand(func(tx *db.Tx) error { return r.(*openRun).put(tx, p) }, false)
	}
	hand(func(*db.Tx) error { return errors.New("fails") }, true)
	close(hold)
	all.Wait()
	if err := r.Put(t.Context(), engine.Step{ID: "a", State: engine.StepCaught}, true); err != nil {
		t.Fatal(err)
	}
	var found []engine.StepState
	err := s.Steps(t.Context(), "one", 0, func(step engine.Step) error { found = append(found, step.State); return nil })
	if err != nil || len(found) != 1 || found[0] != engine.StepCaught {
		t.Errorf("%q, %v", found, err)
	}
	if info, err := s.Run(t.Context(), "one"); err != nil || info.Steps != 1 || info.Waiting != 0 {
		t.Errorf("%+v, %v", info, err)
	}
}

// TestFences: however the epoch of a run ends, through the same store or another one, the next write of its former
// owner is refused, although that owner has checked its epoch just before.
func TestFences(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s, other := stored(t, path), stored(t, path)
	for name, by := range map[string]*Store{"same": s, "other": other} {
		for what, end := range map[string]func(id string) error{
			"taken": func(id string) error {
				_, err := by.TakeRun(t.Context(), id, engine.Owner{})
				return err
			},
			"cancelled": func(id string) error { return by.CancelRun(t.Context(), id, "enough") },
			"deleted":   func(id string) error { return by.DeleteRun(t.Context(), id) },
		} {
			id := name + "-" + what
			r := create(t, s, id)
			s.HeldBy(id, "expired", time.Unix(0, 1))
			if err := r.Put(t.Context(), engine.Step{ID: "a", State: engine.StepDone}, true); err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			if err := end(id); err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			if err := r.Put(t.Context(), engine.Step{ID: "b", State: engine.StepDone}, true); !errors.Is(err, &engine.Error{Code: diag.RunLost}) {
				t.Errorf("%s: what its former owner writes: %v", id, err)
			}
		}
	}
}

// Promise 30.50 (durable): 16 waiting flows share one commit. Storing a step takes at most 75 allocations, and reading
// one at most 13.
func TestPromise_30_50_StepCost(t *testing.T) {
	s := stored(t, filepath.Join(t.TempDir(), "runs.db"))
	const flows = 16
	var runs [flows]engine.OpenRun
	for i := range runs {
		runs[i] = create(t, s, fmt.Sprint("flow", i))
	}
	hold, begun := make(chan bool), make(chan uint64, 1)
	s.file.Hand(func(tx *db.Tx) error { begun <- tx.N; <-hold; return nil }, func(error) {}, false)
	before := <-begun
	var all sync.WaitGroup
	for _, r := range runs {
		p, err := newStepRow(engine.Step{ID: "a", State: engine.StepDone})
		if err != nil {
			t.Fatal(err)
		}
		all.Add(1)
		s.file.Hand(func(tx *db.Tx) error {
			if tx.N != before { // they join the transaction under way
				t.Errorf("commit %d, want %d", tx.N, before)
			}
			return r.(*openRun).put(tx, p)
		}, func(err error) {
			if all.Done(); err != nil {
				t.Error(err)
			}
		}, false)
	}
	close(hold)
	all.Wait()

	const steps = 1000
	n := 0
	put := testing.AllocsPerRun(steps, func() {
		n++
		if err := runs[0].Put(t.Context(), engine.Step{ID: fmt.Sprint("b", n), State: engine.StepDone, Kind: engine.EffectModel, Outcome: []byte(`{"text":"it is"}`)}, true); err != nil {
			t.Fatal(err)
		}
	})
	read := testing.AllocsPerRun(10, func() {
		if err := s.Steps(t.Context(), "flow0", 0, func(engine.Step) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}) / float64(n+1)
	t.Logf("a step that is kept: %.0f allocations; one that is read: %.1f", put, read)
	if put > 75 || read > 13 {
		t.Error("too many")
	}
}
