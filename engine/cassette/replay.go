package cassette

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/clock"
	"github.com/agentscript/agentscript/engine/internal/redact"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/engine/runfile"
	"github.com/agentscript/agentscript/engine/session"
)

// Replayer answers model calls from a record, without a model, and the other effects that were recorded. It is the
// handler of every kind of effect of which the record holds one. An effect is answered with what the same request
// returned when it was recorded. If the record holds the same request several times, the one at the same position
// answers, or else the next one in the order of the record, so that it does not matter in which order branches ask.
// Each row answers once. An effect that was not recorded fails, and the error says how it differs from the nearest
// recorded one. In virtual time it does not fail before nothing else can continue: another branch may end its branch,
// as it did when it was recorded.
type Replayer struct {
	name   string
	lines  string // the unit that numbers the rows
	redact func(string) string
	cut    int
	rows   []*row
	byID   map[string]*row // rows that wait or failed so far

	sessions []session.Found // what the sessions held
	settings json.RawMessage // of the first run
	seed     *uint64         // of the first run; nil if it is not known

	mu    sync.Mutex
	byKey map[string][]*row
}

var _ engine.Handler = (*Replayer)(nil)

// Replay reads a record that a [Recorder] wrote, or another file of a run. The name of the file is used in messages.
// What redact kept out of the record must be kept out of messages, too.
func Replay(from io.Reader, name string, redact func(string) string) (*Replayer, error) {
	r := newReplayer(name, "line", redact)
	lines := runfile.NewReader(from, name)
	for {
		line, err := lines.Next()
		if err == io.EOF {
			r.cut = lines.Cut()
			return r, nil
		}
		switch {
		case err != nil:
		case line.Head != nil:
			err = r.begin(line.Head.RunHead)
		case line.Step != nil:
			err = r.add(*line.Step, line.N)
		}
		if err != nil {
			e := engine.Errorf(engine.KindReplay, diag.ReplayMismatch, "%w", err)
			if line.N > 0 {
				e = engine.Errorf(engine.KindReplay, diag.ReplayMismatch, "%s:%d: %w", name, line.N, err)
			}
			return nil, e.WithHelp("record the calls again")
		}
	}
}

// ReplayRun reads a run from a store.
func ReplayRun(ctx context.Context, store engine.Store, id string, redact func(string) string) (*Replayer, error) {
	info, err := store.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	r := newReplayer("run "+info.ID, "step", redact)
	if err = r.begin(info.RunHead); err != nil {
		return nil, err
	}
	return r, store.Steps(ctx, info.ID, 0, func(s engine.Step) error {
		if err := r.add(s, int(s.Seq)); err != nil {
			return engine.Errorf(engine.KindStore, diag.StoreFailed, "step %s of run %s cannot be read: %w", s.ID, info.ID, err)
		}
		return nil
	})
}

func newReplayer(name, lines string, redact func(string) string) *Replayer {
	if redact == nil {
		redact = func(s string) string { return s }
	}
	return &Replayer{name: name, lines: lines, redact: redact, byKey: map[string][]*row{}, byID: map[string]*row{}}
}

// begin reads what a run began with.
func (r *Replayer) begin(h engine.RunHead) error {
	clear(r.byID)
	if r.seed == nil && (h.ID != "" || h.Seed != 0) {
		r.seed = &h.Seed
	}
	if r.settings == nil {
		r.settings = h.Settings
	}
	if h.Session == nil {
		return nil
	}
	var held session.Found
	if err := json.Unmarshal(h.Session, &held); err != nil {
		return fmt.Errorf("what its session held cannot be read: %w", err)
	}
	r.sessions = append(r.sessions, held)
	return nil
}

