package clock_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/agentscript/agentscript/engine/clock"
)

// counted is a clock that stands still and counts the timers set on it.
type counted struct{ timers int }

func (c *counted) Now() time.Time { return time.Unix(0, 0) }

func (c *counted) AfterFunc(time.Duration, func()) (stop func() bool) {
	c.timers++
	return func() bool { c.timers--; return true }
}

// A handler that is interrupted while it sleeps leaves no timer on its run's clock.
func TestSleepStopsItsTimer(t *testing.T) {
	c := &counted{}
	ctx, cancel := context.WithCancel(t.Context())
	ctx = clock.With(ctx, c, func(ctx context.Context, _ <-chan struct{}) error {
		if c.timers != 1 {
			t.Errorf("it sleeps with %d timers", c.timers)
		}
		cancel()
		return ctx.Err()
	})
	if err := clock.Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) || c.timers != 0 {
		t.Errorf("%v, %d timers are left", err, c.timers)
	}
	if err := clock.Sleep(ctx, 0); !errors.Is(err, context.Canceled) || c.timers != 0 {
		t.Errorf("no sleep: %v, %d timers", err, c.timers)
	}
}
