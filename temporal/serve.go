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
	letterName   = "agentscript.letter" // an answer, by update or signal
	signalName   = "agentscript.signal" // an [engine.Signal], by update or signal
	cancelName   = "agentscript.cancel" // the reason for a cancellation, sent before it
	infoQuery    = "agentscript.info"
	stepsQuery   = "agentscript.steps"
	signalsQuery = "agentscript.signals"
)

// pageBytes bounds the steps that one query returns.
const pageBytes = 1 << 20

// serve sets the handlers by which clients query the run and send it answers.
func (g *generation) serve(id string) error {
	ctx := context.Background()
	for name, take := range g.sorts(id) {
		for _, s := range g.in.Unread[name] {
			take(s)
		}
		workflow.GoNamed(g.ctx, name, func(free workflow.Context) {
			for to := workflow.GetSignalChannel(free, name); ; {
				var s vault.Sealed
				to.Receive(free, &s)
				take(s)
			}
		})
	}
	err := workflow.SetUpdateHandler(g.ctx, signalName, func(_ workflow.Context, s vault.Sealed) (vault.Sealed, error) {
		return g.signalled(id, s)
	})
	if err != nil {
		return err
	}
	err = workflow.SetUpdateHandlerWithOptions(g.ctx, letterName, func(_ workflow.Context, s vault.Sealed) error { return g.delivered(id, s) },
		workflow.UpdateHandlerOptions{Validator: func(_ workflow.Context, s vault.Sealed) error { return g.acceptable(id, s) }})
	if err != nil {
		return err
	}
	err = workflow.SetQueryHandler(g.ctx, infoQuery, func() (vault.Sealed, error) { return g.answer(g.record.Run(ctx, id)) })
	if err != nil {
		return err
	}
	err = workflow.SetQueryHandler(g.ctx, signalsQuery, func() (vault.Sealed, error) { return g.answer(g.record.Signals(ctx, id)) })
	if err != nil {
		return err
	}
	return workflow.SetQueryHandler(g.ctx, stepsQuery, func(after int64) (vault.Sealed, error) { return g.page(id, after) })
}

// sorts returns the name and the handler of each kind of signal, in a fixed order.
func (g *generation) sorts(id string) iter.Seq2[string, func(vault.Sealed)] {
	return func(yield func(string, func(vault.Sealed)) bool) {
		_ = yield(signalName, func(s vault.Sealed) { _, _ = g.signalled(id, s) }) && yield(letterName, func(s vault.Sealed) { g.left(g.delivered(id, s)) })
	}
}

// cancelled returns the error of a run whose workflow is cancelled.
func (g *generation) cancelled() error {
	reason := ""
	if is := g.why(); is.Size > 0 {
		if text, err := g.sent(is); err == nil {
			reason = string(text)
		}
	}
	return store.ToCancel(g.begun.Head.ID, reason)
}

// why returns the reason that was sent before the run is cancelled. The first reason stays.
func (g *generation) why() vault.Sealed {
	if g.in.Why.Size == 0 {
		workflow.GetSignalChannel(g.ctx, cancelName).ReceiveAsync(&g.in.Why)
	}
	return g.in.Why
}

// signalled stores a signal that was sent to the run, and returns what is stored under its name.
func (g *generation) signalled(id string, sealed vault.Sealed) (vault.Sealed, error) {
	text, err := g.sent(sealed)
	if err != nil {
		return vault.Sealed{}, err
	}
	var s engine.Signal
	if err := json.Unmarshal(text, &s); err != nil {
		return vault.Sealed{}, err
	}
	if s, err = g.record.Signal(context.Background(), id, s); err != nil {
		return vault.Sealed{}, err
	}
	g.world.Happened()
	return g.answer(s, nil)
}

// sent opens what was sent to the run. It must not be lost: while it cannot be reached, the task is retried, also on
// other workers.
func (g *generation) sent(sealed vault.Sealed) ([]byte, error) {
	text, err := g.open(sealed)
	if err != nil && !errors.Is(err, vault.ErrCodec) && (!errors.Is(err, blob.ErrGone) || !g.over()) {
		panic(fmt.Errorf("the store of blobs: %w", err))
	}
	return text, err
}

// takeIn handles the signals that were sent and not received yet, before the history ends.
func (g *generation) takeIn(id string) {
	for name, take := range g.sorts(id) {
		for _, s := range g.received(name) {
			take(s)
		}
	}
}

// unread returns the signals that were sent to a run that this worker does not carry out.
func (g *generation) unread() map[string][]vault.Sealed {
	all := map[string][]vault.Sealed{}
	for name := range g.sorts("") {
		all[name] = slices.Concat(g.in.Unread[name], g.received(name))
	}
	return all
}

// received returns the signals of a name that nobody has received yet.
func (g *generation) received(name string) (all []vault.Sealed) {
	for from := workflow.GetSignalChannel(g.ctx, name); ; {
		var s vault.Sealed
		if !from.ReceiveAsync(&s) {
			return all
		}
		all = append(all, s)
	}
}

// page returns the steps after a number, as lines of a run file.
func (g *generation) page(id string, after int64) (vault.Sealed, error) {
	var lines []byte
	err := g.record.Steps(context.Background(), id, after, func(s engine.Step) error {
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
	return g.told(lines)
}

// answer seals the answer to a query, unless it is an error.
func (g *generation) answer(v any, err error) (vault.Sealed, error) {
	var text []byte
	if err == nil {
		text, err = json.Marshal(v)
	}
	if err != nil {
		return vault.Sealed{}, err
	}
	return g.told(text)
}

// listening passes the events of the run to the worker's listener, except during a replay.
func (g *generation) listening(id string) []agentscript.RunOption {
	if g.w.opts.Listen == nil {
		return nil
	}
	l := g.w.opts.Listen(id)
	if l.Emit == nil {
		return nil
	}
	return []agentscript.RunOption{agentscript.OnEvent(l.Kinds, func(e engine.Event) {
		if !workflow.IsReplaying(g.ctx) {
			l.Emit(e)
		}
	})}
}
