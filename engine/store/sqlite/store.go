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
// What was committed is on disk when a call returns (WAL, synchronous FULL, fullfsync where macOS has it): a process
// that is killed, or a machine that loses power, loses nothing of it. What is found after a loss of power is always what
// was committed up to some moment, whole. With [Process] that moment may lie before the loss by a little.
//
// A run belongs to one open store at a time, by a lease that is renewed in the background, and by its epoch: what an
// earlier owner writes changes nothing, whatever the clocks of machines do. Clocks decide only how soon a run can be
// taken from an owner that does not answer. One whose process has ended is noticed at once by others on its
// machine, with the help of a lock that the system releases. For all others the lease counts, and where it seems to have
// ended the owner is watched for another lease: one that is alive renews it in that time, so that a clock that jumps
// forward takes a run from nobody. One that jumps backward delays others by one lease at most.
//
// Writes of all processes come one after the other. One that is stopped in the midst of a write keeps the others waiting
// until it goes on or ends; after 10 seconds they fail, and their runs are closed and can be taken again.
type Store struct {
	file   *db.File
	locks  string // the directory of locks, wherever the process goes
	now    func() time.Time
	lease  time.Duration
	holder holder

	fences uint64 // counts what the writer did here that can end an epoch of a run; it is of the writer alone
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

// Clock sets the time that is written and that leases are compared with. Waiting is of the machine's time.
func Clock(now func() time.Time) Option { return func(s *Store, _ *db.Settings) { s.now = now } }

// Process has commits return before they are on disk. They survive the death of the process; of the last of them a
// loss of power may leave nothing.
func Process() Option { return func(_ *Store, set *db.Settings) { set.Process = true } }

// Open opens a store, and makes the file, with mode 0600, and its directory, with mode 0700, where there is none.
// Beside it are SQLite's own files and a directory of locks. A file that an earlier version wrote is brought to
// today's form. Close the store when no run uses it any more.
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

// nanos is how a time is kept.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// timeOf is the time that nanos keeps.
func timeOf(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// write has the writer do a change, and makes its error typed.
func (s *Store) write(do func(*db.Tx) error) error { return s.file.Failed("write", s.file.Do(do)) }

// started refuses a call whose context has ended. Once a change is under way its context ends nothing.
func (s *Store) started(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return store.Stopped(context.Cause(ctx))
	}
	return store.CheckRunID(id)
}
