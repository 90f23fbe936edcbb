package clock

import (
	"context"
	"sync"
	"time"
)

// Manual is a clock for tests. Its time changes only when [Manual.Pass] is called. It is safe for concurrent use.
type Manual struct {
	mu     sync.Mutex
	now    time.Time
	timers []*manualTimer
	set    chan struct{} // closed when a timer is set; nil while no caller waits for one
}

type manualTimer struct {
	at time.Time
	f  func()
}

// NewManual returns a clock that shows the given time.
func NewManual(at time.Time) *Manual { return &Manual{now: at} }

// Now implements [Clock].
func (m *Manual) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

// AfterFunc implements [Clock]. If d is not positive, f is called at once.
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

// remove removes a timer and reports whether it was set. The caller holds the lock.
func (m *Manual) remove(t *manualTimer) bool {
	for i, of := range m.timers {
		if of == t {
			m.timers = append(m.timers[:i], m.timers[i+1:]...)
			return true
		}
	}
	return false
}

// Pass advances the clock by d. Before it returns, it calls the functions of all timers that become due, in the order
// of their times, each with the clock at its time.
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

// Awaited returns once a timer is set for d from now: a run that sleeps, or has a time limit, sets a timer in its own
// time. If ctx ends first, Awaited returns its error.
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
