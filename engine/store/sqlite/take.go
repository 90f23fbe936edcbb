package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"strconv"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/disk"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/engine/store/sqlite/internal/db"
)

// claim is what is known about the holder of a run.
type claim struct {
	holder, host string
	locked       bool
	lease, until int64
	beat         int64 // counts the renewals of its lease
}

// state says whether a holder is alive, as far as this process can see.
type state int

const (
	heldByNobody state = iota
	heldByDead         // its process has ended
	heldTooLong        // its lease has ended, by the clock
	heldBy
)

func (s *Store) verdict(c *claim) state {
	switch c.holder {
	case "":
		return heldByNobody
	case s.holder.name:
		return heldBy
	}
	if c.locked && c.host == s.holder.host {
		if held, known := disk.Held(s.lockOf(c.holder)); known && !held {
			return heldByDead
		}
	}
	if nanos(s.now()) >= c.until {
		return heldTooLong
	}
	return heldBy
}

// CreateRun implements [engine.Store].
func (s *Store) CreateRun(ctx context.Context, head engine.RunHead, by engine.Owner) (engine.OpenRun, error) {
	if err := s.started(ctx, head.ID); err != nil {
		return nil, err
	}
	var v values
	kept := headValues(head, &v)
	by = s.owner(by)
	locked := s.holder.locked()
	var r *openRun
	err := s.write(func(tx *db.Tx) (err error) {
		if r, err = s.insert(tx, head, by, s.holder.name, kept, &v); err != nil {
			return err
		}
		r.seqs = map[string]int64{}
		return s.holder.register(tx, locked)
	})
	return s.opened(r, err)
}

// insert writes the row of a new run. holder is its holder, "" for none.
func (s *Store) insert(tx *db.Tx, head engine.RunHead, by engine.Owner, holder string, kept map[string]any, v *values) (*openRun, error) {
	if err := absent(tx, head.ID); err != nil {
		return nil, err
	}
	var n int64
	now := s.now()
	if head.Begun.IsZero() {
		head.Begun = now
	}
	head.Begun = timeOf(nanos(head.Begun))
	err := tx.Row(`INSERT INTO runs (id, bundle, abi, script, entry, seed, parent, begun, status, epoch, holder, host, pid, owner, updated)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?) RETURNING n`,
		[]any{head.ID, head.Bundle, head.ABI, head.Script, head.Entry, int64(head.Seed), head.Parent, nanos(head.Begun), engine.RunRunning,
			holder, by.Host, by.PID, by.Name, nanos(now)}, &n)
	if err != nil {
		return nil, err
	}
	if err := keepValues(tx, n, kept, v); err != nil {
		return nil, err
	}
	if head.Bundle != "" {
		if _, err := tx.Exec("UPDATE bundles SET pending = max(pending - 1, 0) WHERE hash = ?", head.Bundle); err != nil {
			return nil, err
		}
	}
	if err := probe(tx, n); err != nil {
		return nil, err
	}
	info := engine.RunInfo{RunHead: head, RunEnd: engine.RunEnd{Status: engine.RunRunning}, Owner: by, Live: true, Epoch: 1, Until: timeOf(nanos(now.Add(s.lease))), Updated: timeOf(nanos(now))}
	return newRun(s, n, info), nil
}

// absent returns an error if a run has the id.
func absent(tx *db.Tx, id string) error {
	var n int64
	switch err := tx.Row("SELECT n FROM runs WHERE id = ?", []any{id}, &n); {
	case err == nil:
		return db.Refuse(store.Exists(id))
	case !errors.Is(err, sql.ErrNoRows):
		return err
	}
	return nil
}

// headValues returns the values that a run begins with.
func headValues(head engine.RunHead, v *values) map[string]any {
	kept := map[string]any{"input": v.stored(head.Input, inline), "args": v.stored(head.Args, inline),
		"settings": v.stored(head.Settings, inline), "session": v.stored(head.Session, inline)}
	if head.ParentSeq != 0 {
		kept["parent seq"] = v.stored(strconv.AppendInt(nil, head.ParentSeq, 10), inline)
	}
	return kept
}

// keepValues writes values of a run. They replace those of the same names.
func keepValues(tx *db.Tx, n int64, kept map[string]any, v *values) error {
	for name, value := range kept {
		if value == nil {
			continue
		}
		if _, err := tx.Exec("INSERT INTO run_values (run, name, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", n, name, value); err != nil {
			return err
		}
	}
	return v.keep(tx, n)
}

