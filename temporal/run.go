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
	"github.com/agentscript/agentscript/temporal/internal/record"
	"github.com/agentscript/agentscript/temporal/internal/told"
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
	Search *search                   `json:"search,omitempty"` // in progress: no worker has taken the run since its previous history
	Unread map[string][]vault.Sealed `json:"unread,omitempty"` // signals that arrived meanwhile, by name

	Cancelled bool         `json:"cancelled,omitempty"` // in the previous history, which was ending already
	Why       vault.Sealed `json:"why,omitzero"`        // the reason for a cancellation, which may still follow
}

// Output is how a run ended, with all that it recorded.
type Output struct {
	Run []vault.Sealed `json:"run"`
}

// generation is a run within one history.
type generation struct {
	w      *Worker
	ctx    workflow.Context
	in     Input
	begun  store.Whole
	world  *world.World
	record *record.Record
	types  engine.Types
	pinned *pinned // nil until something is done there
	events told.Log
	held   *vault.Sealed // the bound of the run's effects, see [Options]
	done   func()        // releases the run's module

	lacking map[string][]refusal // refusals of what no worker had
}

// run is the workflow function of a run.
func (w *Worker) run(ctx workflow.Context, in Input) (Output, error) {
	g := &generation{w: w, ctx: ctx, in: in, lacking: map[string][]refusal{}, done: func() {}}
	defer func() { g.done() }() // also when the client library evicts the workflow from its cache
	g.world = world.New(ctx, in.Limits, g.cancelled)
	if in.Cancelled {
		g.world.Stop(g.cancelled())
	}
	m, opts, err := g.prepared()
	if err != nil {
		return g.refused(err)
	}
	if len(in.Run) == 1 {
		g.logs("run begins", "script", g.begun.Head.Script, "entry", g.begun.Head.Entry)
	}
	result, err := m.Start(context.Background(), opts...).Wait()
	if g.world.Err() == world.ErrAgain {
		return Output{}, g.again()
	}
	return g.ended(result, err)
}

// logs writes a line to the worker's log, except during a replay.
func (g *generation) logs(what string, more ...any) {
	more = append([]any{"run", workflow.GetInfo(g.ctx).WorkflowExecution.ID}, more...)
	switch {
	case workflow.IsReplaying(g.ctx):
	case g.w.opts.Log != nil:
		g.w.opts.Log.Info(what, more...)
	default:
		workflow.GetLogger(g.ctx).Info(what, more...)
	}
}

// prepared returns the script of the run and its options.
func (g *generation) prepared() (*agentscript.Module, []agentscript.RunOption, error) {
	parent, files, err := g.load()
	if err != nil {
		return nil, nil, err
	}
	head := g.begun.Head
	var m *agentscript.Module
	world.Outside(g.ctx, func() { m, g.done, err = g.w.modules.Load(g.w.engine, head.Bundle, files, head.Script) })
	if err != nil {
		return nil, nil, err
	}
	g.types = m.Types()
	if g.record, err = record.New(g.world.Now, g.begun, parent, g.w.opts.Inline); err != nil {
		return nil, nil, err
	}
	opts := []agentscript.RunOption{agentscript.ResumeRun(head.ID), agentscript.Scheduler(sched.NewIn(g.world)), agentscript.StoreRun(g.record), agentscript.Dispatch(dispatcher{g})}
	if g.w.opts.Settings != nil {
		more, err := g.w.opts.Settings(head, head.Settings)
		if err != nil {
			return nil, nil, err
		}
		opts = append(opts, more...)
	}
	if g.w.opts.Held != nil {
		text, err := g.w.opts.Held(head, head.Settings)
		if err != nil {
			return nil, nil, err
		}
		held, err := g.seal(text)
		if err != nil {
			return nil, nil, err
		}
		g.held = &held
	}
	g.saysStatus()
	opts = append(append(opts, g.listening(head.ID)...), g.telling())
	return m, opts, errors.Join(g.serve(head.ID), g.tells())
}

// load opens the parts of the input.
func (g *generation) load() (parent *store.Whole, files engine.Bundle, err error) {
	if g.begun, err = record.Whole(g.in.Run, g.open); err != nil {
		return nil, files, err
	}
	if g.in.Parent != nil {
		other, err := record.Whole(g.in.Parent, g.open)
		if err != nil {
			return nil, files, err
		}
		parent = &other
	}
	text, err := g.open(g.in.Files)
	if err == nil {
		err = json.Unmarshal(text, &files)
	}
	g.begun.Files = &files
	return parent, files, err
}

// again continues the run as new, with everything that is recorded.
func (g *generation) again() error {
	g.takeIn(g.record.ID())
	g.says(engine.RunRunning)
	next := g.in
	if g.world.Tired() {
		next.Limits.Pauses *= morePauses
	}
	next.Search, next.Unread = nil, nil // a worker was found
	next.Pinned = g.pinToken()
	var err error
	if next.Run, err = g.keep(nil); err != nil {
		return g.fails(err)
	}
	next.Cancelled, next.Why = g.ctx.Err() != nil, g.why() // the server reports it to this history only
	return workflow.NewContinueAsNewError(workflow.WithWorkflowTaskTimeout(g.ctx, taskTime(next)), Workflow, next)
}

