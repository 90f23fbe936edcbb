package cassette

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/session"
)

// Sessions returns a store with the recorder around it: what a session holds when a run takes it is
// written, so that [Replayer.Sessions] begins there.
func (r *Recorder) Sessions(store engine.SessionStore) engine.SessionStore {
	return &recordedSessions{store, r}
}

type recordedSessions struct {
	engine.SessionStore
	to *Recorder
}

func (s *recordedSessions) OpenSession(ctx context.Context, id, script string) (engine.OpenSession, error) {
	open, err := s.SessionStore.OpenSession(ctx, id, script)
	if err != nil {
		return nil, err
	}
	held, err := s.ReadSession(ctx, id)
	if none, ok := errors.AsType[*engine.Error](err); ok && none.Kind == engine.KindInput {
		held, err = nil, nil // nothing was saved yet
	}
	if err == nil {
		err = s.to.inSession(id, held)
	}
	if err != nil {
		_ = open.Close() // that it cannot be recorded says more
		return nil, engine.Errorf(engine.KindStore, diag.JournalFailed, "the session %q cannot be recorded: %w", id, err).
			WithHelp("see that the record and the session can be read and written")
	}
	return open, nil
}

// inSession writes a head with what the session of the run holds.
func (r *Recorder) inSession(id string, held map[string]engine.Entry) error {
	entries := make(map[string]string, len(held))
	for key, e := range held {
		entries[key] = e.Text
	}
	found, err := json.Marshal(session.Found{ID: id, Entries: entries})
	if err != nil {
		return err
	}
	r.mu.Lock()
	if !r.onward { // else it goes on from what its head says
		r.head.Session, r.begun = found, false
	}
	r.mu.Unlock()
	return r.write(nil)
}

// Sessions is a store for replays, which begins with what the recorded sessions held when their runs
// took them and is gone when the process ends; and the id of the first of them, "" when the run that was
// recorded had none.
func (r *Replayer) Sessions() (store engine.SessionStore, id string) {
	s := &replayedSessions{held: map[string]map[string]string{}}
	for _, held := range r.sessions {
		if id == "" {
			id = held.ID
		}
		if _, known := s.held[held.ID]; !known {
			s.held[held.ID] = held.Entries
		}
	}
	return s, id
}

type replayedSessions struct {
	session.Memory
	held map[string]map[string]string
}

func (s *replayedSessions) OpenSession(ctx context.Context, id, script string) (engine.OpenSession, error) {
	open, err := s.Memory.OpenSession(ctx, id, script)
	if err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(s.held[id])) {
		if _, err := open.Save(ctx, key, "recorded "+key, s.held[id][key]); err != nil {
			return nil, errors.Join(err, open.Close())
		}
	}
	return open, nil
}
