// Package record holds what a run on Temporal has recorded in the memory of its workflow, and carries it from one
// history to the next. It is the in-memory store of one run and, for a fork, of the run that it forks.
package record

import (
	"context"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/store"
)

// Record is the store of one run. It must be used only on the coroutine of the run's workflow.
type Record struct {
	*store.MemoryStore
	id         string
	signal     func()
	fits       func(step string, a engine.Answer) *engine.Error
	lastStep   int64 // the Seq of the last step from previous histories
	lastSignal int64 // the Seq of the last signal from previous histories
	limit      int
	begun      map[string]bool // the effects that may have been carried out in this history, by id: true if their worker was lost
	waiting    map[string]bool // ids of steps that wait for an answer from outside
	waitCount  int             // how many times a step began to wait
}

// New returns the record of a run, with everything that the run and its parent hold. parent is the run that a fork
// forks. Requests of more than limit bytes are not stored: they are only for people.
func New(now func() time.Time, run store.Whole, parent *store.Whole, limit int) (*Record, error) {
	r := &Record{MemoryStore: store.NewMemoryAt(now), id: run.Head.ID, limit: limit, begun: map[string]bool{}, waiting: map[string]bool{}}
	for _, s := range run.Steps {
		r.lastStep = max(r.lastStep, s.Seq)
		if s.State == engine.StepWaiting {
			r.waiting[s.ID] = true
		}
	}
	for _, s := range run.Signals {
		r.lastSignal = max(r.lastSignal, s.Seq)
	}
	err := r.PutRun(context.Background(), run)
	if err == nil && parent != nil {
		err = r.PutRun(context.Background(), *parent)
	}
	return r, err
}

// ID returns the run's id.
func (r *Record) ID() string { return r.id }

// TakeRun implements [engine.Store].
func (r *Record) TakeRun(ctx context.Context, id string, by engine.Owner) (engine.OpenRun, error) {
	open, err := r.MemoryStore.TakeRun(ctx, id, by)
	if err != nil {
		return nil, err
	}
	return &openRun{open, r}, nil
}

// Signal implements [engine.Store].
func (r *Record) Signal(ctx context.Context, id string, s engine.Signal) (engine.Signal, error) {
	is, err := r.MemoryStore.Signal(ctx, id, s)
	if err == nil && r.signal != nil {
		r.signal()
	}
	return is, err
}

// Fits implements [journal.Checking].
func (r *Record) Fits(step string, a engine.Answer) *engine.Error {
	if r.fits == nil {
		return nil
	}
	return r.fits(step, a)
}

// Since returns what the run recorded in this history.
func (r *Record) Since(ctx context.Context) (w store.Whole, err error) {
	info, err := r.Run(ctx, r.id)
	if err != nil {
		return w, err
	}
	w.Head = info.RunHead
	all, err := r.Signals(ctx, r.id)
	if err != nil {
		return w, err
	}
	for _, s := range all {
		if s.Seq > r.lastSignal {
			w.Signals = append(w.Signals, s)
		}
	}
	err = r.Steps(ctx, r.id, r.lastStep, func(s engine.Step) error {
		w.Steps = append(w.Steps, r.carriedOver(s))
		return nil
	})
	return w, err
}

// openRun is the open run that the journal writes to.
type openRun struct {
	engine.OpenRun
	r *Record
}

// OnSignal implements [journal.Told].
func (t *openRun) OnSignal(f func(), fits func(string, engine.Answer) *engine.Error) {
	t.r.signal, t.r.fits = f, fits
}

// Put implements [engine.OpenRun].
func (t *openRun) Put(ctx context.Context, s engine.Step, sync bool) error {
	if len(s.Request) > t.r.limit {
		s.Request = nil
	}
	if s.State == engine.StepWaiting {
		t.r.waiting[s.ID] = true
		t.r.waitCount++
	} else {
		delete(t.r.waiting, s.ID)
	}
	return t.OpenRun.Put(ctx, s, sync)
}

// MarkBegun marks an effect as possibly carried out.
func (r *Record) MarkBegun(id string) { r.begun[id] = false }

// MarkRefused marks an effect as not tried by any worker.
func (r *Record) MarkRefused(id string) { delete(r.begun, id) }

// MarkLost marks an effect whose process ended before it reported the outcome, though the run continues.
func (r *Record) MarkLost(id string) { r.begun[id] = true }

// carriedOver returns the step that the next history sees. It changes an effect that must not happen twice and was
// interrupted by the end of this history: if its worker was lost, the outcome is unknown; if it had not begun, it counts
// as not tried.
func (r *Record) carriedOver(s engine.Step) engine.Step {
	if s.Class != engine.ClassOnce || s.State != engine.StepIntent && s.State != engine.StepFailed {
		return s
	}
	out := engine.Failed(&engine.Error{Kind: engine.KindCancelled})
	if s.State == engine.StepFailed {
		var err error
		if out, err = engine.DecodeOutcome(s.Outcome, engine.TypesOf().OrMaps()); err != nil || out.Err == nil || out.Err.Kind != engine.KindCancelled {
			return s
		}
	}
	lost, begun := r.begun[s.ID]
	switch {
	case lost:
		s.State, s.Outcome, s.Ended = engine.StepIntent, nil, time.Time{}
	case !begun:
		out.Attempt = 0
		if text, err := out.MarshalJSON(); err == nil {
			s.State, s.Outcome = engine.StepFailed, text
		}
	}
	return s
}

// Waiting reports whether a step waits for an answer from outside.
func (r *Record) Waiting() bool { return len(r.waiting) > 0 }

// WaitCount returns how many times a step began to wait for an answer in this history.
func (r *Record) WaitCount() int { return r.waitCount }
