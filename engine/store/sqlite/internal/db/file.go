// Package db opens the file of a store, knows its tables, and commits what many goroutines write in groups.
package db

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
	"sync"
	"time"

	lib "modernc.org/sqlite/lib"
)

// Settings of a file that differ from those of production in tests and for hosts that ask for less.
type Settings struct {
	Busy     time.Duration // how long a write waits for one of another process to end
	Process  bool          // commits survive the death of the process, the last of them no loss of power
	MaxPages int           // 0: as many as the disk has room for
	KeepWAL  bool          // never move the log into the file while it is open
	Slow     func()        // called before each commit, for a disk that takes its time; nil: it does not
}

// File is an open file: one connection that writes, and a few that read.
type File struct {
	Path string
	busy time.Duration
	slow func()

	pool    *sql.DB
	w       *sql.Conn
	tx      *Tx
	readers *sql.DB

	mu      sync.Mutex
	waiting []*write
	due     bool       // they are to be written now
	wake    *sync.Cond // something waits, there is room, or the file is being closed
	closed  bool
	done    chan struct{} // closed when the writer has ended
}

// Open opens the file, and makes it and its directory where there is none.
func Open(ctx context.Context, path string, set Settings) (*File, error) {
	f := &File{Path: path, busy: set.Busy, slow: set.Slow, done: make(chan struct{})}
	f.wake = sync.NewCond(&f.mu)
	if err := f.open(ctx, set); err != nil {
		if f.pool != nil {
			_ = f.pool.Close() // why it failed says more
		}
		return nil, f.Failed("open", err)
	}
	go f.writeAll()
	return f, nil
}

func (f *File) open(ctx context.Context, set Settings) (err error) {
	if err := Make(f.Path); err != nil {
		return err
	}
	level := "FULL"
	if set.Process {
		level = "NORMAL"
	}
	options := []string{"_txlock=immediate", pragma("busy_timeout", f.busy.Milliseconds()), pragma("synchronous", level),
		pragma("fullfsync", 1), pragma("checkpoint_fullfsync", 1), pragma("secure_delete", 1)}
	if set.MaxPages > 0 {
		options = append(options, pragma("max_page_count", set.MaxPages))
	}
	if set.KeepWAL {
		options = append(options, pragma("wal_autocheckpoint", 0))
	}
	if f.pool, err = sql.Open("sqlite", dsn(f.Path, options...)); err != nil {
		return err
	}
	f.pool.SetMaxOpenConns(1) // one writer at a time is all that SQLite has
	if f.w, err = f.pool.Conn(ctx); err != nil {
		return err
	}
	f.tx = &Tx{conn: f.w, statements: map[string]*sql.Stmt{}}
	// Processes that make one file at the same time keep each other from it, without the wait that
	// SQLite has elsewhere.
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		err := f.prepare(ctx)
		if Code(err) != lib.SQLITE_BUSY || time.Since(begun) > f.busy {
			if err != nil {
				return err
			}
			break
		}
	}
	f.readers, err = sql.Open("sqlite", dsn(f.Path, "mode=ro", pragma("busy_timeout", f.busy.Milliseconds())))
	if err != nil {
		return err
	}
	f.readers.SetMaxOpenConns(readers)
	f.readers.SetMaxIdleConns(readers)
	return nil
}

// readers is how many reads go on at the same time.
const readers = 4

func pragma(name string, value any) string { return fmt.Sprintf("_pragma=%s(%v)", name, value) }

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

// Lock opens a database for the lock that a transaction on it is.
func Lock(path string) (*sql.DB, error) {
	if err := Make(path); err != nil {
		return nil, err
	}
	return sql.Open("sqlite", dsn(path, pragma("busy_timeout", 0)))
}

// Make makes a file for its owner alone, and its directory, where there is none: what it holds was said to
// models. A file that is there is not opened: closing it again would release the locks that this process
// has on it.
func Make(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		at, wrong := os.Stat(path)
		switch {
		case wrong == nil && !at.Mode().IsRegular():
			return &fs.PathError{Op: "open", Path: path, Err: errors.New("it is no file")}
		case !errors.Is(wrong, fs.ErrNotExist):
			return nil
		}
		// A link to nothing: SQLite would make its target for everybody.
		f, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// Readers are connections that only read.
func (f *File) Readers() *sql.DB { return f.readers }

// shortLog is up to how many bytes a log is left beside its file.
const shortLog = 1 << 20

// Close commits what waits and closes the file. A short log stays beside it, for whoever opens the file next: to move it
// into the file, as SQLite does once no connection is left that can write, costs a short run more than all that it wrote,
// and a long log the next one more.
func (f *File) Close() error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil
	}
	f.closed = true
	f.wake.Broadcast()
	f.mu.Unlock()
	<-f.done
	var unread error
	if log, err := os.Stat(f.Path + "-wal"); err != nil || log.Size() > shortLog {
		unread = f.readers.Close()
	} else {
		unread = f.readers.Ping() // so that the last connection is one that cannot write
	}
	return f.Failed("close", errors.Join(unread, f.tx.close(), f.w.Close(), f.pool.Close(), f.readers.Close()))
}
