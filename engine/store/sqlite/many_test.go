package sqlite_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store/sqlite"
)

// fill makes runs of one step, which are done.
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

// shortRun is what a command does with a store whose run has one effect.
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
