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

// letter opens an answer that was sent to the run. came reports whether the run has it already: a sender that received
// no reply sends it again.
func (g *generation) letter(id string, sealed vault.Sealed, open func(vault.Sealed) ([]byte, error)) (l journal.Letter, came bool, err error) {
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
	all, err := g.record.Signals(context.Background(), id)
	for _, is := range all {
		came = came || is.At.Equal(l.At) && is.By == l.By && bytes.Equal(is.Value, value)
	}
	return l, came, err
}

// acceptable refuses an answer before it is in the history.
func (g *generation) acceptable(id string, sealed vault.Sealed) error {
	l, came, err := g.letter(id, sealed, g.open)
	switch {
	case lost(err):
		return g.refusal(err)
	case err != nil: // the blob store may be reachable later
		return nil
	case came:
		return nil
	}
	_, err = journal.Addressed(context.Background(), g.record, id, l)
	return g.refusal(err)
}

// delivered delivers an answer to the run.
func (g *generation) delivered(id string, sealed vault.Sealed) error {
	l, came, err := g.letter(id, sealed, g.sent)
	if err == nil && !came {
		err = journal.Deliver(context.Background(), g.record, id, l)
		g.world.Happened()
	}
	return g.refusal(err)
}

// left logs why an answer whose sender does not wait is not taken.
func (g *generation) left(err error) {
	if err != nil {
		workflow.GetLogger(g.ctx).Warn("an answer is left", "run", g.begun.Head.ID, "reason", err)
	}
}

// refusal returns why an answer is not taken, as the sender reads it, see [Store.refused].
func (g *generation) refusal(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, vault.ErrCodec) { // the sender could not read more
		return temporal.NewNonRetryableApplicationError("the answer cannot be read: "+vault.ErrCodec.Error(), otherCodec, nil)
	}
	own := engine.AsError(err)
	text, err := json.Marshal(own)
	if err != nil {
		return g.failure(own)
	}
	sealed, err := g.told(text)
	if err != nil {
		return g.failure(own)
	}
	return g.failure(own, sealed)
}

// otherCodec is the type of the failure of an update whose sender has another codec.
const otherCodec = "agentscript.codec"

// lost reports whether sealed data can never be read again.
func lost(err error) bool { return errors.Is(err, blob.ErrGone) || errors.Is(err, vault.ErrCodec) }

// refused returns the error of the run that an update failed with, or err.
func (s *Store) refused(ctx context.Context, err error) error {
	app, ok := errors.AsType[*temporal.ApplicationError](err)
	switch {
	case ok && app.Type() == otherCodec:
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
