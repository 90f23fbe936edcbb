// Package sqlite keeps sessions in one SQLite file, so that they outlive the process. It is pure Go
// and links no C.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Format is the version of the tables. A file of another one is refused.
const Format = 1

// applicationID marks the file as ours, for us and for file(1).
const applicationID = 0x61677363 // "agsc"

// busy is how long a write waits for one of another session or process to end.
const busy = 5 * time.Second

// Sessions is an [engine.SessionStore] in a file. What is saved is on disk when Save returns (WAL,
// synchronous FULL): a process that is killed, or a machine that loses power, loses nothing of it.
// Any number of processes may have the file open.
type Sessions struct {
	db   *sql.DB
	path string
	now  func() time.Time
}

var _ engine.SessionStore = (*Sessions)(nil)

// Open opens a store, and makes the file, with mode 0600, and its directory, with mode 0700, where
// there is none. Beside it are SQLite's own files and a directory of locks. Close it when no run
// uses it any more.
func Open(ctx context.Context, path string) (*Sessions, error) {
	s := &Sessions{path: path, now: time.Now}
	if err := makeFile(path); err != nil {
		return nil, s.failed("open", err)
	}
	db, err := sql.Open("sqlite", dsn(path, "_txlock=immediate", "_pragma=busy_timeout("+fmt.Sprint(busy.Milliseconds())+")",
		"_pragma=journal_mode(WAL)", "_pragma=synchronous(FULL)"))
	if err != nil {
		return nil, s.failed("open", err)
	}
	db.SetMaxOpenConns(1) // one writer at a time is all that SQLite has
	s.db = db
	if err := s.prepare(ctx); err != nil {
		_ = db.Close() // why it failed says more
		return nil, s.failed("open", err)
	}
	return s, nil
}

func dsn(path string, options ...string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}
	if u.Path[0] != '/' { // C:/dir
		u.Path = "/" + u.Path
	}
	u.RawQuery = strings.Join(options, "&")
	return u.String()
}

// makeFile makes the file for its owner alone: what it holds was said to models.
func makeFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

const tables = `
CREATE TABLE sessions (id TEXT PRIMARY KEY, script TEXT NOT NULL, epoch INTEGER NOT NULL, updated INTEGER NOT NULL);
CREATE TABLE entries (session TEXT NOT NULL REFERENCES sessions(id), key TEXT NOT NULL, version INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (session, key));
CREATE TABLE ops (n INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, op TEXT NOT NULL, UNIQUE (session, op));
`

// prepare makes the tables of a new file, and refuses a file of another kind. A file that is ready is
// only read, which needs nobody to stop writing.
func (s *Sessions) prepare(ctx context.Context) error {
	if fresh, err := s.kind(ctx, s.db); err == nil && !fresh {
		return nil
	}
	return s.write(ctx, func(tx *sql.Tx) error {
		fresh, err := s.kind(ctx, tx) // another process may have made it meanwhile
		if err != nil || !fresh {
			return err
		}
		_, err = tx.ExecContext(ctx, fmt.Sprintf("%sPRAGMA application_id = %d; PRAGMA user_version = %d", tables, applicationID, Format))
		return err
	})
}

// kind reports whether the file is a fresh one; the error says what it is when this version cannot
// read it.
func (s *Sessions) kind(ctx context.Context, db interface {
	QueryRowContext(context.Context, string, ...any) *sql.Row
}) (fresh bool, err error) {
	var app, format, made int64
	for query, to := range map[string]*int64{"PRAGMA application_id": &app, "PRAGMA user_version": &format, "SELECT count(*) FROM sqlite_master": &made} {
		if err := db.QueryRowContext(ctx, query).Scan(to); err != nil {
			return false, err
		}
	}
	switch {
	case made == 0 && app == 0:
		return true, nil
	case app != applicationID:
		return false, engine.Errorf(engine.KindStore, diag.StoreFailed, "%s is a database of something else, and no store of sessions", s.path).
			WithHelp("name another file")
	case format != Format:
		return false, engine.Errorf(engine.KindStore, diag.StoreFailed, "%s has format %d, and this version of agentscript reads %d", s.path, format, Format).
			WithHelp("use the version that wrote it, or another file")
	}
	return false, nil
}

// Close closes the file.
func (s *Sessions) Close() error { return s.failed("close", s.db.Close()) }

// write runs f in a transaction that has the right to write from its beginning.
func (s *Sessions) write(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// failed makes an error of a store typed, with what can be done about it.
func (s *Sessions) failed(what string, err error) error {
	if own, ok := errors.AsType[*engine.Error](err); ok {
		return own
	}
	if err == nil {
		return nil
	}
	e := engine.Errorf(engine.KindStore, diag.StoreFailed, "cannot %s the store of sessions %s: %w", what, s.path, err)
	db, ok := errors.AsType[*sqlite.Error](err)
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist):
		e.Help = "name a file in a directory that can be written"
	case !ok:
	case primary(db) == lib.SQLITE_BUSY:
		e.Help = fmt.Sprintf("another process has held it for %s: let it end, or see what it does", busy)
	case primary(db) == lib.SQLITE_CORRUPT, primary(db) == lib.SQLITE_NOTADB:
		e.Help = "the file is damaged or no database: restore it from a copy, or name another file"
	case primary(db) == lib.SQLITE_FULL, primary(db) == lib.SQLITE_IOERR:
		e.Help = "see that the disk has room and can be written"
	case primary(db) == lib.SQLITE_READONLY, primary(db) == lib.SQLITE_CANTOPEN:
		e.Help = "see that the file and its directory can be written"
	}
	return e
}

// primary is the class of an error, without its detail.
func primary(e *sqlite.Error) int { return e.Code() & 0xff }
