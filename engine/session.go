package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/internal/text"
)

// SessionStore keeps what outlives a run, by the id of a session. It is safe for concurrent use.
// Its errors are *[Error] of [KindStore], or of [KindInput] for an id that is none.
type SessionStore interface {
	// OpenSession takes a session for one run, and makes it when there is none. Until it is closed
	// nobody else can take it, in this process or another. The script names what the session
	// belongs to; another script is refused. An id is to pass [CheckSessionID].
	OpenSession(ctx context.Context, id, script string) (OpenSession, error)

	// Sessions lists the sessions by id. Beside an error it gives those that could be read.
	Sessions(ctx context.Context) ([]SessionInfo, error)

	// ReadSession gives the entries of a session by their keys, also while a run has it open.
	ReadSession(ctx context.Context, id string) (map[string]Entry, error)

	// DeleteSession forgets a session that no run has open.
	DeleteSession(ctx context.Context, id string) error
}

// OpenSession is a session that a run has taken: entries by key.
type OpenSession interface {
	// Load gives an entry, the zero Entry when there is none.
	Load(ctx context.Context, key string) (Entry, error)

	// Save replaces an entry and returns when that is as durable as the store makes it. op is the
	// idempotency key: what was saved under it before is not saved again, and the entry is given as
	// it stands.
	Save(ctx context.Context, key, op, text string) (Entry, error)

	// Close gives the session back. Saving after it fails.
	Close() error
}

// Entry is what a session holds under a key. Each time it is saved it gets the next version.
type Entry struct {
	Text    string `json:"text"`
	Version int64  `json:"version"` // from 1; 0: there is none
}

// SessionInfo describes a session.
type SessionInfo struct {
	ID      string    `json:"id"`
	Script  string    `json:"script"`
	Updated time.Time `json:"updated"` // when something was saved last; zero where a store keeps no time
	Bytes   int64     `json:"bytes"`
	Entries int       `json:"entries"`
}

// MaxSessionID bounds the length of a session's id.
const MaxSessionID = 64

// CheckSessionID refuses what is no id of a session: 1 to 64 letters, digits and . _ - of ASCII,
// beginning with a letter or digit. So an id can be part of the name of a file.
func CheckSessionID(id string) error {
	ok := id != "" && len(id) <= MaxSessionID && !strings.ContainsRune("._-", rune(id[0]))
	for _, c := range []byte(id) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		ok = ok && (letter || c == '.' || c == '_' || c == '-')
	}
	if ok {
		return nil
	}
	return Errorf(KindInput, diag.BadSession, "%q is no id of a session", text.Clip(id, MaxShown)).
		WithHelp("use 1 to %d letters, digits, dots, dashes and underscores, a letter or digit first", MaxSessionID)
}

// SessionBusy is the failure to take a session that somebody has taken.
func SessionBusy(id, by string) *Error {
	if by != "" {
		by = " (" + by + ")"
	}
	return Errorf(KindStore, diag.SessionBusy, "session %q is in use by another run%s", id, by).
		WithHelp("wait until that run has ended, or use another session: one conversation has one run at a time")
}

// SessionOfOther is the failure to take a session that another script made.
func SessionOfOther(id, owner, script string) *Error {
	return Errorf(KindStore, diag.BadSession, "session %q belongs to %s, and this is %s", id, owner, script).
		WithHelp("use another id for this script, or remove the session: agentscript sessions rm %s", id)
}

// NoSuchSession is the failure to find a session.
func NoSuchSession(id string) *Error {
	return Errorf(KindInput, diag.BadSession, "there is no session %q", id).WithHelp("agentscript sessions ls lists them")
}

// mostOps bounds how many idempotency keys a session remembers: more writes than that cannot be in
// flight when a run ends in the midst.
const mostOps = 256

// MemorySessions is a [SessionStore] that lives as long as the process. Its zero value is empty and
// ready. A session's time of update is not kept.
type MemorySessions struct {
	mu  sync.Mutex
	all map[string]*HeldSession
}

