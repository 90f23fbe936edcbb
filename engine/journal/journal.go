// Package journal keeps the journal of a run in a store: a row for each effect, from which the run can be continued
// in another process, forked, replayed and shown.
package journal

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/model"
)

// Options of a [Journal].
type Options struct {
	Types engine.Types             // finds the schemas of the script's records
	Hide  func(text string) string // removes secrets from what is stored; nil: there are none
	Stop  func(why error)          // called when the run must stop: another owner has taken it, or it was cancelled from outside; may be nil
	Now   func() time.Time         // nil: time.Now
}

// Journal is the journal of one run. It is safe for concurrent use.
type Journal struct {
	store engine.Store
	opts  Options
	begin func(ctx context.Context) (engine.OpenRun, error) // called once, by the first effect that is recorded

	opening sync.Mutex
	run     engine.OpenRun // nil until a new run records its first effect
	ended   bool

	mu       sync.Mutex
	rows     map[string]*row
	at       map[string]string // ids by position
	acted    map[string]bool   // the positions of tool calls below which the run had effects when it was taken
	memories []engine.Outcome
	copies   []engine.Step // answered from the run that this one is a fork of, and not written to this run yet
	copying  sync.Mutex    // held while copies are written: what is committed later must come after them
	left     []string      // ids of steps that wait in branches that have ended
	signals  []engine.Signal
	begun    map[string]time.Time // by id, of effects in progress in this process
	taken    map[int64]string     // by the Seq of a signal, the id of the effect that took it
	forked   bool                 // an effect that is not found is carried out, whatever was recorded at its position
	reused   int                  // effects that were answered from the store
	spent    model.Usage          // what those effects had used
	wake     func()
	stop     chan struct{} // closed when nobody listens for signals any more
}

var _ engine.DurableJournal = (*Journal)(nil)

// row is what is known about a step.
type row struct {
	step    engine.Step
	outcome engine.Outcome
	read    bool           // outcome has been decoded
	live    bool           // this process committed it
	other   bool           // it belongs to the run that this one is a fork of, and was not copied yet
	asks    *engine.Effect // the effect for which this process asked; nil if it did not
}

// New returns the journal of a new run. begin creates the run in the store when its first effect is recorded. store
// may be nil if nothing is sent to the run.
func New(store engine.Store, o Options, begin func(ctx context.Context) (engine.OpenRun, error)) *Journal {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Journal{store: store, opts: o, begin: begin, rows: map[string]*row{}, at: map[string]string{}, taken: map[int64]string{}, begun: map[string]time.Time{}, stop: make(chan struct{})}
}

// Resume returns the journal of a run that was taken, with everything that the run holds and, if the run is a fork,
// with what it may still take from its parent.
func Resume(ctx context.Context, store engine.Store, run engine.OpenRun, o Options) (*Journal, error) {
	j := New(store, o, nil)
	j.run = run
	if err := j.reuseOfParent(ctx, run.Info().RunHead); err != nil {
		return nil, err
	}
	if err := j.load(ctx, run.Info().ID); err != nil {
		return nil, err
	}
	j.acted = actedAt(j.rows)
	if err := j.refresh(ctx); err != nil {
		return nil, err
	}
	j.listen()
	return j, nil
}

// load reads the steps of a run. They replace those with the same ids in the journal.
func (j *Journal) load(ctx context.Context, id string) error {
	return j.store.Steps(ctx, id, 0, j.read)
}

func (j *Journal) read(s engine.Step) error {
	j.rows[s.ID] = &row{step: s}
	j.at[Position(s.ID)] = s.ID
	if s.Taken > 0 {
		j.taken[s.Taken] = s.ID
	}
	if s.Kind == engine.EffectMemory && s.State == engine.StepDone {
		out, err := engine.DecodeOutcome(s.Outcome, j.opts.Types)
		if err != nil {
			return unreadable(s.ID, err)
		}
		j.memories = append(j.memories, out)
	}
	return nil
}

// Answer implements [engine.Journal].
func (j *Journal) Answer(id string) (engine.Outcome, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.rows[id]
	if r == nil {
		return j.diverged(id)
	}
	switch r.step.State {
	case engine.StepDone, engine.StepCaught:
	case engine.StepFailed:
		if !r.live {
			return engine.Outcome{}, false
		}
	default:
		return engine.Outcome{}, false
	}
	if !r.read {
		types := j.opts.Types
		if r.step.Kind == engine.EffectApproval { // the parameters of a tool are not a schema of the script; they are converted where they are used
			types = types.OrMaps()
		}
		out, err := engine.DecodeOutcome(r.step.Outcome, types)
		if err != nil {
			return engine.Failed(unreadable(id, err)), true
		}
		if out.Err != nil {
			out.Err = out.Err.OfEffect(id)
		}
		r.outcome, r.read = out, true
		if r.other { // so that the fork no longer depends on the other run
			own := r.step
			own.Usage, own.Taken = model.Usage{}, 0 // these belong to the other run
			j.copies, r.other = append(j.copies, own), false
		}
		r.step.Outcome, r.step.Request = nil, nil // decoded: not needed any more
		j.reused++
		j.spent = j.spent.Add(out.Usage)
	}
	return r.outcome, true
}

