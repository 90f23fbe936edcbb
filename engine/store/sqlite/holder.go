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

// holder is an open store in its role as the owner of runs. One lease covers all of them; one goroutine renews it,
// and also checks whether a run was taken, cancelled or sent a signal.
type holder struct {
	s    *Store
	name string // unique
	host string
	made time.Time
	poke chan struct{} // makes the goroutine look now

	renewed  atomic.Int64 // the time since made of the last renewal
	renewing atomic.Bool

	mu      sync.Mutex
	lock    *os.File
	tried   bool // tried to get the lock
	open    map[int64]*openRun
	beating bool
	stopped bool
	end     chan struct{} // closed when the store is
	ended   sync.WaitGroup
}

// poll is how often a store checks what happened to its runs.
const poll = 250 * time.Millisecond

func (h *holder) begin(s *Store) {
	name := make([]byte, 12)
	_, _ = rand.Read(name) // it does not fail
	h.s, h.name, h.made = s, hex.EncodeToString(name), time.Now()
	h.host, _ = os.Hostname() // "" matches no other host
	h.open, h.poke, h.end = map[int64]*openRun{}, make(chan struct{}, 1), make(chan struct{})
}

// lockOf returns the path of the file that a holder keeps locked for as long as its process lives.
func (s *Store) lockOf(holder string) string {
	return filepath.Join(s.locks, "run-"+holder)
}

// locked takes the lock of this process on first use. If the file system has no locks, only the lease counts.
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

// register writes the holder's row, with a new lease.
func (h *holder) register(tx *db.Tx, locked bool) error {
	_, err := tx.Exec("INSERT INTO holders (name, host, locked, lease, until, beat) VALUES (?, ?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET until = excluded.until, beat = beat + 1",
		h.name, h.host, locked, int64(h.s.lease), nanos(h.s.now().Add(h.s.lease)))
	return err
}

// add starts watching a run.
func (h *holder) add(r *openRun) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped {
		return store.Closed()
	}
	if earlier := h.open[r.n]; earlier != nil { // this process lost it, and has not noticed yet
		go earlier.lose()
	}
	h.open[r.n] = r
	if !h.beating {
		h.beating = true
		h.ended.Go(h.beat)
	}
	return nil
}

// remove stops watching a run.
func (h *holder) remove(r *openRun) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open[r.n] == r {
		delete(h.open, r.n)
	}
}

// retire removes the holder's row together with the last run that it gives back, in one transaction.
func (h *holder) retire(tx *db.Tx) error {
	_, err := tx.Exec("DELETE FROM holders WHERE name = ? AND NOT EXISTS (SELECT 1 FROM runs WHERE holder = ?)", h.name, h.name)
	return err
}

// beat watches the open runs until none is left. It waits by the machine's monotonic clock, so that a jump of the
// clock cannot keep it from renewing the lease.
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

// renew starts a renewal of the lease and does not wait for it. A failure is not reported to the runs: if it lasts,
// others take them, which they notice.
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

// watch is a connection that knows whether the file has changed since the last look.
type watch struct {
	conn    *sql.Conn
	version int64 // 0: it has not looked yet
}

func (w *watch) close() {
	if w.conn != nil {
		_ = w.conn.Close() // it only read
	}
}

// look finds out what happened to the open runs.
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
	for n, r := range lost { // lost, or given back meanwhile, or held by another holder in the same epoch
		var epoch int64
		err := w.conn.QueryRowContext(ctx, "SELECT epoch FROM runs WHERE n = ?", n).Scan(&epoch)
		if errors.Is(err, sql.ErrNoRows) || err == nil && epoch != r.info.Epoch {
			r.lose()
		}
	}
}

// notice makes the holder look at once, because something was sent through this store.
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
		_ = r.Close() // its owner no longer asks
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lock == nil {
		return
	}
	path := h.s.lockOf(h.name)
	_ = os.Remove(path) // before it is closed, where the system allows it: to others, a missing file means unknown
	_ = h.lock.Close()
	_ = os.Remove(path)
	h.lock = nil
}
