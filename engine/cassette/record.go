package cassette

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/clock"
	"github.com/agentscript/agentscript/engine/internal/redact"
	"github.com/agentscript/agentscript/engine/journal"
	"github.com/agentscript/agentscript/engine/runfile"
)

// Recorder passes model calls on and writes the outcome of each, one line of JSON per call. [Recorder.Around] does
// the same for other effects. A cancelled call has no outcome and is not written. A question that nobody decided is
// written, so that a replay waits where the run did. An effect that must not be carried out twice is also written
// before it begins.
type Recorder struct {
	models engine.Handler
	redact func(string) string

	mu     sync.Mutex
	to     *runfile.Writer
	head   engine.RunHead
	begun  bool             // head was written
	others []engine.Handler // the other handlers that the recorder wraps
	err    error
}

var _ engine.Handler = (*Recorder)(nil)

// Record returns models wrapped by a recorder. Each line is written at once by a single Write. What redact removes
// from a text is not written; [llm.Registry.Redact] removes keys, nil removes nothing. For runs of scripts,
// agentscript.RecordRun records more.
func Record(w io.Writer, models engine.Handler, redact func(string) string) *Recorder {
	r := &Recorder{models: models, redact: redact, head: engine.RunHead{ABI: engine.ABI}}
	r.to = runfile.NewWriter(w, r.hide)
	return r
}

// Do implements [engine.Handler]. The call fails if it cannot be recorded.
func (r *Recorder) Do(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
	return r.do(ctx, e, sink, r.models)
}

// Excusing returns the function that notifies models with prepared answers about branches that were ended, or nil for
// other models.
func (r *Recorder) Excusing() func(agents []string) {
	if m, ok := r.models.(interface{ Excusing() func(agents []string) }); ok {
		return m.Excusing()
	}
	return nil
}

// Around returns another handler, wrapped by the recorder and recorded to the same file: a handler of commands,
// requests and files, of MCP servers, of approvals, or of a host's own tools. A [Replayer] then also answers its
// effects, so that a replay touches nothing.
func (r *Recorder) Around(h engine.Handler) engine.Handler {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.others = append(r.others, h)
	return &around{r, h}
}

// around is a handler wrapped by a recorder.
type around struct {
	r *Recorder
	h engine.Handler
}

func (a *around) Do(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
	return a.r.do(ctx, e, sink, a.h)
}

// Secrets returns the secrets of the wrapped handler.
func (a *around) Secrets() []string { return secretsOf(a.h) }

// Secrets returns the secrets of the models. An [engine.Handler] that holds secrets has this method.
func (r *Recorder) Secrets() []string { return secretsOf(r.models) }

// Secrets returns the secrets of the models. An [engine.Handler] that holds secrets has this method.
func (c *Cache) Secrets() []string { return secretsOf(c.models) }

// secretsOf returns the secrets that a handler holds, if any.
func secretsOf(h engine.Handler) []string {
	if holder, ok := h.(interface{ Secrets() []string }); ok {
		return holder.Secrets()
	}
	return nil
}

func (r *Recorder) do(ctx context.Context, e *engine.Effect, sink engine.Sink, h engine.Handler) engine.Outcome {
	step, err := journal.StepOf(e.ID(), e)
	now := clock.Of(ctx).Now
	if step.Begun = now().UTC(); err == nil && e.Class == engine.ClassOnce {
		step.State = engine.StepIntent
		err = r.step(step)
	}
	if err != nil {
		return engine.Failed(unrecorded(e, err))
	}
	out := h.Do(ctx, e, sink)
	clock.Turn(ctx) // so that a run in virtual time always has the same record
	if out.Err != nil && ctx.Err() != nil && (out.Err.Kind == engine.KindApproval || e.Kind == engine.EffectModel || errors.Is(ctx.Err(), context.Canceled)) {
		return out
	}
	kept := out
	kept.Response = out.Response.Valid()
	kept.Believable(e)
	kept.Attempt = max(out.Attempt, 1)
	if kept.Flaw(e) != "" { // the engine refuses it
		return out
	}
	r.known().Outcome(&kept) // hiding in the line's JSON does not find secrets in JSON that is nested in the outcome
	step.State, step.Usage, step.Ended = runfile.StateOf(kept), kept.Usage, now().UTC()
	if step.Outcome, err = kept.MarshalJSON(); err == nil {
		err = r.step(step)
	}
	if err != nil {
		failed := unrecorded(e, err)
		failed.Usage = out.Usage
		return engine.Failed(failed)
	}
	return out
}

func unrecorded(e *engine.Effect, err error) *engine.Error {
	return engine.Errorf(engine.KindStore, diag.JournalFailed, "a call of %s cannot be recorded: %w", cmp.Or(e.Name, string(e.Kind)), err).
		WithHelp("check that the record can be written; a run continues only with what is recorded")
}

func (r *Recorder) step(s engine.Step) error {
	return r.write(func() error { return r.to.Step(s) })
}

// write writes a line, after the head. After a failed write it writes nothing more.
func (r *Recorder) write(line func() error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil && !r.begun {
		r.begun = true
		r.err = r.to.Begin(runfile.Head{RunHead: r.head})
	}
	if r.err == nil && line != nil {
		r.err = line()
	}
	return r.err
}

// hide removes from a line what must not be written. The caller holds the lock.
func (r *Recorder) hide(line string) string {
	if r.redact != nil {
		line = r.redact(line)
	}
	return secretsIn(r.models, r.others).String(line)
}

// known returns the secrets of all handlers that the recorder wraps.
func (r *Recorder) known() *redact.Set {
	r.mu.Lock()
	defer r.mu.Unlock()
	return secretsIn(r.models, r.others)
}

func secretsIn(models engine.Handler, others []engine.Handler) *redact.Set {
	secrets := secretsOf(models)
	for _, h := range others {
		secrets = append(secrets, secretsOf(h)...)
	}
	return redact.New(secrets)
}
