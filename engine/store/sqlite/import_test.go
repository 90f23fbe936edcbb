package sqlite_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/disk"
	"github.com/agentscript/agentscript/engine/store/sqlite"
)

// keepAsFile writes a session with one text under "k" in the form of an earlier version, and returns its path.
func keepAsFile(t *testing.T, dir, id, text string) string {
	t.Helper()
	body, err := json.Marshal(map[string]any{"id": id, "script": "a.star", "ops": []string{"op " + id},
		"raw":     []any{map[string]any{"key": []byte("raw"), "text": []byte("\xff\x00"), "version": 7}},
		"entries": map[string]any{"k": map[string]any{"text": text, "version": 1}}})
	if err != nil {
		t.Fatal(err)
	}
	sum, of := sha256.Sum256(body), sha256.Sum256([]byte(id))
	path := filepath.Join(dir, strings.ToLower(id)+"-"+hex.EncodeToString(of[:4])+".session")
	whole := fmt.Sprintf("{\"agentscript_session\":1,\"sha256\":%q}\n%s", hex.EncodeToString(sum[:]), body)
	if err := os.WriteFile(path, []byte(whole), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestImportSessions: sessions kept in files are taken over once, including what they know about writes in flight.
// Those that cannot be taken over are named, and stay.
func TestImportSessions(t *testing.T) {
	dir := t.TempDir()
	kept, at := map[string]string{"one": "first", "Two": "second", "damaged": "x", "busy": "y", "there": "z"}, map[string]string{}
	for id, text := range kept {
		at[id] = keepAsFile(t, dir, id, text)
	}
	lock, err := disk.Lock(strings.TrimSuffix(at["busy"], ".session") + ".lock") // as a run of an earlier version locks it
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := os.Truncate(at["damaged"], 90); err != nil {
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
	for round, want := range []int{2, 0, 0} {
		n, err := s.ImportSessions(t.Context(), dir)
		if n != want {
			t.Errorf("round %d took over %d", round, n)
		}
		for _, why := range []string{"is damaged", `session "busy" is in use`, `session "there" cannot be taken over`} {
			if err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("round %d: %v does not say %q", round, err, why)
			}
		}
		if round == 1 { // as if the process had ended before it renamed the file
			if err := os.Rename(at["one"]+".imported", at["one"]); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, id := range []string{"one", "Two"} {
		held, err := s.OpenSession(t.Context(), id, "a.star")
		if err != nil {
			t.Fatal(err)
		}
		if e, err := held.Save(t.Context(), "k", "op "+id, "again"); err != nil || e != (engine.Entry{Text: kept[id], Version: 1}) {
			t.Errorf("%s: %+v, %v", id, e, err)
		}
		if e, err := held.Load(t.Context(), "raw"); err != nil || e != (engine.Entry{Text: "\xff\x00", Version: 7}) {
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

// TestImportOneSession: one session is taken over by its id; a file under the name of another session does not belong
// to it.
func TestImportOneSession(t *testing.T) {
	dir := t.TempDir()
	one, two := keepAsFile(t, dir, "one", "first"), keepAsFile(t, dir, "two", "second")
	copied, err := os.ReadFile(one)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(two, copied, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, filepath.Join(dir, "runs.db"))
	for _, id := range []string{"one", "one", "none"} {
		if err := s.ImportSession(t.Context(), dir, id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	if err := s.ImportSession(t.Context(), dir, "two"); !errors.Is(err, &engine.Error{Code: diag.StoreFailed}) || !strings.Contains(err.Error(), `a copy of session "one"`) {
		t.Errorf("a copy: %v", err)
	}
	if err := s.ImportSession(t.Context(), dir, "../one"); !errors.Is(err, &engine.Error{Code: diag.BadSession}) {
		t.Errorf("no id: %v", err)
	}
	if all, err := s.Sessions(t.Context()); err != nil || len(all) != 1 || all[0].ID != "one" || all[0].Entries != 2 {
		t.Errorf("%+v, %v", all, err)
	}
	for id, want := range map[string]bool{"one": true, "two": true, "none": false} {
		if removed, err := sqlite.RemoveSessionFiles(dir, id); err != nil || removed != want {
			t.Errorf("%s: removed %v, %v", id, removed, err)
		}
	}
	for _, suffix := range []string{"*.session", "*.imported"} {
		if left, err := filepath.Glob(filepath.Join(dir, suffix)); err != nil || len(left) != 0 {
			t.Errorf("left: %q, %v", left, err)
		}
	}
}

// TestImportAtOnce: if many stores take over a directory at once, each session is taken over by one store, and none
// of the stores fails.
func TestImportAtOnce(t *testing.T) {
	dir := t.TempDir()
	const sessions, stores = 20, 4
	for i := range sessions {
		keepAsFile(t, dir, fmt.Sprint("s", i), fmt.Sprint("text ", i))
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	taken := 0
	for range stores {
		s := open(t, filepath.Join(dir, "runs.db"))
		all.Go(func() {
			n, err := s.ImportSessions(t.Context(), dir)
			if err != nil {
				t.Error(err)
			}
			found, err := s.Sessions(t.Context())
			if err != nil || len(found) != sessions {
				t.Errorf("%d sessions after it, %v", len(found), err)
			}
			mu.Lock()
			defer mu.Unlock()
			taken += n
		})
	}
	all.Wait()
	if taken != sessions {
		t.Errorf("%d were taken over, want %d", taken, sessions)
	}
}
