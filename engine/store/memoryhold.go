package store

import (
	"context"
	"maps"
	"slices"

	"github.com/agentscript/agentscript/engine"
)

// memoryHold is a run in memory that somebody has taken. The lock of the store guards it.
type memoryHold struct {
	m         *MemoryStore
	r         *memoryRun
	info      engine.RunInfo
	done      chan struct{}
	signalled chan struct{}

	err     error // why it must stop
	expired bool  // others can take the run
	lost    bool
}

var _ engine.OpenRun = (*memoryHold)(nil)

// stop says why the run must stop, the first time.
func (h *memoryHold) stop(why error) {
	if h.err == nil {
		h.err = why
		close(h.done)
	}
}

// lose notes that the run has another owner.
func (h *memoryHold) lose() {
	lost := Lost(h.info.ID)
	h.stop(lost)
	h.err, h.lost = lost, true
}

// usable returns why the run cannot be written to.
func (h *memoryHold) usable() error {
	switch {
	case h.lost:
		return h.err
	case h.r.holder != h:
		return GivenBack(h.info.ID)
	}
	return nil
}

// release gives the run back. One to which nothing was written since it was taken is what it was before.
func (r *memoryRun) release() {
	if r.prior.Status != "" {
		r.info.RunEnd = r.prior
	}
	r.holder, r.info.Owner, r.prior = nil, engine.Owner{}, engine.RunEnd{}
}

// Info implements [engine.OpenRun].
func (h *memoryHold) Info() engine.RunInfo { return h.info }

// Done implements [engine.OpenRun].
func (h *memoryHold) Done() <-chan struct{} { return h.done }

// Err implements [engine.OpenRun].
func (h *memoryHold) Err() error {
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	return h.err
}

// Signalled implements [engine.OpenRun].
func (h *memoryHold) Signalled() <-chan struct{} { return h.signalled }

// Put implements [engine.OpenRun].
func (h *memoryHold) Put(_ context.Context, s engine.Step, _ bool) error {
	s.Request, s.Outcome, s.Types = clone(s.Request), clone(s.Outcome), maps.Clone(s.Types)
	s.Begun, s.Ended = s.Begun.UTC().Round(0), s.Ended.UTC().Round(0)
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	if err := h.usable(); err != nil {
		return err
	}
	r := h.r
	r.seq++
	s.Seq = r.seq
	r.steps[s.ID] = s
	r.info.Updated, r.prior = h.m.now().UTC(), engine.RunEnd{}
	return nil
}

// End implements [engine.OpenRun].
func (h *memoryHold) End(_ context.Context, e engine.RunEnd) error {
	if !Ends(e.Status) {
		return NotAnEnd(h.info.ID, e.Status)
	}
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	if err := h.usable(); err != nil {
		return err
	}
	now := h.m.now().UTC()
	if e.At.IsZero() {
		e.At = now
	}
	e.At = e.At.UTC().Round(0)
	e.Result, e.Err = clone(e.Result), clone(e.Err)
	h.r.release()
	h.r.info.RunEnd, h.r.info.Updated = e, now
	return nil
}

// Close implements [engine.OpenRun].
func (h *memoryHold) Close() error {
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	if h.usable() == nil {
		h.r.release()
	}
	return nil
}

// Signal implements [engine.Store].
func (m *MemoryStore) Signal(ctx context.Context, id string, s engine.Signal) (engine.Signal, error) {
	err := m.begin(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return engine.Signal{}, err
	}
	r := m.runs[id]
	if r == nil {
		return engine.Signal{}, NotFound(id)
	}
	if s.Dedup != "" {
		for _, there := range r.signals {
			if there.Dedup == s.Dedup {
				return there, nil
			}
		}
	}
	if s.At.IsZero() {
		s.At = m.now()
	}
	s.At, s.Value, s.Seq = s.At.UTC().Round(0), clone(s.Value), int64(len(r.signals))+1
	r.signals = append(r.signals, s)
	if r.holder != nil {
		select {
		case r.holder.signalled <- struct{}{}:
		default: // it has not heard of earlier ones
		}
	}
	return s, nil
}

// Signals implements [engine.Store].
func (m *MemoryStore) Signals(ctx context.Context, id string) ([]engine.Signal, error) {
	err := m.begin(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return nil, err
	}
	r := m.runs[id]
	if r == nil {
		return nil, NotFound(id)
	}
	return slices.Clone(r.signals), nil
}

// PutBundle implements [engine.Store].
func (m *MemoryStore) PutBundle(ctx context.Context, hash string, b engine.Bundle) error {
	err := m.begin(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return err
	}
	there := m.bundles[hash]
	if there == nil {
		there = &memoryBundle{Bundle: cloneBundle(b)}
		m.bundles[hash] = there
	}
	there.pending++
	return nil
}

// Bundle implements [engine.Store].
func (m *MemoryStore) Bundle(ctx context.Context, hash string) (engine.Bundle, error) {
	err := m.begin(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return engine.Bundle{}, err
	}
	b := m.bundles[hash]
	if b == nil {
		return engine.Bundle{}, NoBundle(hash)
	}
	return cloneBundle(b.Bundle), nil
}

func cloneBundle(b engine.Bundle) engine.Bundle {
	files := make(map[string][]byte, len(b.Files))
	for path, data := range b.Files {
		files[path] = append([]byte{}, data...)
	}
	return engine.Bundle{Entry: b.Entry, Files: files}
}
