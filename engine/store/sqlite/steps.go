package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/engine/store/sqlite/internal/db"
)

// stepRow is a step in the form in which it is written. The caller of Put makes it, so that the writer has less to
// do.
type stepRow struct {
	engine.Step
	usage   string
	types   any
	request any
	outcome any
	values
}

func newStepRow(s engine.Step) (*stepRow, error) {
	p := &stepRow{Step: s}
	var err error
	if p.usage, err = usageText(s.Usage); err != nil {
		return nil, err
	}
	if len(s.Types) > 0 {
		types, err := json.Marshal(s.Types)
		if err != nil {
			return nil, err
		}
		p.types = p.stored(types, inlineTypes)
	}
	p.request, p.outcome = p.stored(s.Request, inline), p.stored(s.Outcome, inline)
	return p, nil
}

// Put implements [engine.OpenRun]. It ignores the context: an outcome was paid for.
func (r *openRun) Put(_ context.Context, s engine.Step, sync bool) error {
	p, err := newStepRow(s)
	if err != nil {
		return r.s.file.Failed("write a step to", err)
	}
	do := func(tx *db.Tx) error { return r.put(tx, p) }
	if sync {
		result := make(chan error, 1)
		r.s.file.Hand(do, func(err error) { result <- r.failed(err) }, false)
		return <-result
	}
	r.mu.Lock()
	err = r.unwritten
	r.mu.Unlock()
	if err == nil {
		r.s.file.Hand(do, func(err error) {
			if err = r.failed(err); err != nil {
				r.mu.Lock()
				r.unwritten = err
				r.mu.Unlock()
			}
		}, true)
	}
	return err
}

