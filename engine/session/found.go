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

// TranscriptKey is where a session keeps the conversation of its last run. All other entries are notes.
const TranscriptKey = "transcript"

// Ref names a session for a run to take.
type Ref struct {
	Store  engine.SessionStore
	ID     string
	Script string // what the session belongs to: the name of the script's file

	// Keep is asked when the run went well, before its conversation is kept: what the host finds
	// wrong with the run leaves the session's as it was. nil keeps it.
	Keep func() bool

	// Found is what the run goes on from, whatever the store holds by now. nil: what it holds.
	Found *Found

	// Forks has Open bring the session to Found, which is what the session Of held when another run took it.
	Forks bool
	Of    string

	// Notes has Open set Found, so that it can be recorded.
	Notes bool

	// Versions are those of the entries of Found, of a session that another process keeps.
	Versions map[string]int64
}

// Found is what a session held when a run took it: the JSON form of RunHead.Session.
type Found struct {
	ID      string            `json:"id"`
	Entries map[string]string `json:"entries"` // texts by their keys

	// Unsaved: nothing that the run keeps outlives it. It is a fork that was given no session, or comes from elsewhere.
	Unsaved bool `json:"unsaved,omitempty"`
	// Deferred: another process keeps the session. The run takes what it holds by an effect when it begins, keeps its notes and
	// its conversation itself, and saves what it changed by another effect when it went well: see [Request].
	Deferred bool `json:"deferred,omitempty"`
	// Back: the conversation of the run takes the place of what the session held, which it was not begun with.
	Back bool `json:"back,omitempty"`
}

// Hold notes what a session that another process keeps held when the run took it.
func (r *Ref) Hold(entries map[string]engine.Entry) {
	r.Found.Entries, r.Versions = textsOf(entries), make(map[string]int64, len(entries))
	for key, e := range entries {
		r.Versions[key] = e.Version
	}
}

// Unsaved reports whether nothing that the run keeps outlives it. A run without a session has none.
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

// texts are the entries of a session.
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

// back brings the notes of a session to those that a fork begins with. Its conversation stays until the fork went well.
func (r *Ref) back(ctx context.Context, open engine.OpenSession, run string, held map[string]string) error {
	if r.ID != r.Of && strings.Join(slices.Collect(maps.Values(held)), "") != "" {
		return engine.Errorf(engine.KindInput, diag.BadSession, "session %q holds something already, and a fork goes on with what its run began with", r.ID).
			WithHelp("give it a new session, or %q, which goes back to where it was then", r.Of)
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
