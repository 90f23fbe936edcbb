package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/engine/store/sqlite/internal/db"
)

// heldSession is a session that a run has taken. Two things protect it: a lock, which the system releases however the
// process ends, keeps others out; and each taking begins a new epoch, outside of which nothing is saved. The epoch
// matters where a lock does not hold, as on some network file systems.
type heldSession struct {
	s     *Store
	id    string
	epoch int64
	lock  *sql.DB
	taken *sql.Conn
	once  sync.Once
	ended atomic.Bool
}

var _ engine.OpenSession = (*heldSession)(nil)

// OpenSession implements [engine.SessionStore].
func (s *Store) OpenSession(ctx context.Context, id, script string) (engine.OpenSession, error) {
	if err := session.CheckID(id); err != nil {
		return nil, err
	}
	h, err := s.takeSession(ctx, id)
	if err != nil {
		return nil, s.file.Failed("take a session of", err)
	}
	err = s.file.Do(func(tx *db.Tx) error {
		var owner string
		err := tx.Row("SELECT script, epoch FROM sessions WHERE id = ?", []any{id}, &owner, &h.epoch)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			h.epoch = 1
			_, err = tx.Exec("INSERT INTO sessions (id, script, epoch, updated) VALUES (?, ?, 1, ?)", id, script, s.now().UnixMilli())
			return err
		case err != nil:
			return err
		case owner != script:
			return db.Refuse(session.OfOther(id, owner, script))
		}
		h.epoch++
		_, err = tx.Exec("UPDATE sessions SET epoch = ? WHERE id = ?", h.epoch, id)
		return err
	})
	if err != nil {
		return nil, errors.Join(s.file.Failed("take a session of", err), h.Close())
	}
	return h, nil
}

// takeSession locks a session for this process with an open transaction on a separate database, which is always
// empty.
func (s *Store) takeSession(ctx context.Context, id string) (*heldSession, error) {
	name := sha256.Sum256([]byte(id)) // some file systems do not distinguish a from A
	lock, err := db.Lock(filepath.Join(s.file.Path+".locks", hex.EncodeToString(name[:16])))
	if err != nil {
		return nil, err
	}
	h := &heldSession{s: s, id: id, lock: lock}
	if h.taken, err = lock.Conn(ctx); err == nil {
		_, err = h.taken.ExecContext(ctx, "BEGIN EXCLUSIVE")
	}
	if err == nil {
		return h, nil
	}
	if db.IsBusy(err) {
		err = session.Busy(id, "")
	}
	return nil, errors.Join(err, h.Close())
}

// Close implements [engine.OpenSession].
func (h *heldSession) Close() (err error) {
	h.once.Do(func() {
		h.ended.Store(true)
		if h.taken != nil { // closing it ends its transaction
			err = h.taken.Close()
		}
		err = h.s.file.Failed("release a session of", errors.Join(err, h.lock.Close()))
	})
	return err
}

// Load implements [engine.OpenSession].
func (h *heldSession) Load(ctx context.Context, key string) (engine.Entry, error) {
	var e engine.Entry
	err := h.s.file.Readers().QueryRowContext(ctx, "SELECT text, version FROM entries WHERE session = ? AND key = ?", h.id, key).Scan(&e.Text, &e.Version)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return e, h.s.file.Failed("read", err)
}

// Save implements [engine.OpenSession].
func (h *heldSession) Save(ctx context.Context, key, op, text string) (e engine.Entry, err error) {
	if err := ctx.Err(); err != nil {
		return e, h.s.file.Failed("write", context.Cause(ctx))
	}
	err = h.s.file.Do(func(tx *db.Tx) error {
		if h.ended.Load() {
			return db.Refuse(session.GivenBack(h.id))
		}
		var epoch int64
		err := tx.Row("SELECT epoch FROM sessions WHERE id = ?", []any{h.id}, &epoch)
		if errors.Is(err, sql.ErrNoRows) || err == nil && epoch != h.epoch {
			return db.Refuse(engine.Errorf(engine.KindStore, diag.SessionBusy, "session %q was taken over by another run, or removed", h.id).
				WithHelp("one conversation has one run at a time: run this one again"))
		}
		if err != nil {
			return err
		}
		e = engine.Entry{}
		err = tx.Row("SELECT text, version FROM entries WHERE session = ? AND key = ?", []any{h.id, key}, &e.Text, &e.Version)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		n, err := tx.Exec("INSERT INTO ops (session, op) VALUES (?, ?) ON CONFLICT DO NOTHING", h.id, op)
		if err != nil || n == 0 {
			return err // it was saved before
		}
		e = engine.Entry{Text: text, Version: e.Version + 1}
		for _, step := range []struct {
			query string
			args  []any
		}{
			{"INSERT INTO entries (session, key, version, text) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET version = excluded.version, text = excluded.text", []any{h.id, key, e.Version, text}},
			{"DELETE FROM ops WHERE session = ? AND n <= (SELECT n FROM ops WHERE session = ? ORDER BY n DESC LIMIT 1 OFFSET ?)", []any{h.id, h.id, session.MaxOps}},
			{"UPDATE sessions SET updated = ? WHERE id = ?", []any{h.s.now().UnixMilli(), h.id}},
		} {
			if _, err := tx.Exec(step.query, step.args...); err != nil {
				return err
			}
		}
		return nil
	})
	return e, h.s.file.Failed("write", err)
}
