package temporal

import (
	"context"
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/capability"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/engine/wire"
	"github.com/agentscript/agentscript/temporal/internal/vault"
)

// permanentFailure is the type of an activity's failure that a retry does not fix.
const permanentFailure = "agentscript.broken"

// stoppedFailure is the type of the failure of an activity whose worker was stopped before the activity ended.
const stoppedFailure = "agentscript.stopped"

// interruption returns why an activity was interrupted: the server cancelled it, or its worker is stopping.
func interruption(ctx context.Context) error {
	select {
	case <-activity.GetWorkerStopChannel(ctx):
		return temporal.NewApplicationErrorWithOptions("the worker was stopped", stoppedFailure, temporal.ApplicationErrorOptions{Category: temporal.ApplicationErrorCategoryBenign})
	default:
		return context.Cause(ctx)
	}
}

// heartbeatInterval returns how often a worker reports that an activity is still running.
func heartbeatInterval(timeout time.Duration) time.Duration { return min(timeout/3, time.Second) }

// effectInput is the input of an effect's activity.
type effectInput struct {
	vault.Sealed               // the effect
	Held         *vault.Sealed `json:"held,omitempty"` // the bound that its run sets, see [Options]
}

// inputFor returns the input of an effect's activity.
func (x *execution) inputFor(in vault.Sealed, e *engine.Effect) effectInput {
	if _, touches := e.Req.(*capability.Request); !touches && e.ByServer() != engine.EffectMCP {
		return effectInput{Sealed: in}
	}
	return effectInput{in, x.held}
}

// engineFor returns the engine that carries out an effect within the bound that its run sets.
func (w *Worker) engineFor(ctx context.Context, held *vault.Sealed) (e *agentscript.Engine, done func(), err error) {
	if held == nil {
		return w.engine, func() {}, nil
	}
	if w.opts.Within == nil {
		return nil, nil, engine.Errorf(engine.KindTool, diag.UngrantedUse, "the run has its own grants, which this worker does not know").WithHelp("set Options.Within")
	}
	data, err := w.vault.Open(ctx, *held)
	if err != nil {
		return nil, nil, err
	}
	return w.opts.Within(data)
}

// effect carries out one effect. The outcome, even a failure, is the activity's result. An activity fails only if the
// effect could not be carried out; then another worker tries.
func (w *Worker) effect(ctx context.Context, in effectInput) (vault.Sealed, error) {
	what := activity.GetInfo(ctx).ActivityID
	data, err := w.vault.Open(ctx, in.Sealed)
	if err != nil {
		return vault.Sealed{}, w.inputFailure(ctx, what, err)
	}
	e, err := wire.Decode(data)
	if err != nil { // it was written by a newer version
		return vault.Sealed{}, w.refuse(ctx, what, engine.Errorf(engine.KindStore, diag.StoreFailed, "%w", err))
	}
	by, done, err := w.engineFor(ctx, in.Held)
	if err != nil {
		return vault.Sealed{}, w.inputFailure(ctx, what, err)
	}
	defer done()
	ends := heartbeat(ctx, heartbeatInterval(w.opts.Heartbeat))
	defer ends()
	var out engine.Outcome
	if r, ok := e.Req.(*session.Request); ok {
		var again bool
		if out, again = w.session(ctx, e, r); again && r.Op == session.OpSave { // its run has been paid for, and waits
			activity.GetLogger(ctx).Warn("the store of sessions fails", "error", out.Err)
			return vault.Sealed{}, temporal.NewApplicationErrorWithCause("the session cannot be saved", unreadableFailure, out.Err)
		}
	} else {
		out = by.Perform(ctx, e, w.sink(ctx, e))
	}
	out.Err = w.withWorkerHelp(out.Err)
	if lacks(out, in.Held != nil) {
		return vault.Sealed{}, w.refuse(ctx, what, out.Err)
	}
	if ctx.Err() != nil && out.Err != nil {
		return vault.Sealed{}, interruption(ctx)
	}
	text, err := out.MarshalJSON()
	if err != nil {
		failed := engine.Failed(engine.AsError(err))
		failed.Usage, failed.Attempt = out.Usage, out.Attempt
		if text, err = failed.MarshalJSON(); err != nil {
			return vault.Sealed{}, temporal.NewNonRetryableApplicationError(messageText(err.Error()), permanentFailure, nil)
		}
	}
	return w.sealOutcome(ctx, text)
}

