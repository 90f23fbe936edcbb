package clock

import (
	"context"
	"sync"
	"time"
)

// Manual is a clock for tests, which stands still until it is told to go on. It is safe for concurrent use.
type Manual struct {
	mu     sync.Mutex
	now    time.Time
	timers []*manualTimer
	set    chan struct{} // closed when a timer is set; nil while nobody waits for that
}

type manualTimer struct {
	at time.Time
	f  func()
}

// NewManual returns a clock that shows a time.
func NewManual(at time.Time) *Manual { return &Manual{now: at} }

// Now implements [Clock].
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// AfterFunc implements [Clock]. What is due at once is called at once.
func (m *Manual) AfterFunc(d time.Duration, f func()) (stop func() bool) {
	if d <= 0 {
		go f()
		return func() bool { return false }
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	t := &manualTimer{m.now.Add(d), f}
	m.timers = append(m.timers, t)
	if m.set != nil {
		close(m.set)
		m.set = nil
	}
	return func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.remove(t)
	}
}

// remove reports whether a timer was set. The caller holds the lock.
func (m *Manual) remove(t *manualTimer) bool {
	for i, of := range m.timers {
		if of == t {
			m.timers = append(m.timers[:i], m.timers[i+1:]...)
			return true
		}
	}
	return false
}

// Pass has the clock go on by d. What is due until then is called in the order in which it is, each at its time, before
// Pass returns.
func (m *Manual) Pass(d time.Duration) {
	m.mu.Lock()
	end := m.now.Add(d)
	for {
		var next *manualTimer
		for _, t := range m.timers {
			if !t.at.After(end) && (next == nil || t.at.Before(next.at)) {
				next = t
			}
		}
		if next == nil {
			break
		}
		m.remove(next)
		if next.at.After(m.now) {
			m.now = next.at
		}
		m.mu.Unlock()
		next.f()
		m.mu.Lock()
	}
	m.now = end
	m.mu.Unlock()
}

// Awaited returns once something waits until d from now: a run that sleeps, or is bounded in time, sets a timer in its own
// time. It returns the error of ctx if that ends before.
func (m *Manual) Awaited(ctx context.Context, d time.Duration) error {
	for {
		m.mu.Lock()
		at := m.now.Add(d)
		for _, t := range m.timers {
			if t.at.Equal(at) {
				m.mu.Unlock()
				return nil
			}
		}
		if m.set == nil {
			m.set = make(chan struct{})
		}
		set := m.set
		m.mu.Unlock()
		select {
		case <-set:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
