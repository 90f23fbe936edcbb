package sqlite_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store/sqlite"
)

// formatTwo converts a current file to format 2, in which the steps of a run were stored together, with run << 32 |
// seq as their keys, and were found by a hash.
const formatTwo = `
	CREATE TABLE old (pos INTEGER PRIMARY KEY, run INTEGER NOT NULL, hash INTEGER NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL,
		kind TEXT NOT NULL, name TEXT NOT NULL, agent TEXT NOT NULL, class TEXT NOT NULL, key TEXT NOT NULL, begun INTEGER NOT NULL,
		ended INTEGER NOT NULL, taken INTEGER NOT NULL, usage TEXT NOT NULL, types, request, outcome);
	INSERT INTO old SELECT run << 32 | seq, run, random(), id, state, kind, name, agent, class, key, begun, ended, taken, usage, types, request, outcome FROM steps;
	DROP TABLE steps;
	ALTER TABLE old RENAME TO steps;
	CREATE INDEX steps_id ON steps (run, hash);
	PRAGMA user_version = 2`

// TestStepsTogether: a file in which the steps of a run are stored together is converted to the current format. Its
// runs continue, their steps are replaced, and they are removed completely.
func TestStepsTogether(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, path)
	runs := make([]engine.OpenRun, 3)
	for i := range runs {
		r, err := s.CreateRun(t.Context(), engine.RunHead{ID: fmt.Sprint("run", i)}, engine.Owner{})
		if err != nil {
			t.Fatal(err)
		}
		runs[i] = r
	}
	for n := range 40 {
		for _, r := range runs {
			step := answered(n % 30) // the first ten are written twice
			step.Name = fmt.Sprint("put", n)
			if err := r.Put(t.Context(), step, false); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, r := range runs {
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	script(t, path, formatTwo)

	s = open(t, path)
	names := func(id string) (all []string) {
		last := int64(0)
		err := s.Steps(t.Context(), id, 0, func(step engine.Step) error {
			if step.Seq <= last {
				t.Errorf("%s: %d behind %d", id, step.Seq, last)
			}
			last = step.Seq
			all = append(all, step.Name)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	for i := range runs {
		if all := names(fmt.Sprint("run", i)); len(all) != 30 || all[0] != "put10" || all[29] != "put39" {
			t.Errorf("run%d has %q", i, all)
		}
	}
	r, err := s.TakeRun(t.Context(), "run1", engine.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{20, 30} {
		step := answered(n)
		step.Name = fmt.Sprint("later", n)
		if err := r.Put(t.Context(), step, true); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if all := names("run1"); len(all) != 31 || all[19] != "put30" || all[29] != "later20" || all[30] != "later30" {
		t.Errorf("run1 has %q", all)
	}
	if err := s.DeleteRun(t.Context(), "run0"); err != nil {
		t.Error(err)
	}
	if all := names("run2"); len(all) != 30 {
		t.Errorf("run2 has %q", all)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole(t, path)
	if done, err := open(t, path).Collect(t.Context(), sqlite.Retention{Bytes: 1}); err != nil || done.Runs != 2 {
		t.Errorf("%+v, %v", done, err)
	}
}
