package sqlite_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store/sqlite"
)

// whole fails the test unless SQLite's integrity check passes.
func whole(t testing.TB, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var says string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&says); err != nil || says != "ok" {
		t.Errorf("%s: %s, %v", path, says, err)
	}
}

// stepIDs returns the ids of a run's steps. Their Seqs must increase by one.
func stepIDs(t testing.TB, s *sqlite.Store, id string) []string {
	t.Helper()
	var ids []string
	err := s.Steps(t.Context(), id, 0, func(st engine.Step) error {
		if ids = append(ids, st.ID); st.Seq != int64(len(ids)) {
			t.Errorf("%s: step %d has number %d", id, len(ids), st.Seq)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return ids
}

// Promise 30.5 (durable): everything that was acknowledged is found after the process was killed, in 20 kills over 16
// runs.
//
// The runs can be taken over immediately.
func TestPromise_30_5_AcknowledgedIsKept(t *testing.T) {
	kills := 20
	if testing.Short() {
		kills = 4
	}
	path := filepath.Join(t.TempDir(), "runs.db")
	written := map[string]int{} // by run, how many steps were reported
	note := func(said ...string) {
		for _, line := range said {
			var id string
			var n int
			if _, err := fmt.Sscanf(line, "wrote %s %d", &id, &n); err != nil {
				t.Fatalf("the child says %q", line)
			}
			written[id] = n + 1
		}
	}
	name := ""
	for kill := range kills {
		if kill%3 == 0 { // the previous runs may have ended
			name = fmt.Sprintf("round%d-", kill)
		}
		c := start(t, "flows", path, name)
		if kill%5 != 4 && c.out.Scan() { // otherwise it is killed while it creates the file or its runs
			note(c.out.Text())
		}
		time.Sleep(time.Duration(5+rand.IntN(100)) * time.Millisecond)
		said := c.kill(t)
		if n := len(said); n > 0 { // the last line may be incomplete
			note(said[:n-1]...)
		}
		s := open(t, path)
		for id, n := range written {
			ids := stepIDs(t, s, id)
			if len(ids) < n {
				t.Errorf("kill %d: %s has %d steps, and was told to have %d", kill, id, len(ids), n)
			}
			for i, got := range ids {
				if got != fmt.Sprint("step", i) {
					t.Fatalf("kill %d: %s has %s at %d", kill, id, got, i)
				}
			}
		}
		if runs, err := s.Runs(t.Context(), engine.RunFilter{Prefix: name}); err != nil || len(runs) == 0 && kill%5 != 4 {
			t.Errorf("kill %d: %d runs, %v", kill, len(runs), err)
		} else if len(runs) == 0 {
			t.Logf("kill %d: before a run was made", kill)
		} else if begun := time.Now(); true {
			r, err := s.TakeRun(t.Context(), runs[0].ID, engine.Owner{})
			if err != nil {
				t.Fatalf("kill %d: the run of a process that was killed: %v", kill, err)
			}
			t.Logf("kill %d: %d runs, taken after %s", kill, len(runs), time.Since(begun))
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		whole(t, path)
	}
}

// TestManyProcesses: any number of processes write to one file at the same time.
func TestManyProcesses(t *testing.T) {
	processes := 4
	if testing.Short() {
		processes = 2
	}
	path := filepath.Join(t.TempDir(), "runs.db")
	begun := time.Now()
	var all []*child
	for p := range processes { // which also create the file at the same time
		all = append(all, start(t, "flows", path, fmt.Sprintf("p%d-", p)))
	}
	for _, c := range all {
		if said, err := c.wait(); err != nil {
			t.Fatalf("%v: %q", err, said[max(len(said)-2, 0):])
		}
	}
	t.Logf("%d steps by %d processes in %s", processes*16*perFlow, processes, time.Since(begun))
	s := open(t, path)
	runs, err := s.Runs(t.Context(), engine.RunFilter{Status: []engine.RunStatus{engine.RunDone}})
	if err != nil || len(runs) != processes*16 {
		t.Fatalf("%d runs, %v", len(runs), err)
	}
	for _, r := range runs {
		if n := len(stepIDs(t, s, r.ID)); n != perFlow || r.Steps != perFlow || r.Owner.PID != 0 {
			t.Errorf("%s has %d steps: %+v", r.ID, n, r)
		}
	}
	whole(t, path)
}
