package quiet

import (
	"slices"
	"time"

	"github.com/agentscript/agentscript/engine"
)

// part is a run, or a part of one, whose time is limited. It works while any of its branches is active: not while all
// of them sleep or wait for answers. The duration of recorded effects counts as working time.
//
// Until the part does something that is not recorded, the duration of recorded effects is only noted: their results are
// recorded, and must not run out of time during a replay.
type part struct {
	up      *part
	working int       // active branches
	since   time.Time // the start of the current standstill; zero while it works
	moved   time.Duration
	end     time.Time             // when its time ends, if it works until then
	set     func(d time.Duration) // sets the end of its time to d from now, to never if d is negative; nil for the whole run
	took    Spans                 // of recorded effects
	owed    time.Duration         // part of took that has not moved the end yet
	live    bool                  // something was done that is not recorded
}

// move postpones the end of a part. The caller holds the lock.
func (p *part) move(by time.Duration, now time.Time) {
	p.moved += by
	p.end = p.end.Add(by)
	if p.set != nil && p.since.IsZero() {
		p.set(max(p.end.Sub(now), 0))
	}
}

// works adds n to the working branches, here and in all surrounding parts. The caller holds the lock.
func (c *counted) works(n int) {
	var now time.Time
	for p := c.in; p != nil; p = p.up {
		before := p.working
		p.working += n
		if n == 0 || before > 0 && p.working > 0 {
			continue
		}
		if now.IsZero() {
			now = c.Sched.Now()
		}
		switch {
		case p.working == 0:
			if p.since = now; p.set != nil {
				p.set(-1)
			}
		case before == 0 && !p.since.IsZero():
			still := now.Sub(p.since)
			p.since = time.Time{}
			p.move(still, now)
		}
	}
}

// SleepUntil implements [engine.Sched]. A branch that sleeps does not work.
func (c *counted) SleepUntil(t time.Time) error {
	c.rests(-1)
	defer c.rests(1)
	return c.Sched.SleepUntil(t)
}

func (c *counted) rests(n int) {
	c.w.mu.Lock()
	c.works(n)
	c.w.mu.Unlock()
}

// Within runs body on a branch of the run, with a scheduler that is cancelled with the error late after the body has
// worked for d.
func (w *Watch) Within(s engine.Sched, d time.Duration, late error, body func(s engine.Sched) error) error {
	c := s.(*counted)
	return c.Sched.Timed(late, func(s engine.Sched, set func(d time.Duration)) error {
		p := &part{up: c.in, working: 1, end: s.Now().Add(d), set: set}
		set(d)
		defer func() {
			w.mu.Lock()
			p.set = nil
			w.mu.Unlock()
		}()
		return body(&counted{s, w, p})
	})
}

// Timed implements [engine.Sched].
func (c *counted) Timed(late error, body func(s engine.Sched, set func(d time.Duration)) error) error {
	return c.Sched.Timed(late, func(s engine.Sched, set func(d time.Duration)) error {
		return body(&counted{s, c.w, c.in}, set)
	})
}

// Recorded notes that a branch was answered from the record, and when the effect began and ended.
func (w *Watch) Recorded(s engine.Sched, begun, ended time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := s.Now()
	for p := s.(*counted).in; p != nil; p = p.up {
		if p.owed += p.took.Add(begun, ended); p.live {
			p.settle(now)
		}
	}
}

// Live notes that a branch does something that is not recorded.
func (w *Watch) Live(s engine.Sched) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for p := s.(*counted).in; p != nil && !p.live; p = p.up { // if a part is live, so are those around it
		p.live = true
		p.settle(s.Now())
	}
}

// settle makes the duration of recorded effects count.
func (p *part) settle(now time.Time) {
	if by := p.owed; by != 0 {
		p.owed = 0
		p.move(-by, now)
	}
}

// Left returns the time that a branch has left in the parts around it. It returns false if none is limited.
func (w *Watch) Left(s engine.Sched) (left time.Duration, bounded bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := s.Now()
	for p := s.(*counted).in; p != nil; p = p.up {
		if p.set == nil {
			continue
		}
		if d := p.end.Sub(now); !bounded || d < left {
			left, bounded = d, true
		}
	}
	return max(left, 0), bounded
}

// Moved returns by how much the end of the innermost part around a branch was postponed.
func (w *Watch) Moved(s engine.Sched) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return s.(*counted).in.moved
}

// Worked returns how long the run has worked, and whether it works now.
func (w *Watch) Worked(s engine.Sched) (d time.Duration, works bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	end := s.Now()
	if works = w.whole.since.IsZero(); !works {
		end = w.whole.since
	}
	return end.Sub(w.begun) - w.whole.moved, works
}

// Spans are ordered stretches of time that do not overlap.
type Spans []span

type span struct{ begun, ended time.Time }

// Add adds a stretch and returns how much of it is new: concurrent effects count once.
func (s *Spans) Add(begun, ended time.Time) time.Duration {
	if !ended.After(begun) {
		return 0
	}
	all := *s
	from, _ := slices.BinarySearchFunc(all, begun, func(a span, t time.Time) int { return a.ended.Compare(t) })
	to, added := from, ended.Sub(begun)
	joined := span{begun, ended}
	for ; to < len(all) && !all[to].begun.After(ended); to++ {
		a := all[to]
		if a.begun.Before(joined.begun) {
			joined.begun = a.begun
		}
		if a.ended.After(joined.ended) {
			joined.ended = a.ended
		}
		added -= earlier(a.ended, ended).Sub(later(a.begun, begun))
	}
	*s = slices.Replace(all, from, to, joined)
	return added
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
