package temporal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/wire"
	"github.com/agentscript/agentscript/temporal/blob"
	"github.com/agentscript/agentscript/temporal/internal/vault"
	"github.com/agentscript/agentscript/temporal/internal/world"
)

// dispatcher runs each effect of a run as an activity of its workflow.
type dispatcher struct {
	*execution
}

// Do implements [engine.Handler].
func (d dispatcher) Do(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
	switch e.Kind {
	case engine.EffectModel, engine.EffectTool, engine.EffectMCP, engine.EffectExec, engine.EffectHTTP, engine.EffectFS, engine.EffectEnv, engine.EffectMemory:
	default:
		return engine.Unhandled(e)
	}
	if d.w.opts.Stream != nil && !e.Stream {
		own := *e
		own.Stream, e = true, &own
	}
	data, err := wire.Encode(e)
	if err != nil {
		return engine.Failed(engine.AsError(err))
	}
	in, err := d.seal(data)
	if err != nil {
		return d.unreachable(ctx, err)
	}
	a := world.Activity{Name: effectActivity, Options: d.options(e), Size: in.HistorySize(), Begins: func() { d.record.MarkBegun(e.ID()) }}
	if d.in.Pin && actsOnWorker(e) {
		if a.On, err = d.pin(ctx); err != nil {
			return engine.Failed(engine.AsError(err))
		}
	}
	var sealed vault.Sealed
	for s := (&effectSearch{dispatcher: d, e: e}); ; {
		err := d.world.Do(ctx, a, d.inputFor(in, e), &sealed)
		if err == nil {
			break
		}
		out, more, is := s.retry(ctx, err)
		switch {
		case !is:
			return d.failedOutcome(ctx, e, err)
		case !more:
			return out
		}
		a.Options.ActivityID, a.Options.DisableEagerExecution = s.nextActivityID(), true // this worker may be the one that refused
	}
	text, err := d.open(sealed)
	if err != nil {
		return d.unreachable(ctx, err)
	}
	out, err := engine.DecodeOutcome(text, d.types)
	if err != nil {
		return engine.Failed(engine.Errorf(engine.KindReplay, diag.ReplayMismatch, "what came of %s cannot be read: %w", e.ID(), err))
	}
	return out
}

// options returns the options of an effect's activity. Only the engine retries what failed. The server lets another
// worker carry out what was lost with its worker, unless it must never happen twice.
func (d dispatcher) options(e *engine.Effect) workflow.ActivityOptions {
	o := workflow.ActivityOptions{
		ActivityID:          activityID(e.ID()),
		StartToCloseTimeout: d.w.opts.Longest,
		HeartbeatTimeout:    d.w.opts.Heartbeat,
		RetryPolicy:         &temporal.RetryPolicy{InitialInterval: 200 * time.Millisecond, MaximumInterval: 10 * time.Second},
	}
	if d.w.opts.Codec == nil {
		o.Summary = string(e.Kind) + " " + e.Name
	}
	if e.Class == engine.ClassOnce {
		o.RetryPolicy.MaximumAttempts = 1
	}
	if e.Timeout > 0 { // the run's own timeout comes first
		o.StartToCloseTimeout = min(o.StartToCloseTimeout, e.Timeout+time.Minute)
	}
	return o
}

// failedOutcome returns the outcome of an effect whose activity failed. If its worker was lost and it must never happen
// twice, nobody knows whether it happened: the run continues as new, like a run whose process was killed.
func (d dispatcher) failedOutcome(ctx context.Context, e *engine.Effect, err error) engine.Outcome {
	var app *temporal.ApplicationError
	lost := world.Lost(err) || errors.As(err, &app) && app.Type() == stoppedFailure
	switch {
	case ctx.Err() != nil:
		return engine.Failed(engine.AsError(context.Cause(ctx)))
	case d.in.Pin && actsOnWorker(e) && (d.pinLost() || lost):
		return engine.Failed(workerLost())
	case lost && e.Class == engine.ClassOnce:
		d.record.MarkLost(e.ID())
		d.world.ContinueAsNew()
		return engine.Failed(engine.AsError(world.ErrContinueAsNew))
	case errors.As(err, &app) && app.Type() == permanentFailure:
		return engine.Failed(engine.Errorf(engine.KindStore, diag.StoreFailed, "%s could not be carried out: %s", e.ID(), app.Message()))
	}
	return engine.Failed(engine.Errorf(engine.KindStore, diag.StoreFailed, "%s could not be carried out: %w", e.ID(), err))
}

// unreachable returns the outcome of an effect whose request or outcome cannot be reached. If it may be reachable
// later, or on another worker, that is no outcome: the task is retried.
func (d dispatcher) unreachable(ctx context.Context, err error) engine.Outcome {
	if !errors.Is(err, blob.ErrGone) || !d.handOverExpired() {
		err = d.world.FailTask(ctx, fmt.Errorf("the store of blobs: %w", err))
	}
	return engine.Failed(engine.AsError(err))
}
