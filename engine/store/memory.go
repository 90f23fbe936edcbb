// Package store provides a journal in memory, from which a run can be answered without doing it again, a store of
// runs in memory, and what all stores of runs share. Package sqlite, below this one, keeps runs and sessions beyond
// the end of the process.
package store

import (
	"context"
	"sync"

	"github.com/agentscript/agentscript/engine"
)

// Memory is a journal that lives as long as the process. It is safe for concurrent use; its zero value is empty and
// ready to use. Give each run its own journal, or share one between a run and its replays.
type Memory struct {
	mu       sync.RWMutex
	outcomes map[string]engine.Outcome
	order    []string
	memories []engine.Outcome
}

// Answer implements [engine.Journal].
func (m *Memory) Answer(id string) (engine.Outcome, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	out, ok := m.outcomes[id]
	return out, ok
}

// Commit implements [engine.Journal]. The first outcome recorded for an effect stays.
func (m *Memory) Commit(_ context.Context, id string, e *engine.Effect, out engine.Outcome) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.outcomes == nil {
		m.outcomes = map[string]engine.Outcome{}
	}
	if _, have := m.outcomes[id]; !have {
		m.outcomes[id] = out
		m.order = append(m.order, id)
		if e != nil && e.Kind == engine.EffectMemory {
			m.memories = append(m.memories, out)
		}
	}
	return nil
}

// IDs returns the ids of all recorded effects in the order they were committed.
func (m *Memory) IDs() []string {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return append([]string(nil), m.order...)
}

// Memories implements [engine.MemoryJournal].
func (m *Memory) Memories() []engine.Outcome {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return append([]engine.Outcome(nil), m.memories...)
}

var _ engine.MemoryJournal = (*Memory)(nil)