// session takes or saves the session of a run. again reports whether a later try may succeed.
func (w *Worker) session(ctx context.Context, e *engine.Effect, r *session.Request) (out engine.Outcome, again bool) {
	if w.opts.Sessions == nil {
		return engine.Failed(engine.Errorf(engine.KindConfig, diag.NoSession, "the run has session %q, and the worker %s keeps no sessions", r.ID, w.name).
			WithHelp("start the workers with --session-store DIR, which all of them reach; in Go set Options.Sessions")), false
	}
	if r.Op == session.OpSave {
		ctx = context.WithoutCancel(ctx) // all of it is saved, or nothing
	}
	ended := func(ctx context.Context, run string) (bool, error) { return w.runEnded(ctx, run, e.Run) }
	return (&session.Keeper{Store: w.opts.Sessions, Ended: ended, Wait: waitForSession}).Do(ctx, e.Run, r)
}

// waitForSession waits longer with each try, five seconds in all.
func waitForSession(ctx context.Context, try int) bool {
	select {
	case <-time.After(10 * time.Millisecond << try):
		return try < 8
	case <-ctx.Done():
		return false
	}
}

// runEnded reports whether a run has ended, as far as the server knows.
func (w *Worker) runEnded(ctx context.Context, run, own string) (bool, error) {
	if w.client == nil { // in a test environment, which has one run
		return run != own, nil
	}
	d, err := w.client.DescribeWorkflowExecution(ctx, run, "")
	if _, none := errors.AsType[*serviceerror.NotFound](err); none {
		return true, nil
	}
	if err != nil {
		return false, serverError(err)
	}
	return d.WorkflowExecutionInfo.GetStatus() != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, nil
}

// withWorkerHelp adds help to the error of a worker that lacks something: which worker it is, and what to do there.
func (w *Worker) withWorkerHelp(e *engine.Error) *engine.Error {
	if e == nil {
		return nil
	}
	switch e.Code {
	case diag.UnknownTool:
		return e.WithHelp("it was asked of the worker %s; see that all workers have the same tools", w.name)
	case diag.NoModel:
		return e.WithHelp("the worker %s was asked: name a model in the script (model = \"provider/model\") or with --model of the run, or start the workers with the key of one; worker --scripted FILE needs none", w.name)
	case diag.MissingKey:
		return e.WithHelp("the worker %s was asked, and its environment counts: set it there, or start the workers with --env-file FILE; or name another model with --model of the run, such as ollama/…, which needs no key", w.name)
	case diag.UnknownProvider:
		return e.WithHelp("%s; the worker %s was asked", e.Help, w.name)
	case diag.UngrantedUse:
		return e.WithHelp("%s; the workers need that as well: the worker %s was asked", e.Help, w.name)
	}
	return e
}

// sink passes on what a model writes. It is nil if nobody listens.
func (w *Worker) sink(ctx context.Context, e *engine.Effect) engine.Sink {
	to := w.opts.Stream
	if to == nil || e.Kind != engine.EffectModel {
		return nil
	}
	run, id, attempt := e.Run, e.ID(), int(activity.GetInfo(ctx).Attempt)
	return func(t engine.Token) { to(Piece{run, id, attempt, t}) }
}

// sealOutcome seals an outcome. The outcome was paid for, so that sealOutcome retries while the blob store fails.
func (w *Worker) sealOutcome(ctx context.Context, text []byte) (vault.Sealed, error) {
	const most = 10 * time.Second
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, most) {
		sealed, err := w.vault.Seal(context.WithoutCancel(ctx), text, false)
		if err == nil {
			return sealed, nil
		}
		activity.GetLogger(ctx).Warn("the store of blobs fails", "error", err)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return sealed, err
		}
	}
}

// inputFailure returns the failure of an activity whose worker cannot read its input: a refusal if the worker lacks
// something, else a failure that is retried.
func (w *Worker) inputFailure(ctx context.Context, what string, err error) error {
	if own, ok := errors.AsType[*engine.Error](err); ok {
		return w.refuse(ctx, what, own)
	}
	return temporal.NewApplicationErrorWithCause("it cannot be read", unreadableFailure, err)
}

// heartbeat sends heartbeats while an activity is running. From them the activity also learns that it is cancelled.
func heartbeat(ctx context.Context, every time.Duration) (end func()) {
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				activity.RecordHeartbeat(ctx)
			case <-done:
				return
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() { close(done) }
}
