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
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/temporal/internal/vault"
)

// answerTimeout is how long a worker may take to answer a query or an update.
const answerTimeout = 5 * time.Second

// Signal implements [engine.Store]. If a worker accepts the signal soon, Signal returns what is stored; else the server
// keeps the signal for the next worker.
func (s *Store) Signal(ctx context.Context, id string, sent engine.Signal) (engine.Signal, error) {
	var is vault.Sealed
	taken, err := s.send(ctx, id, signalName, sent, &is)
	switch {
	case errors.Is(err, errEnded):
		return s.signalAfterEnd(ctx, id, sent)
	case err != nil || !taken:
		return sent, err
	}
	text, err := s.open(ctx, is)
	if err == nil {
		err = json.Unmarshal(text, &sent)
	}
	return sent, err
}

// Deliver implements [journal.Mailbox]. A worker that responds soon takes or refuses the answer; else the server keeps
// it for the next worker, which drops it if it does not fit by then.
func (s *Store) Deliver(ctx context.Context, id string, l journal.Letter) error {
	_, err := s.send(ctx, id, answerName, l, nil)
	if !errors.Is(err, errEnded) {
		return err
	}
	sent, err := journal.Addressed(ctx, s, id, l)
	if err == nil && sent != nil {
		err = tooLate(id)
	}
	return err
}

// errEnded is the error for what is sent to a run that has ended.
var errEnded = errors.New("the run has ended")

// send sends something to a run: by an update, whose result it reads if a worker takes it, else by a signal.
func (s *Store) send(ctx context.Context, id, name string, what, result any) (taken bool, err error) {
	text, err := json.Marshal(what)
	if err != nil {
		return false, err
	}
	sealed, err := s.vault.Seal(ctx, text, false)
	if err != nil {
		return false, err
	}
	soon, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	h, err := s.c.UpdateWorkflow(soon, client.UpdateWorkflowOptions{WorkflowID: id, UpdateName: name, Args: []any{sealed}, WaitForStage: client.WorkflowUpdateStageCompleted})
	if err == nil {
		err = h.Get(soon, result)
	}
	_, unsure := errors.AsType[*client.WorkflowUpdateServiceTimeoutOrCanceledError](err) // the server may notice before soon does
	switch {
	case err == nil:
		return true, nil
	case isNotFound(err):
		return false, errEnded
	case !unsure && !waitsForWorker(err) && soon.Err() == nil || ctx.Err() != nil:
		if own := s.runError(ctx, err); own != err {
			return false, own
		}
		return false, serverError(err)
	}
	if err = s.c.SignalWorkflow(ctx, id, "", name, sealed); isNotFound(err) {
		return false, errEnded
	} else if err != nil {
		return false, serverError(err)
	}
	return false, nil
}

func isNotFound(err error) bool {
	_, is := errors.AsType[*serviceerror.NotFound](err)
	return is
}

func tooLate(id string) error {
	return engine.Errorf(engine.KindInput, diag.BadSignal, "run %s has ended, and takes no answer any more", id)
}

// signalAfterEnd returns what a run that has ended received under the same name; nothing more can be sent to it.
func (s *Store) signalAfterEnd(ctx context.Context, id string, sent engine.Signal) (engine.Signal, error) {
	all, err := s.Signals(ctx, id)
	if err != nil {
		return sent, err
	}
	for _, is := range all {
		if is.Dedup == sent.Dedup && is.Dedup != "" {
			return is, nil
		}
	}
	return sent, tooLate(id)
}

// Signals implements [engine.Store].
func (s *Store) Signals(ctx context.Context, id string) ([]engine.Signal, error) {
	is, err := s.describe(ctx, id)
	if err != nil {
		return nil, err
	}
	if is.Status != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
		w, err := s.result(ctx, id)
		return w.Signals, err
	}
	var all []engine.Signal
	return all, s.query(ctx, id, signalsQuery, &all)
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
	if isNotFound(err) { // it has ended, or does not exist
		_, err = s.describe(ctx, id)
		return err
	}
	if err != nil {
		return serverError(err)
	}
	return nil
}
