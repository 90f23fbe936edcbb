package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/engine/store/sqlite/internal/db"
)

// Signal implements [engine.Store].
func (s *Store) Signal(ctx context.Context, id string, sig engine.Signal) (engine.Signal, error) {
	if err := s.started(ctx, id); err != nil {
		return engine.Signal{}, err
	}
	if sig.At.IsZero() {
		sig.At = s.now()
	}
	sig.At = timeOf(nanos(sig.At))
	var v values
	value := v.stored(sig.Value, inline)
	var out engine.Signal
	err := s.write(func(tx *db.Tx) error {
		var n, signals int64
		err := tx.Row("SELECT n, signals FROM runs WHERE id = ?", []any{id}, &n, &signals)
		if errors.Is(err, sql.ErrNoRows) {
			return db.Refuse(store.NotFound(id))
		}
		if err != nil {
			return err
		}
		if sig.Dedup != "" {
			out, err = scanSignal(tx.Conn().QueryRowContext(context.Background(), signalColumns+"WHERE run = ? AND dedup = ?", n, sig.Dedup), tx.Conn())
			if !errors.Is(err, sql.ErrNoRows) {
				return err
			}
		}
		out = sig
		out.Seq = signals + 1
		_, err = tx.Exec(newSignal,
			n, out.Seq, out.Step, out.Name, out.Dedup, out.By, nanos(out.At), value)
		if err != nil {
			return err
		}
		if err := v.keep(tx, n); err != nil {
			return err
		}
		_, err = tx.Exec("UPDATE runs SET signals = ? WHERE n = ?", out.Seq, n)
		tx.Committed(s.holder.notice)
		return err
	})
	return out, err
}

const newSignal = "INSERT INTO signals (run, seq, step, name, dedup, by, at, value) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"

const signalColumns = "SELECT seq, step, name, dedup, by, at, value FROM signals "

func scanSignal(row interface{ Scan(...any) error }, q querier) (engine.Signal, error) {
	var sig engine.Signal
	var at int64
	var value any
	err := row.Scan(&sig.Seq, &sig.Step, &sig.Name, &sig.Dedup, &sig.By, &at, &value)
	if err != nil {
		return sig, err
	}
	sig.At = timeOf(at)
	sig.Value, err = loaded(context.Background(), q, value)
	return sig, err
}

// Signals implements [engine.Store].
func (s *Store) Signals(ctx context.Context, id string) (all []engine.Signal, err error) {
	n, err := s.number(ctx, id)
	if err != nil {
		return nil, err
	}
	err = db.Each(func() (*sql.Rows, error) {
		return s.file.Readers().QueryContext(ctx, signalColumns+"WHERE run = ? ORDER BY seq", n)
	}, func(rows *sql.Rows) error {
		sig, err := scanSignal(rows, s.file.Readers())
		all = append(all, sig)
		return err
	})
	return all, s.file.Failed("read", err)
}

// CancelRun implements [engine.Store].
func (s *Store) CancelRun(ctx context.Context, id, reason string) error {
	if err := s.started(ctx, id); err != nil {
		return err
	}
	return s.write(func(tx *db.Tx) error {
		var f found
		err := f.scan(tx.Conn().QueryRowContext(ctx, columns+"WHERE id = ?", id))
		if errors.Is(err, sql.ErrNoRows) {
			return db.Refuse(store.NotFound(id))
		}
		if err != nil {
			return err
		}
		live := s.verdict(&f.claim) == heldBy
		f.settle(live)
		switch {
		case live:
			if _, err := tx.Exec("UPDATE runs SET cancel = coalesce(cancel, ?) WHERE n = ?", reason, f.n); err != nil {
				return err
			}
			tx.Committed(s.holder.notice)
		case f.Status == engine.RunRunning || f.Status == engine.RunParked:
			if _, err := tx.Exec(noEnd, f.n); err != nil { // a parked run may have some
				return err
			}
			s.fences++ // a new epoch: an owner that does not answer but is still alive must not write any more
			_, err = tx.Exec(`UPDATE runs SET holder = '', host = '', pid = 0, owner = '', prior = '', status = ?, ended = ?, updated = ?, epoch = epoch + 1,
				cancel = coalesce(cancel, ?) WHERE n = ?`, engine.RunCancelled, nanos(s.now()), nanos(s.now()), reason, f.n)
		}
		return err
	})
}
