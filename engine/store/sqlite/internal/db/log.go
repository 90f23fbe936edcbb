package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// emptying is how long EmptyLog waits for readers.
const emptying = 2 * time.Second

// EmptyLog moves the log into the file and empties it, so that nothing that was removed remains in it. Readers can
// prevent that; EmptyLog tries for a while and then leaves it to the next call.
func (f *File) EmptyLog(ctx context.Context) error {
	for begun := time.Now(); ; {
		var busy, pages, moved int64
		err := f.Outside(func(tx *Tx) error {
			ctx := context.WithoutCancel(ctx)
			if _, err := tx.conn.ExecContext(ctx, "PRAGMA busy_timeout = 0"); err != nil { // others wait for the writer
				return err
			}
			err := tx.conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &pages, &moved)
			_, restored := tx.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", f.busy.Milliseconds()))
			return errors.Join(err, restored)
		})
		if err != nil && !IsBusy(err) {
			return err
		}
		if err == nil && busy == 0 || time.Since(begun) > emptying {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// Sizes returns the size of the file, and how much of it is free, in bytes.
func (f *File) Sizes(ctx context.Context) (size, free int64, err error) {
	var page, pages, unused int64
	for query, to := range map[string]*int64{"PRAGMA page_size": &page, "PRAGMA page_count": &pages, "PRAGMA freelist_count": &unused} {
		if err := f.readers.QueryRowContext(ctx, query).Scan(to); err != nil {
			return 0, 0, err
		}
	}
	return page * pages, page * unused, nil
}

// shrinking is how many pages one transaction returns to the file system.
const shrinking = 200

// Shrink returns free pages to the file system, in small steps. A file that was created without support for that
// keeps its size.
func (f *File) Shrink(ctx context.Context) error {
	for left := int64(-1); ; {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		var unused int64
		err := f.Outside(func(tx *Tx) error {
			err := Each(func() (*sql.Rows, error) {
				return tx.conn.QueryContext(context.Background(), fmt.Sprintf("PRAGMA incremental_vacuum(%d)", shrinking))
			}, func(*sql.Rows) error { return nil })
			if err != nil {
				return err
			}
			return tx.conn.QueryRowContext(context.Background(), "PRAGMA freelist_count").Scan(&unused)
		})
		if err != nil || unused == 0 || unused == left {
			return err
		}
		left = unused
	}
}
