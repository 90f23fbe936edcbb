package agentscript

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/runfile"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/generable"
	"github.com/agentscript/agentscript/starlib"
)

var noValue generable.Value

// kept is what is kept of a run: in a store, in a record, or as events for a reader.
type kept struct {
	journal *journal.Journal          // nil if the run is neither in a store nor in a record
	record  func(engine.RunEnd) error // writes the record of a run without effects; nil if the run is not recorded
	queue   *queue                    // nil if no events were asked for
}

// keep gives the run a journal in the engine's store, unless the run must not be kept. For a run that is resumed or
// forked it also determines what is run.
func (m *Module) keep(ctx context.Context, cfg *runConfig, entry *starlib.Entry) (*journal.Journal, *starlib.Entry, error) {
	store := cfg.store
	switch {
	case cfg.recording != nil && (cfg.sched != nil || cfg.spec.Journal != nil):
		return nil, entry, engine.Errorf(engine.KindConfig, diag.BadInput, "RecordRun records a run that has the engine's own scheduler and journal").
			WithHelp("leave out Scheduler and RunJournal, or RecordRun")
	case cfg.resume != "" || cfg.fork != "":
		if store == nil {
			return nil, entry, noStore()
		}
	case store == nil || cfg.ephemeral:
		if cfg.recording == nil {
			return nil, entry, nil
		}
		store, cfg.spec.Parks = nil, true // nobody can send it anything
	case cfg.sched != nil && !cfg.ownStore, cfg.spec.Journal != nil:
		return nil, entry, nil
	}
	opts := journal.Options{Types: m.Types(), Stop: cfg.stop, Now: m.now(cfg), Hide: run.Hiding(cfg.spec.Secrets)}
	if cfg.resume != "" {
		return m.takeUp(ctx, cfg, opts)
	}
	var parent engine.RunInfo
	if cfg.fork != "" {
		var err error
		if parent, entry, err = m.forked(ctx, cfg, entry, opts.Types); err != nil {
			return nil, entry, err
		}
	}
	if err := m.inSession(ctx, cfg, parent, cfg.fork != ""); err != nil {
		return nil, entry, err
	}
	var last int64 // the last step of the parent that may be taken
	begin := func(ctx context.Context) (engine.OpenRun, error) {
		hash, files := m.bundle(cfg)
		head, err := m.head(cfg, entry, hash, parent.ID)
		head.ParentSeq = last
		if store == nil {
			return recorded(cfg, journal.Nowhere(head), head, files)
		}
		if err != nil {
			return nil, err
		}
		if err := store.PutBundle(ctx, hash, files); err != nil {
			return nil, err
		}
		open, err := store.CreateRun(ctx, head, owner())
		if err != nil {
			return nil, err
		}
		return recorded(cfg, open, head, files)
	}
	j := journal.New(store, opts, begin)
	cfg.spec.Journal = j
	cfg.spec.Handler = beginning{cfg.spec.Handler, j}
	if cfg.fork != "" {
		var err error
		last, err = j.Reuse(ctx, parent.ID)
		return j, entry, err
	}
	return j, entry, nil
}

// now returns the clock of a run.
func (m *Module) now(cfg *runConfig) func() time.Time {
	if cfg.sched != nil {
		return cfg.sched.Now
	}
	return m.engine.cfg.now
}

// recorded returns a run that is also written to the record, if there is one.
func recorded(cfg *runConfig, open engine.OpenRun, head engine.RunHead, files engine.Bundle) (engine.OpenRun, error) {
	if cfg.recording == nil {
		return open, nil
	}
	return runfile.Record(open, runfile.Head{RunHead: head, Files: &files}, cfg.recording)
}

// Head returns what a run of the node or function under a global name would begin with, and the script: everything
// that another process needs to begin the run. A fork, see [ForkRun], begins with what the other run began with,
// unless it is given something else. The other process must have the session that [Session] names; Head does not use
// the session's store.
func (m *Module) Head(ctx context.Context, name string, opts ...RunOption) (runfile.Head, error) {
	var h runfile.Head
	cfg := m.configure(opts)
	if err := cfg.spec.CheckAliases(); err != nil {
		return h, err
	}
	if s := cfg.spec.Session; s != nil {
		if cfg.fork != "" {
			return h, engine.Errorf(engine.KindInput, diag.BadSession, "a fork in other processes keeps nothing in a session, but got %q", s.ID).
				WithHelp("remove the session: the fork continues from what the session of its run held")
		}
		if err := session.CheckID(s.ID); err != nil {
			return h, err
		}
		s.Found = &session.Found{ID: s.ID, Deferred: true}
	}
	entry, missing := m.lib.Entry(name)
	if cfg.fork == "" && missing != nil {
		return h, nothingToRun(missing)
	}
	var parent engine.RunInfo
	if cfg.fork != "" {
		if cfg.store == nil {
			return h, noStore()
		}
		var err error
		if parent, entry, err = m.forked(ctx, cfg, entry, m.Types()); err != nil {
			return h, err
		}
		if err := m.inSession(ctx, cfg, parent, true); err != nil {
			return h, err
		}
	}
	if err := enter(entry, cfg, &Result{}); err != nil {
		return h, err
	}
	hash, files := m.bundle(cfg)
	head, err := m.head(cfg, entry, hash, parent.ID)
	return runfile.Head{RunHead: head, Files: &files}, err
}

