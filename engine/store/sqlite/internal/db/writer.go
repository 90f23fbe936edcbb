package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/agentscript/agentscript/engine/store"
)

const (
	// group is the maximum number of writes in one transaction.
	group = 256
	// backlog is how many writes may be waiting before Hand blocks.
	backlog = 4 * group
	// laziness is how long a lazy write waits for one that is not lazy.
	laziness = 5 * time.Millisecond
)

// write is a change that waits for its transaction.
type write struct {
	do   func(*Tx) error
	done func(error) // called when it is committed or has failed

	lazy    bool // it waits for other writes to join
	outside bool // it runs alone, in no transaction
}

// Tx is the transaction of a group of writes.
type Tx struct {
	conn       *sql.Conn
	statements map[string]*sql.Stmt

	N         uint64 // the number of the transaction
	elsewhere int64  // the result of Elsewhere; 0: not asked for yet
	before    []func() error
	committed []func()
}

// Before registers f to be called after all writes of the group, before the commit.
func (tx *Tx) Before(f func() error) { tx.before = append(tx.before, f) }

// Committed registers f to be called when the transaction is on disk.
func (tx *Tx) Committed(f func()) { tx.committed = append(tx.committed, f) }

// Elsewhere returns a number, never 0, that is the same in two transactions only if no other connection has changed
// the file between them. No other connection can change the file before the transaction ends.
func (tx *Tx) Elsewhere() (int64, error) {
	if tx.elsewhere != 0 {
		return tx.elsewhere, nil
	}
	err := tx.Row("PRAGMA data_version", nil, &tx.elsewhere)
	return tx.elsewhere, err
}

// Conn returns the connection of the transaction, for reads within it.
func (tx *Tx) Conn() *sql.Conn { return tx.conn }

func (tx *Tx) prepared(query string) (*sql.Stmt, error) {
	if s, ok := tx.statements[query]; ok {
		return s, nil
	}
	s, err := tx.conn.PrepareContext(context.Background(), query)
	if err == nil {
		tx.statements[query] = s
	}
	return s, err
}

