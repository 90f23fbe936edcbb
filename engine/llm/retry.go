package llm

import (
	"cmp"
	"context"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/clock"
)

// WithClock makes waits between attempts and for limits use another clock than the run's. Timers of connections do not
// use it.
func WithClock(c clock.Clock) Option { return func(r *Registry) { r.clock = c } }

// RetryPolicy says when a failed call is repeated. These failures are retried, unless the provider says that a retry
// makes no sense: a rate limit, an overloaded or failing server, a broken connection, a timeout, an answer that was cut
// off on the way or is empty. Zero members have the values of [DefaultRetry].
type RetryPolicy struct {
	Attempts int // at one model, including the first
	Total    int // at all models of a call
	// Within limits the time since the first attempt: no attempt begins after it.
	Within time.Duration

	// First is the longest wait before the second attempt, Most that before any attempt. Waits double and are random
	// between 0 and that bound, unless the provider says how long to wait.
	First, Most time.Duration
	// LongestAsked is the longest wait that a provider may request. If it requests a longer one, the call continues
	// with the next model at once.
	LongestAsked time.Duration

	// AfterTokens retries even if a part of the answer was streamed. Listeners must start over with each attempt that a
	// token names.
	AfterTokens bool

	// Jitter returns the random part, from 0 to less than 1. By default it is derived from the run's id, the position
	// and the attempt, so that a run waits the same each time.
	Jitter func() float64
}

// DefaultRetry returns the policy of a registry that sets none.
func DefaultRetry() RetryPolicy {
	return RetryPolicy{Attempts: 4, Total: 12, Within: 10 * time.Minute, First: 500 * time.Millisecond, Most: 30 * time.Second, LongestAsked: time.Minute}
}

// WithRetry replaces the policy. RetryPolicy{Attempts: 1} makes each call once at each model.
func WithRetry(p RetryPolicy) Option {
	d := DefaultRetry()
	p.Attempts, p.Total = cmp.Or(max(p.Attempts, 0), d.Attempts), cmp.Or(max(p.Total, 0), d.Total)
	if p.Attempts > d.Attempts { // more attempts at one model imply a larger total
		p.Total = max(p.Total, d.Total/d.Attempts*p.Attempts)
	}
	p.Within, p.LongestAsked = cmp.Or(max(p.Within, 0), d.Within), cmp.Or(max(p.LongestAsked, 0), d.LongestAsked)
	p.First, p.Most = cmp.Or(max(p.First, 0), d.First), cmp.Or(max(p.Most, 0), d.Most)
	return func(r *Registry) { r.retry = p }
}

// backoff returns the wait before the attempt that follows the n-th at a model.
func (t *modelCall) backoff(n int) time.Duration {
	p := &t.reg.retry
	most := p.Most
	if n < 32 && p.First<<(n-1) < most && p.First<<(n-1) > 0 {
		most = p.First << (n - 1)
	}
	return time.Duration(t.jitter() * float64(most))
}

// jitter returns a random number that is the same for the same attempt of the same effect of a run.
func (t *modelCall) jitter() float64 {
	if f := t.reg.retry.Jitter; f != nil {
		return f()
	}
	if t.e.At == nil { // a host's own call: all of them have the same position
		return rand.Float64()
	}
	h := fnv.New64a() // the same in every process
	_, _ = io.WriteString(h, t.e.Run+"\x00"+t.e.At.Path())
	return rand.New(rand.NewPCG(h.Sum64(), uint64(t.attempts))).Float64()
}

// again reports whether the n-th attempt at a model is followed by another one there, and after which wait.
func (t *modelCall) again(ctx context.Context, err *engine.Error, n int) (time.Duration, bool) {
	p := &t.reg.retry
	if !transient(err) || ctx.Err() != nil || n >= p.Attempts || !t.mayGoOn() {
		return 0, false
	}
	wait := err.Model.RetryAfter
	switch {
	case wait > p.LongestAsked:
		return 0, false
	case wait <= 0:
		wait = t.backoff(n)
	}
	if t.clock.Now().Add(wait).Sub(t.begun) > p.Within || !t.allows(ctx, wait) {
		return 0, false // the failure says more than a timeout would
	}
	return wait, true
}

// allows reports whether the call's remaining time suffices for a wait. The context's deadline is in the machine's
// time.
func (t *modelCall) allows(ctx context.Context, wait time.Duration) bool {
	if total := t.reg.timeouts.Total; t.virtual {
		return total <= 0 || t.clock.Now().Add(wait).Sub(t.begun) <= total
	}
	deadline, ok := ctx.Deadline()
	return !ok || time.Until(deadline) >= wait
}

// mayGoOn reports whether any further attempt is allowed, at this model or another.
func (t *modelCall) mayGoOn() bool {
	p := &t.reg.retry
	return t.attempts < p.Total && (p.AfterTokens || t.stream.passed() == 0) && t.clock.Now().Sub(t.begun) <= p.Within
}

// passing lists the kinds of transient failures.
var passing = []engine.ErrKind{engine.KindRateLimit, engine.KindOverloaded, engine.KindServer, engine.KindNetwork, engine.KindTimeout, engine.KindTruncated, engine.KindBadResponse}

// transient reports whether the same request may succeed when repeated.
func transient(err *engine.Error) bool {
	return err.Model != nil && err.Model.Retryable && slices.Contains(passing, err.Kind)
}

// pause waits between two attempts, as long as the context allows.
func (t *modelCall) pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	over := make(chan struct{})
	stop := t.clock.AfterFunc(d, func() { close(over) })
	if clock.Await(ctx, over) != nil {
		stop()
	}
}
