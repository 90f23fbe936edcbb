package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// Format is the version of the tables. Files of older versions are converted; files of newer ones are refused.
const Format = 3

// applicationID marks the file as ours, for this package and for file(1).
const applicationID = 0x61677363 // "agsc"

// sessionTables are the only tables of a file of format 1.
const sessionTables = `
CREATE TABLE sessions (id TEXT PRIMARY KEY, script TEXT NOT NULL, epoch INTEGER NOT NULL, updated INTEGER NOT NULL);
CREATE TABLE entries (session TEXT NOT NULL REFERENCES sessions(id), key TEXT NOT NULL, version INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (session, key));
CREATE TABLE ops (n INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, op TEXT NOT NULL, UNIQUE (session, op));
`

// runTables hold runs. Times are nanoseconds since 1970; 0 means no time. A value, such as steps.request, is either
// TEXT or a BLOB with the digest of a row in blobs.
//
//   - A run's row changes with each of its steps. Its values are stored outside the row, so that they are written once.
//     Numbers of runs are never reused: an owner of a removed run cannot hold a later one.
//   - A holder is an open store of a process. Its lease covers all runs that it holds.
//   - Steps of all runs are stored in the order of their commits, so that a group of commits changes few pages, whatever
//     runs it belongs to. The steps of a run are found by Seq, through an index with small entries: runs that are written
//     to at the same time share its pages. There is no index of step ids: the owner of the run knows them.
//   - A ref says that run n, or bundle -n, needs a blob. Runs listed in doomed are removed in small steps.
const runTables = `
CREATE TABLE runs (n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, bundle TEXT NOT NULL, abi INTEGER NOT NULL,
	script TEXT NOT NULL, entry TEXT NOT NULL, seed INTEGER NOT NULL, parent TEXT NOT NULL, begun INTEGER NOT NULL,
	status TEXT NOT NULL, prior TEXT NOT NULL DEFAULT '', ended INTEGER NOT NULL DEFAULT 0, epoch INTEGER NOT NULL,
	holder TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, owner TEXT NOT NULL, updated INTEGER NOT NULL,
	seq INTEGER NOT NULL DEFAULT 0, steps INTEGER NOT NULL DEFAULT 0, waiting INTEGER NOT NULL DEFAULT 0,
	usage TEXT NOT NULL DEFAULT '', signals INTEGER NOT NULL DEFAULT 0, cancel TEXT);
CREATE INDEX runs_begun ON runs (begun);
CREATE INDEX runs_holder ON runs (holder) WHERE holder <> '';
CREATE INDEX runs_bundle ON runs (bundle) WHERE bundle <> '';
CREATE TABLE holders (name TEXT PRIMARY KEY, host TEXT NOT NULL, locked INTEGER NOT NULL, lease INTEGER NOT NULL, until INTEGER NOT NULL, beat INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE run_values (n INTEGER PRIMARY KEY, run INTEGER NOT NULL, name TEXT NOT NULL, value NOT NULL, UNIQUE (run, name));
CREATE TABLE steps (pos INTEGER PRIMARY KEY, run INTEGER NOT NULL, seq INTEGER NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL,
	kind TEXT NOT NULL, name TEXT NOT NULL, agent TEXT NOT NULL, class TEXT NOT NULL, key TEXT NOT NULL, begun INTEGER NOT NULL,
	ended INTEGER NOT NULL, taken INTEGER NOT NULL, usage TEXT NOT NULL, types, request, outcome);
CREATE UNIQUE INDEX steps_seq ON steps (run, seq);
CREATE TABLE signals (run INTEGER NOT NULL, seq INTEGER NOT NULL, step TEXT NOT NULL, name TEXT NOT NULL, dedup TEXT NOT NULL,
	by TEXT NOT NULL, at INTEGER NOT NULL, value, PRIMARY KEY (run, seq));
CREATE UNIQUE INDEX signals_dedup ON signals (run, dedup) WHERE dedup <> '';
CREATE TABLE blobs (n INTEGER PRIMARY KEY, sha BLOB NOT NULL UNIQUE, data BLOB NOT NULL);
CREATE TABLE refs (run INTEGER NOT NULL, sha BLOB NOT NULL, PRIMARY KEY (run, sha)) WITHOUT ROWID;
CREATE INDEX refs_sha ON refs (sha);
CREATE TABLE bundles (n INTEGER PRIMARY KEY AUTOINCREMENT, hash TEXT NOT NULL UNIQUE, entry TEXT NOT NULL, pending INTEGER NOT NULL, put INTEGER NOT NULL);
CREATE TABLE bundle_files (bundle INTEGER NOT NULL, path TEXT NOT NULL, sha BLOB NOT NULL, PRIMARY KEY (bundle, path)) WITHOUT ROWID;
CREATE TABLE doomed (run INTEGER PRIMARY KEY);
`

