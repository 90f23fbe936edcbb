package sqlite_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store/sqlite"
)

// Promise 30.4 (durable): a store whose log is truncated at any of 500 places contains a prefix of what was committed,
// and is sound.
//
// The prefix spans the commits of all runs. A complete log contains everything that was acknowledged.
func TestPromise_30_4_PowerLoss(t *testing.T) {
	cuts := 500
	if testing.Short() {
		cuts = 60
	}
	path := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, path, sqlite.KeepLog())
	runs := make([]engine.OpenRun, 3)
	for f := range runs {
		r, err := s.CreateRun(t.Context(), engine.RunHead{ID: fmt.Sprint("flow", f)}, engine.Owner{})
		if err != nil {
			t.Fatal(err)
		}
		runs[f] = r
	}
	const n = 150
	order := make([]string, n) // the order in which they were put
	for i := range n {
		st := answered(i)
		st.ID = fmt.Sprint("step", i)
		if i%10 == 0 {
			st.Outcome = make([]byte, 100_000) // stored outside its row
			copy(st.Outcome, fmt.Sprint(i))
		}
		f := i % len(runs)
		if err := runs[f].Put(t.Context(), st, i%4 == 0); err != nil {
			t.Fatal(err)
		}
		order[i] = fmt.Sprint("flow", f, " ", st.ID)
	}
	if err := runs[0].Put(t.Context(), engine.Step{ID: "last"}, true); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	lengths := map[int]bool{}
	dir := t.TempDir()
	for cut := range cuts {
		at := rand.IntN(len(log) + 1)
		if cut == 0 {
			at = len(log)
		}
		image := append([]byte{}, log[:at]...)
		switch cut % 4 {
		case 1: // the file system had extended the file, with nothing in it
			image = append(image, make([]byte, min(rand.IntN(20_000), len(log)-at))...)
		case 2: // or with what was there before
			image = append(image, log[:min(rand.IntN(20_000), len(log)-at)]...)
		}
		copied := filepath.Join(dir, fmt.Sprint(cut), "runs.db")
		if err := os.MkdirAll(filepath.Dir(copied), 0o700); err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string][]byte{copied: file, copied + "-wal": image} {
			if err := os.WriteFile(name, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		left := survivors(t, copied, len(runs))
		for i, what := range order {
			if left[what] != (i < len(left)) {
				t.Fatalf("cut at %d of %d: of %d steps, %q is there: %v", at, len(log), len(left), what, left[what])
			}
		}
		if at == len(log) && len(left) != n {
			t.Errorf("a whole log holds %d steps of %d", len(left), n)
		}
		lengths[len(left)] = true
		if err := os.RemoveAll(filepath.Dir(copied)); err != nil {
			t.Fatal(err)
		}
	}
	if len(lengths) < cuts/20 { // otherwise they were committed together, and the cuts prove little
		t.Errorf("only %d different numbers of steps were found", len(lengths))
	}
}

// survivors returns the steps that a file contains.
func survivors(t *testing.T, path string, runs int) map[string]bool {
	whole(t, path)
	s, err := sqlite.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	left := map[string]bool{}
	for f := range runs {
		id := fmt.Sprint("flow", f)
		if _, err := s.Run(t.Context(), id); err != nil {
			continue // it had not been created yet
		}
		seq := int64(0)
		err := s.Steps(t.Context(), id, 0, func(st engine.Step) error {
			if seq++; st.Seq != seq || len(st.Outcome) == 0 && st.ID != "last" {
				t.Errorf("%s: %+v at %d", id, st, seq)
			}
			if st.ID != "last" {
				left[id+" "+st.ID] = true
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	return left
}
