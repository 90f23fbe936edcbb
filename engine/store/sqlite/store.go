// Package sqlite keeps runs and sessions in one SQLite file, so that they outlive the process. It is pure Go and
// links no C.
package sqlite

import (
	"context"
	"path/filepath"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/engine/store/sqlite/internal/db"
)

// Store is an [engine.Store] and an [engine.SessionStore] in a file. Any number of processes may have it open.
//
// When a call returns, what it committed is on disk (WAL, synchronous FULL, and fullfsync on macOS): neither a killed
// process nor a loss of power loses any of it. After a loss of power the file always holds exactly what was committed
// up to some moment. With [Process], that moment may lie slightly before the loss.
//
// A run belongs to one open store at a time. A lease, renewed in the background, and the run's epoch see to that:
// writes of an earlier owner change nothing, whatever the clocks of the machines do. Clocks only determine how soon a
// run can be taken from an owner that does not answer. If an owner's process has ended, others on its machine notice
// at once, because the system has released the process's lock. In all other cases the lease counts. When it appears
// to have ended, the owner is watched for the length of another lease. An owner that is alive renews it in that time,
// so a clock that jumps forward takes no run away. A clock that jumps backward delays others by at most one lease.
//
// Writes of all processes are serialized. A process that is stopped in the middle of a write blocks the others until
// it continues or ends. After 10 seconds they fail; their runs are closed and can be taken again.
type Store struct {
	file   *db.File
	locks  string // the directory of locks; absolute, so that the process may change its directory
	now    func() time.Time
	lease  time.Duration
	holder holder

	fences uint64 // counts what the writer did here that can end a run's epoch; only the writer uses it
}

var (
	_ engine.Store        = (*Store)(nil)
	_ engine.SessionStore = (*Store)(nil)
)

// Option changes how a store works.
type Option func(*Store, *db.Settings)

// Lease sets how long a run is kept for an owner that does not renew its lease, such as one on another machine that
// has died. The default is 10 seconds.
func Lease(d time.Duration) Option { return func(s *Store, _ *db.Settings) { s.lease = d } }

// Clock sets the clock whose times are written and compared with leases. Waiting always uses the machine's clock.
func Clock(now func() time.Time) Option { return func(s *Store, _ *db.Settings) { s.now = now } }

// Process lets commits return before they are on disk. They survive the death of the process; a loss of power may
// lose the last of them.
func Process() Option { return func(_ *Store, set *db.Settings) { set.Process = true } }

// Open opens a store. If the file does not exist, Open creates it with mode 0600, and its directory with mode 0700.
// Next to the file are SQLite's own files and a directory of locks. A file that an earlier version wrote is converted
// to the current format. Close the store when no run uses it any more.
func Open(ctx context.Context, path string, options ...Option) (*Store, error) {
	s := &Store{now: time.Now, lease: 10 * time.Second}
	set := db.Settings{Busy: 10 * time.Second}
	for _, o := range options {
		o(s, &set)
	}
	f, err := db.Open(ctx, path, set)
	if err != nil {
		return nil, err
	}
	s.file, s.locks = f, path+".locks"
	if abs, err := filepath.Abs(path); err == nil {
		s.locks = abs + ".locks"
	}
	s.holder.begin(s)
	return s, nil
}

// Close implements [engine.Store]. Runs that are still open are given back.
func (s *Store) Close() error {
	s.holder.stop()
	return s.file.Close()
}

// nanos returns the stored form of a time.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// timeOf returns the time that nanos stored.
func timeOf(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// write lets the writer make a change, and returns a typed error.
func (s *Store) write(do func(*db.Tx) error) error { return s.file.Failed("write", s.file.Do(do)) }

// started refuses a call whose context has ended, or whose id is invalid. Once a change is under way, its context no
// longer matters.
func (s *Store) started(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return store.Stopped(context.Cause(ctx))
	}
	return store.CheckRunID(id)
}
