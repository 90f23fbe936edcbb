package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/agentscript/agentscript"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/runfile"
	"github.com/agentscript/agentscript/engine/store"
	"github.com/agentscript/agentscript/temporal/blob"
	"github.com/agentscript/agentscript/temporal/internal/vault"
)

// The queries, updates and signals of a run.
const (
	answerName   = "agentscript.letter" // an answer, by update or signal
	signalName   = "agentscript.signal" // an [engine.Signal], by update or signal
	cancelName   = "agentscript.cancel" // the reason for a cancellation, sent before it
	infoQuery    = "agentscript.info"
	stepsQuery   = "agentscript.steps"
	signalsQuery = "agentscript.signals"
)

// pageBytes bounds the steps that one query returns.
const pageBytes = 1 << 20

// serve sets the handlers by which clients query the run and send it answers.
func (x *execution) serve(id string) error {
	ctx := context.Background()
	for name, take := range x.signalHandlers(id) {
		for _, s := range x.in.Unread[name] {
			take(s)
		}
		workflow.GoNamed(x.ctx, name, func(detached workflow.Context) {
			for to := workflow.GetSignalChannel(detached, name); ; {
				var s vault.Sealed
				to.Receive(detached, &s)
				take(s)
			}
		})
	}
	err := workflow.SetUpdateHandler(x.ctx, signalName, func(_ workflow.Context, s vault.Sealed) (vault.Sealed, error) {
		return x.storeSignal(id, s)
	})
	if err != nil {
		return err
	}
	err = workflow.SetUpdateHandlerWithOptions(x.ctx, answerName, func(_ workflow.Context, s vault.Sealed) error { return x.deliverAnswer(id, s) },
		workflow.UpdateHandlerOptions{Validator: func(_ workflow.Context, s vault.Sealed) error { return x.validateAnswer(id, s) }})
	if err != nil {
		return err
	}
	err = workflow.SetQueryHandler(x.ctx, infoQuery, func() (vault.Sealed, error) { return x.queryAnswer(x.record.Run(ctx, id)) })
	if err != nil {
		return err
	}
	err = workflow.SetQueryHandler(x.ctx, signalsQuery, func() (vault.Sealed, error) { return x.queryAnswer(x.record.Signals(ctx, id)) })
	if err != nil {
		return err
	}
	return workflow.SetQueryHandler(x.ctx, stepsQuery, func(after int64) (vault.Sealed, error) { return x.stepsPage(id, after) })
}

// signalHandlers returns the name and the handler of each kind of signal, in a fixed order.
func (x *execution) signalHandlers(id string) iter.Seq2[string, func(vault.Sealed)] {
	return func(yield func(string, func(vault.Sealed)) bool) {
		_ = yield(signalName, func(s vault.Sealed) { _, _ = x.storeSignal(id, s) }) && yield(answerName, func(s vault.Sealed) { x.logRejection(x.deliverAnswer(id, s)) })
	}
}

// cancelError returns the error of a run whose workflow is cancelled.
func (x *execution) cancelError() error {
	reason := ""
	if is := x.cancelReason(); is.Size > 0 {
		if text, err := x.openSent(is); err == nil {
			reason = string(text)
		}
	}
	return store.ToCancel(x.initial.Head.ID, reason)
}

// cancelReason returns the reason that was sent before the run is cancelled. The first reason stays.
func (x *execution) cancelReason() vault.Sealed {
	if x.in.Why.Size == 0 {
		workflow.GetSignalChannel(x.ctx, cancelName).ReceiveAsync(&x.in.Why)
	}
	return x.in.Why
}

// storeSignal stores a signal that was sent to the run, and returns what is stored under its name.
func (x *execution) storeSignal(id string, sealed vault.Sealed) (vault.Sealed, error) {
	text, err := x.openSent(sealed)
	if err != nil {
		return vault.Sealed{}, err
	}
	var s engine.Signal
	if err := json.Unmarshal(text, &s); err != nil {
		return vault.Sealed{}, err
	}
	if s, err = x.record.Signal(context.Background(), id, s); err != nil {
		return vault.Sealed{}, err
	}
	x.world.Wake()
	return x.queryAnswer(s, nil)
}

// openSent opens what was sent to the run. It must not be lost: while it cannot be reached, the task is retried, also
// on other workers.
func (x *execution) openSent(sealed vault.Sealed) ([]byte, error) {
	text, err := x.open(sealed)
	if err != nil && !errors.Is(err, vault.ErrCodec) && (!errors.Is(err, blob.ErrGone) || !x.handOverExpired()) {
		panic(fmt.Errorf("the store of blobs: %w", err))
	}
	return text, err
}

// drainSignals handles the signals that were sent and not received yet, before the history ends.
func (x *execution) drainSignals(id string) {
	for name, take := range x.signalHandlers(id) {
		for _, s := range x.receiveAll(name) {
			take(s)
		}
	}
}

// pendingSignals returns the signals that were sent to a run that this worker does not carry out.
func (x *execution) pendingSignals() map[string][]vault.Sealed {
	all := map[string][]vault.Sealed{}
	for name := range x.signalHandlers("") {
		all[name] = slices.Concat(x.in.Unread[name], x.receiveAll(name))
	}
	return all
}

// receiveAll returns the signals of a name that nobody has received yet.
func (x *execution) receiveAll(name string) (all []vault.Sealed) {
	for from := workflow.GetSignalChannel(x.ctx, name); ; {
		var s vault.Sealed
		if !from.ReceiveAsync(&s) {
			return all
		}
		all = append(all, s)
	}
}

// stepsPage returns the steps after a number, as lines of a run file.
func (x *execution) stepsPage(id string, after int64) (vault.Sealed, error) {
	var lines []byte
	err := x.record.Steps(context.Background(), id, after, func(s engine.Step) error {
		if len(lines) > pageBytes {
			return nil
		}
		line, err := runfile.EncodeStep(s, nil)
		lines = append(lines, line...)
		return err
	})
	if err != nil {
		return vault.Sealed{}, err
	}
	return x.sealAnswer(lines)
}

// queryAnswer seals the answer to a query, unless it is an error.
func (x *execution) queryAnswer(v any, err error) (vault.Sealed, error) {
	var text []byte
	if err == nil {
		text, err = json.Marshal(v)
	}
	if err != nil {
		return vault.Sealed{}, err
	}
	return x.sealAnswer(text)
}

// listen passes the events of the run to the worker's listener, except during a replay.
func (x *execution) listen(id string) []agentscript.RunOption {
	if x.w.opts.Listen == nil {
		return nil
	}
	l := x.w.opts.Listen(id)
	if l.Emit == nil {
		return nil
	}
	return []agentscript.RunOption{agentscript.OnEvent(l.Kinds, func(e engine.Event) {
		if !workflow.IsReplaying(x.ctx) {
			l.Emit(e)
		}
	})}
}
