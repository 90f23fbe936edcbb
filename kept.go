package agentscript

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib"
)

var noValue generable.Value

// kept is what is kept of a run: in a store, in a record, or as events for a reader.
type kept struct {
	journal   *journal.Journal // nil when it is not in a store
	recording Recording        // nil when it is not recorded
	queue     *queue           // nil when no events were asked for
	now       func() time.Time // where it is in a store, or recorded
}

// keep gives the run a journal in the engine's store, unless it is not to be kept. For one that is resumed or forked
// it settles what is run.
func (m *Module) keep(ctx context.Context, cfg *runConfig, entry *starlib.Entry) (*journal.Journal, *starlib.Entry, error) {
	store := m.engine.cfg.store
	switch {
	case cfg.resume != "" || cfg.fork != "":
		if store == nil {
			return nil, entry, noStore()
		}
	case store == nil, cfg.ephemeral, cfg.sched != nil, cfg.spec.Journal != nil:
		return nil, entry, nil
	}
	opts := journal.Options{Types: engine.TypesOf(append(m.lib.Types(), run.Types()...)...), Stop: cfg.stop, Now: m.engine.cfg.now, Hide: run.Hiding(cfg.spec.Secrets)}
	if cfg.resume != "" {
		return m.takeUp(ctx, cfg, opts)
	}
	var parent engine.RunInfo
	if cfg.fork != "" {
		var err error
		if parent, err = store.Run(ctx, cfg.fork); err != nil {
			return nil, entry, err
		}
		if !cfg.seeded {
			cfg.seedIs(parent.Seed)
		}
		if entry == nil || !cfg.hasInput && cfg.raw == nil && cfg.args == nil {
			entry, err = m.begunWith(cfg, parent, opts.Types)
			if err != nil {
				return nil, entry, err
			}
		}
	}
	begin := func(ctx context.Context) (engine.OpenRun, error) {
		if err := store.PutBundle(ctx, m.Hash(), m.lib.Bundle()); err != nil {
			return nil, err
		}
		head, err := m.head(cfg, entry, parent.ID)
		if err != nil {
			return nil, err
		}
		if hide := opts.Hide; hide != nil { // the run does not see them either
			for _, text := range []*json.RawMessage{&head.Input, &head.Args, &head.Settings} {
				if *text != nil {
					*text = json.RawMessage(hide(string(*text)))
				}
			}
		}
		return store.CreateRun(ctx, head, owner())
	}
	j := journal.New(store, opts, begin)
	cfg.spec.Journal = j
	cfg.spec.Handler = beginning{cfg.spec.Handler, j}
	if cfg.fork != "" {
		return j, entry, j.Reuse(ctx, parent.ID)
	}
	return j, entry, nil
}

// beginning has a run be in the store before its first effect begins, so that a run which never comes back from it
// can be seen, cancelled and resumed.
type beginning struct {
	engine.Handler
	journal *journal.Journal
}

// Do implements [engine.Handler].
func (b beginning) Do(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
	if err := b.journal.Begin(ctx); err != nil {
		return engine.Failed(engine.AsError(err))
	}
	return b.Handler.Do(ctx, e, sink)
}

// head is what the run begins with.
func (m *Module) head(cfg *runConfig, entry *starlib.Entry, parent string) (h engine.RunHead, err error) {
	h = engine.RunHead{ID: cfg.spec.ID, Bundle: m.Hash(), ABI: engine.ABI, Script: m.lib.Path(), Entry: entry.Name,
		Seed: run.Seed(&cfg.spec), Settings: cfg.settings, Parent: parent, Begun: m.engine.cfg.now().UTC()}
	h.Input, h.Args, err = given(cfg)
	return h, err
}

// given encodes what a run begins with.
func given(cfg *runConfig) (in, args json.RawMessage, err error) {
	if cfg.spec.Main == nil {
		in, err = engine.EncodeValue(cfg.spec.Input)
		return in, nil, err
	}
	args, err = engine.EncodeValue(generable.NewList(cfg.spec.Args).Value())
	return nil, args, err
}

