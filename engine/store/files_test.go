package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentscript/agentscript/diag"
)

// names are the files of a store, without its locks.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".lock") {
			out = append(out, e.Name())
		}
	}
	return out
}

// TestFileOfOtherSession: a file that was copied in the place of another session's is refused: what is
// saved would go to the session that it was copied from, which nobody has taken.
func TestFileOfOtherSession(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, "files", dir)
	one := taken(t, s, "one")
	saved(t, one, "k", "op", "first")
	closed(t, one)
	file := filepath.Join(dir, "sessions", names(t, dir)[0])
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	closed(t, taken(t, s, "two"))
	two := filepath.Join(dir, "sessions", names(t, dir)[1])
	if err := os.WriteFile(two, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.OpenSession(t.Context(), "two", "a.star"); !is(err, diag.StoreFailed) || !strings.Contains(err.Error(), `"one"`) {
		t.Errorf("taken: %v", err)
	}
	if _, err := s.ReadSession(t.Context(), "two"); !is(err, diag.StoreFailed) {
		t.Errorf("read: %v", err)
	}
	if all, err := s.Sessions(t.Context()); !is(err, diag.StoreFailed) || len(all) != 1 || all[0].ID != "one" {
		t.Errorf("listed: %+v, %v", all, err)
	}
	if err := s.DeleteSession(t.Context(), "two"); err != nil {
		t.Error(err)
	}
}

// TestListBesideDamaged: a file that is damaged does not hide the others.
func TestListBesideDamaged(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, "files", dir)
	for _, id := range []string{"a", "b", "c"} {
		closed(t, taken(t, s, id))
	}
	if err := os.Truncate(filepath.Join(dir, "sessions", names(t, dir)[1]), 10); err != nil {
		t.Fatal(err)
	}
	all, err := s.Sessions(t.Context())
	if !is(err, diag.StoreFailed) || len(all) != 2 || all[0].ID != "a" || all[1].ID != "c" {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestKilledLeavesNothing: what processes leave that are killed in the midst of a write is one file of
// each session at most, which the next write takes, and which goes with the session.
func TestKilledLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	s := opened(t, "files", dir)
	open := taken(t, s, "one")
	half := filepath.Join(dir, "sessions", names(t, dir)[0]+".new")
	if err := os.WriteFile(half, []byte("half of a ses"), 0o600); err != nil { // as a killed process leaves it
		t.Fatal(err)
	}
	saved(t, open, "k", "op", "first")
	closed(t, open)
	if left := names(t, dir); len(left) != 1 {
		t.Errorf("left: %q", left)
	}
	if err := os.WriteFile(half, []byte("half of a ses"), 0o600); err != nil {
		t.Fatal(err)
	}
	if all, err := s.Sessions(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	if err := s.DeleteSession(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	if left := names(t, dir); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}
