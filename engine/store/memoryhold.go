package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/agentscript/agentscript/engine"
)

// memoryHold is a run in memory that somebody has taken. The store's lock guards it.
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

// stop records why the run must stop. Only the first reason counts.
func (h *memoryHold) stop(why error) {
	if h.err == nil {
		h.err = why
		close(h.done)
	}
}

// lose records that the run has another owner.
func (h *memoryHold) lose() {
	lost := Lost(h.info.ID)
	h.stop(lost)
	h.err, h.lost = lost, true
}

// usable returns the reason why the run cannot be written to, or nil.
func (h *memoryHold) usable() error {
	switch {
	case h.lost:
		return h.err
	case h.r.holder != h:
		return GivenBack(h.info.ID)
	}
	return nil
}

// release gives the run back. If nothing was written since it was taken, it becomes what it was before.
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
	h.m.mu.Lock()
	defer h.m.mu.Unlock()
	if err := h.usable(); err != nil {
		return err
	}
	s.Seq = 0
	h.r.put(s)
	h.r.info.Updated, h.r.prior = h.m.now().UTC(), engine.RunEnd{}
	return nil
}

// put writes a step. It keeps the step's Seq if that is above the last one; otherwise the step gets the next Seq.
func (r *memoryRun) put(s engine.Step) {
	s.Request, s.Outcome, s.Types = clone(s.Request), clone(s.Outcome), maps.Clone(s.Types)
	s.Begun, s.Ended = s.Begun.UTC().Round(0), s.Ended.UTC().Round(0)
	r.seq = max(r.seq+1, s.Seq)
	s.Seq = r.seq
	r.steps[s.ID] = s
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
	h.r.release()
	h.r.end(e, now)
	h.r.info.Updated = now
	return nil
}

// end records how the run ended. A zero time means now.
func (r *memoryRun) end(e engine.RunEnd, now time.Time) {
	if e.At.IsZero() {
		e.At = now
	}
	e.At = e.At.UTC().Round(0)
	e.Result, e.Err = clone(e.Result), clone(e.Err)
	r.info.RunEnd = e
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
	s.Seq = 0
	is, stored := r.send(s, m.now())
	if stored && r.holder != nil {
		select {
		case r.holder.signalled <- struct{}{}:
		default: // an earlier notice has not been received yet
		}
	}
	return is, nil
}

// send stores a signal. It keeps the signal's Seq if that is above the last one; otherwise the signal gets the next
// Seq. If the run already has a signal with the same Dedup, send stores nothing and returns that one.
func (r *memoryRun) send(s engine.Signal, now time.Time) (is engine.Signal, stored bool) {
	if s.Dedup != "" {
		for i := range r.signals {
			if r.signals[i].Dedup == s.Dedup {
				return r.signals[i], false
			}
		}
	}
	var last int64
	if n := len(r.signals); n > 0 {
		last = r.signals[n-1].Seq
	}
	if s.At.IsZero() {
		s.At = now
	}
	s.At, s.Value, s.Seq = s.At.UTC().Round(0), clone(s.Value), max(last+1, s.Seq)
	r.signals = append(r.signals, s)
	return s, true
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
	m.put(hash, b)
	return nil
}

// put keeps a bundle for a run that is about to be created.
func (m *MemoryStore) put(hash string, b engine.Bundle) {
	there := m.bundles[hash]
	if there == nil {
		there = &memoryBundle{Bundle: cloneBundle(b)}
		m.bundles[hash] = there
	}
	there.pending++
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
