package chance

import (
	"context"
	"sync"
	"time"
)

// A context that is handed on, a duration, a lock and a time that came from elsewhere are no
// source of chance.
type waiter struct {
	mu  sync.Mutex
	max time.Duration
	at  time.Time
}

func (w *waiter) over(ctx context.Context, now time.Time) bool {
	return ctx.Err() != nil || now.Sub(w.at) > w.max || time.Unix(0, 0).After(now)
}
