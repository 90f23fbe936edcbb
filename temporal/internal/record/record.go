// Package record holds what a run on Temporal has recorded, in the memory of its workflow, and carries it from one
// history to the next. It is the store in memory, of one run and of the run that it is a fork of.
package record

import (
	"bytes"
	"context"
	"io"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/runfile"
	"github.com/agentscript/agentscript/engine/store"
)

// Record is the store of one run. It belongs to the coroutine of the run's workflow.
type Record struct {
	*store.MemoryStore
	id     string
	signal func()
}

// New returns the record of a run, with all that it and the run that it is a fork of hold.
func New(now func() time.Time, run store.Whole, parent *store.Whole) (*Record, error) {
	r := &Record{MemoryStore: store.NewMemoryAt(now), id: run.Head.ID}
	err := r.PutRun(context.Background(), run)
	if err == nil && parent != nil {
		err = r.PutRun(context.Background(), *parent)
	}
	return r, err
}

// TakeRun implements [engine.Store].
func (r *Record) TakeRun(ctx context.Context, id string, by engine.Owner) (engine.OpenRun, error) {
	open, err := r.MemoryStore.TakeRun(ctx, id, by)
	if err != nil {
		return nil, err
	}
	return &told{open, r}, nil
}

// Signal implements [engine.Store].
func (r *Record) Signal(ctx context.Context, id string, s engine.Signal) (engine.Signal, error) {
	is, err := r.MemoryStore.Signal(ctx, id, s)
	if err == nil && r.signal != nil {
		r.signal()
	}
	return is, err
}

// Whole returns all that the run holds by now.
func (r *Record) Whole(ctx context.Context) (w store.Whole, err error) {
	info, err := r.Run(ctx, r.id)
	if err != nil {
		return w, err
	}
	w.Head = info.RunHead
	if w.Signals, err = r.Signals(ctx, r.id); err != nil {
		return w, err
	}
	err = r.Steps(ctx, r.id, 0, func(s engine.Step) error {
		w.Steps = append(w.Steps, s)
		return nil
	})
	return w, err
}

// told is the run as its journal has it.
type told struct {
	engine.OpenRun
	r *Record
}

// OnSignal implements [journal.Told].
func (t *told) OnSignal(f func()) { t.r.signal = f }

// Encode writes a run in the form of its file.
func Encode(w store.Whole) ([]byte, error) {
	var b bytes.Buffer
	to := runfile.NewWriter(&b, nil)
	err := to.Begin(runfile.Head{RunHead: w.Head, Files: w.Files})
	for _, s := range w.Steps {
		if err == nil {
			err = to.Step(s)
		}
	}
	for _, s := range w.Signals {
		if err == nil {
			err = to.Signal(s)
		}
	}
	if err == nil && w.End != nil {
		err = to.End(*w.End)
	}
	return b.Bytes(), err
}

// Decode reads what [Encode] wrote.
func Decode(data []byte) (w store.Whole, err error) {
	for lines := runfile.NewReader(bytes.NewReader(data), "the record"); ; {
		line, err := lines.Next()
		switch {
		case err == io.EOF:
			return w, nil
		case err != nil:
			return w, err
		case line.Head != nil:
			w.Head, w.Files = line.Head.RunHead, line.Head.Files
		case line.Step != nil:
			w.Steps = append(w.Steps, *line.Step)
		case line.Signal != nil:
			w.Signals = append(w.Signals, *line.Signal)
		case line.End != nil:
			w.End = line.End
		}
	}
}

// ID is the run's.
func (r *Record) ID() string { return r.id }
