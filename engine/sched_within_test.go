package engine_test

import (
	"errors"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine"
)

func TestWithin(t *testing.T) {
	late := errors.New("too late")
	schedulers(t, func(t *testing.T, s engine.Sched) {
		err := s.Within(5*time.Millisecond, late, func(b engine.Sched) error { return b.SleepUntil(b.Now().Add(time.Hour)) })
		if !errors.Is(err, late) {
			t.Errorf("too late: got %v", err)
		}
		if err := s.Err(); err != nil {
			t.Errorf("outside: %v", err)
		}
		if err := s.Within(time.Hour, late, func(b engine.Sched) error { return b.SleepUntil(b.Now().Add(time.Millisecond)) }); err != nil {
			t.Errorf("in time: got %v", err)
		}
		if err := s.Within(time.Millisecond, late, func(b engine.Sched) error {
			b.SleepUntil(b.Now().Add(time.Minute))
			return nil // ended well, if late
		}); err != nil {
			t.Errorf("ended well: got %v", err)
		}
		// The nearer bound ends the body, on all its branches.
		outer := errors.New("outer")
		err = s.Within(5*time.Millisecond, outer, func(b engine.Sched) error {
			return b.Within(time.Hour, late, func(b engine.Sched) error {
				return b.Par(3, 0, func(_ int, b engine.Sched) error { return b.Wait(func() bool { return false }) })
			})
		})
		if !errors.Is(err, outer) {
			t.Errorf("nested: got %v", err)
		}
	})
}