// diverged reports an effect at a position where a different one was recorded.
func (j *Journal) diverged(id string) (engine.Outcome, bool) {
	was := j.rows[j.at[Position(id)]]
	if was == nil || j.forked || was.other || was.live || was.step.State == engine.StepWaiting {
		return engine.Outcome{}, false
	}
	return engine.Failed(engine.Errorf(engine.KindReplay, diag.RunDiverged, "at %s the run recorded %s with another request", Position(id), strings.TrimSpace(string(was.step.Kind)+" "+was.step.Name)).
		WithHelp("something outside the script has changed, such as a new rule, the tools of a server, or a builtin of the host: agentscript runs fork %s continues with what still fits", j.run.Info().ID)), true
}

// Reused returns how many effects have been answered from the store, and what they had used.
func (j *Journal) Reused() (effects int, used model.Usage) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.reused, j.spent
}

// Memories implements [engine.MemoryJournal].
func (j *Journal) Memories() []engine.Outcome {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]engine.Outcome(nil), j.memories...)
}

// Commit implements [engine.Journal]. The outcome of an effect that only reads is written without waiting for the
// disk; it is still stored before anything that is committed later.
func (j *Journal) Commit(ctx context.Context, id string, e *engine.Effect, out engine.Outcome) error {
	s, err := j.step(id, e)
	if err != nil {
		return err
	}
	if s.Outcome, err = j.encoded(out); err != nil {
		return err
	}
	s.State, s.Usage = engine.StepDone, out.Usage
	if out.Err != nil {
		s.State, s.Types = engine.StepFailed, withResult(s.Types, e)
		out.Err = out.Err.OfEffect(id)
		if j.saidToFail(s.Taken) {
			s.State = engine.StepCaught
		}
	}
	if err := j.put(ctx, s, e.Class != engine.ClassRead); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.begun, id)
	s.Outcome, s.Request = nil, nil
	j.rows[id] = &row{step: s, outcome: out, read: true, live: true}
	if e.Kind == engine.EffectMemory {
		j.memories = append(j.memories, out)
	}
	return nil
}

// saidToFail reports whether the signal with a Seq is the answer that its step failed. Such a failure is final: the
// step is neither asked about again nor carried out.
func (j *Journal) saidToFail(seq int64) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	at := slices.IndexFunc(j.signals, func(is engine.Signal) bool { return is.Seq == seq })
	var a engine.Answer
	return at >= 0 && json.Unmarshal(j.signals[at].Value, &a) == nil && a.Failed != nil
}

// Begins implements [engine.DurableJournal].
func (j *Journal) Begins(e *engine.Effect) {
	id, now := e.ID(), j.opts.Now()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.begun[id] = now
}

// Took implements [engine.DurableJournal].
func (j *Journal) Took(id string) (begun, ended time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if r := j.rows[id]; r != nil && !r.live && worked(&r.step) {
		return r.step.Begun, r.step.Ended
	}
	return begun, ended
}

// Worked returns the total time of the effects that were recorded before the run was resumed. Effects that overlapped
// count in full, so that the total is an upper bound.
func (j *Journal) Worked() (sum time.Duration) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range j.rows {
		if !r.live && worked(&r.step) {
			sum += max(r.step.Ended.Sub(r.step.Begun), 0)
		}
	}
	return sum
}

// worked reports whether the run was at work for the whole time of a step: it neither slept nor waited for an answer
// from outside.
func worked(s *engine.Step) bool {
	switch s.Kind {
	case engine.EffectWait, engine.EffectApproval, engine.EffectSleep:
		return false
	}
	return s.Taken == 0
}

// Intend implements [engine.DurableJournal].
func (j *Journal) Intend(ctx context.Context, e *engine.Effect) error {
	id := e.ID()
	s, err := j.step(id, e)
	if err != nil {
		return err
	}
	s.State, s.Types = engine.StepIntent, withResult(s.Types, e)
	if err := j.put(ctx, s, true); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.rows[id] = &row{step: s, live: true}
	return nil
}

// Unknown implements [engine.DurableJournal]. An effect that failed and ended the run may have been carried out in
// part.
func (j *Journal) Unknown(id string) (why *engine.Error, is bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.rows[id]
	if r == nil || r.live || !unknown(r.step) {
		return nil, false
	}
	if r.step.Outcome != nil {
		out, _ := engine.DecodeOutcome(r.step.Outcome, j.opts.Types) // an outcome that cannot be read gives no reason
		why = out.Err
	}
	return why, true
}

