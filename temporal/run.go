package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/sched"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/temporal/internal/eventlog"
	"github.com/agentscript/agentscript/temporal/internal/record"
	"github.com/agentscript/agentscript/temporal/internal/vault"
	"github.com/agentscript/agentscript/temporal/internal/world"
)

// Input is what a run starts with, or continues from in a new history.
type Input struct {
	Run    []vault.Sealed `json:"run"`              // its parts: what it started with, and what it recorded in each history
	Parent []vault.Sealed `json:"parent,omitempty"` // of a fork: the run that it forks
	Files  vault.Sealed   `json:"files"`            // the script
	Limits world.Limits   `json:"limits"`           // the same on all workers, or a replay would differ
	Listed bool           `json:"listed,omitempty"` // it publishes its status as search attributes
	Pin    bool           `json:"pin,omitempty"`    // what is granted stays on one worker
	Pinned []byte         `json:"pinned,omitempty"` // identifies the worker of the previous history

	Find   time.Duration             `json:"find,omitempty"`   // how long it looks for a worker when others refuse, see [Options]
	Search *workerSearch             `json:"search,omitempty"` // in progress: no worker has taken the run since its previous history
	Unread map[string][]vault.Sealed `json:"unread,omitempty"` // signals that arrived meanwhile, by name

	Cancelled bool         `json:"cancelled,omitempty"` // in the previous history, which was ending already
	Why       vault.Sealed `json:"why,omitzero"`        // the reason for a cancellation, which may still follow
}

// Output is how a run ended, with all that it recorded.
type Output struct {
	Run []vault.Sealed `json:"run"`
}

// execution is a run within one history.
type execution struct {
	w       *Worker
	ctx     workflow.Context
	in      Input
	initial store.Whole
	world   *world.World
	record  *record.Record
	types   engine.Types
	pinned  *pinSession // nil until something is done there
	events  eventlog.Log
	held    *vault.Sealed // the bound of the run's effects, see [Options]
	release func()        // releases the run's module

	lacking map[string][]refusal // refusals of what no worker had
}

// run is the workflow function of a run.
func (w *Worker) run(ctx workflow.Context, in Input) (Output, error) {
	x := &execution{w: w, ctx: ctx, in: in, lacking: map[string][]refusal{}, release: func() {}}
	defer func() { x.release() }() // also when the client library evicts the workflow from its cache
	x.world = world.New(ctx, in.Limits, x.cancelError)
	if in.Cancelled {
		x.world.Stop(x.cancelError())
	}
	m, opts, err := x.prepare()
	if err != nil {
		return x.refuse(err)
	}
	if len(in.Run) == 1 {
		x.log("run begins", "script", x.initial.Head.Script, "entry", x.initial.Head.Entry)
	}
	result, err := m.Start(context.Background(), opts...).Wait()
	if x.world.Err() == world.ErrContinueAsNew {
		return Output{}, x.continueAsNew()
	}
	return x.finish(result, err)
}

// log writes a line to the worker's log, except during a replay.
func (x *execution) log(what string, more ...any) {
	more = append([]any{"run", workflow.GetInfo(x.ctx).WorkflowExecution.ID}, more...)
	switch {
	case workflow.IsReplaying(x.ctx):
	case x.w.opts.Log != nil:
		x.w.opts.Log.Info(what, more...)
	default:
		workflow.GetLogger(x.ctx).Info(what, more...)
	}
}

// prepare returns the script of the run and its options.
func (x *execution) prepare() (*agentscript.Module, []agentscript.RunOption, error) {
	parent, files, err := x.load()
	if err != nil {
		return nil, nil, err
	}
	head := x.initial.Head
	var m *agentscript.Module
	world.Outside(x.ctx, func() { m, x.release, err = x.w.modules.Load(x.w.engine, head.Bundle, files, head.Script) })
	if err != nil {
		return nil, nil, err
	}
	x.types = m.Types()
	if x.record, err = record.New(x.world.Now, x.initial, parent, x.w.opts.Inline); err != nil {
		return nil, nil, err
	}
	opts := []agentscript.RunOption{agentscript.ResumeRun(head.ID), agentscript.Scheduler(sched.NewIn(x.world)), agentscript.StoreRun(x.record), agentscript.Dispatch(dispatcher{x})}
	if x.w.opts.Settings != nil {
		more, err := x.w.opts.Settings(head, head.Settings)
		if err != nil {
			return nil, nil, err
		}
		opts = append(opts, more...)
	}
	if x.w.opts.Held != nil {
		text, err := x.w.opts.Held(head, head.Settings)
		if err != nil {
			return nil, nil, err
		}
		held, err := x.seal(text)
		if err != nil {
			return nil, nil, err
		}
		x.held = &held
	}
	x.publishStatusChanges()
	opts = append(append(opts, x.listen(head.ID)...), x.recordEvents())
	return m, opts, errors.Join(x.serve(head.ID), x.serveEvents())
}

// load opens the parts of the input.
func (x *execution) load() (parent *store.Whole, files engine.Bundle, err error) {
	if x.initial, err = record.Whole(x.in.Run, x.open); err != nil {
		return nil, files, err
	}
	if x.in.Parent != nil {
		other, err := record.Whole(x.in.Parent, x.open)
		if err != nil {
			return nil, files, err
		}
		parent = &other
	}
	text, err := x.open(x.in.Files)
	if err == nil {
		err = json.Unmarshal(text, &files)
	}
	x.initial.Files = &files
	return parent, files, err
}

