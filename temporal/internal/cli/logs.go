package cli

import (
	"context"
	"io"
	"log/slog"
	"strings"

	"github.com/agentscript/agentscript/internal/cli/term"
)

// logging configures the log of a worker.
type logging struct {
	level slog.Level
	json  bool
	all   bool // includes the log of the client library
}

// handler returns a handler that writes lines without hidden values.
func (l logging) handler(c *term.Console) slog.Handler {
	o, to := &slog.HandlerOptions{Level: l.level}, hiding{c}
	if l.json {
		return slog.NewJSONHandler(to, o)
	}
	return slog.NewTextHandler(to, o)
}

// hiding writes whole lines to stderr, without hidden values.
type hiding struct{ c *term.Console }

func (h hiding) Write(line []byte) (int, error) {
	_, err := io.WriteString(h.c.Stderr, h.c.Hidden(string(line)))
	return len(line), err
}

// ofLibrary is the log of the client library. Failures of activities are expected: activities are refused or cancelled,
// or lose a race, and the run handles the result. The same goes for tasks that are handed on. These, and what the
// library logs about its own work, are only for debugging.
type ofLibrary struct {
	slog.Handler
	all bool
}

// Enabled implements [slog.Handler]. Handle decides by the text of a line.
func (o ofLibrary) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements [slog.Handler].
func (o ofLibrary) Handle(ctx context.Context, r slog.Record) error {
	switch {
	case r.Message == "Activity error.",
		r.Message == "Workflow panic" && has(r, "and hands it on"),
		r.Message == "RecordActivityHeartbeat with error" && (has(r, "already completed") || has(r, "not found")):
		r.Level = slog.LevelDebug
	case r.Level == slog.LevelInfo && !o.all:
		r.Level = slog.LevelDebug
	}
	if !o.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return o.Handler.Handle(ctx, r)
}

// has reports whether an attribute of a line contains what.
func has(r slog.Record, what string) (is bool) {
	r.Attrs(func(a slog.Attr) bool {
		is = is || strings.Contains(a.Value.String(), what)
		return !is
	})
	return is
}

// WithAttrs implements [slog.Handler].
func (o ofLibrary) WithAttrs(a []slog.Attr) slog.Handler {
	return ofLibrary{o.Handler.WithAttrs(a), o.all}
}

// WithGroup implements [slog.Handler].
func (o ofLibrary) WithGroup(name string) slog.Handler {
	return ofLibrary{o.Handler.WithGroup(name), o.all}
}
