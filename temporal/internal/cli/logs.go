package cli

import (
	"context"
	"io"
	"log/slog"
	"strings"

	"github.com/agentscript/agentscript/internal/cli/term"
)

// logging is how a worker says what it does.
type logging struct {
	level slog.Level
	json  bool
	all   bool // that of the client library, too
}

// handler writes lines, without what is hidden.
func (l logging) handler(c *term.Console) slog.Handler {
	o, to := &slog.HandlerOptions{Level: l.level}, hiding{c}
	if l.json {
		return slog.NewJSONHandler(to, o)
	}
	return slog.NewTextHandler(to, o)
}

// hiding is stderr for whole lines.
type hiding struct{ c *term.Console }

func (h hiding) Write(line []byte) (int, error) {
	_, err := io.WriteString(h.c.Stderr, h.c.Hidden(string(line)))
	return len(line), err
}

// ofLibrary is what the client library logs. That activities fail is expected: they are refused, cancelled, or lost a race, and
// what comes of it is the run's; so are tasks that are handed on. What it says of its own course is for those who look into it.
type ofLibrary struct {
	slog.Handler
	all bool
}

// Enabled implements [slog.Handler]: what becomes of a line depends on what it says.
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

// has reports whether a line says something.
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
