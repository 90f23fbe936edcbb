package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/temporal/blob"
	"github.com/agentscript/agentscript/temporal/internal/record"
	"github.com/agentscript/agentscript/temporal/internal/vault"
	"github.com/agentscript/agentscript/temporal/internal/world"
)

// Input is what a run begins with, or goes on from in a new history: files of runs.
type Input struct {
	Run    vault.Sealed  `json:"run"`
	Parent *vault.Sealed `json:"parent,omitempty"` // of a fork
	Files  vault.Sealed  `json:"files"`            // the script
}

// Output is how a run ended, with all that it recorded.
type Output struct {
	Run vault.Sealed `json:"run"`
}

// generation is a run in one history.
type generation struct {
	w      *Worker
	ctx    workflow.Context
	world  *world.World
	record *record.Record
	types  engine.Types
}

// run is the workflow of a run.
func (w *Worker) run(ctx workflow.Context, in Input) (Output, error) {
	g := &generation{w: w, ctx: ctx, world: world.New(ctx, w.opts.limits())}
	begun, parent, files, err := g.load(in)
	if err != nil {
		return Output{}, g.fails(err)
	}
	var m *agentscript.Module
	world.Outside(ctx, func() { m, err = w.module(context.Background(), begun.Head.Bundle, files, begun.Head.Script) })
	if err != nil {
		return Output{}, g.fails(err)
	}
	if g.record, err = record.New(g.world.Now, begun, parent); err != nil {
		return Output{}, g.fails(err)
	}
	if err := g.serve(begun.Head.ID); err != nil {
		return Output{}, g.fails(err)
	}
	g.types = m.Types()
	opts := []agentscript.RunOption{agentscript.ResumeRun(begun.Head.ID), agentscript.Scheduler(sched.NewIn(g.world)), agentscript.StoreRun(g.record), agentscript.Dispatch(dispatcher{g})}
	if w.opts.Settings != nil {
		more, err := w.opts.Settings(begun.Head, begun.Head.Settings)
		if err != nil {
			return Output{}, g.fails(err)
		}
		opts = append(opts, more...)
	}
	if w.opts.Listen != nil {
		opts = append(opts, w.opts.Listen(begun.Head.ID)...)
	}
	result, err := m.Start(context.Background(), opts...).Wait()
	if g.world.Err() == world.ErrAgain {
		return Output{}, g.again(in)
	}
	return g.ended(result, err)
}

// load opens what the run begins with.
func (g *generation) load(in Input) (run store.Whole, parent *store.Whole, files engine.Bundle, err error) {
	if run, err = g.whole(in.Run); err != nil {
		return
	}
	if in.Parent != nil {
		var p store.Whole
		if p, err = g.whole(*in.Parent); err != nil {
			return
		}
		parent = &p
	}
	text, err := g.open(in.Files)
	if err == nil {
		err = json.Unmarshal(text, &files)
	}
	run.Files = &files
	return
}

func (g *generation) whole(s vault.Sealed) (store.Whole, error) {
	text, err := g.open(s)
	if err != nil {
		return store.Whole{}, err
	}
	return record.Decode(text)
}

// again has the run go on in a new history, with all that is recorded.
func (g *generation) again(in Input) error {
	g.rest(g.record.ID())
	var err error
	if in.Run, err = g.keep(nil); err != nil {
		return g.fails(err)
	}
	return workflow.NewContinueAsNewError(g.ctx, Workflow, in)
}

// keep seals all that the run has recorded, and how it ended.
func (g *generation) keep(end *engine.RunEnd) (vault.Sealed, error) {
	whole, err := g.record.Whole(context.Background())
	if err != nil {
		return vault.Sealed{}, err
	}
	whole.Files, whole.End = nil, end
	text, err := record.Encode(whole)
	if err != nil {
		return vault.Sealed{}, err
	}
	return g.seal(text)
}

// ended is how the workflow ends.
func (g *generation) ended(result agentscript.Result, failed error) (Output, error) {
	info, err := g.record.Run(context.Background(), g.record.ID())
	if err != nil {
		return Output{}, g.fails(err)
	}
	sealed, err := g.keep(&info.RunEnd)
	if err != nil {
		return Output{}, g.fails(err)
	}
	out := Output{Run: sealed}
	if failed == nil {
		return out, nil
	}
	e := engine.AsError(failed)
	if e.Kind == engine.KindCancelled {
		return out, temporal.NewCanceledError(out)
	}
	return out, temporal.NewApplicationErrorWithOptions(e.Error(), string(e.Code), temporal.ApplicationErrorOptions{NonRetryable: true, Details: []any{out}})
}

// seal and open reach the store of blobs from within the workflow. What is replayed is in the store.
func (g *generation) seal(data []byte) (s vault.Sealed, err error) {
	world.Outside(g.ctx, func() { s, err = g.w.vault.Seal(context.Background(), data, workflow.IsReplaying(g.ctx)) })
	return s, err
}

func (g *generation) open(s vault.Sealed) (data []byte, err error) {
	world.Outside(g.ctx, func() { data, err = g.w.vault.Open(context.Background(), s) })
	return data, err
}

// broken is what comes of an effect whose request or outcome cannot be reached. What may be there later is not an outcome:
// the task is tried again.
func (g *generation) broken(ctx context.Context, err error) engine.Outcome {
	if !errors.Is(err, blob.ErrGone) {
		err = g.world.Break(ctx, fmt.Errorf("the store of blobs: %w", err))
	}
	return engine.Failed(engine.AsError(err))
}

// fails is the failure of a run that cannot begin. What another worker, or a later try, may mend fails the task alone.
func (g *generation) fails(err error) error {
	var own *engine.Error
	var load *agentscript.LoadError
	switch {
	case errors.As(err, &load):
		return temporal.NewNonRetryableApplicationError(load.Error(), "agentscript.load", nil)
	case errors.As(err, &own):
		return temporal.NewNonRetryableApplicationError(own.Error(), string(own.Code), nil)
	}
	panic(err)
}