// stepsInOrder converts the steps of a file of format 2. They keep their keys, run << 32 | seq; all steps that are
// written later come after them.
const stepsInOrder = `
DROP INDEX steps_id;
ALTER TABLE steps RENAME COLUMN hash TO seq;
UPDATE steps SET seq = pos & 4294967295;
CREATE UNIQUE INDEX steps_seq ON steps (run, seq);
`

// kind is what prepare finds a file to be.
type kind int

const (
	current kind = iota
	fresh
	older   // only sessions
	byOwner // the steps of a run are stored together
)

// prepare creates the tables of a new file, adds those that an older file lacks, and refuses a foreign file, which
// stays as it is. A current file is only read, for which nobody needs to stop writing.
func (f *File) prepare(ctx context.Context) error {
	// In a transaction, because another process may be creating the tables.
	if _, err := f.w.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	was, err := f.kind(ctx)
	if _, ended := f.w.ExecContext(context.WithoutCancel(ctx), "ROLLBACK"); err != nil || ended != nil {
		return errors.Join(err, ended)
	}
	if was == fresh {
		// Both only take effect in a file without tables.
		if _, err := f.w.ExecContext(ctx, "PRAGMA page_size = 8192; PRAGMA auto_vacuum = INCREMENTAL"); err != nil {
			return err
		}
	}
	var mode string
	if err := f.w.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil {
		return err
	}
	if !strings.EqualFold(mode, "wal") {
		if err := f.w.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode); err != nil {
			return err
		}
		if !strings.EqualFold(mode, "wal") {
			return engine.Errorf(engine.KindStore, diag.StoreFailed, "%s is where SQLite cannot keep a log, as on many network file systems (journal mode %s)", f.Path, mode).
				WithHelp("name a file on a disk of this machine")
		}
	}
	if was == current {
		return nil
	}
	if _, err := f.w.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	made, err := f.migrate(ctx)
	end := "COMMIT"
	if err != nil {
		end = "ROLLBACK"
	}
	if _, ended := f.w.ExecContext(context.WithoutCancel(ctx), end); err != nil || ended != nil {
		return errors.Join(err, ended)
	}
	if made == older { // it was created without a way to return pages to the file system
		_, _ = f.w.ExecContext(ctx, remade) // if this fails, the file only grows
	}
	return nil
}

// migrate brings the tables to the current format, in a transaction, and returns what the file was before.
func (f *File) migrate(ctx context.Context) (was kind, err error) {
	if was, err = f.kind(ctx); err != nil || was == current { // another process was faster
		return was, err
	}
	tables := runTables
	switch was {
	case fresh:
		tables = sessionTables + runTables
	case byOwner:
		tables = stepsInOrder
	}
	_, err = f.w.ExecContext(ctx, fmt.Sprintf("%sPRAGMA application_id = %d; PRAGMA user_version = %d", tables, applicationID, Format))
	return was, err
}

// kind returns what the file is. The error says so if this version cannot read it.
func (f *File) kind(ctx context.Context) (kind, error) {
	var app, format, made int64
	for _, q := range []struct {
		query string
		to    *int64
	}{{"PRAGMA application_id", &app}, {"PRAGMA user_version", &format}, {"SELECT count(*) FROM sqlite_master", &made}} {
		if err := f.w.QueryRowContext(ctx, q.query).Scan(q.to); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, err
		}
	}
	switch {
	case made == 0 && app == 0:
		return fresh, nil
	case app != applicationID:
		return 0, engine.Errorf(engine.KindStore, diag.StoreFailed, "%s is a database of something else, and no store of runs", f.Path).
			WithHelp("name another file")
	case format == 1:
		return older, nil
	case format == 2:
		return byOwner, nil
	case format != Format:
		return 0, engine.Errorf(engine.KindStore, diag.StoreFailed, "%s has format %d, and this version of agentscript reads up to %d", f.Path, format, Format).
			WithHelp("use the version that wrote it, or another file")
	}
	return current, nil
}
