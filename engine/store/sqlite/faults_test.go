package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store/sqlite"
	"github.com/agentscript/agentscript/engine/store/storetest"
)

// failed fails the test unless err is an error of a store with advice on what to do.
func failed(t *testing.T, what string, err error) {
	t.Helper()
	e, ok := errors.AsType[*engine.Error](err)
	if !ok || e.Kind != engine.KindStore || e.Code != diag.StoreFailed || e.Help == "" {
		t.Errorf("%s: %v", what, err)
	}
}

// script executes SQL on a file, as another program would.
func script(t *testing.T, path, text string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(text); err != nil {
		t.Fatal(err)
	}
}

// TestForeignFiles: a file that is no store, or a store of a later version, is refused and stays as it is.
func TestForeignFiles(t *testing.T) {
	dir := t.TempDir()
	for name, make := range map[string]func(path string){
		"text":     func(path string) { _ = os.WriteFile(path, []byte(strings.Repeat("no database at all\n", 500)), 0o600) },
		"database": func(path string) { script(t, path, "CREATE TABLE mine (x); INSERT INTO mine VALUES (1)") },
		"marked":   func(path string) { script(t, path, "PRAGMA application_id = 7") },
		"newer": func(path string) {
			s := open(t, path)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			script(t, path, "PRAGMA user_version = 4")
		},
	} {
		path := filepath.Join(dir, name)
		make(path)
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = sqlite.Open(t.Context(), path)
		failed(t, name, err)
		if name == "newer" && !strings.Contains(fmt.Sprint(err), "has format 4, and this version of agentscript reads up to 3") {
			t.Error(err)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s was changed: %v", name, err)
		}
	}
}

func TestPlacesThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "closed"), 0o500); err != nil {
		t.Fatal(err)
	}
	for what, path := range map[string]string{"below a file": "file/runs.db", "a directory": ".", "read-only": "closed/runs.db"} {
		if what == "read-only" && os.Geteuid() <= 0 {
			continue // the user may do everything, or the system has no such directories
		}
		_, err := sqlite.Open(t.Context(), filepath.Join(dir, path))
		failed(t, what, err)
	}
}

// TestDamaged: a page with foreign content is an error, not a panic.
func TestDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, path)
	fill(t, s, 500) // more than a log holds that is left next to its file
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 8192; i < len(data); i++ {
		data[i] = byte(i * 7)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err = sqlite.Open(t.Context(), path); err == nil {
		_, err = s.CreateRun(t.Context(), engine.RunHead{ID: "one"}, engine.Owner{})
		_ = s.Close() // the file is damaged
	}
	failed(t, "damaged", err)
	if e, ok := errors.AsType[*engine.Error](err); ok && !strings.Contains(e.Help, "restore it from a copy") {
		t.Errorf("%v\n%s", err, e.Help)
	}
}

