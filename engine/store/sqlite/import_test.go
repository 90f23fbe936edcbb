package sqlite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store/files"
)

// TestImportSessions: sessions that were kept in files are taken over once, with what they know of writes in flight; what
// cannot be is named, and stays.
func TestImportSessions(t *testing.T) {
	dir := t.TempDir()
	old, err := files.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]string{"one": "first", "bytes": "\xff\x00", "Two": "second", "damaged": "x", "busy": "y", "there": "z"}
	for id, text := range kept {
		held, err := old.OpenSession(t.Context(), id, "a.star")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := held.Save(t.Context(), "k", "op "+id, text); err != nil {
			t.Fatal(err)
		}
		if id == "busy" {
			defer held.Close()
			continue
		}
		if err := held.Close(); err != nil {
			t.Fatal(err)
		}
	}
	broken, err := filepath.Glob(filepath.Join(dir, "damaged*.session"))
	if err != nil || len(broken) != 1 {
		t.Fatal(broken, err)
	}
	if err := os.Truncate(broken[0], 90); err != nil {
		t.Fatal(err)
	}
	s := open(t, filepath.Join(dir, "runs.db"))
	there, err := s.OpenSession(t.Context(), "there", "b.star")
	if err != nil {
		t.Fatal(err)
	}
	if err := there.Close(); err != nil {
		t.Fatal(err)
	}
	for round, want := range []int{3, 0, 0} {
		n, err := s.ImportSessions(t.Context(), dir)
		if n != want {
			t.Errorf("round %d took over %d", round, n)
		}
		for _, why := range []string{"is damaged", "busy", `session "there" cannot be taken over`} {
			if err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("round %d: %v does not say %q", round, err, why)
			}
		}
		if round == 1 { // as if the process had ended before it renamed the file
			moved, err := filepath.Glob(filepath.Join(dir, "one*.imported"))
			if err != nil || len(moved) != 1 {
				t.Fatal(moved, err)
			}
			if err := os.Rename(moved[0], strings.TrimSuffix(moved[0], ".imported")); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, id := range []string{"one", "bytes", "Two"} {
		held, err := s.OpenSession(t.Context(), id, "a.star")
		if err != nil {
			t.Fatal(err)
		}
		if e, err := held.Save(t.Context(), "k", "op "+id, "again"); err != nil || e != (engine.Entry{Text: kept[id], Version: 1}) {
			t.Errorf("%s: %+v, %v", id, e, err)
		}
		if err := held.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.OpenSession(t.Context(), "one", "b.star"); err == nil {
		t.Error("it belongs to no script any more")
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*.session")); err != nil || len(left) != 3 {
		t.Errorf("left: %q, %v", left, err)
	}
	if n, err := s.ImportSessions(t.Context(), filepath.Join(dir, "none")); n != 0 || err != nil {
		t.Errorf("without a directory: %d, %v", n, err)
	}
}
