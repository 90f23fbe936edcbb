package cassette

import (
	"context"
	"errors"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/session"
	"github.com/agentscript/agentscript/generable"
)

// sessionKind is that of the row that holds what a session held when its run began.
const sessionKind engine.EffectKind = "session"

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
		entries := generable.NewMap(len(held))
		for key, e := range held {
			entries.Set(key, generable.StrOf(e.Text))
		}
		err = s.to.write(&entry{Version: version, Kind: sessionKind, Name: id, Key: string(sessionKind) + ":" + id, Value: valueJSON(entries.Value())})
	}
	if err != nil {
		_ = open.Close() // that it cannot be recorded says more
		return nil, engine.Errorf(engine.KindStore, diag.JournalFailed, "the session %q cannot be recorded: %w", id, err).
			WithHelp("see that the record and the session can be read and written")
	}
	return open, nil
}

// Sessions is a store for replays, which begins with what the recorded sessions held when their runs
// took them and is gone when the process ends; and the id of the first of them, "" when the run that was
// recorded had none.
func (r *Replayer) Sessions() (store engine.SessionStore, id string) {
	s := &replayedSessions{rows: map[string]generable.Value{}}
	for _, row := range r.sessions {
		if id == "" {
			id = row.Name
		}
		if _, known := s.rows[row.Name]; !known {
			s.rows[row.Name] = row.value
		}
	}
	return s, id
}

type replayedSessions struct {
	session.Memory
	rows map[string]generable.Value
}

func (s *replayedSessions) OpenSession(ctx context.Context, id, script string) (engine.OpenSession, error) {
	open, err := s.Memory.OpenSession(ctx, id, script)
	if err != nil {
		return nil, err
	}
	held, _ := s.rows[id].AsMap()
	if held == nil {
		return open, nil
	}
	for i := range held.Len() {
		key, v := held.At(i)
		text, _ := v.AsStr()
		if _, err := open.Save(ctx, key, "recorded "+key, text); err != nil {
			return nil, errors.Join(err, open.Close())
		}
	}
	return open, nil
}