// TestFull: once something could not be written for lack of room, nothing later is written to the run, so that what
// is stored is complete up to there. With room again, the run continues.
func TestFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, path, sqlite.MaxPages(120))
	r, err := s.CreateRun(t.Context(), engine.RunHead{ID: "one"}, engine.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	other, err := s.CreateRun(t.Context(), engine.RunHead{ID: "other"}, engine.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	big := engine.Step{State: engine.StepDone, Outcome: bytes.Repeat([]byte("x"), 40_000)}
	put := 0
	for ; err == nil; put++ {
		big.ID = fmt.Sprint("step", put)
		err = r.Put(t.Context(), big, true)
	}
	failed(t, "full", err)
	if put < 5 {
		t.Errorf("full at step %d", put)
	}
	failed(t, "a small step behind it", r.Put(t.Context(), engine.Step{ID: "small"}, true))
	if err := other.Put(t.Context(), engine.Step{ID: "small"}, true); err != nil {
		t.Errorf("a small step of another run: %v", err)
	}
	for i := 0; err == nil || i < 10; i++ { // a put that does not wait reports it later
		err = other.Put(t.Context(), engine.Step{ID: fmt.Sprint("big", i), Outcome: big.Outcome}, false)
		if err != nil {
			failed(t, "full, later", err)
			break
		}
	}
	failed(t, "the end behind it", other.End(t.Context(), engine.RunEnd{Status: engine.RunDone}))
	failed(t, "closed", other.Close())
	failed(t, "closed", r.Close())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole(t, path)
	s = open(t, path)
	if ids := stepIDs(t, s, "one"); len(ids) != put-1 {
		t.Errorf("%d steps are there, of %d", len(ids), put-1)
	}
	r, err = s.TakeRun(t.Context(), "one", engine.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Put(t.Context(), big, true); err != nil {
		t.Error(err)
	}
}

// TestHeldByAnother: a write waits for that of another process, and fails if that takes too long. After that nothing
// more is written to the run.
func TestHeldByAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, path, sqlite.Busy(2*time.Second))
	r, err := s.CreateRun(t.Context(), engine.RunHead{ID: "one"}, engine.Owner{})
	if err != nil {
		t.Fatal(err)
	}
	other, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	hold := func() (release func()) {
		conn, err := other.Conn(t.Context())
		if err == nil {
			_, err = conn.ExecContext(t.Context(), "BEGIN IMMEDIATE")
		}
		if err != nil {
			t.Fatal(err)
		}
		return func() {
			if _, err := conn.ExecContext(context.WithoutCancel(t.Context()), "ROLLBACK"); err != nil {
				t.Error(err)
			}
			conn.Close()
		}
	}
	release := hold()
	time.AfterFunc(50*time.Millisecond, release)
	if err := r.Put(t.Context(), answered(0), true); err != nil {
		t.Errorf("it had only to wait: %v", err)
	}
	release = hold()
	first := r.Put(t.Context(), answered(1), true)
	release()
	failed(t, "held for too long", first)
	if e, ok := errors.AsType[*engine.Error](first); ok && !strings.Contains(e.Help, "another process has held it for 2s") {
		t.Errorf("%v: %s", e, e.Help)
	}
	failed(t, "what would be found without it", r.Put(t.Context(), answered(2), true))
	failed(t, "what could not be written", r.Close())
	if info, err := s.Run(t.Context(), "one"); err != nil || info.Steps != 1 || info.Live {
		t.Errorf("%+v, %v", info, err)
	}
}

// TestFormerFormat: a file that held only sessions can hold runs, too, once it was opened; its sessions remain.
func TestFormerFormat(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	script(t, path, `PRAGMA journal_mode = WAL; PRAGMA application_id = 0x61677363; PRAGMA user_version = 1;
		CREATE TABLE sessions (id TEXT PRIMARY KEY, script TEXT NOT NULL, epoch INTEGER NOT NULL, updated INTEGER NOT NULL);
		CREATE TABLE entries (session TEXT NOT NULL REFERENCES sessions(id), key TEXT NOT NULL, version INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (session, key));
		CREATE TABLE ops (n INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, op TEXT NOT NULL, UNIQUE (session, op));
		INSERT INTO sessions VALUES ('ada', 'a.star', 7, 1000);
		INSERT INTO entries VALUES ('ada', 'k', 3, 'said');
		INSERT INTO ops (session, op) VALUES ('ada', 'op3')`)
	s := open(t, path)
	held, err := s.OpenSession(t.Context(), "ada", "a.star")
	if err != nil {
		t.Fatal(err)
	}
	if e, err := held.Save(t.Context(), "k", "op3", "again"); err != nil || e != (engine.Entry{Text: "said", Version: 3}) {
		t.Errorf("%+v, %v", e, err)
	}
	if err := held.Close(); err != nil {
		t.Error(err)
	}
	fill(t, s, 3)
	if runs, err := s.Runs(t.Context(), engine.RunFilter{}); err != nil || len(runs) != 3 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole(t, path)
	again := open(t, path)
	if done, err := again.Collect(t.Context(), sqlite.Retention{Bytes: 1}); err != nil || done.Runs != 3 || done.Bytes <= 0 {
		t.Errorf("a file of the former format does not become smaller: %+v, %v", done, err)
	}
}

func TestSessions(t *testing.T) {
	storetest.Sessions(t, func(t *testing.T) engine.SessionStore { return open(t, filepath.Join(t.TempDir(), "runs.db")) })
}
