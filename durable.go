package agentscript

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path"
	"testing/fstest"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/engine/run"
	"github.com/agentscript/agentscript/engine/runfile"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/starlib"
)

// WithStore keeps the runs of the engine in a store. Each effect is recorded before the run continues, so that a run
// whose process ends can be resumed in another process, and nothing that was recorded is done again. A run that waits
// for an answer that nobody in its process has stays until [Engine.Signal] sends the answer; see [ParkRun]. Runs on a
// host's [Scheduler] without [StoreRun], and runs with a [RunJournal] or [Ephemeral] are not kept; nor is a run
// without effects.
func WithStore(s engine.Store) Option { return func(c *config) { c.store = s } }

// StoreRun keeps the run in a store, instead of the engine's. A run on a host's [Scheduler] is kept only with this
// option, and its times are those of the scheduler: a store that works in memory makes it a run of a durable
// workflow.
func StoreRun(s engine.Store) RunOption {
	return func(r *runConfig) { r.store, r.ownStore = s, s != nil }
}

// Ephemeral keeps the run out of the store.
func Ephemeral() RunOption { return func(r *runConfig) { r.ephemeral = true } }

// RunSettings are stored with the run, for the host that resumes it. They are JSON that only the host understands.
func RunSettings(settings json.RawMessage) RunOption {
	return func(r *runConfig) { r.settings = settings }
}

// RecordRun writes the run to a file as it proceeds, with its script: a line for what it began with, one for each
// step in the order in which they were committed, and one for how it ended. Commands accept the file in place of a
// run, and it can be read up to where the process was killed. A run that no store holds is parked as [ParkRun]
// describes. RecordRun is not for runs on a host's [Scheduler] or with a [RunJournal]. A step that cannot be written
// ends the run.
func RecordRun(to *runfile.Writer) RunOption { return func(r *runConfig) { r.recording = to } }

// ParkRun makes a run end, with an error that is [ErrApproval], once all of it waits for answers from outside, so
// that its process can end. The run is resumed when the answers are there.
func ParkRun() RunOption { return func(r *runConfig) { r.spec.Parks = true } }

// LoadRun loads the script of a run from the store, as it was when the run began, even if its files have changed
// since.
func (e *Engine) LoadRun(ctx context.Context, id string) (*Module, engine.RunInfo, error) {
	info, err := e.Run(ctx, id)
	if err != nil {
		return nil, info, err
	}
	bundle, err := journal.Bundle(ctx, e.cfg.store, info)
	if err != nil {
		return nil, info, err
	}
	m, err := e.LoadBundle(ctx, bundle, info.Script)
	return m, info, err
}

// LoadBundle loads a script from a bundle of all its files. shown is the path of its entry in messages.
func (e *Engine) LoadBundle(ctx context.Context, b engine.Bundle, shown string) (*Module, error) {
	files := fstest.MapFS{}
	for name, text := range b.Files {
		files[name] = &fstest.MapFile{Data: text, Mode: 0o400}
	}
	dir := path.Dir(shown)
	if dir == "." {
		dir = ""
	}
	return e.load(ctx, starlib.Options{FS: files, Entry: b.Entry, Root: ".", Dir: dir}, nil)
}

// Run describes a run in the store.
func (e *Engine) Run(ctx context.Context, id string) (engine.RunInfo, error) {
	if e.cfg.store == nil {
		return engine.RunInfo{}, noStore()
	}
	return e.cfg.store.Run(ctx, id)
}

// Resume continues a run of the store whose process has ended or that was parked, with the script, the input and the
// random seed with which it began. What was recorded is answered from the store; what ended the run is done again. If
// the run cannot continue, [Run.Wait] returns the reason.
func (e *Engine) Resume(ctx context.Context, id string, opts ...RunOption) *Run {
	m, _, err := e.LoadRun(ctx, id)
	if err != nil {
		return failedRun(id, err)
	}
	return m.Start(ctx, append(opts, ResumeRun(id))...)
}

// ResumeRun makes [Module.Start] continue a run of the store. The module must be the run's script: see
// [Engine.LoadRun].
func ResumeRun(id string) RunOption { return func(r *runConfig) { r.resume = id } }

// ForkRun makes [Module.Start] begin a run that takes the outcome of each effect with the same id from what another
// run recorded, and carries out the rest. The module may be another version of the script. Without an input the fork
// uses that of the other run and, with the same script, also the arguments that are not given.
func ForkRun(of string) RunOption { return func(r *runConfig) { r.fork = of } }

