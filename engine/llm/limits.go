package llm

import (
	"strconv"
	"strings"

	"github.com/agentscript/agentscript/engine/clock"
	"github.com/agentscript/agentscript/engine/llm/internal/limiter"
	"github.com/agentscript/agentscript/engine/model"
	"github.com/agentscript/agentscript/internal/sorting"
)

// Limits limit the calls of one provider under one key, across all runs. The zero Limits are the defaults.
type Limits struct {
	// InFlight is the maximum number of concurrent calls, from sending the request to the end of the answer. The
	// default is 8; for Ollama it is 1 or the value of OLLAMA_NUM_PARALLEL, and for a host's own models there is no
	// limit. A negative value is no limit. A provider that answers with a rate limit gets half as many calls, and
	// gradually more again as it serves them.
	InFlight int
	// RequestsPerMinute and TokensPerMinute are the limits of the account, 0 for none. Tokens are estimated before a
	// call and corrected by its actual use.
	RequestsPerMinute, TokensPerMinute int
}

// DefaultInFlight is how many calls of one provider and key may be in flight.
const DefaultInFlight = 8

// WithLimits sets the limits of a provider or, for "", of all providers without their own.
func WithLimits(provider string, l Limits) Option {
	return func(r *Registry) { r.limits[provider] = l }
}

// Limiter limits the calls of registries. Each registry has its own. Registries that use the same accounts share one
// through [WithLimiter]; a provider's limits are then those of the registry that calls it first. The zero value is
// ready to use.
type Limiter struct{ limiters limiter.Limiters }

// WithLimiter limits the registry's calls together with those of other registries, as far as they use the same clock.
func WithLimiter(l *Limiter) Option { return func(r *Registry) { r.limiter = l } }

// Load is the current load of a provider's account.
type Load struct {
	Provider string
	InFlight int // calls in flight
	Waiting  int // waiting calls
	Allowed  int // concurrent calls currently allowed, 0 for any number
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

// Limiter returns the limiter of the registry's calls.
func (r *Registry) Limiter() *Limiter { return r.limiter }

// track returns the limiter's track for the target's model.
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

// connections bounds the connections to one host, far enough above the limits that a call which may be made never waits
// for one.
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

// reservation estimates the tokens that the call may take of a token limit.
func reservation(req *model.Request, maxOut int) int {
	n := model.EstimateUsage(req, nil).In
	if most := req.Params.MaxTokens; most != nil && (maxOut <= 0 || *most < maxOut) {
		maxOut = *most
	}
	return n + max(maxOut, 0)
}
