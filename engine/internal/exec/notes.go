package exec

import (
	"strconv"
	"sync"

	"github.com/agentscript/agentscript/engine"
)

// GiveBack closes the session of the run, when there is one.
func (r *Run) GiveBack() (err error) {
	m := r.memory.Load()
	if m == nil || !m.Mu.TryLock() { // a store that does not return: what hangs there is left behind
		return nil
	}
	defer m.Mu.Unlock()
	if m.Session == nil {
		return nil
	}
	open := m.Session
	m.Session = nil
	defer func() {
		if p := recover(); p != nil {
			err = StoreFailed(engine.Panicked("the store", p), "close the session")
		}
	}()
	if err := open.Close(); err != nil {
		return StoreFailed(err, "close the session")
	}
	return nil
}

// Taken is the session of the run while it has one.
func (m *runMemory) Taken() (engine.OpenSession, error) {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	if m.Session == nil {
		return nil, engine.SessionClosed()
	}
	return m.Session, nil
}

// runMemory is what the memory banks of a run hold that end with it.
type runMemory struct {
	Mu   sync.Mutex // one operation at a time, those on the session, too
	held *engine.SessionHold

	Session engine.OpenSession // that the run has taken, nil when it has none
	asked   bool               // the journal, for what it knows
}

// Notes is what the run keeps.
func (r *Run) Notes() *runMemory {
	if m := r.memory.Load(); m != nil {
		return m
	}
	r.memory.CompareAndSwap(nil, &runMemory{})
	return r.memory.Load()
}

// opened gives the notes of the run, at first those that its journal knows. The caller holds the lock.
func (m *runMemory) opened(j engine.Journal) *engine.SessionHold {
	m.begin()
	if j, ok := j.(engine.MemoryJournal); ok && !m.asked {
		for _, out := range j.Memories() {
			v, err := engine.Converted(out.Value, memoryEntryType, "")
			if out.Err != nil || err != nil {
				continue
			}
			r, _ := v.AsRecord()
			key, _ := r.At(0).AsStr()
			version, _ := r.At(1).AsInt()
			text, _ := r.At(2).AsStr()
			newer(m.held.Of, key, engine.Entry{Text: text, Version: version})
		}
	}
	m.asked = true
	return m.held
}

func (m *runMemory) begin() {
	if m.held != nil {
		return
	}
	s := &engine.HeldSession{Id: "of the run"}
	s.Taken = &engine.SessionHold{Of: s}
	m.held = s.Taken
}

// recall keeps an entry that is newer than what is there: a replay does what was recorded in any
// order, and versions tell which was last.
func (m *runMemory) recall(key string, e engine.Entry) {
	m.Mu.Lock()
	defer m.Mu.Unlock()
	m.begin()
	newer(m.held.Of, key, e)
}

// newer keeps an entry that is newer than what is there.
func newer(s *engine.HeldSession, key string, e engine.Entry) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if e.Version > s.Entries[key].Version {
		s.Put(key, e)
	}
}

func appendInts(b []byte, ints ...int) []byte {
	for _, n := range ints {
		b = strconv.AppendInt(append(b, ';'), int64(n), 10)
	}
	return b
}
