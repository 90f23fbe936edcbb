package llm

import (
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/engine/clock"
	"github.com/agentscript/agentscript/engine/llm/internal/limiter"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/sorting"
)

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
// accounts share one by [WithLimiter], where a provider's limits are those of the registry that
// calls it first. The zero value is ready.
type Limiter struct{ limiters limiter.Limiters }

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
	l.limiters.Each(func(provider string, l *limiter.Limiter) {
		now := l.Load()
		all = append(all, Load{provider, now.InFlight, now.Waiting, now.Allowed})
	})
	sorting.By(all, func(a, b Load) int { return strings.Compare(a.Provider, b.Provider) })
	return all
}

// Limiter is what holds the registry's calls back.
func (r *Registry) Limiter() *Limiter { return r.limiter }

// track is what the calls of the target's model go through.
func (r *Registry) track(clock clock.Clock, t *target) *limiter.Track {
	l := r.limiter.limiters.Get(clock, t.provider, t.base, t.key, func() limiter.Settings {
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
func reservation(req *model.Request, maxOut int) int {
	n := model.EstimateUsage(req, nil).In
	if most := req.Params.MaxTokens; most != nil && (maxOut <= 0 || *most < maxOut) {
		maxOut = *most
	}
	return n + max(maxOut, 0)
}
