package runfile

import (
	"context"
	"errors"
	"sync"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// recorded is a run that is also written to a file as it proceeds.
type recorded struct {
	engine.OpenRun
	mu  sync.Mutex
	to  *Writer
	err error
}

// Record writes a head to a file. It returns the run in a form that also writes each row, and how the run ended, to
// the file once the run has stored it. If something cannot be written, the call fails, and so do all later ones.
func Record(run engine.OpenRun, h Head, to *Writer) (engine.OpenRun, error) {
	r := &recorded{OpenRun: run, to: to}
	if err := r.write(func() error { return to.Begin(h) }); err != nil {
		return nil, errors.Join(err, run.Close())
	}
	return r, nil
}

// Put implements [engine.OpenRun].
func (r *recorded) Put(ctx context.Context, s engine.Step, sync bool) error {
	if err := r.OpenRun.Put(ctx, s, sync); err != nil {
		return err
	}
	return r.write(func() error { return r.to.Step(s) })
}

// End implements [engine.OpenRun].
func (r *recorded) End(ctx context.Context, e engine.RunEnd) error {
	if err := r.OpenRun.End(ctx, e); err != nil {
		return err
	}
	return r.write(func() error { return r.to.End(e) })
}

func (r *recorded) write(line func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	if err := line(); err != nil {
		r.err = engine.Errorf(engine.KindStore, diag.JournalFailed, "the run cannot be recorded: %w", err).WithHelp("see that the record can be written")
	}
	return r.err
}
