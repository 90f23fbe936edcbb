package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/engine/store/sqlite/internal/db"
)

// PutBundle implements [engine.Store]. A bundle that no run has yet is kept for the run that is going to be made, for
// some time.
func (s *Store) PutBundle(ctx context.Context, hash string, b engine.Bundle) error {
	if err := ctx.Err(); err != nil {
		return store.Stopped(context.Cause(ctx))
	}
	var v values
	digests := make(map[string]any, len(b.Files))
	for path, data := range b.Files {
		digest := v.stored(data, -1)
		if digest == nil {
			digest = []byte{} // an empty file
		}
		digests[path] = digest
	}
	return s.write(func(tx *db.Tx) error {
		known, err := tx.Exec("UPDATE bundles SET pending = pending + 1, put = ? WHERE hash = ?", nanos(s.now()), hash)
		if known > 0 || err != nil {
			return err
		}
		var n int64
		if err := tx.Row("INSERT INTO bundles (hash, entry, pending, put) VALUES (?, ?, 1, ?) RETURNING n", []any{hash, b.Entry, nanos(s.now())}, &n); err != nil {
			return err
		}
		for path, digest := range digests {
			if _, err := tx.Exec("INSERT INTO bundle_files (bundle, path, sha) VALUES (?, ?, ?)", n, path, digest); err != nil {
				return err
			}
		}
		return v.keep(tx, -n)
	})
}

// Bundle implements [engine.Store].
func (s *Store) Bundle(ctx context.Context, hash string) (engine.Bundle, error) {
	var b engine.Bundle
	err := s.reading(ctx, func(tx *sql.Tx) error {
		var n int64
		if err := tx.QueryRowContext(ctx, "SELECT n, entry FROM bundles WHERE hash = ?", hash).Scan(&n, &b.Entry); err != nil {
			return err
		}
		b.Files = map[string][]byte{}
		return db.Each(func() (*sql.Rows, error) {
			return tx.QueryContext(ctx, "SELECT path, data FROM bundle_files LEFT JOIN blobs USING (sha) WHERE bundle = ?", n)
		}, func(rows *sql.Rows) error {
			var path string
			var data []byte
			err := rows.Scan(&path, &data)
			if data == nil {
				data = []byte{}
			}
			b.Files[path] = data
			return err
		})
	})
	if errors.Is(err, sql.ErrNoRows) {
		return engine.Bundle{}, store.NoBundle(hash)
	}
	return b, s.file.Failed("read", err)
}