// Exec executes a statement and returns how many rows it changed. The statement stays prepared: its text must be one
// of a few.
func (tx *Tx) Exec(query string, args ...any) (int64, error) {
	s, err := tx.prepared(query)
	if err != nil {
		return 0, err
	}
	r, err := s.ExecContext(context.Background(), args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// Row reads the single row of a query. It returns sql.ErrNoRows if there is none.
func (tx *Tx) Row(query string, args []any, to ...any) error {
	s, err := tx.prepared(query)
	if err != nil {
		return err
	}
	return s.QueryRowContext(context.Background(), args...).Scan(to...)
}

// Rows calls each for every row of a query.
func (tx *Tx) Rows(query string, args []any, each func(*sql.Rows) error) error {
	s, err := tx.prepared(query)
	if err != nil {
		return err
	}
	return Each(func() (*sql.Rows, error) { return s.QueryContext(context.Background(), args...) }, each)
}

// Each calls each for every row and closes the rows.
func Each(query func() (*sql.Rows, error), each func(*sql.Rows) error) (err error) {
	rows, err := query()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := each(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// exec executes a statement that is not one of the transaction's writes.
func (tx *Tx) exec(query string) error {
	_, err := tx.Exec(query)
	return err
}

func (tx *Tx) close() error {
	var all []error
	for _, s := range tx.statements {
		all = append(all, s.Close())
	}
	return errors.Join(all...)
}

// Do lets the writer make a change and returns when it is committed. It takes no context: a change that was handed
// over is written. If do returns an error marked with [Refuse], Do returns that error, and the other writes of the
// group remain. After any other error, too, the change has no effect; do may have been called twice.
func (f *File) Do(do func(*Tx) error) error {
	result := make(chan error, 1)
	f.enqueue(&write{do: do, done: func(err error) { result <- err }}, false)
	return <-result
}

// Hand is like Do, but does not wait for the commit. Changes are committed in the order in which they were handed
// over; the writer calls done in that order. A lazy change waits a moment for one that is not lazy, to share its
// transaction.
func (f *File) Hand(do func(*Tx) error, done func(error), lazy bool) {
	f.enqueue(&write{do: do, done: done, lazy: lazy}, true)
}

// Outside lets the writer do something that cannot be part of a transaction.
func (f *File) Outside(do func(*Tx) error) error {
	result := make(chan error, 1)
	f.enqueue(&write{do: do, done: func(err error) { result <- err }, outside: true}, false)
	return <-result
}

func (f *File) enqueue(w *write, wait bool) {
	f.mu.Lock()
	for wait && len(f.waiting) >= backlog && !f.closed {
		f.wake.Wait()
	}
	if f.closed {
		f.mu.Unlock()
		w.done(store.Closed())
		return
	}
	f.waiting = append(f.waiting, w)
	switch {
	case !w.lazy || len(f.waiting) >= group:
		f.due = true
	case !f.due && len(f.waiting) == 1:
		time.AfterFunc(laziness, f.flush)
	}
	f.mu.Unlock()
	f.wake.Broadcast()
}

// flush makes the writer write what is waiting.
func (f *File) flush() {
	f.mu.Lock()
	f.due = len(f.waiting) > 0
	f.mu.Unlock()
	f.wake.Broadcast()
}

// next waits for writes that are due and returns them, or none when the file is closed.
func (f *File) next() []*write {
	f.mu.Lock()
	defer f.mu.Unlock()
	for !f.due && !f.closed {
		f.wake.Wait()
	}
	return f.take(group)
}

// more returns writes that join the transaction of n others: those that waited or were handed over while these were written.
func (f *File) more(n int) []*write {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gather(group - n)
	if len(f.waiting) > 0 && f.waiting[0].outside {
		return nil
	}
	return f.take(group - n)
}

// take takes at most n of the writes that wait: those of one transaction, or one that belongs in none. The caller holds the lock.
func (f *File) take(n int) []*write {
	n = min(len(f.waiting), n)
	for i, w := range f.waiting[:n] {
		if w.outside {
			n = max(i, 1)
			break
		}
	}
	out := f.waiting[:n:n]
	if f.waiting = f.waiting[n:]; len(f.waiting) == 0 {
		f.waiting, f.due = nil, false
	}
	f.wake.Broadcast()
	return out
}

// gather yields to other goroutines as long as they keep handing over writes. Those whose writes were committed a
// moment ago are about to hand over their next ones, and a commit costs the same for all of them as for one.
func (f *File) gather(n int) {
	for found, idle := 0, 0; idle < 2 && len(f.waiting) < n; idle++ {
		if len(f.waiting) > found {
			found, idle = len(f.waiting), 0
		}
		f.mu.Unlock()
		runtime.Gosched()
		f.mu.Lock()
	}
}

// writeAll is the goroutine that writes.
func (f *File) writeAll() {
	defer close(f.done)
	for {
		group := f.next()
		if len(group) == 0 {
			return
		}
		f.write(group)
	}
}

// write writes a group in one transaction. If that fails, each write gets its own transaction, so that a write fails
// only for its own reason. If another process blocks the file, all fail at once.
func (f *File) write(group []*write) {
	if one := group[0]; one.outside {
		one.done(attempt(func() error { return one.do(f.tx) }))
		return
	}
	group, refused, err := f.commit(group, f.more)
	switch {
	case err == nil:
		for i, w := range group {
			w.done(refused[i])
		}
	case len(group) == 1 || IsBusy(err):
		for _, w := range group {
			w.done(err)
		}
	default:
		for _, w := range group {
			_, refused, err := f.commit([]*write{w}, func(int) []*write { return nil })
			if err == nil {
				err = refused[0]
			}
			w.done(err)
		}
	}
}

// commit writes a group in one transaction, with what more returns once all of it is written. It returns the whole group and the
// reasons why single writes were refused.
func (f *File) commit(group []*write, more func(n int) []*write) (all []*write, refused []error, err error) {
	tx := f.tx
	tx.N++
	tx.before, tx.committed, tx.elsewhere = nil, nil, 0
	if err := tx.exec("BEGIN IMMEDIATE"); err != nil {
		return group, nil, err
	}
	for next := group; len(next) > 0; {
		for _, w := range next {
			err := attempt(func() error { return w.do(tx) })
			r, ok := err.(refusal)
			if !ok && err != nil {
				return group, nil, tx.rollback(err)
			}
			refused = append(refused, r.error)
		}
		next = more(len(group))
		group = append(group, next...)
	}
	for _, f := range tx.before {
		if err := attempt(f); err != nil {
			return group, nil, tx.rollback(err)
		}
	}
	if f.slow != nil {
		f.slow()
	}
	if err := tx.exec("COMMIT"); err != nil {
		return group, nil, tx.rollback(err)
	}
	for _, f := range tx.committed {
		f()
	}
	return group, refused, nil
}

// rollback undoes the transaction. After some errors SQLite has already done that, and ROLLBACK fails.
func (tx *Tx) rollback(why error) error {
	_ = tx.exec("ROLLBACK")
	return why
}

// attempt calls f and converts a panic to an error, so that the writes of others are not lost.
func attempt(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}