// forked determines what a fork begins with, and returns the run that it is a fork of.
func (m *Module) forked(ctx context.Context, cfg *runConfig, entry *starlib.Entry, types engine.Types) (engine.RunInfo, *starlib.Entry, error) {
	parent, err := cfg.store.Run(ctx, cfg.fork)
	if err != nil {
		return parent, entry, err
	}
	if !cfg.seeded {
		cfg.seedIs(parent.Seed)
	}
	if entry == nil || !cfg.hasInput && cfg.raw == nil && (cfg.args == nil || m.begins(cfg, entry, parent)) {
		given := maps.Clone(cfg.args)
		if entry, err = m.begunWith(cfg, parent, types); err != nil {
			return parent, entry, err
		}
		if given != nil { // they override those of the other run
			Args(given)(cfg)
		}
	}
	return parent, entry, nil
}

// Types returns the schemas that values of a run may have.
func (m *Module) Types() engine.Types {
	return engine.TypesOf(append(m.lib.Types(), run.Types()...)...)
}

// recordOnly records a run that had no effect.
func (m *Module) recordOnly(cfg *runConfig, entry *starlib.Entry, e engine.RunEnd) error {
	hash, files := m.bundle(cfg)
	head, _ := m.head(cfg, entry, hash, cfg.fork) // an input that cannot be encoded is left out: a replay does not need it
	run, err := recorded(cfg, journal.Nowhere(head), head, files)
	if err != nil {
		return err
	}
	e.At = m.engine.cfg.now().UTC()
	return run.End(context.Background(), e)
}

// beginning makes sure that a run is in the store before its first effect begins. A run that never returns from that
// effect can then be seen, cancelled and resumed, and a fork holds what it took before it does anything.
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

// head returns what the run begins with. It contains no secret: the run does not see them either.
func (m *Module) head(cfg *runConfig, entry *starlib.Entry, hash, parent string) (h engine.RunHead, err error) {
	h = engine.RunHead{ID: cfg.spec.ID, Bundle: hash, ABI: engine.ABI, Script: m.lib.Path(), Entry: entry.Name,
		Seed: run.Seed(&cfg.spec), Settings: cfg.settings, Parent: parent, Begun: m.now(cfg)().UTC()}
	if s := cfg.spec.Session; s != nil && s.Found != nil {
		if h.Session, err = json.Marshal(s.Found); err != nil {
			return h, err
		}
	}
	h.Input, h.Args, err = given(cfg)
	if hide := run.Hiding(cfg.spec.Secrets); hide != nil {
		for _, text := range []*json.RawMessage{&h.Input, &h.Args, &h.Settings, &h.Session} {
			if *text != nil {
				*text = json.RawMessage(hide(string(*text)))
			}
		}
	}
	return h, err
}

// inSession determines the session of a run that continues from another run, or from what it recorded itself; info
// describes that run. The session has the contents that that run found. A fork saves in a session only if it is given
// one.
func (m *Module) inSession(ctx context.Context, cfg *runConfig, info engine.RunInfo, fork bool) error {
	ref := cfg.spec.Session
	if info.Session == nil {
		if ref != nil {
			ref.Notes = true
		}
		return nil
	}
	if fork {
		var err error
		if info.Session, err = session.Settled(ctx, cfg.store, info); err != nil {
			return err
		}
	}
	found := &session.Found{}
	if err := json.Unmarshal(info.Session, found); err != nil {
		return engine.Errorf(engine.KindStore, diag.StoreFailed, "what run %s found in its session cannot be read: %w", info.ID, err).
			WithHelp("use the version that wrote it")
	}
	switch {
	case found.Deferred && cfg.elsewhere && !fork:
		cfg.spec.Session = &session.Ref{ID: found.ID, Script: m.lib.File(), Found: found}
	case found.Deferred:
		return session.NotTaken(info.ID, found.ID)
	case fork && ref == nil:
		found.Unsaved, found.Back = true, false
		fallthrough
	case found.Unsaved && ref == nil:
		cfg.spec.Session = &session.Ref{ID: found.ID, Script: m.lib.File(), Found: found}
	case fork:
		ref.Forks, ref.Of = true, found.ID
		ref.Found = &session.Found{ID: ref.ID, Entries: found.Entries, Back: true}
	case found.Unsaved:
		return engine.Errorf(engine.KindInput, diag.BadSession, "run %s keeps nothing in a session, but got %q", info.ID, ref.ID).
			WithHelp("resume it without one, or fork it")
	case ref == nil:
		own, ok := cfg.store.(engine.SessionStore)
		if ok {
			_, err := own.ReadSession(ctx, found.ID)
			ok = err == nil
		}
		if !ok {
			return engine.Errorf(engine.KindInput, diag.NoSession, "run %s is of session %q, which is not in the store of the run", info.ID, found.ID).
				WithHelp("resume it with agentscript.Session")
		}
		cfg.spec.Session = &session.Ref{Store: own, ID: found.ID, Script: m.lib.File(), Found: found}
	case ref.ID != found.ID:
		return engine.Errorf(engine.KindInput, diag.BadSession, "run %s belongs to session %q, but got %q", info.ID, found.ID, ref.ID).
			WithHelp("resume it with its own, or fork it")
	default:
		ref.Found = found
	}
	return nil
}

