package sqlite_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store/sqlite"
)

// fill creates n runs that have one step and are done.
func fill(t testing.TB, s *sqlite.Store, n int) {
	var all sync.WaitGroup
	for w := range 64 {
		all.Go(func() {
			for i := w; i < n; i += 64 {
				r, err := s.CreateRun(t.Context(), engine.RunHead{ID: fmt.Sprintf("run%06d", i), Script: "a.star", Bundle: "b"}, engine.Owner{})
				if err == nil {
					err = r.Put(t.Context(), answered(i), false)
				}
				if err == nil {
					err = r.End(t.Context(), engine.RunEnd{Status: engine.RunDone, Text: "ok"})
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// shortRun does what a command does with a store for a run with one effect.
func shortRun(t testing.TB, path, id string) {
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.PutBundle(t.Context(), "b", engine.Bundle{Entry: "a.star", Files: map[string][]byte{"a.star": []byte("main = 1")}}); err != nil {
		t.Fatal(err)
	}
	r, err := s.CreateRun(t.Context(), engine.RunHead{ID: id, Bundle: "b"}, engine.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Put(t.Context(), answered(0), true); err != nil {
		t.Fatal(err)
	}
	if err := r.End(t.Context(), engine.RunEnd{Status: engine.RunDone}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestAllocations bounds the allocations for writing and reading a step. The benchmarks report times.
func TestAllocations(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "runs.db"), sqlite.Process())
	r, err := s.CreateRun(t.Context(), engine.RunHead{ID: "one"}, engine.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	steps := make([]engine.Step, 1001) // one for the warm-up
	for i := range steps {
		steps[i] = answered(i)
	}
	next := 0
	put := testing.AllocsPerRun(len(steps)-1, func() {
		if err := r.Put(t.Context(), steps[next], true); err != nil {
			t.Fatal(err)
		}
		next++
	})
	read := testing.AllocsPerRun(5, func() {
		if err := s.Steps(t.Context(), "one", 0, func(engine.Step) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}) / float64(len(steps))
	t.Logf("a step takes %.0f allocations to write and %.0f to read", put, read)
	if put > 90 || read > 40 {
		t.Error("that is more than it was")
	}
}
