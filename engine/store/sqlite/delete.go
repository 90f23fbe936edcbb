package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/engine/store/sqlite/internal/db"
)

const (
	// step is how many rows one transaction removes, so that others do not wait long.
	step = 100
	// grace is how long a bundle is kept for a run that is about to be created.
	grace = time.Minute
)

// DeleteRun implements [engine.Store]. What is removed is overwritten in the file, and the log, which may still hold
// it, is emptied. If another process is reading from the log at that time, the log is emptied later.
func (s *Store) DeleteRun(ctx context.Context, id string) error {
	if err := s.started(ctx, id); err != nil {
		return err
	}
	var n int64
	err := s.write(func(tx *db.Tx) (err error) {
		n, err = s.doom(tx, id, nil)
		return err
	})
	if err != nil {
		return err
	}
	if err := s.remove(ctx, n); err != nil {
		return s.file.Failed("remove a run of", err)
	}
	return s.file.Failed("remove a run of", s.clear(ctx))
}

// clear overwrites what was removed, in the file and in its log.
func (s *Store) clear(ctx context.Context) error {
	if err := s.file.Scrub(ctx); err != nil {
		return err
	}
	return s.file.EmptyLog(ctx)
}

// doom removes the row of a run that nobody holds, and returns the run's number. The rest of the run is removed in
// small steps: by the caller or, if the process ends before that, by the next collection. check, if not nil, returns
// an error if the run must stay.
func (s *Store) doom(tx *db.Tx, id string, check func(*found) error) (int64, error) {
	var f found
	err := f.scan(tx.Conn().QueryRowContext(context.Background(), columns+"WHERE id = ?", id))
	if errors.Is(err, sql.ErrNoRows) {
		return 0, db.Refuse(store.NotFound(id))
	}
	if err != nil {
		return 0, err
	}
	if s.verdict(&f.claim) == heldBy {
		return 0, db.Refuse(store.Held(id, f.Owner, f.Until))
	}
	f.settle(false)
	if check != nil {
		if err := check(&f); err != nil {
			return 0, db.Refuse(err)
		}
	}
	if _, err := tx.Exec("INSERT INTO doomed (run) VALUES (?)", f.n); err != nil {
		return 0, err
	}
	s.fences++
	_, err = tx.Exec("DELETE FROM runs WHERE n = ?", f.n)
	return f.n, err
}

// remove removes what a run has besides its row, and the bundles that nothing needs any more. A negative n is the
// negated number of a bundle, of which only the refs are left.
func (s *Store) remove(ctx context.Context, n int64) error {
	for _, query := range []string{
		"DELETE FROM steps WHERE pos IN (SELECT pos FROM steps WHERE run = ?1 LIMIT ?2)",
		"DELETE FROM signals WHERE run = ?1 AND seq IN (SELECT seq FROM signals WHERE run = ?1 LIMIT ?2)",
		"DELETE FROM run_values WHERE run = ?1 AND ?2 > 0",
	} {
		if err := s.steps(ctx, query, n); err != nil {
			return err
		}
	}
	if err := s.unref(ctx, n); err != nil {
		return err
	}
	if _, err := s.removeBundles(ctx); err != nil {
		return err
	}
	return s.file.Do(func(tx *db.Tx) error {
		_, err := tx.Exec("DELETE FROM doomed WHERE run = ?", n)
		return err
	})
}

// steps executes a statement that removes a limited number of a run's rows, until none is left.
func (s *Store) steps(ctx context.Context, query string, n int64) error {
	for {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		var gone int64
		err := s.file.Do(func(tx *db.Tx) (err error) {
			gone, err = tx.Exec(query, n, step)
			return err
		})
		if err != nil || gone < step {
			return err
		}
	}
}

// unref removes the refs of a run or bundle, and the blobs that nothing else needs.
func (s *Store) unref(ctx context.Context, owner int64) error {
	for {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		var shas [][]byte
		err := s.file.Do(func(tx *db.Tx) error {
			shas = nil
			err := tx.Rows("SELECT sha FROM refs WHERE run = ? LIMIT 4", []any{owner}, func(rows *sql.Rows) error {
				var sha []byte
				err := rows.Scan(&sha)
				shas = append(shas, sha)
				return err
			})
			if err != nil {
				return err
			}
			for _, sha := range shas {
				if _, err := tx.Exec("DELETE FROM refs WHERE run = ? AND sha = ?", owner, sha); err != nil {
					return err
				}
				if _, err := tx.Exec("DELETE FROM blobs WHERE sha = ?1 AND NOT EXISTS (SELECT 1 FROM refs WHERE sha = ?1)", sha); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || len(shas) == 0 {
			return err
		}
	}
}

// removeBundles removes the bundles that no run uses or is about to use, and reports whether there were any.
func (s *Store) removeBundles(ctx context.Context) (removed bool, err error) {
	for ; ; removed = true {
		var n int64
		err := s.file.Do(func(tx *db.Tx) error {
			err := tx.Row("SELECT n FROM bundles WHERE (pending = 0 OR put < ?) AND NOT EXISTS (SELECT 1 FROM runs WHERE bundle = hash) LIMIT 1",
				[]any{nanos(s.now().Add(-grace))}, &n)
			if errors.Is(err, sql.ErrNoRows) {
				n, err = 0, nil
			}
			if n == 0 || err != nil {
				return err
			}
			if _, err := tx.Exec("INSERT INTO doomed (run) VALUES (?) ON CONFLICT DO NOTHING", -n); err != nil {
				return err
			}
			if _, err := tx.Exec("DELETE FROM bundle_files WHERE bundle = ?", n); err != nil {
				return err
			}
			_, err = tx.Exec("DELETE FROM bundles WHERE n = ?", n)
			return err
		})
		if n == 0 || err != nil {
			return removed, err
		}
		if err := s.unref(ctx, -n); err != nil {
			return true, err
		}
		if err := s.file.Do(func(tx *db.Tx) error {
			_, err := tx.Exec("DELETE FROM doomed WHERE run = ?", -n)
			return err
		}); err != nil {
			return true, err
		}
	}
}