// Fork begins a run of the same script as another run of the store; see [ForkRun]. To use another version of the
// script, load that version and start it with ForkRun.
func (e *Engine) Fork(ctx context.Context, of string, opts ...RunOption) *Run {
	m, _, err := e.LoadRun(ctx, of)
	if err != nil {
		return failedRun("", err)
	}
	return m.Start(ctx, append([]RunOption{ForkRun(of)}, opts...)...)
}

// Recover resumes all runs of the store whose process has ended without ending them: those that nobody holds and that
// are not parked. It returns the runs that continue; the error joins those of the runs that cannot.
func (e *Engine) Recover(ctx context.Context, opts ...RunOption) ([]*Run, error) {
	if e.cfg.store == nil {
		return nil, noStore()
	}
	all, err := e.cfg.store.Runs(ctx, engine.RunFilter{Status: []engine.RunStatus{engine.RunRunning}})
	if err != nil {
		return nil, err
	}
	var runs []*Run
	var failed []error
	for _, info := range all {
		if info.Live {
			continue
		}
		m, _, err := e.LoadRun(ctx, info.ID)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		runs = append(runs, m.Start(ctx, append(opts[:len(opts):len(opts)], ResumeRun(info.ID))...))
	}
	return runs, errors.Join(failed...)
}

// Signal sends an answer to a run of the store: to a step that waits, by its id, or to wait(name), by that name.
// dedup identifies the answer: an answer that was sent before with the same dedup is not sent again, and it is an
// error if the two differ. With an empty dedup a step is answered once, and a name for which no step waits yet has
// one answer until that is taken. The run need be neither in this process nor running.
func (e *Engine) Signal(ctx context.Context, id, to, dedup string, a engine.Answer) error {
	if e.cfg.store == nil {
		return noStore()
	}
	if hide := run.Hiding(e.cfg.secrets); hide != nil { // it is stored
		if a.Result != nil {
			a.Result = json.RawMessage(hide(string(a.Result)))
		}
		if a.Failed != nil {
			why := hide(*a.Failed)
			a.Failed = &why
		}
	}
	return journal.Send(ctx, e.cfg.store, id, to, dedup, "the host", e.cfg.now(), a)
}

// CancelRun ends a run of the store, in any process.
func (e *Engine) CancelRun(ctx context.Context, id, reason string) error {
	if e.cfg.store == nil {
		return noStore()
	}
	if hide := run.Hiding(e.cfg.secrets); hide != nil {
		reason = hide(reason)
	}
	return e.cfg.store.CancelRun(ctx, id, reason)
}

func noStore() *engine.Error {
	return engine.Errorf(engine.KindConfig, diag.RunNotFound, "the engine has no store of runs").WithHelp("make it with agentscript.WithStore")
}

// failedRun returns a run that never began.
func failedRun(id string, err error) *Run {
	_, cancel := context.WithCancelCause(context.Background())
	r := &Run{id: id, cancel: cancel, done: make(chan struct{})}
	r.end(noValue, err)
	return r
}

// owner describes this process as an owner of runs.
func owner() engine.Owner {
	host, err := os.Hostname()
	if err != nil {
		host = "" // nobody can see whether it is alive
	}
	return engine.Owner{Host: host, PID: os.Getpid()}
}

// Session lets the run continue where the last run of a session ended: agents that share their history continue the
// conversation of that run, and memories of scope "session" keep its notes. A session that does not exist is created.
// One run at a time has the session, from its beginning to its end: a second one fails with AS754, and a run of
// another script with AS753. session.Memory keeps sessions as long as the process lives, the package
// engine/store/sqlite in a file.
//
// A resumed run continues from what its session held when the run began. It needs the same session, unless that is in
// the store of the engine. A fork continues from what the session of the other run held. It saves in the session that
// it is given, which must be empty or that of the other run, and without one it saves in none. A run in other
// processes, see [Dispatch], takes the session from their own store, and store may be nil.
func Session(store engine.SessionStore, id string) RunOption {
	return func(r *runConfig) { r.spec.Session = &session.Ref{Store: store, ID: id} }
}

// KeepSession makes a [Session] keep the conversation of a successful run only if keep returns true. It must come
// after Session.
func KeepSession(keep func() bool) RunOption {
	return func(r *runConfig) {
		if r.spec.Session != nil {
			r.spec.Session.Keep = keep
		}
	}
}
