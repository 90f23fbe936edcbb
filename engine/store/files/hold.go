package files

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/disk"
	"github.com/agentscript/agentscript/engine/session"
)

// hold is a session that a run has taken.
type hold struct {
	s    *Sessions
	mu   sync.Mutex
	lock *os.File // nil once it was given back
	at   content  // as it is on disk
}

var _ engine.OpenSession = (*hold)(nil)

// lock takes a session for this process. Its file stays when the session is removed: to remove it
// would let two others hold what they both take for the lock.
func (s *Sessions) lock(id string) (*os.File, error) {
	f, err := disk.Lock(strings.TrimSuffix(s.path(id), suffix) + lockSuffix)
	switch {
	case errors.Is(err, disk.ErrBusy):
		return nil, session.Busy(id, "")
	case err != nil:
		return nil, s.failed("take a session of", err)
	}
	return f, nil
}

// OpenSession implements [engine.SessionStore].
func (s *Sessions) OpenSession(_ context.Context, id, script string) (engine.OpenSession, error) {
	if err := session.CheckID(id); err != nil {
		return nil, err
	}
	l, err := s.lock(id)
	if err != nil {
		return nil, err
	}
	c, err := s.read(s.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		c = &content{ID: id, Script: script, Entries: map[string]engine.Entry{}}
		err = s.write(c)
	}
	if err == nil && c.Script != script {
		err = session.OfOther(id, c.Script, script)
	}
	if err != nil {
		return nil, errors.Join(s.failed("take a session of", err), l.Close())
	}
	return &hold{s: s, lock: l, at: *c}, nil
}

// Load implements [engine.OpenSession].
func (h *hold) Load(_ context.Context, key string) (engine.Entry, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.at.Entries[key], h.open()
}

// Save implements [engine.OpenSession].
func (h *hold) Save(_ context.Context, key, op, text string) (engine.Entry, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := h.at.Entries[key]
	if err := h.open(); err != nil || slices.Contains(h.at.Ops, op) {
		return e, err
	}
	next := h.at
	next.Entries, next.Ops = maps.Clone(h.at.Entries), append(slices.Clone(h.at.Ops), op)
	if next.Entries == nil {
		next.Entries = map[string]engine.Entry{}
	}
	if n := len(next.Ops) - session.MaxOps; n > 0 {
		next.Ops = next.Ops[n:]
	}
	next.Entries[key] = engine.Entry{Text: text, Version: e.Version + 1}
	if err := h.s.write(&next); err != nil {
		return e, h.s.failed("write", err)
	}
	h.at = next
	return next.Entries[key], nil
}

// open is the failure of a hold that was given back. The caller holds the lock.
func (h *hold) open() error {
	if h.lock != nil {
		return nil
	}
	return session.GivenBack(h.at.ID)
}

// Close implements [engine.OpenSession].
func (h *hold) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lock == nil {
		return nil
	}
	err := h.lock.Close()
	h.lock = nil
	return h.s.failed("give back a session of", err)
}
