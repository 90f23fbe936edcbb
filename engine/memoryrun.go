package engine

import (
	"context"
	"strconv"
	"sync"

	"github.com/agentscript/agentscript/diag"
)

// RunSession names a session for a run to take.
type RunSession struct {
	Store  SessionStore
	ID     string
	Script string // what the session belongs to: the name of the script's file

	// Keep is asked when the run went well, before its conversation is kept: what the host finds
	// wrong with the run leaves the session's as it was. nil keeps it.
	Keep func() bool
}

// take opens the session of the run. It is no effect: a replay needs the session itself, too.
func (b *branch) take() error {
	s := b.run.spec.Session
	if s.Store == nil {
		return Errorf(KindConfig, diag.NoSession, "session %q has no store", s.ID).WithHelp("give it one: engine.MemorySessions, or a file of engine/journal/sqlite")
	}
	if err := CheckSessionID(s.ID); err != nil {
		return err
	}
	out := b.sched.Do(&catching{HandlerFunc(func(ctx context.Context, _ *Effect, _ Sink) Outcome {
		open, err := s.Store.OpenSession(ctx, s.ID, s.Script)
		if err != nil {
			return Failed(storeFailed(err, "open session "+strconv.Quote(s.ID)))
		}
		notes := b.run.notes()
		notes.mu.Lock()
		defer notes.mu.Unlock()
		notes.session = open
		return Outcome{Attempt: 1}
	})}, (&inFlight{effect: Effect{Kind: EffectMemory, Name: "session", Run: b.RunID(), At: b.at.child("session", "open", 0), Req: &transcriptRequest{}}}).begin(), nil)
	if out.Err != nil {
		return out.Err
	}
	return nil
}

// giveBack closes the session of the run, when there is one.
func (r *run) giveBack() (err error) {
	m := r.memory.Load()
	if m == nil || !m.mu.TryLock() { // a store that does not return: what hangs there is left behind
		return nil
	}
	defer m.mu.Unlock()
	if m.session == nil {
		return nil
	}
	open := m.session
	m.session = nil
	defer func() {
		if p := recover(); p != nil {
			err = storeFailed(panicked("the store", p), "close the session")
		}
	}()
	if err := open.Close(); err != nil {
		return storeFailed(err, "close the session")
	}
	return nil
}

// taken is the session of the run while it has one.
func (m *runMemory) taken() (OpenSession, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.session == nil {
		return nil, sessionClosed()
	}
	return m.session, nil
}

// runMemory is what the memory banks of a run hold that end with it.
type runMemory struct {
	mu   sync.Mutex // one operation at a time, those on the session, too
	held *sessionHold

	session OpenSession // that the run has taken, nil when it has none
	asked   bool        // the journal, for what it knows
}

// notes is what the run keeps.
func (r *run) notes() *runMemory {
	if m := r.memory.Load(); m != nil {
		return m
	}
	r.memory.CompareAndSwap(nil, &runMemory{})
	return r.memory.Load()
}

// MemoryJournal is a [Journal] that tells which memory effects it holds. A run that is resumed on
// one goes on from the notes as they were when it ended; on any other from those that it has met so
// far in its replay.
type MemoryJournal interface {
	Journal
	// Memories gives the recorded outcomes of all effects of [EffectMemory].
	Memories() []Outcome
}

// opened gives the notes of the run, at first those that its journal knows. The caller holds the lock.
func (m *runMemory) opened(j Journal) *sessionHold {
	m.begin()
	if j, ok := j.(MemoryJournal); ok && !m.asked {
		for _, out := range j.Memories() {
			v, err := converted(out.Value, memoryEntryType, "")
			if out.Err != nil || err != nil {
				continue
			}
			r, _ := v.AsRecord()
			key, _ := r.At(0).AsStr()
			version, _ := r.At(1).AsInt()
			text, _ := r.At(2).AsStr()
			m.held.of.newer(key, Entry{text, version})
		}
	}
	m.asked = true
	return m.held
}

func (m *runMemory) begin() {
	if m.held != nil {
		return
	}
	s := &heldSession{id: "of the run"}
	s.taken = &sessionHold{s}
	m.held = s.taken
}

// recall keeps an entry that is newer than what is there: a replay does what was recorded in any
// order, and versions tell which was last.
func (m *runMemory) recall(key string, e Entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begin()
	m.held.of.newer(key, e)
}

// newer keeps an entry that is newer than what is there.
func (s *heldSession) newer(key string, e Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.Version > s.entries[key].Version {
		s.put(key, e)
	}
}

func appendInts(b []byte, ints ...int) []byte {
	for _, n := range ints {
		b = strconv.AppendInt(append(b, ';'), int64(n), 10)
	}
	return b
}
