package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/disk"
	"github.com/agentscript/agentscript/engine/store/sqlite/internal/db"
)

// Retention says what [Store.Collect] keeps. Runs that are held or parked always stay.
type Retention struct {
	Age   time.Duration // the longest time since the last write to a run; 0: no limit
	Bytes int64         // the largest size of what the file holds; runs with the oldest last write are removed first; 0: no limit
}

// DefaultRetention is 30 days and 1 GB.
func DefaultRetention() Retention { return Retention{Age: 30 * 24 * time.Hour, Bytes: 1 << 30} }

// Collected is what [Store.Collect] has removed.
type Collected struct {
	Runs  int
	Bytes int64 // by how much the file became smaller
}

// Collect removes the runs that keep does not retain, and what is left over from removals that a process did not live
// to finish. It works in small steps, between which others can write, and returns the freed space to the file system.
// The end of its context is not an error: what is left is collected the next time.
func (s *Store) Collect(ctx context.Context, keep Retention) (Collected, error) {
	var done Collected
	removed := false
	was, _, err := s.file.Sizes(ctx)
	if err == nil {
		removed, err = s.finish(ctx)
	}
	if err == nil {
		err = errors.Join(s.collect(ctx, keep, &done), s.sweep(ctx))
	}
	if err == nil {
		err = s.file.Shrink(ctx)
	}
	if err == nil && (removed || done.Runs > 0) {
		err = s.clear(ctx)
	}
	if now, _, sized := s.file.Sizes(context.WithoutCancel(ctx)); sized == nil {
		done.Bytes = max(was-now, 0)
	}
	if ctx.Err() != nil {
		err = nil
	}
	return done, s.file.Failed("collect runs of", err)
}

func (s *Store) collect(ctx context.Context, keep Retention, done *Collected) error {
	for last := (place{}); ; {
		some, err := s.oldest(ctx, last)
		if err != nil || len(some) == 0 {
			return err
		}
		for _, next := range some {
			if more, err := s.collectOne(ctx, keep, next, done); err != nil || !more {
				return err
			}
		}
		last = some[len(some)-1]
	}
}

// collectOne removes a run if it is due, and reports whether later runs may be due, too.
func (s *Store) collectOne(ctx context.Context, keep Retention, next place, done *Collected) (more bool, err error) {
	if keep.Age <= 0 || next.updated >= nanos(s.now().Add(-keep.Age)) {
		size, free, err := s.file.Sizes(ctx)
		if err != nil || keep.Bytes <= 0 || size-free <= keep.Bytes {
			return false, err
		}
	}
	var n int64
	err = s.file.Do(func(tx *db.Tx) (err error) {
		n, err = s.doom(tx, next.id, func(f *found) error {
			if f.Status == engine.RunParked || nanos(f.Updated) != next.updated {
				return errStays
			}
			return nil
		})
		return err
	})
	if errors.Is(err, errStays) || errors.Is(err, &engine.Error{Code: diag.RunHeld}) || errors.Is(err, &engine.Error{Code: diag.RunNotFound}) {
		return true, nil
	}
	if err == nil {
		err = s.remove(ctx, n)
	}
	if err == nil {
		done.Runs++
	}
	return true, err
}

var errStays = errors.New("the run stays")

// place is the position of a run in the order in which runs are collected.
type place struct {
	updated, n int64
	id         string
}

// oldest returns some of the runs after a place that may be collected, those with the oldest last write first.
func (s *Store) oldest(ctx context.Context, last place) (some []place, err error) {
	err = db.Each(func() (*sql.Rows, error) {
		return s.file.Readers().QueryContext(ctx, `SELECT updated, n, id FROM runs WHERE status <> ? AND prior <> ? AND (updated, n) > (?, ?)
			ORDER BY updated, n LIMIT 200`, engine.RunParked, engine.RunParked, last.updated, last.n)
	}, func(rows *sql.Rows) error {
		var p place
		err := rows.Scan(&p.updated, &p.n, &p.id)
		some = append(some, p)
		return err
	})
	return some, err
}

// finish removes what processes that have ended were removing, and reports whether there was anything.
func (s *Store) finish(ctx context.Context) (bool, error) {
	var left []int64
	err := db.Each(func() (*sql.Rows, error) {
		return s.file.Readers().QueryContext(ctx, "SELECT run FROM doomed")
	}, func(rows *sql.Rows) error {
		var n int64
		err := rows.Scan(&n)
		left = append(left, n)
		return err
	})
	for _, n := range left {
		if err == nil {
			err = s.remove(ctx, n)
		}
	}
	removed, failed := s.removeBundles(ctx)
	return removed || len(left) > 0, errors.Join(err, failed)
}

// sweep removes what holders whose processes have ended left behind.
func (s *Store) sweep(ctx context.Context) error {
	files, err := os.ReadDir(filepath.Dir(s.lockOf("")))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, f := range files {
		name, ours := strings.CutPrefix(f.Name(), "run-")
		if !ours || err != nil {
			continue
		}
		if held, known := disk.Held(s.lockOf(name)); held || !known {
			continue
		}
		err = s.file.Do(func(tx *db.Tx) error { return s.bury(tx, name) })
	}
	if err == nil { // holders without a lock, on file systems that have none
		err = s.file.Do(func(tx *db.Tx) error {
			_, err := tx.Exec("DELETE FROM holders WHERE until < ? AND NOT EXISTS (SELECT 1 FROM runs WHERE holder = holders.name)", nanos(s.now().Add(-24*time.Hour)))
			return err
		})
	}
	return err
}
