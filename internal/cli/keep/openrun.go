package keep

import (
	"context"
	"sync"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// openRun is a run in the store. A failure of the store may leave the run unkept. A run that continues unkept is
// removed from the store, so that nobody resumes a part of it and does again what the rest has done. If it cannot be
// removed, the run begins nothing that must not happen twice.
type openRun struct {
	engine.OpenRun
	of    *Store
	taken bool // it was in the store before: a failure ends it, and what is stored of it stays

	mu      sync.Mutex
	gone    bool // it was removed
	stopped bool // something was not begun; the run can be resumed to do it
}

// discards is a run that its owner can remove.
type discards interface {
	Discard(ctx context.Context) error
}

// discard removes what is stored of the run.
func (r *openRun) discard(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		return nil
	}
	d, ok := r.OpenRun.(discards)
	if !ok {
		return engine.Errorf(engine.KindStore, diag.StoreFailed, "a run cannot be removed from such a store while it is running")
	}
	err := d.Discard(context.WithoutCancel(ctx))
	r.gone = err == nil
	return err
}

// Put implements [engine.OpenRun].
func (r *openRun) Put(ctx context.Context, s engine.Step, sync bool) error {
	if !r.of.unkept() {
		err := r.OpenRun.Put(ctx, s, sync)
		if r.taken || !r.of.pass(err) {
			return err
		}
	} else if s.State != engine.StepIntent {
		return nil
	}
	err := r.discard(ctx)
	if err == nil || s.State != engine.StepIntent {
		return nil
	}
	r.mu.Lock()
	r.stopped = true
	r.mu.Unlock()
	return engine.Errorf(engine.KindStore, diag.StoreFailed, "it must not happen twice, and the store, which holds the beginning of the run, can neither record it nor remove the run: %w", err)
}

// stays reports whether the run can be resumed although it has continued unkept.
func (r *openRun) stays() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopped
}

// End implements [engine.OpenRun].
func (r *openRun) End(ctx context.Context, e engine.RunEnd) error {
	if r.of.unkept() {
		if r.stays() || r.discard(ctx) != nil {
			_ = r.OpenRun.Close() // the store has failed, and that was reported
		}
		return nil
	}
	err := r.OpenRun.End(ctx, e)
	if !r.taken && r.of.pass(err) {
		return nil
	}
	return err
}

// Close implements [engine.OpenRun].
func (r *openRun) Close() error {
	err := r.OpenRun.Close()
	if !r.taken && r.of.pass(err) {
		return nil
	}
	return err
}
