package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/temporal/internal/vault"
)

// answerWithin is how long a worker may take to answer what is asked of a run, or sent to it.
const answerWithin = 5 * time.Second

// Signal implements [engine.Store]. Where a worker takes the signal in soon, what is stored is known; else the server
// keeps it for the worker that comes.
func (s *Store) Signal(ctx context.Context, id string, sent engine.Signal) (engine.Signal, error) {
	text, err := json.Marshal(sent)
	if err != nil {
		return sent, err
	}
	sealed, err := s.vault.Seal(ctx, text, false)
	if err != nil {
		return sent, err
	}
	soon, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	h, err := s.c.UpdateWorkflow(soon, client.UpdateWorkflowOptions{WorkflowID: id, UpdateName: signalName, Args: []any{sealed}, WaitForStage: client.WorkflowUpdateStageCompleted})
	if err == nil {
		var is vault.Sealed
		if err = h.Get(soon, &is); err == nil {
			text, err := s.vault.Open(ctx, is)
			if err != nil {
				return sent, err
			}
			return sent, json.Unmarshal(text, &sent)
		}
	}
	if _, gone := errors.AsType[*serviceerror.NotFound](err); gone {
		return s.late(ctx, id, sent)
	}
	_, unsure := errors.AsType[*client.WorkflowUpdateServiceTimeoutOrCanceledError](err) // the server may see it before soon does
	if !unsure && !waits(err) && soon.Err() == nil || ctx.Err() != nil {
		return sent, unreached(err)
	}
	if err := s.c.SignalWorkflow(ctx, id, "", signalName, sealed); err != nil {
		return sent, unreached(err)
	}
	return sent, nil
}

// late returns what a run that has ended was sent under the same name; nothing more can be sent to it.
func (s *Store) late(ctx context.Context, id string, sent engine.Signal) (engine.Signal, error) {
	all, err := s.Signals(ctx, id)
	if err != nil {
		return sent, err
	}
	for _, is := range all {
		if is.Dedup == sent.Dedup && is.Dedup != "" {
			return is, nil
		}
	}
	return sent, engine.Errorf(engine.KindInput, diag.BadSignal, "run %s has ended, and takes no answer any more", id)
}

// Signals implements [engine.Store].
func (s *Store) Signals(ctx context.Context, id string) ([]engine.Signal, error) {
	is, err := s.described(ctx, id)
	if err != nil {
		return nil, err
	}
	if is.Status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		w, err := s.result(ctx, id)
		return w.Signals, err
	}
	var all []engine.Signal
	return all, s.ask(ctx, id, signalsQuery, &all)
}

// CancelRun implements [engine.Store].
func (s *Store) CancelRun(ctx context.Context, id, reason string) error {
	sealed, err := s.vault.Seal(ctx, []byte(reason), false)
	if err != nil {
		return err
	}
	if reason != "" {
		err = s.c.SignalWorkflow(ctx, id, "", cancelName, sealed)
	}
	if err == nil {
		err = s.c.CancelWorkflow(ctx, id, "")
	}
	if _, none := errors.AsType[*serviceerror.NotFound](err); none { // it has ended, or there is none
		_, err = s.described(ctx, id)
		return err
	}
	if err != nil {
		return unreached(err)
	}
	return nil
}