// bundle returns the script as it is stored, and its hash. It contains no secret either: what a script holds of a
// secret is not in its requests, so that the run that continues with the bundle makes the same requests.
func (m *Module) bundle(cfg *runConfig) (hash string, files engine.Bundle) {
	return m.lib.Bundle(run.Hiding(cfg.spec.Secrets))
}

// given encodes the input or the arguments with which a run begins.
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
	store := cfg.store
	info, err := store.Run(ctx, cfg.resume)
	if err != nil {
		return nil, nil, err
	}
	hash, files := m.bundle(cfg)
	switch {
	case info.ABI != engine.ABI:
		return nil, nil, engine.Errorf(engine.KindInput, diag.OtherABI, "run %s has abi %d, and this version has %d", info.ID, info.ABI, engine.ABI).
			WithHelp("resume it with a version that has abi %d, or redo what no longer fits: agentscript runs fork %s", info.ABI, info.ID)
	case info.Bundle != hash:
		return nil, nil, engine.Errorf(engine.KindInput, diag.RunDiverged, "run %s is of another version of %s", info.ID, info.Script).
			WithHelp("Engine.LoadRun loads the one that it began with; agentscript runs fork %s --script continues with this one", info.ID)
	case info.Status == engine.RunDone:
		return nil, nil, journal.Done(info.ID)
	}
	entry, err := m.begunWith(cfg, info, opts.Types)
	if err == nil {
		err = m.inSession(ctx, cfg, info, false)
	}
	if err != nil {
		return nil, nil, err
	}
	cfg.spec.ID = info.ID
	cfg.seedIs(info.Seed)
	run, err := store.TakeRun(ctx, info.ID, owner())
	if err != nil {
		return nil, nil, err
	}
	if run, err = recorded(cfg, run, info.RunHead, files); err != nil {
		return nil, nil, err
	}
	if to := cfg.recording; to != nil {
		err = store.Steps(ctx, info.ID, 0, to.Step)
	}
	var j *journal.Journal
	if err == nil {
		j, err = journal.Resume(ctx, store, run, opts)
	}
	if err != nil {
		return nil, nil, errors.Join(err, run.Close())
	}
	cfg.spec.Journal = j
	cfg.spec.Handler = beginning{cfg.spec.Handler, j}
	return j, entry, nil
}

// begunWith makes the run begin with what another run began with.
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

// begins reports whether another run began with the same function of the same script, so that its arguments belong to
// the same parameters.
func (m *Module) begins(cfg *runConfig, entry *starlib.Entry, info engine.RunInfo) bool {
	hash, _ := m.bundle(cfg)
	return entry.Node == nil && entry.Name == info.Entry && hash == info.Bundle
}

func unfit(info engine.RunInfo, err error) error {
	return engine.Errorf(engine.KindInput, diag.BadInput, "the input of run %s does not fit this script: %w", info.ID, err).
		WithHelp("use another one")
}

// end records how the run ended. If that fails, it is the run's failure, unless the run had failed before.
func (k *kept) end(r Result, err error) error {
	if k == nil || k.journal == nil {
		return err
	}
	end := endOf(r, err)
	var lost error
	if k.record != nil && k.journal.Run() == nil {
		lost = k.record(end)
	}
	lost = errors.Join(lost, k.journal.End(context.Background(), end))
	if lost != nil && err == nil {
		err = lost
	}
	return err
}

// endOf returns how a run ended, without the time, which is set by what stores it.
func endOf(r Result, err error) engine.RunEnd {
	e := engine.RunEnd{Status: engine.RunDone}
	if err == nil {
		// The result of a function may have no typed form; its text is kept in any case.
		e.Text = r.Text()
		e.Result, _ = engine.EncodeValue(r.Value)
		return e
	}
	failed := engine.AsError(err)
	e.Status = statusOf(failed)
	e.Err, _ = json.Marshal(failed) // an error always has a JSON form
	return e
}

// statusOf returns the status of a run that a failure ended.
func statusOf(failed *engine.Error) engine.RunStatus {
	switch failed.Kind {
	case engine.KindApproval:
		return engine.RunParked
	case engine.KindCancelled:
		return engine.RunCancelled
	}
	return engine.RunFailed
}
