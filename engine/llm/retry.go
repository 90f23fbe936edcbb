package llm

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/llm/internal/limiter"
	"github.com/agentscript/agentscript/engine/model"
)

// WithClock has waits between attempts and for limits go by another clock than the run's. Timers of
// connections do not use it.
func WithClock(c engine.Clock) Option { return func(r *Registry) { r.clock = c } }

// RetryPolicy says when a call that failed is made again. What is tried again: a rate limit, an
// overloaded or failing server, a network that broke, a wait that grew too long, an answer that
// was cut off on its way or is empty, as far as the provider does not say that it makes no sense.
// Zero members have the values of [DefaultRetry].
type RetryPolicy struct {
	Attempts int // at one model, the first included
	Total    int // at all models of a call
	// Within bounds the time from the first attempt on: none begins after it.
	Within time.Duration

	// First is the longest wait before the second attempt, Most that before any. Waits double
	// and are random between 0 and that, unless the provider says how long to wait.
	First, Most time.Duration
	// LongestAsked is how long a provider may ask to wait. When it asks for longer, the call
	// goes on to the next model at once.
	LongestAsked time.Duration

	// AfterTokens tries again also when a part of the answer was streamed. Whoever listens must
	// start anew with each attempt that a token names.
	AfterTokens bool

	// Jitter gives the random part, from 0 to less than 1. By default it is made of the run's
	// id, the position and the attempt, so that a run waits the same each time.
	Jitter func() float64
}

// DefaultRetry is the policy of a registry that sets none.
func DefaultRetry() RetryPolicy {
	return RetryPolicy{Attempts: 4, Total: 12, Within: 10 * time.Minute, First: 500 * time.Millisecond, Most: 30 * time.Second, LongestAsked: time.Minute}
}

// WithRetry replaces the policy. RetryPolicy{Attempts: 1} makes each call once at each model.
func WithRetry(p RetryPolicy) Option {
	d := DefaultRetry()
	for _, f := range []struct{ mine, usual *int }{{&p.Attempts, &d.Attempts}, {&p.Total, &d.Total}} {
		if *f.mine <= 0 {
			*f.mine = *f.usual
		}
	}
	if p.Attempts > d.Attempts { // who asks for more at one model means all of them
		p.Total = max(p.Total, d.Total/d.Attempts*p.Attempts)
	}
	for _, f := range []struct{ mine, usual *time.Duration }{{&p.Within, &d.Within}, {&p.First, &d.First}, {&p.Most, &d.Most}, {&p.LongestAsked, &d.LongestAsked}} {
		if *f.mine <= 0 {
			*f.mine = *f.usual
		}
	}
	return func(r *Registry) { r.retry = p }
}

// backoff is the wait before the attempt that follows the n-th at a model.
func (t *modelCall) backoff(n int) time.Duration {
	p := &t.reg.retry
	most := p.Most
	if n < 32 && p.First<<(n-1) < most && p.First<<(n-1) > 0 {
		most = p.First << (n - 1)
	}
	return time.Duration(t.jitter() * float64(most))
}

// jitter is random, and the same for the same attempt of the same effect of a run.
func (t *modelCall) jitter() float64 {
	if f := t.reg.retry.Jitter; f != nil {
		return f()
	}
	if t.e.At == nil { // a host's own call: all of them have the same position
		return rand.Float64()
	}
	h := seedHash(t.e.Run + "\x00" + t.e.At.Path())
	return rand.New(rand.NewPCG(h, uint64(t.attempts))).Float64()
}

// seedHash is FNV-1a: it must be the same in every process.
func seedHash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// again says whether an attempt, the n-th at its model, is followed by another one there, and
// after which wait.
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
		return 0, false // what failed says more than that the time was up
	}
	return wait, true
}

// allows reports whether the time that the call has lasts for a wait. The context's deadline is of
// the machine's time.
func (t *modelCall) allows(ctx context.Context, wait time.Duration) bool {
	if total := t.reg.timeouts.Total; t.virtual {
		return total <= 0 || t.clock.Now().Add(wait).Sub(t.begun) <= total
	}
	deadline, ok := ctx.Deadline()
	return !ok || time.Until(deadline) >= wait
}

// mayGoOn reports whether any attempt may follow, at this model or another.
func (t *modelCall) mayGoOn() bool {
	p := &t.reg.retry
	return t.attempts < p.Total && (p.AfterTokens || !t.shown.any()) && t.clock.Now().Sub(t.begun) <= p.Within
}

