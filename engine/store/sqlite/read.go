package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"strings"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/engine/store/sqlite/internal/db"
)

// found is a run as its row describes it, with the lease of its holder.
type found struct {
	engine.RunInfo
	n       int64
	prior   engine.RunStatus // its status when it was taken, until something is written to it
	ended   int64
	signals int64
	seq     int64
	cancels bool // it was asked to cancel
	claim   claim
}

const columns = `SELECT n, id, bundle, abi, script, entry, seed, parent, begun, status, prior, ended, epoch, runs.holder, runs.host, pid, owner, updated,
	seq, steps, waiting, usage, signals, cancel, coalesce(h.host, ''), coalesce(locked, 0), coalesce(lease, 0), coalesce(until, 0), coalesce(beat, 0)
	FROM runs LEFT JOIN holders h ON h.name = runs.holder `

func (f *found) scan(row interface{ Scan(...any) error }) error {
	var seed, begun, updated int64
	var usage string
	var cancel sql.NullString
	err := row.Scan(&f.n, &f.ID, &f.Bundle, &f.ABI, &f.Script, &f.Entry, &seed, &f.Parent, &begun, &f.Status, &f.prior, &f.ended, &f.Epoch,
		&f.claim.holder, &f.Owner.Host, &f.Owner.PID, &f.Owner.Name, &updated, &f.seq, &f.Steps, &f.Waiting, &usage, &f.signals, &cancel,
		&f.claim.host, &f.claim.locked, &f.claim.lease, &f.claim.until, &f.claim.beat)
	if err != nil {
		return err
	}
	f.Seed, f.Begun, f.Updated, f.Until = uint64(seed), timeOf(begun), timeOf(updated), timeOf(f.claim.until)
	f.Cancel, f.cancels = cancel.String, cancel.Valid
	f.Usage, err = usageOf(usage)
	return err
}

// settle makes the description say what is true now: whether somebody holds the run, and how it ended.
func (f *found) settle(live bool) {
	f.Live = live
	if !live && f.prior != "" {
		f.Status = f.prior
	}
	if f.Status != engine.RunRunning {
		f.At = timeOf(f.ended)
	}
}

// values loads what the run began with and how it ended.
func (f *found) values(ctx context.Context, q querier) error {
	var text, last json.RawMessage
	to := map[string]*json.RawMessage{"input": &f.Input, "args": &f.Args, "settings": &f.Settings, "session": &f.Session, "parent seq": &last}
	if f.Status != engine.RunRunning {
		to["result"], to["text"], to["error"] = &f.Result, &text, &f.Err
	}
	kept := map[string]any{}
	err := db.Each(func() (*sql.Rows, error) {
		return q.QueryContext(ctx, "SELECT name, value FROM run_values WHERE run = ?", f.n)
	}, func(rows *sql.Rows) error {
		var name string
		var value any
		err := rows.Scan(&name, &value)
		kept[name] = value
		return err
	})
	for name, value := range kept {
		if at := to[name]; at != nil && err == nil {
			*at, err = loaded(ctx, q, value)
		}
	}
	f.Text = string(text)
	if last != nil && err == nil {
		err = json.Unmarshal(last, &f.ParentSeq)
	}
	return err
}

// Run implements [engine.Store].
func (s *Store) Run(ctx context.Context, id string) (engine.RunInfo, error) {
	var f found
	err := s.reading(ctx, func(tx *sql.Tx) error {
		if err := f.scan(tx.QueryRowContext(ctx, columns+"WHERE id = ?", id)); err != nil {
			return err
		}
		f.settle(s.verdict(&f.claim) == heldBy)
		return f.values(ctx, tx)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return engine.RunInfo{}, store.NotFound(id)
	}
	return f.RunInfo, s.file.Failed("read", err)
}

// Runs implements [engine.Store].
func (s *Store) Runs(ctx context.Context, filter engine.RunFilter) (all []engine.RunInfo, err error) {
	var where []string
	var args []any
	also := func(cond string, values ...any) { where, args = append(where, cond), append(args, values...) }
	if filter.Script != "" {
		also("instr(script, ?) > 0", filter.Script)
	}
	if filter.Parent != "" {
		also("parent = ?", filter.Parent)
	}
	if filter.Prefix != "" {
		also("id >= ?", filter.Prefix)
		if end := after(filter.Prefix); end != "" {
			also("id < ?", end)
		}
	}
	if !filter.Since.IsZero() {
		also("begun >= ?", nanos(filter.Since))
	}
	if !filter.Until.IsZero() {
		also("begun < ?", nanos(filter.Until))
	}
	query := columns
	if where != nil {
		query += "WHERE " + strings.Join(where, " AND ")
	}
	verdicts := map[claim]bool{}
	err = db.Each(func() (*sql.Rows, error) {
		return s.file.Readers().QueryContext(ctx, query+" ORDER BY begun DESC, n DESC", args...)
	}, func(rows *sql.Rows) error {
		var f found
		if err := f.scan(rows); err != nil {
			return err
		}
		live, known := verdicts[f.claim]
		if !known {
			live = s.verdict(&f.claim) == heldBy
			verdicts[f.claim] = live
		}
		if f.settle(live); !matches(filter.Status, f.Status) {
			return nil
		}
		if all = append(all, f.RunInfo); len(all) == filter.Limit {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return all, s.file.Failed("read", err)
}

var errEnough = errors.New("there are as many as were asked for")

func matches(any []engine.RunStatus, s engine.RunStatus) bool {
	for _, one := range any {
		if one == s {
			return true
		}
	}
	return any == nil
}

// after returns the least text that is greater than all texts that begin with prefix, or "" if there is none.
func after(prefix string) string {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xff {
			return prefix[:i] + string([]byte{prefix[i] + 1})
		}
	}
	return ""
}

// reading runs f on one snapshot of the file.
func (s *Store) reading(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := s.file.Readers().BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback() // it has changed nothing
	return f(tx)
}

// number returns the number of a run, by which its rows are found.
func (s *Store) number(ctx context.Context, id string) (n int64, err error) {
	err = s.file.Readers().QueryRowContext(ctx, "SELECT n FROM runs WHERE id = ?", id).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, store.NotFound(id)
	}
	return n, s.file.Failed("read", err)
}