// Caught implements [engine.DurableJournal].
func (j *Journal) Caught(id string) {
	j.mu.Lock()
	r := j.rows[id]
	if r == nil || r.step.State != engine.StepFailed {
		j.mu.Unlock()
		return
	}
	s := r.step
	s.State = engine.StepCaught
	r.step.State = engine.StepCaught
	out, read := r.outcome, r.read
	j.mu.Unlock()
	if read {
		var err error
		if s.Outcome, err = j.encoded(out); err != nil {
			return
		}
	}
	_ = j.put(context.Background(), s, false) // the store reports a failure with the next row, which must not be kept without this one
}

// step returns the row of an effect, without its outcome.
func (j *Journal) step(id string, e *engine.Effect) (engine.Step, error) {
	s, err := StepOf(id, e)
	if err != nil {
		return s, err
	}
	s.Request = j.hidden(s.Request)
	now := j.opts.Now()
	s.Begun, s.Ended = now, now
	j.mu.Lock()
	defer j.mu.Unlock()
	if r := j.rows[id]; r != nil {
		s.Taken = r.step.Taken
		if !r.step.Begun.IsZero() { // it is zero if an answer was refused before the effect was asked about
			s.Begun = r.step.Begun
		}
	}
	if begun, here := j.begun[id]; here {
		s.Begun = begun
	}
	for seq, of := range j.taken {
		if of == id {
			s.Taken = max(s.Taken, seq)
		}
	}
	return s, nil
}

// encoded returns an outcome in the form that a row holds.
func (j *Journal) encoded(out engine.Outcome) ([]byte, error) {
	text, err := out.MarshalJSON()
	return j.hidden(text), err
}

func (j *Journal) hidden(text []byte) []byte {
	if j.opts.Hide == nil || text == nil {
		return text
	}
	return []byte(j.opts.Hide(string(text)))
}

// put writes a step. It creates the run in the store first if necessary.
func (j *Journal) put(ctx context.Context, s engine.Step, sync bool) error {
	run, err := j.opened(ctx)
	if err != nil {
		return err
	}
	if err := errors.Join(j.copied(ctx, run, false), j.dropped(ctx, run)); err != nil {
		return err
	}
	return run.Put(context.WithoutCancel(ctx), s, sync) // an answer was paid for
}

// Begin makes sure that the run is in the store, with everything that it was answered from the run that it is a fork
// of.
func (j *Journal) Begin(ctx context.Context) error {
	run, err := j.opened(ctx)
	if err != nil {
		return err
	}
	return j.copied(ctx, run, true)
}

func (j *Journal) opened(ctx context.Context) (engine.OpenRun, error) {
	j.opening.Lock()
	defer j.opening.Unlock()
	switch {
	case j.ended:
		return nil, engine.Errorf(engine.KindStore, diag.RunLost, "the run has ended, and records nothing more")
	case j.run != nil:
		return j.run, nil
	}
	run, err := j.begin(context.WithoutCancel(ctx))
	if err != nil {
		return nil, err
	}
	j.run = run
	j.listen()
	return run, nil
}

// Run returns the run in the store, or nil if nothing was recorded yet.
func (j *Journal) Run() engine.OpenRun {
	j.opening.Lock()
	defer j.opening.Unlock()
	return j.run
}

// End records how the run ended and gives it back. A run that has done nothing is not stored.
func (j *Journal) End(ctx context.Context, e engine.RunEnd) error {
	j.opening.Lock()
	defer j.opening.Unlock()
	if j.ended {
		return nil
	}
	j.ended = true
	close(j.stop)
	ctx = context.WithoutCancel(ctx)
	j.mu.Lock()
	copies := len(j.copies)
	j.mu.Unlock()
	if j.run == nil && copies > 0 { // a fork that has done nothing itself
		run, err := j.begin(ctx)
		if err != nil {
			return err
		}
		j.run = run
	}
	if j.run == nil {
		return nil
	}
	before := j.copied(ctx, j.run, false)
	switch e.Status {
	case engine.RunParked: // steps that this process did not ask about were left by an earlier one
		j.leaveUnasked()
		fallthrough
	case engine.RunDone:
		before = errors.Join(before, j.dropped(ctx, j.run))
	}
	e.At = j.opts.Now()
	e.Result, e.Err, e.Text = j.hidden(e.Result), j.hidden(e.Err), string(j.hidden([]byte(e.Text)))
	return errors.Join(before, j.run.End(ctx, e), j.run.Close())
}

func unreadable(id string, err error) *engine.Error {
	return engine.Errorf(engine.KindStore, diag.StoreFailed, "what was recorded of %s cannot be read: %w", id, err).
		WithHelp("the run was recorded by another version of the script or of agentscript: fork it")
}