// transient reports whether the same request may succeed when it is made again.
func transient(err *engine.Error) bool {
	if err.Model == nil || !err.Model.Retryable {
		return false
	}
	switch err.Kind {
	case engine.KindRateLimit, engine.KindOverloaded, engine.KindServer, engine.KindNetwork, engine.KindTimeout, engine.KindTruncated, engine.KindBadResponse:
		return true
	}
	return false
}

// pause waits between two attempts, as long as the context allows.
func (t *modelCall) pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	over := make(chan struct{})
	stop := t.clock.AfterFunc(d, func() { close(over) })
	if engine.Await(ctx, over) != nil {
		stop()
	}
}

// Limits hold back the calls of one provider under one key, however many runs make them. The
// zero Limits are the defaults.
type Limits struct {
	// InFlight is the most calls at once, from sending the request to the end of the answer:
	// 8 by default, for Ollama 1 or what OLLAMA_NUM_PARALLEL says, and any number for a host's
	// own models. Below 0 is any number. A provider that answers with a rate limit is sent half
	// as many, and gradually more again when it serves them.
	InFlight int
	// RequestsPerMinute and TokensPerMinute are those of the account, 0 when there is no bound.
	// Tokens are estimated before a call and corrected by what it used.
	RequestsPerMinute, TokensPerMinute int
}

// DefaultInFlight is how many calls of one provider and key are in flight at once.
const DefaultInFlight = 8

// WithLimits sets the limits of a provider, or of all that have none of their own when it is "".
func WithLimits(provider string, l Limits) Option {
	return func(r *Registry) { r.limits[provider] = l }
}

// Limiter is what holds calls back. Each registry has its own; several that use the same
// accounts share one by [WithLimiter].
type Limiter struct{ limiters limiter.Limiters }

// NewLimiter returns a limiter that nothing has passed. A provider's limits are those of the
// registry that calls it first.
func NewLimiter() *Limiter { return &Limiter{} }

// WithLimiter has the registry's calls held back together with those of others, as far as they go
// by the same clock.
func WithLimiter(l *Limiter) Option { return func(r *Registry) { r.limiter = l } }

// Load is how busy a provider's account is.
type Load struct {
	Provider string
	InFlight int // calls in flight
	Waiting  int // calls that wait for their turn
	Allowed  int // calls that may be in flight by now, 0 for any number
}

// Load lists the accounts that were called, by provider.
func (l *Limiter) Load() []Load {
	var all []Load
	l.limiters.Each(func(provider string, lane *limiter.Limiter) {
		now := lane.Load()
		all = append(all, Load{provider, now.InFlight, now.Waiting, now.Allowed})
	})
	slices.SortStableFunc(all, func(a, b Load) int { return strings.Compare(a.Provider, b.Provider) })
	return all
}

// Limiter is what holds the registry's calls back.
func (r *Registry) Limiter() *Limiter { return r.limiter }

// track is what the calls of the target's model go through.
func (r *Registry) track(clock engine.Clock, t *target) *limiter.Track {
	l := r.limiter.limiters.Get(clock, t.provider, t.conn.base, t.conn.key, func() limiter.Settings {
		own, ok := r.limits[t.provider]
		if !ok {
			own = r.limits[""]
		}
		s := limiter.Settings{InFlight: own.InFlight, Requests: float64(own.RequestsPerMinute), Tokens: float64(own.TokensPerMinute)}
		switch {
		case s.InFlight < 0:
			s.InFlight = 0
		case s.InFlight == 0:
			s.InFlight = r.defaultInFlight(t)
		}
		return s
	})
	return l.Track(t.model)
}

func (r *Registry) defaultInFlight(t *target) int {
	if t.row == nil {
		return 0
	}
	if t.row.local {
		n, _ := r.lookup("OLLAMA_NUM_PARALLEL")
		if many, err := strconv.Atoi(n); err == nil && many > 0 {
			return many
		}
		return 1
	}
	return DefaultInFlight
}

// connections bounds those to one host, far enough above the limits that a call which may be
// made never waits for one.
func (r *Registry) connections() int {
	most := DefaultInFlight
	for _, l := range r.limits {
		if l.InFlight < 0 {
			return 0
		}
		most = max(most, l.InFlight)
	}
	return 4*most + 32
}

// reservation is what the call may take of a limit of tokens.
func reservation(req *model.Request) int {
	n := model.EstimateUsage(req, nil).In
	if most := req.Params.MaxTokens; most != nil {
		n += max(*most, 0)
	}
	return n
}