// takeUp takes a run of the store for this process.
func (m *Module) takeUp(ctx context.Context, cfg *runConfig, opts journal.Options) (*journal.Journal, *starlib.Entry, error) {
	store := m.engine.cfg.store
	info, err := store.Run(ctx, cfg.resume)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case info.ABI != engine.ABI:
		return nil, nil, engine.Errorf(engine.KindInput, diag.OtherABI, "run %s has abi %d, and this version has %d", info.ID, info.ABI, engine.ABI).
			WithHelp("resume it with a version that has abi %d, or do anew what no longer fits: agentscript runs fork %s", info.ABI, info.ID)
	case info.Bundle != m.Hash():
		return nil, nil, engine.Errorf(engine.KindInput, diag.RunDiverged, "run %s is of another version of %s", info.ID, info.Script).
			WithHelp("Engine.LoadRun loads the one that it began with; agentscript runs fork %s --script goes on with this one", info.ID)
	case info.Status == engine.RunDone:
		return nil, nil, engine.Errorf(engine.KindInput, diag.RunExists, "run %s has ended well, and has nothing left to do", info.ID).
			WithHelp("agentscript runs show %s prints its result; agentscript runs fork %s runs it again", info.ID, info.ID)
	}
	entry, err := m.begunWith(cfg, info, opts.Types)
	if err != nil {
		return nil, nil, err
	}
	cfg.spec.ID = info.ID
	cfg.seedIs(info.Seed)
	run, err := store.TakeRun(ctx, info.ID, owner())
	if err != nil {
		return nil, nil, err
	}
	j, err := journal.Resume(ctx, store, run, opts)
	if err != nil {
		return nil, nil, errors.Join(err, run.Close())
	}
	cfg.spec.Journal = j
	return j, entry, nil
}

// begunWith has the run begin with what another one began with.
func (m *Module) begunWith(cfg *runConfig, info engine.RunInfo, types engine.Types) (*starlib.Entry, error) {
	entry, missing := m.lib.Entry(info.Entry)
	if missing != nil {
		return nil, nothingToRun(missing)
	}
	if entry.Node != nil {
		v, err := engine.DecodeValue(info.Input, types)
		if err != nil {
			return nil, unfit(info, err)
		}
		Input(v)(cfg)
		return entry, nil
	}
	v, err := engine.DecodeValue(info.Args, types)
	if err != nil {
		return nil, unfit(info, err)
	}
	list, _ := v.AsList()
	args := map[string]any{}
	for i, p := range entry.Params {
		if list != nil && i < list.Len() {
			args[p.Name] = list.At(i)
		}
	}
	Args(args)(cfg)
	return entry, nil
}

func unfit(info engine.RunInfo, err error) error {
	return engine.Errorf(engine.KindInput, diag.BadInput, "the input of run %s does not fit this script: %w", info.ID, err).
		WithHelp("give it another one")
}

// end records how the run ended. What cannot be recorded is the run's failure if it had none.
func (k *kept) end(r Result, err error) error {
	if k == nil {
		return err
	}
	if k.journal != nil {
		if lost := k.journal.End(context.Background(), k.endOf(r, err)); lost != nil && err == nil {
			err = lost
		}
	}
	if k.recording != nil {
		if lost := k.recording.End(k.endOf(r, err)); lost != nil && err == nil {
			err = engine.Errorf(engine.KindStore, diag.JournalFailed, "the end of the run cannot be recorded: %w", lost).
				WithHelp("see that the record can be written")
		}
	}
	return err
}

// endOf is how a run ended.
func (k *kept) endOf(r Result, err error) engine.RunEnd {
	e := engine.RunEnd{Status: engine.RunDone, At: k.now().UTC()}
	if err == nil {
		// What a function returned may have no typed form; its text is kept all the same.
		e.Text = r.Text()
		e.Result, _ = engine.EncodeValue(r.Value)
		return e
	}
	failed := engine.AsError(err)
	e.Status = statusOf(failed)
	e.Err, _ = json.Marshal(failed) // an error always has a JSON form
	return e
}

// statusOf is the state of a run that a failure ended.
func statusOf(failed *engine.Error) engine.RunStatus {
	switch failed.Kind {
	case engine.KindApproval:
		return engine.RunParked
	case engine.KindCancelled:
		return engine.RunCancelled
	}
	return engine.RunFailed
}
