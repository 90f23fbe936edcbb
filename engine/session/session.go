// Package session holds what all stores of sessions share: the rule for ids and the errors. It also has the store that
// keeps sessions in memory. The stores on disk are packages below engine/store.
package session

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/sorting"
	"github.com/agentscript/agentscript/internal/text"
)

// MaxID bounds the length of a session's id.
const MaxID = 64

// CheckID returns an error unless id is valid for a session: 1 to 64 letters, digits and . _ - of ASCII, with a letter
// or digit first. An id can therefore be part of the name of a file.
func CheckID(id string) error {
	ok := id != "" && len(id) <= MaxID && !strings.ContainsRune("._-", rune(id[0]))
	for _, c := range []byte(id) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		ok = ok && (letter || c == '.' || c == '_' || c == '-')
	}
	if ok {
		return nil
	}
	return engine.Errorf(engine.KindInput, diag.BadSession, "%q is no id of a session", text.Clip(id, 60)).
		WithHelp("use 1 to %d letters, digits, dots, dashes and underscores, a letter or digit first", MaxID)
}

// Busy returns the error for a session that another run has taken.
func Busy(id, by string) *engine.Error {
	if by != "" {
		by = " (" + by + ")"
	}
	return engine.Errorf(engine.KindStore, diag.SessionBusy, "session %q is in use by another run%s", id, by).
		WithHelp("wait until that run has ended, or use another session: one conversation has one run at a time")
}

// OfOther returns the error for a session that belongs to another script.
func OfOther(id, owner, script string) *engine.Error {
	return engine.Errorf(engine.KindStore, diag.BadSession, "session %q belongs to %s, and this is %s", id, owner, script).
		WithHelp("sessions of all scripts are in one directory: use another id for this script, another directory, --session-store DIR, or remove the session: agentscript sessions rm %s", id)
}

// NotFound returns the error for a session that does not exist.
func NotFound(id string) *engine.Error {
	return engine.Errorf(engine.KindInput, diag.BadSession, "there is no session %q", id).WithHelp("agentscript sessions ls lists them")
}

// MaxOps bounds how many idempotency keys a session remembers. No more writes than that can be in flight when a run
// ends abruptly.
const MaxOps = 256

// Memory is an [engine.SessionStore] that lives as long as the process. Its zero value is empty and ready to use. It
// does not record when a session was updated.
type Memory struct {
	mu  sync.Mutex
	all map[string]*heldSession
}

// heldSession is a session in memory.
type heldSession struct {
	script  string
	mu      sync.Mutex
	taken   *Held // nil: no run has it
	entries map[string]engine.Entry
	ops     []string
}

// Held is a session in memory that a run has taken.
type Held struct{ of *heldSession }

// NewHeld returns an empty session that belongs to no store, for what a run keeps only while it lasts.
func NewHeld() *Held {
	s := &heldSession{}
	s.taken = &Held{s}
	return s.taken
}

// OpenSession implements [engine.SessionStore].
func (s *Memory) OpenSession(_ context.Context, id, script string) (engine.OpenSession, error) {
	if err := CheckID(id); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]*heldSession{}
	}
	held := s.all[id]
	if held == nil {
		held = &heldSession{script: script}
		s.all[id] = held
	}
	held.mu.Lock()
	defer held.mu.Unlock()
	switch {
	case held.script != script:
		return nil, OfOther(id, held.script, script)
	case held.taken != nil:
		return nil, Busy(id, "of this process")
	}
	held.taken = &Held{held}
	return held.taken, nil
}

// Sessions implements [engine.SessionStore].
func (s *Memory) Sessions(context.Context) ([]engine.SessionInfo, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []engine.SessionInfo
	for id, held := range s.all {
		held.mu.Lock()
		info := engine.SessionInfo{ID: id, Script: held.script, Entries: len(held.entries)}
		for _, e := range held.entries {
			info.Bytes += int64(len(e.Text))
		}
		held.mu.Unlock()
		all = append(all, info)
	}
	sorting.By(all, func(a, b engine.SessionInfo) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// ReadSession implements [engine.SessionStore].
func (s *Memory) ReadSession(_ context.Context, id string) (map[string]engine.Entry, error) {
	s.mu.Lock()
	held := s.all[id]
	s.mu.Unlock()
	if held == nil {
		return nil, NotFound(id)
	}
	held.mu.Lock()
	defer held.mu.Unlock()
	return maps.Clone(held.entries), nil
}

// DeleteSession implements [engine.SessionStore].
func (s *Memory) DeleteSession(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.all[id]
	if held == nil {
		return NotFound(id)
	}
	held.mu.Lock()
	defer held.mu.Unlock()
	if held.taken != nil {
		return Busy(id, "of this process")
	}
	delete(s.all, id)
	return nil
}

// Load implements [engine.OpenSession].
func (h *Held) Load(_ context.Context, key string) (engine.Entry, error) {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	return h.of.entries[key], h.open()
}

// Save implements [engine.OpenSession].
func (h *Held) Save(_ context.Context, key, op, text string) (engine.Entry, error) {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	e := h.of.entries[key]
	if err := h.open(); err != nil || slices.Contains(h.of.ops, op) {
		return e, err
	}
	e = engine.Entry{Text: text, Version: e.Version + 1}
	h.of.put(key, e)
	if h.of.ops = append(h.of.ops, op); len(h.of.ops) > MaxOps {
		h.of.ops = slices.Delete(h.of.ops, 0, len(h.of.ops)-MaxOps)
	}
	return e, nil
}

// Restore stores an entry with its version, unless the session has a newer one.
func (h *Held) Restore(key string, e engine.Entry) {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	if e.Version > h.of.entries[key].Version {
		h.of.put(key, e)
	}
}

// Entries returns a copy of what the session holds.
func (h *Held) Entries() map[string]engine.Entry {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	return maps.Clone(h.of.entries)
}

// put stores an entry. The caller holds the lock.
func (s *heldSession) put(key string, e engine.Entry) {
	if s.entries == nil {
		s.entries = map[string]engine.Entry{}
	}
	s.entries[key] = e
}

// open returns an error if the session was given back. The caller holds the lock.
func (h *Held) open() error {
	if h.of.taken == h {
		return nil
	}
	return Closed()
}

// GivenBack returns the error for using a session of a store after it was closed.
func GivenBack(id string) error {
	return engine.Errorf(engine.KindStore, diag.StoreFailed, "session %q was closed", id).WithHelp(keptOpen)
}

const keptOpen = "a run keeps its session open until it has ended, and no longer"

// Closed returns the error for using a session after its run has ended.
func Closed() error {
	return engine.Errorf(engine.KindStore, diag.StoreFailed, "the session is closed").WithHelp(keptOpen)
}

// Close implements [engine.OpenSession].
func (h *Held) Close() error {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	if h.of.taken == h {
		h.of.taken = nil
	}
	return nil
}
