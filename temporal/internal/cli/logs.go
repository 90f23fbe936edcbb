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
	o, to := &slog.HandlerOptions{Level: l.level}, redacting{c}
	if l.json {
		return slog.NewJSONHandler(to, o)
	}
	return slog.NewTextHandler(to, o)
}

// redacting writes whole lines to stderr, without hidden values.
type redacting struct{ c *term.Console }

func (h redacting) Write(line []byte) (int, error) {
	_, err := io.WriteString(h.c.Stderr, h.c.Hidden(string(line)))
	return len(line), err
}

// sdkHandler is the log of the client library. Failures of activities are expected: activities are refused or
// cancelled, or lose a race, and the run handles the result. The same goes for tasks that are handed on. These, and
// what the library logs about its own work, are only for debugging.
type sdkHandler struct {
	slog.Handler
	all bool
}

// Enabled implements [slog.Handler]. Handle decides by the text of a line.
func (o sdkHandler) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements [slog.Handler].
func (o sdkHandler) Handle(ctx context.Context, r slog.Record) error {
	switch {
	case r.Message == "Activity error.",
		r.Message == "Workflow panic" && mentions(r, "and hands it on"),
		r.Message == "RecordActivityHeartbeat with error" && (mentions(r, "already completed") || mentions(r, "not found")):
		r.Level = slog.LevelDebug
	case r.Level == slog.LevelInfo && !o.all:
		r.Level = slog.LevelDebug
	}
	if !o.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return o.Handler.Handle(ctx, r)
}

// mentions reports whether an attribute of a line contains what.
func mentions(r slog.Record, what string) (is bool) {
	r.Attrs(func(a slog.Attr) bool {
		is = is || strings.Contains(a.Value.String(), what)
		return !is
	})
	return is
}

// WithAttrs implements [slog.Handler].
func (o sdkHandler) WithAttrs(a []slog.Attr) slog.Handler {
	return sdkHandler{o.Handler.WithAttrs(a), o.all}
}

// WithGroup implements [slog.Handler].
func (o sdkHandler) WithGroup(name string) slog.Handler {
	return sdkHandler{o.Handler.WithGroup(name), o.all}
}
