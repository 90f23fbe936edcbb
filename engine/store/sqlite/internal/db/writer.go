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
	// group is how many writes one transaction takes.
	group = 256
	// backlog is how many writes wait before who writes without waiting has to wait, too.
	backlog = 4 * group
	// laziness is how long a lazy write waits for one that is not.
	laziness = 5 * time.Millisecond
)

// write is a change of the file that waits for its transaction.
type write struct {
	do   func(*Tx) error
	done func(error) // called once it is committed, or has failed

	lazy    bool // it waits for company
	outside bool // it is done alone, in no transaction
}

// Tx is the transaction of a group of writes.
type Tx struct {
	conn       *sql.Conn
	statements map[string]*sql.Stmt

	N         uint64 // numbers transactions
	elsewhere int64  // as Elsewhere returns it; 0: it was not asked for
	before    []func() error
	committed []func()
}

// Before has f called once all writes of the group are done, before they are committed.
func (tx *Tx) Before(f func() error) { tx.before = append(tx.before, f) }

// Committed has f called when the transaction is on disk.
func (tx *Tx) Committed(f func()) { tx.committed = append(tx.committed, f) }

// Elsewhere returns a number, never 0, that is the same in two transactions only if no other connection has changed the
// file between them. Nothing else can change it before the transaction ends.
func (tx *Tx) Elsewhere() (int64, error) {
	if tx.elsewhere != 0 {
		return tx.elsewhere, nil
	}
	err := tx.Row("PRAGMA data_version", nil, &tx.elsewhere)
	return tx.elsewhere, err
}

// Conn is the connection of the transaction, for what is read in it.
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

// Exec executes a statement and returns how many rows it changed. Its text is one of few: it is kept prepared.
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

// Row reads the one row of a query, sql.ErrNoRows if there is none.
func (tx *Tx) Row(query string, args []any, to ...any) error {
	s, err := tx.prepared(query)
	if err != nil {
		return err
	}
	return s.QueryRowContext(context.Background(), args...).Scan(to...)
}

// Rows calls each for the rows of a query.
func (tx *Tx) Rows(query string, args []any, each func(*sql.Rows) error) error {
	s, err := tx.prepared(query)
	if err != nil {
		return err
	}
	return Each(func() (*sql.Rows, error) { return s.QueryContext(context.Background(), args...) }, each)
}

// Each calls each for rows and closes them.
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

// exec executes what is no part of a transaction's writes.
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

// Do has the writer do a change and returns when it is committed. It does not end with a context: what was handed
// over is written. An error that do marks with [Refuse] is returned alone, and says that it changed nothing;
// after another one nothing is changed either, and do may have been called twice.
func (f *File) Do(do func(*Tx) error) error {
	result := make(chan error, 1)
	f.enqueue(&write{do: do, done: func(err error) { result <- err }}, false)
	return <-result
}

// Hand is Do for who does not wait. Changes are committed in the order in which they were handed over, and done is
// called by the writer, in that order. One that is lazy waits a moment for another that is not, to share its
// transaction.
func (f *File) Hand(do func(*Tx) error, done func(error), lazy bool) {
	f.enqueue(&write{do: do, done: done, lazy: lazy}, true)
}

// Outside has the writer do what cannot be part of a transaction.
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

// flush has the writer write what waits.
func (f *File) flush() {
	f.mu.Lock()
	f.due = len(f.waiting) > 0
	f.mu.Unlock()
	f.wake.Broadcast()
}

// next waits for writes that are due and returns a group of them, none when the file is closed.
func (f *File) next() []*write {
	f.mu.Lock()
	defer f.mu.Unlock()
	for !f.due && !f.closed {
		f.wake.Wait()
	}
	f.gather()
	n := min(len(f.waiting), group)
	for i, w := range f.waiting[:n] {
		if w.outside {
			n = max(i, 1) // what is before it, or it alone
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

// gather lets others run as long as that has them hand writes over. Those whose writes were committed a moment ago are about
// to hand over their next ones: a commit costs the same for all of them as for the first.
func (f *File) gather() {
	for found, idle := 0, 0; idle < 2 && len(f.waiting) < group; idle++ {
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

// write writes a group in one transaction. Where that fails each gets one of its own, so that it fails by what is
// wrong with it alone; but not where another process keeps all of them waiting.
func (f *File) write(group []*write) {
	if one := group[0]; one.outside {
		one.done(attempt(func() error { return one.do(f.tx) }))
		return
	}
	refused, err := f.commit(group)
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
			f.write([]*write{w})
		}
	}
}

// commit writes a group in one transaction. It returns why single writes were refused.
func (f *File) commit(group []*write) (refused []error, err error) {
	tx := f.tx
	tx.N++
	tx.before, tx.committed, tx.elsewhere = nil, nil, 0
	if err := tx.exec("BEGIN IMMEDIATE"); err != nil {
		return nil, err
	}
	refused = make([]error, len(group))
	for i, w := range group {
		err := attempt(func() error { return w.do(tx) })
		if r, ok := err.(refusal); ok {
			refused[i] = r.error
		} else if err != nil {
			return nil, tx.rollback(err)
		}
	}
	for _, f := range tx.before {
		if err := attempt(f); err != nil {
			return nil, tx.rollback(err)
		}
	}
	if f.slow != nil {
		f.slow()
	}
	if err := tx.exec("COMMIT"); err != nil {
		return nil, tx.rollback(err)
	}
	for _, f := range tx.committed {
		f()
	}
	return refused, nil
}

// rollback undoes the transaction. SQLite has done so itself after some errors, and says then that there is none.
func (tx *Tx) rollback(why error) error {
	_ = tx.exec("ROLLBACK")
	return why
}

// attempt calls f; a panic is an error, so that what others wrote is not lost by it.
func attempt(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}
