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
)

// Recorder passes model calls on and writes the outcome of each, a line of JSON per call, and does so for
// other effects as [Recorder.Around] has it. A call that was cancelled has no outcome and is not
// written; a question that nobody decided is, so that a replay waits where the run did.
type Recorder struct {
	w      io.Writer
	models engine.Handler
	redact func(string) string

	mu     sync.Mutex
	others []engine.Handler // that the recorder wraps, too
	counts map[string]int
	seeds  map[uint64]bool // that are written
	err    error
}

var _ engine.Handler = (*Recorder)(nil)

// Record returns models with a recorder around it. Each line is written at once by a single
// Write. What redact takes out of a text is not written; [llm.Registry.Redact] takes out keys, nil
// nothing.
func Record(w io.Writer, models engine.Handler, redact func(string) string) *Recorder {
	return &Recorder{w: w, models: models, redact: redact, counts: map[string]int{}}
}

// Do implements [engine.Handler]. The call fails when it cannot be recorded.
func (r *Recorder) Do(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
	return r.do(ctx, e, sink, r.models)
}

// Excusing returns what notifies models with prepared answers of branches that were ended, nil for others.
func (r *Recorder) Excusing() func(agents []string) {
	if m, ok := r.models.(interface{ Excusing() func(agents []string) }); ok {
		return m.Excusing()
	}
	return nil
}

// Around returns another handler with the recorder around it, to the same lines: that of commands,
// requests and files, of MCP servers, of approvals, or of a host's own tools. A [Replayer] then answers
// their effects as well, so that a replay touches nothing.
func (r *Recorder) Around(h engine.Handler) engine.Handler {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.others = append(r.others, h)
	return &around{r, h}
}

// around is a handler with a recorder around it.
type around struct {
	r *Recorder
	h engine.Handler
}

func (a *around) Do(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
	return a.r.do(ctx, e, sink, a.h)
}

// Secrets returns those of the handler inside.
func (a *around) Secrets() []string { return secretsOf(a.h) }

// Secrets returns those of the models, as an [engine.Handler] that holds secrets does.
func (r *Recorder) Secrets() []string { return secretsOf(r.models) }

// Secrets returns those of the models, as an [engine.Handler] that holds secrets does.
func (c *Cache) Secrets() []string { return secretsOf(c.models) }

// secretsOf returns the secrets that a handler holds, none of one that holds none.
func secretsOf(h engine.Handler) []string {
	if holder, ok := h.(interface{ Secrets() []string }); ok {
		return holder.Secrets()
	}
	return nil
}

func (r *Recorder) do(ctx context.Context, e *engine.Effect, sink engine.Sink, h engine.Handler) engine.Outcome {
	out := h.Do(ctx, e, sink)
	clock.Turn(ctx) // so that a record of a run in virtual time is the same every time
	if out.Err != nil && ctx.Err() != nil && (out.Err.Kind == engine.KindApproval || otherKind(e) == "" || errors.Is(ctx.Err(), context.Canceled)) {
		return out
	}
	row, err := newEntry(e)
	if err == nil {
		row.keep(out)
		err = r.write(row)
	}
	if err != nil {
		failed := engine.Errorf(engine.KindStore, diag.JournalFailed, "a call of %s cannot be recorded: %w", cmp.Or(e.Name, string(e.Kind)), err).
			WithHelp("see that the record can be written; a run goes on only with what is recorded")
		failed.Usage = out.Usage
		return engine.Failed(failed)
	}
	return out
}

func (r *Recorder) write(row *entry) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.writeLocked(row)
}

func (r *Recorder) writeLocked(row *entry) error {
	if r.err != nil {
		return r.err
	}
	r.counts[row.Key]++
	row.N = r.counts[row.Key]
	line, err := row.encode(r.redact)
	if err == nil {
		secrets := r.Secrets()
		for _, h := range r.others {
			secrets = append(secrets, secretsOf(h)...)
		}
		_, err = io.WriteString(r.w, redact.New(secrets).String(string(line)))
	}
	r.err = err
	return err
}
