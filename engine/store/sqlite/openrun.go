package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"sync"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/engine/store/sqlite/internal/db"
)

// openRun is a run that this process holds.
type openRun struct {
	s    *Store
	n    int64
	info engine.RunInfo

	done      chan struct{}
	signalled chan struct{}

	mu        sync.Mutex
	err       error // why it must stop
	unwritten error // why a step that was put without waiting could not be written
	lost      bool
	gone      bool  // it was given back
	signals   int64 // how many signals are known

	// Only the writer uses the fields below.
	written tally
	next    tally            // the tally after the transaction txn is committed
	txn     uint64           // the transaction that next and moved belong to
	fenced  fence            // the state of the file when the epoch was last checked
	seqs    map[string]int64 // Seqs of committed steps by id; nil: still to be read
	moved   map[string]int64 // the same for the steps that txn writes
	broken  error            // a failed write: later writes must not be stored without it
}

// fence identifies a state of the file as far as the epochs of runs are concerned.
type fence struct {
	elsewhere int64  // see [db.Tx.Elsewhere]
	here      uint64 // see Store.fences
}

// tally is what a run's row records about its steps.
type tally struct {
	seq, steps, waiting int64
	usage               model.Usage
	prior               bool // nothing was written since the run was taken: it keeps its earlier status
	over                bool // it was given back
}

var _ engine.OpenRun = (*openRun)(nil)

func newRun(s *Store, n int64, info engine.RunInfo) *openRun {
	return &openRun{s: s, n: n, info: info, done: make(chan struct{}), signalled: make(chan struct{}, 1)}
}

// newRunFrom opens a run that was taken.
func newRunFrom(s *Store, f *found) *openRun {
	r := newRun(s, f.n, f.RunInfo)
	r.signals = f.signals
	r.written = tally{seq: f.seq, steps: int64(f.Steps), waiting: int64(f.Waiting), usage: f.Usage, prior: f.prior != ""}
	if f.cancels {
		r.stop(store.ToCancel(f.ID, f.Cancel))
	}
	return r
}

// Info implements [engine.OpenRun].
func (r *openRun) Info() engine.RunInfo { return r.info }

// Done implements [engine.OpenRun].
func (r *openRun) Done() <-chan struct{} { return r.done }

// Err implements [engine.OpenRun].
func (r *openRun) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Signalled implements [engine.OpenRun].
func (r *openRun) Signalled() <-chan struct{} { return r.signalled }

// stop records why the run must stop. Only the first reason counts.
func (r *openRun) stop(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = why
		close(r.done)
	}
}

// lose records that the run has another owner. That overrides any other reason to stop.
func (r *openRun) lose() error {
	lost := store.Lost(r.info.ID)
	r.stop(lost)
	r.mu.Lock()
	r.err, r.lost = lost, true
	r.mu.Unlock()
	r.s.holder.remove(r)
	return lost
}

