package session

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
)

// TranscriptKey is the key under which a session keeps the conversation of its last run. All other entries are notes.
const TranscriptKey = "transcript"

// Ref names the session that a run takes.
type Ref struct {
	Store  engine.SessionStore
	ID     string
	Script string // the script that the session belongs to: the name of its file

	// Keep is called after a successful run, before its conversation is saved. If it returns false, because the host
	// found a mistake in the run, the session keeps the conversation that it had. A nil Keep saves every conversation.
	Keep func() bool

	// Found is what the run continues from, regardless of what the store holds now. If it is nil, the run continues
	// from what the store holds.
	Found *Found

	// Forks makes Open restore the notes of Found, which is what session Of held when another run took it.
	Forks bool
	Of    string

	// Notes makes Open set Found to what the session holds, so that it can be recorded.
	Notes bool

	// Versions are the versions of the entries in Found, if another process keeps the session.
	Versions map[string]int64
}

// Found is what a session held when a run took it. Its JSON form is RunHead.Session.
type Found struct {
	ID      string            `json:"id"`
	Entries map[string]string `json:"entries"` // texts by their keys

	// Unsaved means that nothing the run keeps outlives it: it is a fork without a session, or comes from elsewhere.
	Unsaved bool `json:"unsaved,omitempty"`
	// Deferred means that another process keeps the session. An effect at the beginning of the run takes what the
	// session holds. The run then keeps its notes and its conversation itself, and another effect saves what changed if
	// the run succeeds: see [Request].
	Deferred bool `json:"deferred,omitempty"`
	// Back means that the conversation of the run replaces that of the session, which the run did not begin with.
	Back bool `json:"back,omitempty"`
}

// Hold records what a session that another process keeps held when the run took it.
func (r *Ref) Hold(entries map[string]engine.Entry) {
	r.Found.Entries, r.Versions = textsOf(entries), make(map[string]int64, len(entries))
	for key, e := range entries {
		r.Versions[key] = e.Version
	}
}

// Unsaved reports whether nothing that the run keeps outlives it. It is false for a run without a session.
func (r *Ref) Unsaved() bool { return r != nil && r.Found != nil && r.Found.Unsaved }

// Deferred reports whether another process keeps the session.
func (r *Ref) Deferred() bool { return r != nil && r.Found != nil && r.Found.Deferred }

// Open takes the session for a run.
func (r *Ref) Open(ctx context.Context, run string) (engine.OpenSession, error) {
	open, err := r.Store.OpenSession(ctx, r.ID, r.Script)
	if err != nil || r.Found != nil && !r.Forks || !r.Forks && !r.Notes {
		return open, err
	}
	held, err := texts(ctx, r.Store, r.ID)
	switch {
	case err != nil:
	case r.Forks:
		err = r.back(ctx, open, run, held)
	default:
		r.Found = &Found{ID: r.ID, Entries: held}
	}
	if err != nil {
		return nil, errors.Join(err, open.Close())
	}
	return open, nil
}

// texts returns the entries of a session.
func texts(ctx context.Context, s engine.SessionStore, id string) (map[string]string, error) {
	all, err := s.ReadSession(ctx, id)
	if errors.Is(err, &engine.Error{Kind: engine.KindInput, Code: diag.BadSession}) { // nothing was saved yet
		return map[string]string{}, nil
	}
	return textsOf(all), err
}

func textsOf(entries map[string]engine.Entry) map[string]string {
	texts := make(map[string]string, len(entries))
	for key, e := range entries {
		if key != holderKey {
			texts[key] = e.Text
		}
	}
	return texts
}

// back changes the notes of a session to those that a fork begins with. Its conversation stays until the fork has
// succeeded.
func (r *Ref) back(ctx context.Context, open engine.OpenSession, run string, held map[string]string) error {
	if r.ID != r.Of && strings.Join(slices.Collect(maps.Values(held)), "") != "" {
		return engine.Errorf(engine.KindInput, diag.BadSession, "session %q is not empty, and a fork continues with what its run began with", r.ID).
			WithHelp("use a new session, or %q, which goes back to where it was then", r.Of)
	}
	keys := maps.Clone(held)
	maps.Copy(keys, r.Found.Entries)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if key == TranscriptKey || held[key] == r.Found.Entries[key] {
			continue
		}
		if _, err := open.Save(ctx, key, run+"/begun "+key, r.Found.Entries[key]); err != nil {
			return err
		}
	}
	return nil
}