// HeldSession is a session in memory, and a run's hold of it.
type HeldSession struct {
	Id, script string
	Mu         sync.Mutex
	Taken      *SessionHold // nil: nobody has it
	Entries    map[string]Entry
	ops        []string
}

// SessionHold is a session of [MemorySessions] while a run has it.
type SessionHold struct{ Of *HeldSession }

// OpenSession implements [SessionStore].
func (s *MemorySessions) OpenSession(_ context.Context, id, script string) (OpenSession, error) {
	if err := CheckSessionID(id); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]*HeldSession{}
	}
	held := s.all[id]
	if held == nil {
		held = &HeldSession{Id: id, script: script}
		s.all[id] = held
	}
	held.Mu.Lock()
	defer held.Mu.Unlock()
	switch {
	case held.script != script:
		return nil, SessionOfOther(id, held.script, script)
	case held.Taken != nil:
		return nil, SessionBusy(id, "of this process")
	}
	held.Taken = &SessionHold{held}
	return held.Taken, nil
}

// Sessions implements [SessionStore].
func (s *MemorySessions) Sessions(context.Context) ([]SessionInfo, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []SessionInfo
	for id, held := range s.all {
		held.Mu.Lock()
		info := SessionInfo{ID: id, Script: held.script, Entries: len(held.Entries)}
		for _, e := range held.Entries {
			info.Bytes += int64(len(e.Text))
		}
		held.Mu.Unlock()
		all = append(all, info)
	}
	slices.SortFunc(all, func(a, b SessionInfo) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// ReadSession implements [SessionStore].
func (s *MemorySessions) ReadSession(_ context.Context, id string) (map[string]Entry, error) {
	s.mu.Lock()
	held := s.all[id]
	s.mu.Unlock()
	if held == nil {
		return nil, NoSuchSession(id)
	}
	held.Mu.Lock()
	defer held.Mu.Unlock()
	return maps.Clone(held.Entries), nil
}

// DeleteSession implements [SessionStore].
func (s *MemorySessions) DeleteSession(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.all[id]
	if held == nil {
		return NoSuchSession(id)
	}
	held.Mu.Lock()
	defer held.Mu.Unlock()
	if held.Taken != nil {
		return SessionBusy(id, "of this process")
	}
	delete(s.all, id)
	return nil
}

// Load implements [OpenSession].
func (h *SessionHold) Load(_ context.Context, key string) (Entry, error) {
	h.Of.Mu.Lock()
	defer h.Of.Mu.Unlock()
	return h.Of.Entries[key], h.open()
}

// Save implements [OpenSession].
func (h *SessionHold) Save(_ context.Context, key, op, text string) (Entry, error) {
	h.Of.Mu.Lock()
	defer h.Of.Mu.Unlock()
	e := h.Of.Entries[key]
	if err := h.open(); err != nil || slices.Contains(h.Of.ops, op) {
		return e, err
	}
	e = Entry{text, e.Version + 1}
	h.Of.Put(key, e)
	if h.Of.ops = append(h.Of.ops, op); len(h.Of.ops) > mostOps {
		h.Of.ops = slices.Delete(h.Of.ops, 0, len(h.Of.ops)-mostOps)
	}
	return e, nil
}

// Put keeps an entry. The caller holds the lock.
func (s *HeldSession) Put(key string, e Entry) {
	if s.Entries == nil {
		s.Entries = map[string]Entry{}
	}
	s.Entries[key] = e
}

// open is the failure of a hold that was given back. The caller holds the lock.
func (h *SessionHold) open() error {
	if h.Of.Taken == h {
		return nil
	}
	return SessionClosed()
}

// SessionClosed is the failure of whoever goes on when the run has ended.
func SessionClosed() error {
	return Errorf(KindStore, diag.StoreFailed, "the session is closed").WithHelp("a run keeps its session open until it has ended, and no longer")
}

// Close implements [OpenSession].
func (h *SessionHold) Close() error {
	h.Of.Mu.Lock()
	defer h.Of.Mu.Unlock()
	if h.Of.Taken == h {
		h.Of.Taken = nil
	}
	return nil
}
