package keep

import (
	"context"

	"github.com/agentscript/agentscript/engine"
)

// openRun is a run in the store, whose failures may leave the run unkept.
type openRun struct {
	engine.OpenRun
	of *Store
}

// Put implements [engine.OpenRun].
func (r *openRun) Put(ctx context.Context, s engine.Step, sync bool) error {
	if r.of.unkept() {
		return nil
	}
	err := r.OpenRun.Put(ctx, s, sync)
	if r.of.pass(err) {
		return nil
	}
	return err
}

// End implements [engine.OpenRun].
func (r *openRun) End(ctx context.Context, e engine.RunEnd) error {
	if r.of.unkept() {
		_ = r.OpenRun.Close() // the store has failed, and this was told
		return nil
	}
	err := r.OpenRun.End(ctx, e)
	if r.of.pass(err) {
		return nil
	}
	return err
}

// Close implements [engine.OpenRun].
func (r *openRun) Close() error {
	err := r.OpenRun.Close()
	if r.of.pass(err) {
		return nil
	}
	return err
}