// put writes a step in a transaction.
func (r *openRun) put(tx *db.Tx, p *stepRow) error {
	t, err := r.begin(tx)
	if err != nil {
		return err
	}
	if err := r.touch(tx, t); err != nil {
		return err
	}
	if err := r.replace(tx, t, p); err != nil {
		return err
	}
	t.seq++
	_, err = tx.Exec(`INSERT INTO steps (run, seq, id, state, kind, name, agent, class, key, begun, ended, taken, usage, types, request, outcome)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		r.n, t.seq, p.ID, string(p.State), string(p.Kind), p.Name, p.Agent, string(p.Class), p.Key, nanos(p.Begun), nanos(p.Ended), p.Taken, p.usage, p.types, p.request, p.outcome)
	if err != nil {
		return err
	}
	t.steps++
	if p.State == engine.StepWaiting {
		t.waiting++
	}
	t.usage = t.usage.Add(p.Usage)
	if r.moved == nil {
		r.moved = map[string]int64{}
	}
	r.moved[p.ID] = t.seq
	return p.keep(tx, r.n)
}

// replace removes the step that has the same id as p.
func (r *openRun) replace(tx *db.Tx, t *tally, p *stepRow) error {
	seq, err := r.seqOf(tx, p.ID)
	if err != nil || seq == 0 {
		return err
	}
	var pos int64
	var state, usage string
	if err := tx.Row("SELECT pos, state, usage FROM steps WHERE run = ? AND seq = ?", []any{r.n, seq}, &pos, &state, &usage); err != nil {
		return err
	}
	if _, err := tx.Exec("DELETE FROM steps WHERE pos = ?", pos); err != nil {
		return err
	}
	t.steps--
	if engine.StepState(state) == engine.StepWaiting {
		t.waiting--
	}
	if usage == "" {
		return nil
	}
	// Subtracting from a sum of floats does not restore the earlier sum.
	t.usage = model.Usage{}
	return tx.Rows("SELECT usage FROM steps WHERE run = ? AND usage <> ''", []any{r.n}, func(rows *sql.Rows) error {
		var u model.Usage
		err := rows.Scan(&usage)
		if err == nil {
			u, err = usageOf(usage)
		}
		t.usage = t.usage.Add(u)
		return err
	})
}

// seqOf returns the Seq of the step with an id, or 0 if there is no such step.
func (r *openRun) seqOf(tx *db.Tx, id string) (int64, error) {
	if seq, ok := r.moved[id]; ok {
		return seq, nil
	}
	if r.seqs == nil { // the run was taken, and no earlier transaction of this owner has written to it
		seqs := map[string]int64{}
		err := tx.Rows("SELECT id, seq FROM steps WHERE run = ?", []any{r.n}, func(rows *sql.Rows) error {
			var id string
			var seq int64
			err := rows.Scan(&id, &seq)
			seqs[id] = seq
			return err
		})
		if err != nil {
			return 0, err
		}
		r.seqs = seqs
	}
	return r.seqs[id], nil
}

// page is how many steps are read at once. Between pages nothing blocks writers.
const page = 500

// Steps implements [engine.Store].
func (s *Store) Steps(ctx context.Context, id string, after int64, each func(engine.Step) error) error {
	n, err := s.number(ctx, id)
	if err != nil {
		return err
	}
	read := stepReader{s: s, ctx: ctx, n: n, texts: map[string]string{}, types: map[string]map[string]string{}}
	for {
		steps, err := read.page(after)
		if err != nil {
			return s.file.Failed("read", err)
		}
		for i := range steps {
			step, err := read.step(&steps[i])
			if err != nil {
				return s.file.Failed("read", err)
			}
			if err := each(step); err != nil {
				return err
			}
		}
		if len(steps) < page {
			still, err := s.number(ctx, id)
			if err == nil && still != n { // it was removed in the meantime, perhaps before its last steps were read
				err = store.NotFound(id)
			}
			return err
		}
		after = steps[len(steps)-1].Seq
	}
}

// stepReader reads the steps of a run.
type stepReader struct {
	s     *Store
	ctx   context.Context
	n     int64
	texts map[string]string            // strings that many steps share are kept once
	types map[string]map[string]string // by their text or digest

	steps []readStep
	row   [15]any // the raw values of a row: converting them in Scan costs more than reading them
	to    []any
}

// readStep is a step whose values have not been loaded yet.
type readStep struct {
	engine.Step
	types, request, outcome any
}

// page reads the steps after the given Seq. The result is valid until the next call.
func (r *stepReader) page(after int64) ([]readStep, error) {
	r.steps = r.steps[:0]
	err := db.Each(func() (*sql.Rows, error) {
		return r.s.file.Readers().QueryContext(r.ctx, `SELECT seq, begun, ended, taken, id, state, kind, name, agent, class, key, usage, types, request, outcome
			FROM steps WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?`, r.n, after, page)
	}, func(rows *sql.Rows) error {
		if r.to == nil {
			for i := range r.row {
				r.to = append(r.to, &r.row[i])
			}
		}
		if err := rows.Scan(r.to...); err != nil {
			return err
		}
		var s readStep
		s.Seq, s.Begun, s.Ended, s.Taken = r.number(0), timeOf(r.number(1)), timeOf(r.number(2)), r.number(3)
		s.ID, s.State, s.Kind = r.text(4), engine.StepState(r.common(5)), engine.EffectKind(r.common(6))
		s.Name, s.Agent, s.Class, s.Key = r.common(7), r.common(8), engine.Class(r.common(9)), r.text(10)
		s.types, s.request, s.outcome = r.row[12], r.row[13], r.row[14]
		var err error
		s.Usage, err = usageOf(r.row[11])
		r.steps = append(r.steps, s)
		return err
	})
	return r.steps, err
}

func (r *stepReader) number(column int) int64 {
	n, _ := r.row[column].(int64)
	return n
}

func (r *stepReader) text(column int) string {
	s, _ := r.row[column].(string)
	return s
}

// common returns a text that many steps share.
func (r *stepReader) common(column int) string {
	text := r.text(column)
	if s, ok := r.texts[text]; ok {
		return s
	}
	r.texts[text] = text
	return text
}

// step loads the values of a step that are stored outside its row.
func (r *stepReader) step(s *readStep) (engine.Step, error) {
	q := r.s.file.Readers()
	var err error
	if s.Request, err = loaded(r.ctx, q, s.request); err != nil {
		return s.Step, err
	}
	if s.Outcome, err = loaded(r.ctx, q, s.outcome); err != nil {
		return s.Step, err
	}
	s.Types, err = r.typesOf(q, s.types)
	return s.Step, err
}

// typesOf loads types. Each map is loaded once and shared by the steps that have it.
func (r *stepReader) typesOf(q querier, stored any) (map[string]string, error) {
	var key string
	switch v := stored.(type) {
	case nil:
		return nil, nil
	case string:
		key = v
	case []byte:
		key = string(v)
	}
	if t, ok := r.types[key]; ok {
		return t, nil
	}
	data, err := loaded(r.ctx, q, stored)
	if err != nil {
		return nil, err
	}
	var t map[string]string
	if err := json.Unmarshal(data, &t); err != nil {
		return nil, err
	}
	r.types[key] = t
	return t, nil
}
