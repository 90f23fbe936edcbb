package limiter

import (
	"crypto/sha256"
	"sync"

	"github.com/agentscript/agentscript/engine/clock"
)

// most is how many idle limiters are kept: with a secret store that returns a new key at each lookup, each call has its
// own limiter.
const most = 256

// Limiters finds limiters by clock, provider, address and credential.
type Limiters struct {
	mu       sync.Mutex
	limiters map[limitersKey]*Limiter
}

type limitersKey struct {
	clock             clock.Clock
	provider, address string
	credential        [sha256.Size]byte
}

// Get returns a limiter and creates it with the settings at its first use.
func (s *Limiters) Get(clock clock.Clock, provider, address, credential string, set func() Settings) *Limiter {
	key := limitersKey{clock, provider, address, sha256.Sum256([]byte(credential))}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.limiters[key]
	if l != nil {
		return l
	}
	if s.limiters == nil {
		s.limiters = map[limitersKey]*Limiter{}
	}
	if len(s.limiters) >= most {
		for k, old := range s.limiters {
			if old.idle() {
				delete(s.limiters, k)
			}
		}
	}
	l = newLimiter(clock, set())
	s.limiters[key] = l
	return l
}

// Each calls f for every limiter of a provider in turn.
func (s *Limiters) Each(f func(provider string, l *Limiter)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, l := range s.limiters {
		f(key.provider, l)
	}
}