// taskTime returns how long the server waits for one workflow task. The first task of a history reads everything that
// the previous ones recorded, and a task that replays a history computes all of it again. The timeout is no longer than
// a slow machine needs for that, since the server waits that long for a worker that was lost with a task.
func taskTime(in Input) time.Duration {
	n := 0
	for _, part := range slices.Concat(in.Run, in.Parent) {
		n += part.Size
	}
	computes := time.Duration(max(in.Limits.Pauses-firstPauses, 0)) * pauseTime
	return min(10*time.Second+time.Duration(n>>22)*time.Second+computes, longestTask)
}

// pauseTime is how long a slow machine computes from one pause to the next.
const pauseTime = 2 * time.Millisecond

// keep returns the parts of the run: those it started with, and what it recorded in this history, with how it ended.
func (g *generation) keep(end *engine.RunEnd) ([]vault.Sealed, error) {
	part := store.Whole{Head: g.begun.Head}
	if g.record != nil {
		var err error
		if part, err = g.record.Since(context.Background()); err != nil {
			return nil, err
		}
	}
	part.End = end
	text, err := record.Encode(part)
	if err != nil {
		return nil, err
	}
	sealed, err := g.seal(text)
	return append(g.in.Run[:len(g.in.Run):len(g.in.Run)], sealed), err
}

// ended returns the workflow's result and error for the end of the run.
func (g *generation) ended(result agentscript.Result, failed error) (Output, error) {
	g.unpin()
	g.saysEnd(failed)
	info, err := g.record.Run(context.Background(), g.record.ID())
	if err != nil {
		return Output{}, g.fails(err)
	}
	out := Output{}
	if out.Run, err = g.keep(&info.RunEnd); err != nil {
		return out, g.fails(err)
	}
	if failed == nil {
		g.logs("run ended", "status", info.Status)
		return out, nil
	}
	e := engine.AsError(failed)
	g.logs("run ended", "status", info.Status, "code", e.Code, "error", plain(e.Error()))
	if e.Kind == engine.KindCancelled {
		return out, temporal.NewCanceledError(out)
	}
	return out, g.failure(e, out)
}

// refused returns the result of a run that this worker cannot carry out. Another worker may: until the search for one
// is over, the run continues as new if nothing has happened in this history, and otherwise its task is handed on. If a
// retry may fix the problem, only the task fails.
func (g *generation) refused(err error) (Output, error) {
	var load *agentscript.LoadError
	var own *engine.Error
	switch {
	case errors.As(err, &load):
		own = engine.Errorf(engine.KindScript, diag.ScriptError, "it cannot load the script: %s", load.Error())
	case !errors.As(err, &own):
		panic(err)
	}
	end, fails := engine.RunEnd{Status: engine.RunFailed, At: g.world.Now().UTC()}, g.failure
	if (g.in.Cancelled || g.ctx.Err() != nil) && !workflow.IsReplaying(g.ctx) { // there is no need for another worker
		own = engine.AsError(g.cancelled())
		end.Status, fails = engine.RunCancelled, func(_ *engine.Error, out ...any) error { return temporal.NewCanceledError(out...) }
	} else if own, err = g.elsewhere(own); err != nil {
		return Output{}, err
	}
	if end.Err, err = json.Marshal(own); err != nil || g.begun.Head.ID == "" {
		return Output{}, fails(own)
	}
	out := Output{}
	if out.Run, err = g.keep(&end); err != nil {
		return Output{}, fails(own)
	}
	g.logs("run ended", "status", end.Status, "code", own.Code, "error", plain(own.Error()))
	return out, fails(own, out)
}

// failure returns the error that the workflow fails with.
func (g *generation) failure(e *engine.Error, details ...any) error {
	return temporal.NewApplicationErrorWithOptions(g.w.shown(e), string(e.Code), temporal.ApplicationErrorOptions{NonRetryable: true, Details: details})
}

// fails returns the failure of a run whose record cannot be stored.
func (g *generation) fails(err error) error {
	if own, ok := errors.AsType[*engine.Error](err); ok {
		return g.failure(own)
	}
	panic(err)
}

// seal and open access the blob store from within the workflow. During a replay, what is sealed is in the store
// already.
func (g *generation) seal(data []byte) (s vault.Sealed, err error) {
	world.Outside(g.ctx, func() { s, err = g.w.vault.Seal(context.Background(), data, workflow.IsReplaying(g.ctx)) })
	return s, err
}

// told seals the answer to a query or an update. It is in no history, and thus may be missing from the store even
// during a replay.
func (g *generation) told(data []byte) (s vault.Sealed, err error) {
	world.Outside(g.ctx, func() { s, err = g.w.vault.Seal(context.Background(), data, false) })
	return s, err
}

func (g *generation) open(s vault.Sealed) (data []byte, err error) {
	world.Outside(g.ctx, func() { data, err = g.w.vault.Open(context.Background(), s) })
	return data, err
}
