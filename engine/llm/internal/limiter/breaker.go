package limiter

import "time"

const (
	// tolerated is how many consecutive calls may fail, each after all its attempts.
	tolerated = 5
	// openFor is how long a model is then not asked.
	openFor = 30 * time.Second
)

// breaker stops calls to a model that fails every one of them. After a while one call is let through as a probe; its
// result decides for all.
type breaker struct {
	failures int
	until    time.Time // open until then
	probing  bool
}

// Open reports whether the model must not be asked, and for how long. When it may be asked again, the first caller gets
// the probe; others must wait until that call has ended.
func (t *Track) Open() (open, probe bool, wait time.Duration) {
	t.limiter.mu.Lock()
	defer t.limiter.mu.Unlock()
	if t.failures < tolerated {
		return false, false, 0
	}
	switch wait = t.until.Sub(t.limiter.clock.Now()); {
	case wait > 0:
		return true, false, wait
	case t.probing:
		return true, false, time.Second
	}
	t.probing = true
	return false, true, 0
}

// Shut returns how long the model must not be asked, 0 if it may be. It does not take the probe.
func (t *Track) Shut() (wait time.Duration) {
	t.limiter.mu.Lock()
	defer t.limiter.mu.Unlock()
	if t.failures < tolerated {
		return 0
	}
	return max(t.until.Sub(t.limiter.clock.Now()), 0)
}

// Failed counts a call that failed after all its attempts.
func (t *Track) Failed() {
	l := t.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	t.failures++
	t.probing = false
	if t.failures < tolerated {
		return
	}
	t.until = l.clock.Now().Add(openFor)
	t.closed = time.Time{} // waiting calls are notified now, not when the track opens
	l.admit()
}

// Answered records that the provider answered in any way: the model is available.
func (t *Track) Answered() {
	t.limiter.mu.Lock()
	defer t.limiter.mu.Unlock()
	t.breaker = breaker{}
}

// Unknown returns a probe whose call was cancelled and showed nothing.
func (t *Track) Unknown() {
	t.limiter.mu.Lock()
	defer t.limiter.mu.Unlock()
	t.probing = false
}
