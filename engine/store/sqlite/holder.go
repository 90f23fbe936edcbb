package sqlite

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentscript/agentscript/engine/internal/disk"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/engine/store/sqlite/internal/db"
)

// holder is an open store as the owner of runs. All of them have one lease, which one goroutine renews; it also looks
// whether a run was taken, is to be cancelled, or was sent a signal.
type holder struct {
	s    *Store
	name string // like no other
	host string
	made time.Time
	poke chan struct{} // look now

	renewed  atomic.Int64 // when, since it was made
	renewing atomic.Bool

	mu      sync.Mutex
	lock    *os.File
	tried   bool // to get the lock
	open    map[int64]*openRun
	beating bool
	stopped bool
	end     chan struct{} // closed when the store is
	ended   sync.WaitGroup
}

// poll is how often a store looks what happened to its runs.
const poll = 250 * time.Millisecond

func (h *holder) begin(s *Store) {
	name := make([]byte, 12)
	_, _ = rand.Read(name) // it does not fail
	h.s, h.name, h.made = s, hex.EncodeToString(name), time.Now()
	h.host, _ = os.Hostname() // "" is like no other
	h.open, h.poke, h.end = map[int64]*openRun{}, make(chan struct{}, 1), make(chan struct{})
}

// lockOf is the file that a holder has locked as long as its process lives.
func (s *Store) lockOf(holder string) string {
	return filepath.Join(s.locks, "run-"+holder)
}

// locked makes the lock of this process at its first use. Where the file system has none the lease alone counts.
func (h *holder) locked() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.tried {
		h.tried = true
		path := h.s.lockOf(h.name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			h.lock, _ = disk.Lock(path)
		}
	}
	return h.lock != nil
}

// register writes the row of the holder, with a new lease.
func (h *holder) register(tx *db.Tx, locked bool) error {
	_, err := tx.Exec("INSERT INTO holders (name, host, locked, lease, until, beat) VALUES (?, ?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET until = excluded.until, beat = beat + 1",
		h.name, h.host, locked, int64(h.s.lease), nanos(h.s.now().Add(h.s.lease)))
	return err
}

// add begins to look after a run.
func (h *holder) add(r *openRun) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped {
		return store.Closed()
	}
	if earlier := h.open[r.n]; earlier != nil { // it was lost, and has not noticed yet
		go earlier.lose()
	}
	h.open[r.n] = r
	if !h.beating {
		h.beating = true
		h.ended.Go(h.beat)
	}
	return nil
}

// remove ends looking after a run.
func (h *holder) remove(r *openRun) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open[r.n] == r {
		delete(h.open, r.n)
	}
}

// retire removes the row of the holder with the last run that it gives back, in one transaction.
func (h *holder) retire(tx *db.Tx) error {
	_, err := tx.Exec("DELETE FROM holders WHERE name = ? AND NOT EXISTS (SELECT 1 FROM runs WHERE holder = ?)", h.name, h.name)
	return err
}

// beat looks after the runs that are open, until none is. Waiting is of the machine's monotonic time, so that no clock
// that jumps keeps it from renewing the lease.
func (h *holder) beat() {
	every := min(poll, max(h.s.lease/6, time.Millisecond))
	tick := time.NewTicker(every)
	defer tick.Stop()
	h.renewed.Store(int64(time.Since(h.made)))
	var look watch
	defer look.close()
	for {
		select {
		case <-h.end:
			return
		case <-tick.C:
		case <-h.poke:
			look.version = 0
		}
		h.mu.Lock()
		idle := len(h.open) == 0
		if idle {
			h.beating = false
		}
		h.mu.Unlock()
		if idle {
			return
		}
		if time.Since(h.made)-time.Duration(h.renewed.Load()) >= h.s.lease/3 {
			h.renew()
		}
		h.look(&look)
	}
}

// renew begins the lease anew, without waiting for it. Its failure is none of the runs': if it lasts they are lost to
// others, which they notice.
func (h *holder) renew() {
	if !h.renewing.CompareAndSwap(false, true) {
		return
	}
	locked := h.locked()
	h.s.file.Hand(func(tx *db.Tx) error { return h.register(tx, locked) }, func(err error) {
		if err == nil {
			h.renewed.Store(int64(time.Since(h.made)))
		}
		h.renewing.Store(false)
	}, true)
}

// watch is a connection that knows whether the file has changed since it looked last.
type watch struct {
	conn    *sql.Conn
	version int64 // 0: it has not looked
}

func (w *watch) close() {
	if w.conn != nil {
		_ = w.conn.Close() // it only read
	}
}

// look finds out what happened to the runs that are open.
func (h *holder) look(w *watch) {
	ctx := context.Background()
	if w.conn == nil {
		c, err := h.s.file.Readers().Conn(ctx)
		if err != nil {
			return // again later
		}
		w.conn = c
	}
	var version int64
	err := w.conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&version)
	if err != nil {
		w.close() // with another connection, later
		w.conn, w.version = nil, 0
	}
	if err != nil || version == w.version {
		return
	}
	h.mu.Lock()
	lost := make(map[int64]*openRun, len(h.open))
	for n, r := range h.open {
		lost[n] = r
	}
	h.mu.Unlock()
	err = db.Each(func() (*sql.Rows, error) {
		return w.conn.QueryContext(ctx, "SELECT n, epoch, cancel, signals FROM runs WHERE holder = ?", h.name)
	}, func(rows *sql.Rows) error {
		var n, epoch, signals int64
		var cancel sql.NullString
		if err := rows.Scan(&n, &epoch, &cancel, &signals); err != nil {
			return err
		}
		if r := lost[n]; r != nil && r.info.Epoch == epoch {
			delete(lost, n)
			r.saw(cancel, signals)
		}
		return nil
	})
	if err != nil {
		return
	}
	w.version = version
	for n, r := range lost { // or given back meanwhile, or its lease is somebody else's affair
		var epoch int64
		err := w.conn.QueryRowContext(ctx, "SELECT epoch FROM runs WHERE n = ?", n).Scan(&epoch)
		if errors.Is(err, sql.ErrNoRows) || err == nil && epoch != r.info.Epoch {
			r.lose()
		}
	}
}

// notice has the holder look at once, for what was sent through the same store.
func (h *holder) notice() {
	select {
	case h.poke <- struct{}{}:
	default:
	}
}

// stop gives all runs back and releases the lock.
func (h *holder) stop() {
	h.mu.Lock()
	if h.stopped {
		h.mu.Unlock()
		return
	}
	h.stopped = true
	close(h.end)
	open := make([]*openRun, 0, len(h.open))
	for _, r := range h.open {
		open = append(open, r)
	}
	h.mu.Unlock()
	h.ended.Wait()
	for _, r := range open {
		_ = r.Close() // its owner asks no more
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lock == nil {
		return
	}
	path := h.s.lockOf(h.name)
	_ = os.Remove(path) // before it is closed, where that can be: others hold a lock without a file to be unknown
	_ = h.lock.Close()
	_ = os.Remove(path)
	h.lock = nil
}