// add adds a step, unless no handler is called for it: the engine answers it itself, a budget refused it, or it had
// no answer when its process ended.
func (r *Replayer) add(s engine.Step, line int) error {
	switch s.Kind {
	case engine.EffectBudget, engine.EffectMemory, engine.EffectChoice, engine.EffectSleep:
		return nil
	}
	switch s.State {
	case engine.StepIntent:
		return nil
	case engine.StepLeft: // it had no answer either
		s.State = engine.StepWaiting
	}
	next, err := newRow(s, line)
	if err != nil || next.outcome.Attempt == 0 && s.State != engine.StepWaiting {
		return err
	}
	if was := r.byID[s.ID]; was != nil && was.Key == s.Key && (was.State == engine.StepWaiting || s.State == engine.StepCaught) {
		*was = *next
		delete(r.byID, s.ID)
		return nil
	}
	if s.State == engine.StepWaiting || s.State == engine.StepFailed { // a later row may answer it or record that it was caught
		r.byID[s.ID] = next
	}
	r.rows = append(r.rows, next)
	r.byKey[s.Key] = append(r.byKey[s.Key], next)
	return nil
}

// Settings returns what a host stored with the recorded run, or nil.
func (r *Replayer) Settings() json.RawMessage { return r.settings }

// Cut returns the number of the last line of the record if it was cut and omitted, and 0 otherwise.
func (r *Replayer) Cut() int { return r.cut }

// Do implements [engine.Handler].
func (r *Replayer) Do(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
	asked, err := journal.StepOf(e.ID(), e)
	if err != nil {
		return engine.Failed(engine.AsError(err))
	}
	ask := &row{Step: asked}
	clock.Turn(ctx)
	row := r.take(ask)
	if row == nil && clock.Last(ctx) != nil {
		return engine.Failed(engine.Errorf(engine.KindCancelled, diag.Cancelled, "the call was cancelled, as it was when it was recorded"))
	}
	if row != nil {
		return replay(e, sink, row.outcome)
	}
	if row := r.takeRedacted(ask); row != nil {
		return replay(e, sink, row.outcome)
	}
	return engine.Failed(r.missing(ask))
}

// take returns the row that answers a call and marks it as used. It returns nil if there is none.
func (r *Replayer) take(asked *row) *row {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found *row
	for _, row := range r.byKey[asked.Key] {
		if row.used {
			continue
		}
		if journal.Position(row.ID) == journal.Position(asked.ID) {
			found = row
			break
		}
		if found == nil {
			found = row
		}
	}
	if found != nil {
		found.used = true
	}
	return found
}

// takeRedacted returns the row of a call that contained a key when it was recorded. If the key is not known now, the
// call has a different digest. Everything except the mark that replaces the key must be the same.
func (r *Replayer) takeRedacted(asked *row) *row {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, row := range r.rows {
		if row.used || row.Kind != asked.Kind || row.Kind != engine.EffectModel && row.Name != asked.Name || row.Agent != asked.Agent || !maps.Equal(row.Types, asked.Types) || !fitsRedacted(string(row.Request), string(asked.Request)) {
			continue
		}
		row.used = true
		return row
	}
	return nil
}

// fitsRedacted reports whether text equals marked, where each redaction mark in marked stands for something in text
// that could be a key.
func fitsRedacted(marked, text string) bool {
	pieces := strings.Split(marked, redact.Marker)
	rest, ok := strings.CutPrefix(text, pieces[0])
	for _, piece := range pieces[1:] {
		if !ok || len(rest) < redact.Shortest {
			return false
		}
		key := redact.Shortest
		if piece != "" {
			if at := strings.Index(rest[key:], piece); at >= 0 {
				key += at
			} else {
				return false
			}
		} else {
			key = len(rest)
		}
		if strings.ContainsAny(rest[:key], " \t\n") {
			return false
		}
		rest = rest[key+len(piece):]
	}
	return ok && len(pieces) > 1 && rest == ""
}

// Lines returns the unit that numbers the calls of the record: lines of a file, or steps of a run in a store.
func (r *Replayer) Lines() string { return r.lines }

// Unused returns the lines, or the steps of a run in a store, of recorded calls that were not made in the replay.
func (r *Replayer) Unused() []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	var lines []int
	for _, row := range r.rows {
		if !row.used {
			lines = append(lines, row.line)
		}
	}
	return lines
}
