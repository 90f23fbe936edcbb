package temporal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/temporal/blob"
	"github.com/agentscript/agentscript/temporal/internal/vault"
)

// openAnswer opens an answer that was sent to the run. came reports whether the run has it already: a sender that
// received no reply sends it again.
func (x *execution) openAnswer(id string, sealed vault.Sealed, open func(vault.Sealed) ([]byte, error)) (l journal.Letter, came bool, err error) {
	text, err := open(sealed)
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	if err != nil {
		return l, false, err
	}
	value, err := json.Marshal(l.Answer)
	if err != nil {
		return l, false, err
	}
	all, err := x.record.Signals(context.Background(), id)
	for _, is := range all {
		came = came || is.At.Equal(l.At) && is.By == l.By && bytes.Equal(is.Value, value)
	}
	return l, came, err
}

// validateAnswer refuses an answer before it is in the history.
func (x *execution) validateAnswer(id string, sealed vault.Sealed) error {
	l, came, err := x.openAnswer(id, sealed, x.open)
	switch {
	case unrecoverable(err):
		return x.rejection(err)
	case err != nil: // the blob store may be reachable later
		return nil
	case came:
		return nil
	}
	_, err = journal.Addressed(context.Background(), x.record, id, l)
	return x.rejection(err)
}

// deliverAnswer delivers an answer to the run.
func (x *execution) deliverAnswer(id string, sealed vault.Sealed) error {
	l, came, err := x.openAnswer(id, sealed, x.openSent)
	if err == nil && !came {
		err = journal.Deliver(context.Background(), x.record, id, l)
		x.world.Wake()
	}
	return x.rejection(err)
}

// logRejection logs why an answer whose sender does not wait is not taken.
func (x *execution) logRejection(err error) {
	if err != nil {
		workflow.GetLogger(x.ctx).Warn("an answer is left", "run", x.initial.Head.ID, "reason", err)
	}
}

// rejection returns why an answer is not taken, as the sender reads it, see [Store.runError].
func (x *execution) rejection(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, vault.ErrCodec) { // the sender could not read more
		return temporal.NewNonRetryableApplicationError("the answer cannot be read: "+vault.ErrCodec.Error(), codecFailure, nil)
	}
	own := engine.AsError(err)
	text, err := json.Marshal(own)
	if err != nil {
		return x.failure(own)
	}
	sealed, err := x.sealAnswer(text)
	if err != nil {
		return x.failure(own)
	}
	return x.failure(own, sealed)
}

// codecFailure is the type of the failure of an update whose sender has another codec.
const codecFailure = "agentscript.codec"

// unrecoverable reports whether sealed data can never be read again.
func unrecoverable(err error) bool {
	return errors.Is(err, blob.ErrGone) || errors.Is(err, vault.ErrCodec)
}

// runError returns the error of the run that an update failed with, or err.
func (s *Store) runError(ctx context.Context, err error) error {
	app, ok := errors.AsType[*temporal.ApplicationError](err)
	switch {
	case ok && app.Type() == codecFailure:
		return unreadable(vault.ErrCodec)
	case !ok || !app.HasDetails():
		return err
	}
	var sealed vault.Sealed
	if app.Details(&sealed) != nil {
		return err
	}
	text, failed := s.open(ctx, sealed)
	own := &engine.Error{}
	if errors.Is(failed, vault.ErrCodec) {
		return failed
	}
	if failed != nil || json.Unmarshal(text, own) != nil {
		return err
	}
	return own
}
