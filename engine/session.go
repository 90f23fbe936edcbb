package engine

import (
	"context"
	"time"
)

// SessionStore keeps what outlives a run, by the id of a session. It is safe for concurrent use.
// Its errors are *[Error] of [KindStore], or of [KindInput] for what is not an id.
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
	// entry is returned as it is. Keys and texts are bytes, which come back as they were.
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
