package sqlite

import (
	"context"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/engine/store/sqlite/internal/db"
)

// PutRun stores a run that was made elsewhere. Nobody holds it afterwards. It is stored whole or, with an error, not
// at all: a resumed run would do again whatever was missing. No run with its id may exist.
func (s *Store) PutRun(ctx context.Context, w store.Whole) error {
	if err := s.started(ctx, w.Head.ID); err != nil {
		return err
	}
	if w.End != nil && !store.Ends(w.End.Status) {
		return store.NotAnEnd(w.Head.ID, w.End.Status)
	}
	var v, endings, sent values
	head := headValues(w.Head, &v)
	rows := make([]*stepRow, len(w.Steps))
	for i, step := range w.Steps {
		p, err := newStepRow(step)
		if err != nil {
			return s.file.Failed("write a step to", err)
		}
		rows[i] = p
	}
	signals := make([]any, len(w.Signals))
	for i, sig := range w.Signals {
		signals[i] = sent.stored(sig.Value, inline)
	}
	end := engine.RunEnd{}
	if w.End != nil {
		end = *w.End
	}
	ended := endValues(end, &endings)
	files := newBundleRow(w.Files)
	return s.write(func(tx *db.Tx) error {
		if err := absent(tx, w.Head.ID); err != nil { // before anything is changed
			return err
		}
		if files != nil {
			if err := files.put(tx, w.Head.Bundle, s.now()); err != nil {
				return err
			}
		}
		r, err := s.insert(tx, w.Head, engine.Owner{}, "", head, &v)
		if err != nil {
			return err
		}
		r.seqs = map[string]int64{}
		for _, p := range rows {
			if err := r.put(tx, p); err != nil {
				return err
			}
		}
		for i, sig := range w.Signals {
			if sig.At.IsZero() {
				sig.At = s.now()
			}
			_, err := tx.Exec(newSignal, r.n, i+1, sig.Step, sig.Name, sig.Dedup, sig.By, nanos(sig.At), signals[i])
			if err != nil {
				return err
			}
		}
		if err := sent.keep(tx, r.n); err != nil {
			return err
		}
		if _, err := tx.Exec("UPDATE runs SET signals = ? WHERE n = ?", len(signals), r.n); err != nil {
			return err
		}
		t, err := r.begin(tx)
		if err != nil || w.End == nil {
			return err
		}
		return r.end(tx, t, end, ended, &endings)
	})
}

// endValues returns the values that a run ended with.
func endValues(e engine.RunEnd, v *values) map[string]any {
	return map[string]any{"result": v.stored(e.Result, inline), "text": v.stored([]byte(e.Text), inline), "error": v.stored(e.Err, inline)}
}

// end records how the run ended and gives it back.
func (r *openRun) end(tx *db.Tx, t *tally, e engine.RunEnd, kept map[string]any, v *values) error {
	if err := keepValues(tx, r.n, kept, v); err != nil {
		return err
	}
	if e.At.IsZero() {
		e.At = r.s.now()
	}
	t.over = true
	_, err := tx.Exec("UPDATE runs SET holder = '', host = '', pid = 0, owner = '', status = ?, ended = ? WHERE n = ?", e.Status, nanos(e.At), r.n)
	return err
}

// bundleRow is a bundle in the form in which it is written.
type bundleRow struct {
	entry   string
	digests map[string]any
	values
}

func newBundleRow(b *engine.Bundle) *bundleRow {
	if b == nil {
		return nil
	}
	p := &bundleRow{entry: b.Entry, digests: make(map[string]any, len(b.Files))}
	for path, data := range b.Files {
		digest := p.stored(data, -1)
		if digest == nil {
			digest = []byte{} // an empty file
		}
		p.digests[path] = digest
	}
	return p
}

// put stores the bundle for a run that is about to be created.
func (p *bundleRow) put(tx *db.Tx, hash string, now time.Time) error {
	known, err := tx.Exec("UPDATE bundles SET pending = pending + 1, put = ? WHERE hash = ?", nanos(now), hash)
	if known > 0 || err != nil {
		return err
	}
	var n int64
	if err := tx.Row("INSERT INTO bundles (hash, entry, pending, put) VALUES (?, ?, 1, ?) RETURNING n", []any{hash, p.entry, nanos(now)}, &n); err != nil {
		return err
	}
	for path, digest := range p.digests {
		if _, err := tx.Exec("INSERT INTO bundle_files (bundle, path, sha) VALUES (?, ?, ?)", n, path, digest); err != nil {
			return err
		}
	}
	return p.keep(tx, -n)
}
