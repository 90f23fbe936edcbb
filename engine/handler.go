package engine

import (
	"context"
	"time"

	"github.com/agentscript/agentscript/diag"
)

// Handlers finds the handler of an effect by its kind.
type Handlers map[EffectKind]Handler

// Do implements [Handler].
func (h Handlers) Do(ctx context.Context, e *Effect, sink Sink) Outcome {
	if to := h[e.ByServer()]; to != nil {
		return to.Do(ctx, e, sink)
	}
	return Unhandled(e)
}

// Unhandled returns the outcome of an effect that nothing carries out, which says what would.
func Unhandled(e *Effect) Outcome {
	if r, ok := e.Req.(interface{ Unhandled(e *Effect) *Error }); ok {
		return Failed(r.Unhandled(e))
	}
	if e.Kind == EffectModel {
		return Failed(Errorf(KindConfig, diag.NoModel, "agent %q needs a model, and the run has none", e.Agent).
			WithHelp("name one with model = \"openai/...\" or --model; answer from a file with --scripted FILE"))
	}
	if e.ByServer() == EffectMCP {
		return Failed(Errorf(KindConfig, diag.NoServers, "agent %q has tools of an MCP server, and nothing here reaches one (%s)", e.Agent, e.Name).
			WithHelp("a host gives what reaches servers: agentscript.WithMCP(mcp.New(...))"))
	}
	return Failed(Errorf(KindConfig, diag.UnknownTool, "nothing here runs %s %q", e.Kind, e.Name))
}

// MemoryJournal is a [Journal] that lists the memory effects it holds. A run that is resumed on
// one goes on from the notes as they were when it ended; on any other from those that it has met so
// far in its replay.
type MemoryJournal interface {
	Journal
	// Memories returns the recorded outcomes of all effects of [EffectMemory].
	Memories() []Outcome
}

// Journal remembers the effects of one run: the ids of another run are the same. It is used by many
// branches at once.
type Journal interface {
	// Answer returns the recorded outcome of an effect, and whether there is one. It is called on
	// the composition side and must not block for long.
	Answer(id string) (Outcome, bool)

	// Commit records an outcome and returns when that is as durable as the store makes it.
	// It is called on the effect side. An outcome must be recorded even when ctx is cancelled by
	// now: an answer was paid for. The first outcome of an id stays. An error ends the run, which
	// goes on only with what is recorded.
	Commit(ctx context.Context, id string, e *Effect, out Outcome) error
}

// SessionStore keeps what outlives a run, by the id of a session. It is safe for concurrent use.
// Its errors are *[Error] of [KindStore], or of [KindInput] for an id that is none.
type SessionStore interface {
	// OpenSession takes a session for one run, and makes it when there is none. Until it is closed
	// nobody else can take it, in this process or another. The script names what the session
	// belongs to; another script is refused. An id must pass [session.CheckID].
	OpenSession(ctx context.Context, id, script string) (OpenSession, error)

	// Sessions lists the sessions by id. With an error it returns those that could be read.
	Sessions(ctx context.Context) ([]SessionInfo, error)

	// ReadSession returns the entries of a session by their keys, also while a run has it open.
	ReadSession(ctx context.Context, id string) (map[string]Entry, error)

	// DeleteSession deletes a session that no run has open.
	DeleteSession(ctx context.Context, id string) error
}

// OpenSession is a session that a run has taken: entries by key.
type OpenSession interface {
	// Load returns an entry, the zero Entry when there is none.
	Load(ctx context.Context, key string) (Entry, error)

	// Save replaces an entry, under the next version, and returns when that is as durable as the store
	// makes it. op is the idempotency key: what was saved under it before is not saved again, and the
	// entry is returned as it stands. Keys and texts are bytes, which come back as they were.
	Save(ctx context.Context, key, op, text string) (Entry, error)

	// Close lets other runs take the session. Saving after it fails.
	Close() error
}

// Entry is what a session holds under a key. Each time it is saved it gets the next version.
type Entry struct {
	Text    string `json:"text"`
	Version int64  `json:"version"` // from 1; 0: there is none
}

// SessionInfo describes a session.
type SessionInfo struct {
	ID      string    `json:"id"`
	Script  string    `json:"script"`
	Updated time.Time `json:"updated"` // when something was saved last; zero where a store keeps no time
	Bytes   int64     `json:"bytes"`
	Entries int       `json:"entries"`
}
