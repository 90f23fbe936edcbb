package store

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/internal/sorting"
)

// MemoryStore is an [engine.Store] that lives as long as the process. Create one with [NewMemory]. An owner holds a
// run until it gives the run back: within one process no owner is presumed dead.
type MemoryStore struct {
	now func() time.Time

	mu      sync.Mutex
	closed  bool
	made    int // counts runs
	runs    map[string]*memoryRun
	bundles map[string]*memoryBundle
}

// memoryRun is a run in memory.
type memoryRun struct {
	info    engine.RunInfo // Steps, Waiting, Usage and Live are filled in by described
	n       int            // newer runs have higher numbers
	prior   engine.RunEnd  // how the run had ended when it was taken, until something is written to it
	cancels bool
	seq     int64
	steps   map[string]engine.Step
	signals []engine.Signal
	holder  *memoryHold // nil if nobody holds the run
}

type memoryBundle struct {
	engine.Bundle
	pending int // puts whose runs have not been created yet
}

var _ engine.Store = (*MemoryStore)(nil)

// NewMemory returns an empty store. Its runs are lost with the process.
func NewMemory() *MemoryStore { return NewMemoryAt(time.Now) }

// NewMemoryAt is [NewMemory] with another clock.
func NewMemoryAt(now func() time.Time) *MemoryStore {
	return &MemoryStore{now: now, runs: map[string]*memoryRun{}, bundles: map[string]*memoryBundle{}}
}

// begin locks the store for a call. The caller unlocks it, even if begin fails.
func (m *MemoryStore) begin(ctx context.Context) error {
	m.mu.Lock()
	if err := ctx.Err(); err != nil {
		return Stopped(context.Cause(ctx))
	}
	if m.closed {
		return Closed()
	}
	return nil
}

