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

// Format is the version of the tables. A file of an older one is brought to it, one of a newer one refused.
const Format = 3

// applicationID marks the file as ours, for us and for file(1).
const applicationID = 0x61677363 // "agsc"

// sessionTables are all that a file of format 1 has.
const sessionTables = `
CREATE TABLE sessions (id TEXT PRIMARY KEY, script TEXT NOT NULL, epoch INTEGER NOT NULL, updated INTEGER NOT NULL);
CREATE TABLE entries (session TEXT NOT NULL REFERENCES sessions(id), key TEXT NOT NULL, version INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY (session, key));
CREATE TABLE ops (n INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, op TEXT NOT NULL, UNIQUE (session, op));
`

// runTables hold runs. Times are nanoseconds since 1970, 0 where there is none. A value, as step.request, is TEXT,
// or the BLOB that is the digest of one in blobs.
//
//   - A run's row changes with each of its steps, and its values are apart from it, so that they are written once.
//     Numbers of runs are never used again: an owner of a run that was removed holds no later one.
//   - A holder is an open store of a process. Its lease is that of all runs it holds.
//   - Steps of all runs lie in the order of their commits, so that a group of them changes few pages, whatever runs they
//     are of. Those of a run are found by their seq, in an index whose entries are small: runs that are written to at the
//     same time share its pages. Which of them has an id is known to the owner of the run.
//   - A ref says that a run n, or the bundle -n, needs a blob; doomed runs are removed, in small steps.
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

// stepsInOrder makes the steps of a file of format 2 those of today. Their keys, run << 32 | seq, remain: they lie before
// all that are written later.
const stepsInOrder = `
DROP INDEX steps_id;
ALTER TABLE steps RENAME COLUMN hash TO seq;
UPDATE steps SET seq = pos & 4294967295;
CREATE UNIQUE INDEX steps_seq ON steps (run, seq);
`

// kind is what a file is.
type kind int

const (
	current kind = iota
	fresh
	older   // sessions alone
	byOwner // steps of a run lie together
)

// prepare makes the tables of a new file, adds those that an older one lacks, and refuses a file of another
// kind, which stays as it is. A file that is ready is only read, which needs nobody to stop writing.
func (f *File) prepare(ctx context.Context) error {
	// In a transaction, since another process may be making the tables.
	if _, err := f.w.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	was, err := f.kind(ctx)
	if _, ended := f.w.ExecContext(context.WithoutCancel(ctx), "ROLLBACK"); err != nil || ended != nil {
		return errors.Join(err, ended)
	}
	if was == fresh {
		// Both hold for a file without tables alone.
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
	if made == older { // it was made without a way to give pages back
		_, _ = f.w.ExecContext(ctx, remade) // without it the file only grows
	}
	return nil
}

// migrate brings the tables to those of this version, in a transaction, and returns what they were.
func (f *File) migrate(ctx context.Context) (was kind, err error) {
	if was, err = f.kind(ctx); err != nil || was == current { // another process was quicker
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

// kind is what the file is; the error says so when this version cannot read it.
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
