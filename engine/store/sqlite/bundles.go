package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/engine/store/sqlite/internal/db"
)

// PutBundle implements [engine.Store]. A bundle that no run uses yet is kept for a limited time, for the run that is
// about to be created.
func (s *Store) PutBundle(ctx context.Context, hash string, b engine.Bundle) error {
	if err := ctx.Err(); err != nil {
		return store.Stopped(context.Cause(ctx))
	}
	p := newBundleRow(&b)
	return s.write(func(tx *db.Tx) error { return p.put(tx, hash, s.now()) })
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