// saw takes note of what the run's row says.
func (r *openRun) saw(cancel sql.NullString, signals int64) {
	if cancel.Valid {
		r.stop(store.ToCancel(r.info.ID, cancel.String))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if signals <= r.signals {
		return
	}
	r.signals = signals
	select {
	case r.signalled <- struct{}{}:
	default: // an earlier notice has not been received yet
	}
}

// begin makes a write of the run part of a transaction, provided that the run still belongs to this owner; that
// cannot change before the transaction ends. The run's row is written once for all writes of a transaction.
func (r *openRun) begin(tx *db.Tx) (*tally, error) {
	if r.broken != nil {
		return nil, db.Refuse(r.broken)
	}
	if r.txn == tx.N {
		if r.next.over {
			return nil, db.Refuse(store.GivenBack(r.info.ID))
		}
		return &r.next, nil
	}
	if r.written.over {
		return nil, db.Refuse(store.GivenBack(r.info.ID))
	}
	if err := r.check(tx); err != nil {
		return nil, err
	}
	r.txn, r.next = tx.N, r.written
	clear(r.moved)
	tx.Before(func() error { return r.writeRow(tx) })
	tx.Committed(func() {
		maps.Copy(r.seqs, r.moved)
		if r.written = r.next; r.written.over {
			r.mu.Lock()
			r.gone = true
			r.mu.Unlock()
			r.s.holder.remove(r)
		}
	})
	return &r.next, nil
}

// check refuses a write if the run has another owner by now. It reads the epoch again only if another connection, or
// this store, has since done something that can have ended it.
func (r *openRun) check(tx *db.Tx) error {
	elsewhere, err := tx.Elsewhere()
	if err != nil {
		return err
	}
	now := fence{elsewhere, r.s.fences}
	if r.fenced == now {
		return nil
	}
	var epoch int64
	err = tx.Row("SELECT epoch FROM runs WHERE n = ?", []any{r.n}, &epoch)
	if errors.Is(err, sql.ErrNoRows) || err == nil && epoch != r.info.Epoch {
		return db.Refuse(r.lose())
	}
	if err == nil {
		r.fenced = now
	}
	return err
}

// writeRow writes what changed in the row of the run.
func (r *openRun) writeRow(tx *db.Tx) error {
	usage, err := usageText(r.next.usage)
	if err != nil {
		return err
	}
	_, err = tx.Exec("UPDATE runs SET seq = ?, steps = ?, waiting = ?, usage = ?, updated = ? WHERE n = ?",
		r.next.seq, r.next.steps, r.next.waiting, usage, nanos(r.s.now()), r.n)
	return err
}

// touch gives up the status that the run had when it was taken, because something is being written to it.
func (r *openRun) touch(tx *db.Tx, t *tally) error {
	if !t.prior {
		return nil
	}
	t.prior = false
	if _, err := tx.Exec(noEnd, r.n); err != nil {
		return err
	}
	_, err := tx.Exec("UPDATE runs SET prior = '', ended = 0 WHERE n = ?", r.n)
	return err
}

// noEnd removes the values that a run ended with.
const noEnd = "DELETE FROM run_values WHERE run = ? AND name IN ('result', 'text', 'error')"

// failed returns a typed error for a failed write, and keeps the run from writing anything after it.
func (r *openRun) failed(err error) error {
	err = r.s.file.Failed("write a step to", err)
	if err != nil && r.broken == nil {
		r.broken = err
	}
	return err
}

// End implements [engine.OpenRun].
func (r *openRun) End(_ context.Context, e engine.RunEnd) error {
	if !store.Ends(e.Status) {
		return store.NotAnEnd(r.info.ID, e.Status)
	}
	if e.At.IsZero() {
		e.At = r.s.now()
	}
	var v values
	kept := endValues(e, &v)
	return r.s.write(func(tx *db.Tx) error {
		t, err := r.begin(tx)
		if err != nil {
			return err
		}
		if err := r.touch(tx, t); err != nil {
			return err
		}
		if err := r.end(tx, t, e, kept, &v); err != nil {
			return err
		}
		return r.s.holder.retire(tx)
	})
}

// Discard gives the run back and removes it, for an owner that continues without the store. It may be called after a
// failed write. The next collection removes what the run has besides its row.
func (r *openRun) Discard(context.Context) error {
	err := r.s.file.Do(func(tx *db.Tx) error {
		broken := r.broken
		r.broken = nil
		t, err := r.begin(tx)
		if r.broken = broken; err != nil {
			return err
		}
		t.over = true
		if _, err := tx.Exec("INSERT INTO doomed (run) VALUES (?)", r.n); err != nil {
			return err
		}
		r.s.fences++
		if _, err := tx.Exec("DELETE FROM runs WHERE n = ?", r.n); err != nil {
			return err
		}
		return r.s.holder.retire(tx)
	})
	return r.s.file.Failed("remove a run of", err)
}

// Close implements [engine.OpenRun]. If something that was put could not be written, Close reports that; it still
// gives the run back if possible.
func (r *openRun) Close() error {
	r.mu.Lock()
	gone := r.gone || r.lost
	r.mu.Unlock()
	if gone {
		return nil
	}
	var broken error
	err := r.s.file.Do(func(tx *db.Tx) error {
		if r.written.over || r.txn == tx.N && r.next.over {
			return nil
		}
		broken, r.broken = r.broken, nil
		t, err := r.begin(tx)
		if r.broken = broken; err != nil {
			return err
		}
		t.over = true
		if _, err := tx.Exec(released+"WHERE n = ?", r.n); err != nil {
			return err
		}
		return r.s.holder.retire(tx)
	})
	r.s.holder.remove(r)
	if errors.Is(err, &engine.Error{Code: diag.RunLost}) {
		err = nil // there is nothing to give back
	}
	if broken != nil {
		return broken
	}
	return r.s.file.Failed("release a run of", err)
}
