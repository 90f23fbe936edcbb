package cassette

import (
	"cmp"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// Recorder passes model calls on and writes what each came to, a line of JSON per call, and does so for
// other effects as [Recorder.Around] has it. A call that was cancelled came to nothing and is not
// written; a question that nobody decided is, so that a replay waits where the run did.
type Recorder struct {
	w      io.Writer
	models engine.Handler
	redact func(string) string

	mu     sync.Mutex
	counts map[string]int
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

// Around returns another handler with the recorder around it, to the same lines: that of commands,
// requests and files, of MCP servers, of approvals, or of a host's own tools. A [Replayer] then answers
// their effects as well, so that a replay touches nothing.
func (r *Recorder) Around(h engine.Handler) engine.Handler {
	return engine.HandlerFunc(func(ctx context.Context, e *engine.Effect, sink engine.Sink) engine.Outcome {
		return r.do(ctx, e, sink, h)
	})
}

func (r *Recorder) do(ctx context.Context, e *engine.Effect, sink engine.Sink, h engine.Handler) engine.Outcome {
	out := h.Do(ctx, e, sink)
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
	if r.err != nil {
		return r.err
	}
	r.counts[row.Key]++
	row.N = r.counts[row.Key]
	line, err := row.encode(r.redact)
	if err == nil {
		_, err = r.w.Write(line)
	}
	r.err = err
	return err
}