// opened starts watching a run that was taken.
func (s *Store) opened(r *openRun, err error) (engine.OpenRun, error) {
	if err != nil {
		return nil, err
	}
	if err := s.holder.add(r); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// owner fills in the host and process if the owner names neither.
func (s *Store) owner(by engine.Owner) engine.Owner {
	if by.Host == "" && by.PID == 0 {
		by.Host, by.PID = s.holder.host, os.Getpid()
	}
	return by
}

// TakeRun implements [engine.Store].
func (s *Store) TakeRun(ctx context.Context, id string, by engine.Owner) (engine.OpenRun, error) {
	if err := s.started(ctx, id); err != nil {
		return nil, err
	}
	by = s.owner(by)
	locked := s.holder.locked()
	var r *openRun
	var held error    // why the run was not taken
	var watched claim // the holder whose lease has ended and that was watched
	take := func() error {
		return s.file.Do(func(tx *db.Tx) (err error) {
			var f found
			if held, err = s.obstacle(tx, id, &f, &watched); held != nil || err != nil {
				return err
			}
			f.settle(false)
			if err := f.values(context.Background(), tx.Conn()); err != nil {
				return err
			}
			if err := s.take(tx, &f, by); err != nil {
				return err
			}
			if err := probe(tx, f.n); err != nil {
				return err
			}
			r = newRunFrom(s, &f)
			return s.holder.register(tx, locked)
		})
	}
	err := take()
	if err == nil && held != nil && watched.holder != "" {
		if err = s.outlast(ctx, &watched); err == nil {
			err = take()
		}
	}
	if err == nil {
		err = held
	}
	if err != nil {
		return nil, s.file.Failed("take a run in", err)
	}
	return s.opened(r, nil)
}

// obstacle reads a run and returns why it is held, or nil. *watched is the holder that was watched; obstacle sets it
// to the holder that must be watched next. If the holder's process has ended, obstacle gives back all its runs.
func (s *Store) obstacle(tx *db.Tx, id string, f *found, watched *claim) (held, err error) {
	err = f.scan(tx.Conn().QueryRowContext(context.Background(), columns+"WHERE id = ?", id))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, db.Refuse(store.NotFound(id))
	}
	if err != nil {
		return nil, err
	}
	latest := nanos(s.now()) + f.claim.lease // no lease ends later
	switch s.verdict(&f.claim) {
	case heldByDead:
		return nil, s.bury(tx, f.claim.holder)
	case heldTooLong:
		if f.claim == *watched {
			return nil, nil
		}
		*watched = f.claim
		return store.Held(id, f.Owner, timeOf(latest)), nil
	case heldBy:
		*watched = claim{}
		if f.claim.until > latest { // the clock has jumped backward since
			f.Until = timeOf(latest)
			_, err = tx.Exec("UPDATE holders SET until = ? WHERE name = ? AND beat = ?", latest, f.claim.holder, f.claim.beat)
		}
		return store.Held(id, f.Owner, f.Until), err
	}
	return nil, nil
}

// take makes this store the run's holder, in a new epoch. f says how the run was found; take updates it.
func (s *Store) take(tx *db.Tx, f *found, by engine.Owner) error {
	if f.Status != engine.RunRunning {
		f.prior = f.Status
	}
	if f.Status != engine.RunRunning && f.Status != engine.RunParked {
		f.cancels, f.Cancel = false, "" // the request to cancel it is settled
	}
	now := s.now()
	f.Epoch++
	s.fences++
	f.Owner, f.Live, f.Until = by, true, timeOf(nanos(now.Add(s.lease)))
	_, err := tx.Exec(`UPDATE runs SET prior = ?, status = ?, epoch = ?, holder = ?, host = ?, pid = ?, owner = ?, updated = ?, cancel = iif(?, cancel, NULL) WHERE n = ?`,
		f.prior, engine.RunRunning, f.Epoch, s.holder.name, by.Host, by.PID, by.Name, nanos(now), f.cancels, f.n)
	return err
}

// probes read the pages to which the next steps of a run will be written.
var probes = []string{
	"SELECT max(pos) FROM steps WHERE ?1 > 0",
	"SELECT seq FROM steps WHERE run >= ?1 ORDER BY run LIMIT 1",
	"SELECT sha FROM refs WHERE run >= ?1 ORDER BY run LIMIT 1",
	"SELECT max(n) FROM blobs WHERE ?1 > 0",
	"SELECT seq FROM signals WHERE run >= ?1 ORDER BY run LIMIT 1",
}

// probe makes a run fail before its first effect if the file is damaged where its steps go, and not only when an
// outcome must be written there.
func probe(tx *db.Tx, n int64) error {
	var found any
	for _, q := range probes {
		if err := tx.Row(q, []any{n}, &found); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	return nil
}

// bury gives back the runs of a holder whose process has ended.
func (s *Store) bury(tx *db.Tx, holder string) error {
	if _, err := tx.Exec(released+"WHERE holder = ?", holder); err != nil {
		return err
	}
	_, err := tx.Exec("DELETE FROM holders WHERE name = ?", holder)
	tx.Committed(func() { _ = os.Remove(s.lockOf(holder)) }) // the file no longer means anything
	return err
}

// released gives runs back. A run to which nothing was written since it was taken becomes what it was before.
const released = "UPDATE runs SET holder = '', host = '', pid = 0, owner = '', status = iif(prior <> '', prior, status), prior = '' "

// outlast watches a holder whose lease has ended for the length of another lease, in which a living holder renews it
// three times. It returns early when the holder renews its lease or its row disappears.
func (s *Store) outlast(ctx context.Context, c *claim) error {
	const looks = 16
	look := time.NewTicker(max(time.Duration(c.lease/looks), 1))
	defer look.Stop()
	for range looks {
		select {
		case <-look.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		var beat int64
		err := s.file.Readers().QueryRowContext(ctx, "SELECT beat FROM holders WHERE name = ?", c.holder).Scan(&beat)
		if errors.Is(err, sql.ErrNoRows) || err == nil && beat != c.beat {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}
