package cassette

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/session"
)

// Sessions returns a store for replays and the id of the first recorded session, "" if the recorded run had none. The
// store begins with what the recorded sessions held when their runs took them, and lives as long as the process.
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
