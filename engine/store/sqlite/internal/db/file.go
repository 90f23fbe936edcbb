// Package db opens the file of a store, creates and converts its tables, and commits the writes of many goroutines in
// groups.
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

// Settings control how a file is opened. Tests, and hosts that ask for less, use values that differ from production.
type Settings struct {
	Busy     time.Duration // how long a write waits for one of another process
	Process  bool          // commits survive the death of the process, but a loss of power may lose the last of them
	MaxPages int           // 0: no limit
	KeepWAL  bool          // never move the log into the file while it is open
	Slow     func()        // called before each commit, to simulate a slow disk; may be nil
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
	due     bool       // the waiting writes must be written now
	wake    *sync.Cond // signals that a write waits, that there is room, or that the file is being closed
	closed  bool
	done    chan struct{} // closed when the writer has ended
}

// Open opens the file. If it does not exist, Open creates it and its directory.
func Open(ctx context.Context, path string, set Settings) (*File, error) {
	f := &File{Path: path, busy: set.Busy, slow: set.Slow, done: make(chan struct{})}
	f.wake = sync.NewCond(&f.mu)
	if err := f.open(ctx, set); err != nil {
		if f.pool != nil {
			_ = f.pool.Close() // err says more
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
	f.pool.SetMaxOpenConns(1) // SQLite allows one writer at a time
	if f.w, err = f.pool.Conn(ctx); err != nil {
		return err
	}
	f.tx = &Tx{conn: f.w, statements: map[string]*sql.Stmt{}}
	// Processes that create the same file at the same time lock each other out, without the wait that SQLite has
	// elsewhere.
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

// readers is the number of concurrent reads.
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

// Lock opens a database that serves as a lock: a transaction on it holds the lock.
func Lock(path string) (*sql.DB, error) {
	if err := Make(path); err != nil {
		return nil, err
	}
	return sql.Open("sqlite", dsn(path, pragma("busy_timeout", 0)))
}

// Make creates an empty file that only its owner can access, and its directory, if they do not exist; what the file
// will hold was said to models. A file that exists is not opened: closing it again would release the locks that this
// process has on it.
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
		// A dangling link: SQLite would create its target readable by everybody.
		f, err = os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// Readers returns the connections that only read.
func (f *File) Readers() *sql.DB { return f.readers }

// shortLog is the size in bytes up to which Close leaves the log in place.
const shortLog = 1 << 20

// Close commits the waiting writes and closes the file. A short log stays next to the file for the next process that
// opens it. SQLite would otherwise move the log into the file when the last connection that can write is closed,
// which costs a short run more than everything it wrote. A long log is moved, because it would cost the next run
// more.
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
		unread = f.readers.Ping() // so that the last connection to close is one that cannot write
	}
	return f.Failed("close", errors.Join(unread, f.tx.close(), f.w.Close(), f.pool.Close(), f.readers.Close()))
}