// CreateRun implements [engine.Store].
func (m *MemoryStore) CreateRun(ctx context.Context, head engine.RunHead, by engine.Owner) (engine.OpenRun, error) {
	if err := CheckRunID(head.ID); err != nil {
		return nil, err
	}
	err := m.begin(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if m.runs[head.ID] != nil {
		return nil, Exists(head.ID)
	}
	return m.hold(m.add(head), by), nil
}

// add creates a run that nobody holds. The caller has checked that its id is free.
func (m *MemoryStore) add(head engine.RunHead) *memoryRun {
	if head.Begun.IsZero() {
		head.Begun = m.now()
	}
	head.Begun = head.Begun.UTC().Round(0)
	head.Input, head.Args, head.Settings, head.Session = clone(head.Input), clone(head.Args), clone(head.Settings), clone(head.Session)
	m.made++
	r := &memoryRun{n: m.made, steps: map[string]engine.Step{}}
	r.info = engine.RunInfo{RunHead: head, RunEnd: engine.RunEnd{Status: engine.RunRunning}, Updated: m.now().UTC()}
	m.runs[head.ID] = r
	if b := m.bundles[head.Bundle]; b != nil {
		b.pending = max(b.pending-1, 0)
	}
	return r
}

// hold makes by the owner of a run, in a new epoch.
func (m *MemoryStore) hold(r *memoryRun, by engine.Owner) *memoryHold {
	r.info.Epoch++
	r.info.Owner, r.info.Updated = by, m.now().UTC()
	h := &memoryHold{m: m, r: r, done: make(chan struct{}), signalled: make(chan struct{}, 1)}
	r.holder = h
	h.info = r.described()
	if r.cancels {
		h.stop(ToCancel(r.info.ID, r.info.Cancel))
	}
	return h
}

// described returns the run's current description.
func (r *memoryRun) described() engine.RunInfo {
	info := r.info
	info.Live = r.holder != nil && !r.holder.expired
	if !info.Live && r.prior.Status != "" {
		info.RunEnd = r.prior
	}
	count(&info, r.inOrder())
	return info
}

// inOrder returns the steps by their Seq.
func (r *memoryRun) inOrder() []engine.Step {
	steps := slices.Collect(maps.Values(r.steps))
	sorting.By(steps, func(a, b engine.Step) int { return cmp.Compare(a.Seq, b.Seq) })
	return steps
}

// TakeRun implements [engine.Store].
func (m *MemoryStore) TakeRun(ctx context.Context, id string, by engine.Owner) (engine.OpenRun, error) {
	if err := CheckRunID(id); err != nil {
		return nil, err
	}
	err := m.begin(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return nil, err
	}
	r := m.runs[id]
	switch {
	case r == nil:
		return nil, NotFound(id)
	case r.holder != nil && !r.holder.expired:
		return nil, Held(id, r.info.Owner, time.Time{})
	case r.holder != nil:
		r.holder.lose()
	}
	was := r.described().RunEnd
	if was.Status != engine.RunRunning {
		r.prior = was
		if was.Status != engine.RunParked {
			r.cancels, r.info.Cancel = false, "" // the request to cancel it is settled
		}
		r.info.RunEnd = engine.RunEnd{Status: engine.RunRunning}
	}
	h := m.hold(r, by)
	h.info.RunEnd = was
	return h, nil
}

// Run implements [engine.Store].
func (m *MemoryStore) Run(ctx context.Context, id string) (engine.RunInfo, error) {
	err := m.begin(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return engine.RunInfo{}, err
	}
	r := m.runs[id]
	if r == nil {
		return engine.RunInfo{}, NotFound(id)
	}
	return r.described(), nil
}

// Runs implements [engine.Store].
func (m *MemoryStore) Runs(ctx context.Context, f engine.RunFilter) ([]engine.RunInfo, error) {
	err := m.begin(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return nil, err
	}
	var all []engine.RunInfo
	for _, r := range slices.SortedFunc(maps.Values(m.runs), func(a, b *memoryRun) int {
		return cmp.Or(b.info.Begun.Compare(a.info.Begun), cmp.Compare(b.n, a.n))
	}) {
		if f.Limit > 0 && len(all) == f.Limit {
			break
		}
		if info := r.described(); Lets(f, &info) {
			info.Input, info.Args, info.Settings, info.Session, info.ParentSeq, info.Result, info.Text, info.Err = nil, nil, nil, nil, 0, nil, "", nil
			all = append(all, info)
		}
	}
	return all, nil
}

// Lets reports whether the filter f selects a run.
func Lets(f engine.RunFilter, info *engine.RunInfo) bool {
	return (f.Status == nil || slices.Contains(f.Status, info.Status)) && strings.Contains(info.Script, f.Script) &&
		(f.Parent == "" || f.Parent == info.Parent) && strings.HasPrefix(info.ID, f.Prefix) &&
		(f.Since.IsZero() || !info.Begun.Before(f.Since)) && (f.Until.IsZero() || info.Begun.Before(f.Until))
}

// Steps implements [engine.Store].
func (m *MemoryStore) Steps(ctx context.Context, id string, after int64, each func(engine.Step) error) error {
	err := m.begin(ctx)
	r := m.runs[id]
	var steps []engine.Step
	if err == nil && r != nil {
		steps = r.inOrder()
	}
	m.mu.Unlock() // each may use the store
	if err != nil {
		return err
	}
	if r == nil {
		return NotFound(id)
	}
	for _, s := range steps {
		if s.Seq > after {
			s.Request, s.Outcome, s.Types = clone(s.Request), clone(s.Outcome), maps.Clone(s.Types)
			if err := each(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// CancelRun implements [engine.Store].
func (m *MemoryStore) CancelRun(ctx context.Context, id, reason string) error {
	err := m.begin(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return err
	}
	r := m.runs[id]
	if r == nil {
		return NotFound(id)
	}
	info := r.described()
	if !info.Live && info.Status != engine.RunRunning && info.Status != engine.RunParked {
		return nil // it has ended
	}
	if !r.cancels {
		r.cancels, r.info.Cancel = true, reason
	}
	if info.Live {
		r.holder.stop(ToCancel(id, r.info.Cancel))
		return nil
	}
	if r.holder != nil {
		r.holder.lose()
	}
	now := m.now().UTC()
	r.release()
	r.info.RunEnd, r.info.Updated = engine.RunEnd{Status: engine.RunCancelled, At: now}, now
	r.info.Epoch++
	return nil
}

// DeleteRun implements [engine.Store].
func (m *MemoryStore) DeleteRun(ctx context.Context, id string) error {
	err := m.begin(ctx)
	defer m.mu.Unlock()
	if err != nil {
		return err
	}
	r := m.runs[id]
	if r == nil {
		return NotFound(id)
	}
	if r.holder != nil {
		if !r.holder.expired {
			return Held(id, r.info.Owner, time.Time{})
		}
		r.holder.lose()
	}
	delete(m.runs, id)
	needed := func(one *memoryRun) bool { return one.info.Bundle == r.info.Bundle }
	if b := m.bundles[r.info.Bundle]; b != nil && b.pending == 0 && !slices.ContainsFunc(slices.Collect(maps.Values(m.runs)), needed) {
		delete(m.bundles, r.info.Bundle)
	}
	return nil
}

// Expire marks the owner of a run as one that no longer answers, as if its lease had ended: others can take the run,
// and its owner then loses it. It is meant for tests.
func (m *MemoryStore) Expire(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.runs[id]; r != nil && r.holder != nil {
		r.holder.expired = true
	}
}

// Close implements [engine.Store].
func (m *MemoryStore) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.runs {
		r.release()
	}
	m.closed = true
	return nil
}

func clone[T ~[]byte](b T) T {
	if len(b) == 0 {
		return nil
	}
	return slices.Clone(b)
}