// continueAsNew continues the run as new, with everything that is recorded.
func (x *execution) continueAsNew() error {
	x.drainSignals(x.record.ID())
	x.publishStatus(engine.RunRunning)
	next := x.in
	if x.world.PausesExhausted() {
		next.Limits.Pauses *= pausesFactor
	}
	next.Search, next.Unread = nil, nil // a worker was found
	next.Pinned = x.pinToken()
	var err error
	if next.Run, err = x.sealParts(nil); err != nil {
		return x.recordFailure(err)
	}
	next.Cancelled, next.Why = x.ctx.Err() != nil, x.cancelReason() // the server reports it to this history only
	return workflow.NewContinueAsNewError(workflow.WithWorkflowTaskTimeout(x.ctx, taskTime(next)), Workflow, next)
}

// taskTime returns how long the server waits for one workflow task. The first task of a history reads everything that
// the previous ones recorded, and a task that replays a history computes all of it again. The timeout is no longer than
// a slow machine needs for that, since the server waits that long for a worker that was lost with a task.
func taskTime(in Input) time.Duration {
	n := 0
	for _, part := range slices.Concat(in.Run, in.Parent) {
		n += part.Size
	}
	computes := time.Duration(max(in.Limits.Pauses-initialPauses, 0)) * pauseTime
	return min(10*time.Second+time.Duration(n>>22)*time.Second+computes, maxTaskTime)
}

// pauseTime is how long a slow machine computes from one pause to the next.
const pauseTime = 2 * time.Millisecond

// sealParts returns the parts of the run: those it started with, and what it recorded in this history, with how it
// ended.
func (x *execution) sealParts(end *engine.RunEnd) ([]vault.Sealed, error) {
	part := store.Whole{Head: x.initial.Head}
	if x.record != nil {
		var err error
		if part, err = x.record.Since(context.Background()); err != nil {
			return nil, err
		}
	}
	part.End = end
	text, err := record.Encode(part)
	if err != nil {
		return nil, err
	}
	sealed, err := x.seal(text)
	return append(x.in.Run[:len(x.in.Run):len(x.in.Run)], sealed), err
}

// finish returns the workflow's result and error for the end of the run.
func (x *execution) finish(result agentscript.Result, failed error) (Output, error) {
	x.unpin()
	x.publishEnd(failed)
	info, err := x.record.Run(context.Background(), x.record.ID())
	if err != nil {
		return Output{}, x.recordFailure(err)
	}
	out := Output{}
	if out.Run, err = x.sealParts(&info.RunEnd); err != nil {
		return out, x.recordFailure(err)
	}
	if failed == nil {
		x.log("run ended", "status", info.Status)
		return out, nil
	}
	e := engine.AsError(failed)
	x.log("run ended", "status", info.Status, "code", e.Code, "error", messageText(e.Error()))
	if e.Kind == engine.KindCancelled {
		return out, temporal.NewCanceledError(out)
	}
	return out, x.failure(e, out)
}

// refuse returns the result of a run that this worker cannot carry out. Another worker may: until the search for one
// is over, the run continues as new if nothing has happened in this history, and otherwise its task is handed on. If a
// retry may fix the problem, only the task fails.
func (x *execution) refuse(err error) (Output, error) {
	var load *agentscript.LoadError
	var own *engine.Error
	switch {
	case errors.As(err, &load):
		own = engine.Errorf(engine.KindScript, diag.ScriptError, "it cannot load the script: %s", load.Error())
	case !errors.As(err, &own):
		panic(err)
	}
	end, fails := engine.RunEnd{Status: engine.RunFailed, At: x.world.Now().UTC()}, x.failure
	if (x.in.Cancelled || x.ctx.Err() != nil) && !workflow.IsReplaying(x.ctx) { // there is no need for another worker
		own = engine.AsError(x.cancelError())
		end.Status, fails = engine.RunCancelled, func(_ *engine.Error, out ...any) error { return temporal.NewCanceledError(out...) }
	} else if own, err = x.tryElsewhere(own); err != nil {
		return Output{}, err
	}
	if end.Err, err = json.Marshal(own); err != nil || x.initial.Head.ID == "" {
		return Output{}, fails(own)
	}
	out := Output{}
	if out.Run, err = x.sealParts(&end); err != nil {
		return Output{}, fails(own)
	}
	x.log("run ended", "status", end.Status, "code", own.Code, "error", messageText(own.Error()))
	return out, fails(own, out)
}

// failure returns the error that the workflow fails with.
func (x *execution) failure(e *engine.Error, details ...any) error {
	return temporal.NewApplicationErrorWithOptions(x.w.failureText(e), string(e.Code), temporal.ApplicationErrorOptions{NonRetryable: true, Details: details})
}

// recordFailure returns the failure of a run whose record cannot be stored.
func (x *execution) recordFailure(err error) error {
	if own, ok := errors.AsType[*engine.Error](err); ok {
		return x.failure(own)
	}
	panic(err)
}

// seal and open access the blob store from within the workflow. During a replay, what is sealed is in the store
// already.
func (x *execution) seal(data []byte) (s vault.Sealed, err error) {
	world.Outside(x.ctx, func() { s, err = x.w.vault.Seal(context.Background(), data, workflow.IsReplaying(x.ctx)) })
	return s, err
}

// sealAnswer seals the answer to a query or an update. It is in no history, and thus may be missing from the store even
// during a replay.
func (x *execution) sealAnswer(data []byte) (s vault.Sealed, err error) {
	world.Outside(x.ctx, func() { s, err = x.w.vault.Seal(context.Background(), data, false) })
	return s, err
}

func (x *execution) open(s vault.Sealed) (data []byte, err error) {
	world.Outside(x.ctx, func() { data, err = x.w.vault.Open(context.Background(), s) })
	return data, err
}
