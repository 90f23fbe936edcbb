// Package journal keeps the journal of a run in a store: a row for each effect, by which the run can go on in another
// process, be forked, replayed and shown.
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
	Hide  func(text string) string // takes secrets out of what is stored; nil: there are none
	Stop  func(why error)          // called when the run must stop: another owner has it, or it was cancelled from outside; may be nil
	Now   func() time.Time         // nil is [time.Now]
}

// Journal is the journal of one run. It is safe for concurrent use.
type Journal struct {
	store engine.Store
	opts  Options
	begin func(ctx context.Context) (engine.OpenRun, error) // called once, by the first effect

	opening sync.Mutex
	run     engine.OpenRun // nil before the first effect of a run that is new
	ended   bool

	mu       sync.Mutex
	rows     map[string]*row
	at       map[string]string // ids by position
	acted    map[string]bool   // the positions of calls of tools below which the run had effects when it was taken
	memories []engine.Outcome
	copies   []engine.Step // of the run that this one is a fork of, which it was answered from and does not hold yet
	copying  sync.Mutex    // held while they are written: what is committed later comes after them
	left     []string      // ids of what waits in branches that have ended
	signals  []engine.Signal
	begun    map[string]time.Time // by id, of effects that this process does
	taken    map[int64]string     // by the Seq of a signal, the id of the effect that it was taken for
	forked   bool                 // what is not found is done, whatever was recorded at its position
	reused   int                  // effects that were answered
	spent    model.Usage          // by them
	wake     func()
	stop     chan struct{} // closed when nobody listens for signals any more
}

var _ engine.DurableJournal = (*Journal)(nil)

// row is what is known of a step.
type row struct {
	step    engine.Step
	outcome engine.Outcome
	read    bool           // outcome is that of step
	live    bool           // it was committed by this process
	other   bool           // it is of the run that this one is a fork of, and not yet this one's
	asks    *engine.Effect // that this process asked about; nil: it did not
}

// New returns the journal of a new run, which begin makes in the store when its first effect is to be recorded. The store
// may be nil for one to which nothing is sent.
func New(store engine.Store, o Options, begin func(ctx context.Context) (engine.OpenRun, error)) *Journal {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Journal{store: store, opts: o, begin: begin, rows: map[string]*row{}, at: map[string]string{}, taken: map[int64]string{}, begun: map[string]time.Time{}, stop: make(chan struct{})}
}

// Resume returns the journal of a run that was taken, with all that it holds, and, for a fork, with what it may still take.
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

// load reads the steps of a run, in the place of those of the same ids that the journal has.
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
		if r.step.Kind == engine.EffectApproval { // the parameters of a tool are no schema of the script; they are converted where they are used
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
		if r.other { // so that the fork goes on by itself, whatever becomes of the other run
			own := r.step
			own.Usage, own.Taken = model.Usage{}, 0 // it was the other run's
			j.copies, r.other = append(j.copies, own), false
		}
		r.step.Outcome, r.step.Request = nil, nil // each row is answered once
		j.reused++
		j.spent = j.spent.Add(out.Usage)
	}
	return r.outcome, true
}

// diverged reports an effect at a position where another one was recorded.
func (j *Journal) diverged(id string) (engine.Outcome, bool) {
	was := j.rows[j.at[Position(id)]]
	if was == nil || j.forked || was.other || was.live || was.step.State == engine.StepWaiting {
		return engine.Outcome{}, false
	}
	return engine.Failed(engine.Errorf(engine.KindReplay, diag.RunDiverged, "at %s the run recorded %s with another request", Position(id), strings.TrimSpace(string(was.step.Kind)+" "+was.step.Name)).
		WithHelp("something that is no part of the script has changed, as a rule that was given now, the tools of a server, or a builtin of the host: agentscript runs fork %s goes on with what still fits", j.run.Info().ID)), true
}

// Reused returns how many effects were answered from the store by now, and what they had used.
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

// Commit implements [engine.Journal]. What only reads is written without waiting for the disk: it is there before
// anything that was committed later.
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

// saidToFail reports whether the signal of some Seq is the answer that its step failed, which stays: the step is neither
// asked about again nor done.
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

// Worked is the most that the effects took together which were recorded before the run was resumed.
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

// worked reports whether the run was at work from the beginning of a step to its end: it neither slept nor waited for an
// answer from outside.
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

// Unknown implements [engine.DurableJournal]. What failed and ended the run may have been carried out in part.
func (j *Journal) Unknown(id string) (why *engine.Error, is bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.rows[id]
	if r == nil || r.live || !unknown(r.step) {
		return nil, false
	}
	if r.step.Outcome != nil {
		out, _ := engine.DecodeOutcome(r.step.Outcome, j.opts.Types) // one that cannot be read says nothing
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
	_ = j.put(context.Background(), s, false) // the store reports it with the next row, which must not be kept without this one
}

// step is the row of an effect, without what came of it.
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
		if !r.step.Begun.IsZero() { // else an answer was refused before it was asked
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

// encoded is an outcome as a row holds it.
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

// put writes a step, after the run was made in the store.
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

// Begin has the run be in the store, with all that it was answered from the run that it is a fork of.
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

// Run returns the run in the store, nil while nothing was recorded.
func (j *Journal) Run() engine.OpenRun {
	j.opening.Lock()
	defer j.opening.Unlock()
	return j.run
}

// End records how the run ended and gives it back. A run that has done nothing is not kept.
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
	case engine.RunParked: // what nobody asked for this time was left by an earlier process
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
