package lane

import (
	"crypto/sha256"
	"sync"
)

// most is how many lanes are kept though nothing happens in them: a store that makes a new key
// at each look gives each call a lane of its own.
const most = 256

// Lanes finds lanes by provider, address and credential.
type Lanes struct {
	Clock Clock

	mu    sync.Mutex
	lanes map[lanesKey]*Lane
}

type lanesKey struct {
	provider, address string
	credential        [sha256.Size]byte
}

// Get gives a lane, made by the settings when it is asked for first.
func (s *Lanes) Get(provider, address, credential string, set func() Settings) *Lane {
	key := lanesKey{provider, address, sha256.Sum256([]byte(credential))}
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lanes[key]
	if l != nil {
		return l
	}
	if s.lanes == nil {
		s.lanes = map[lanesKey]*Lane{}
	}
	if len(s.lanes) >= most {
		for k, old := range s.lanes {
			if old.idle() {
				delete(s.lanes, k)
			}
		}
	}
	l = newLane(s.Clock, set())
	s.lanes[key] = l
	return l
}

// Each calls f for every lane of a provider in turn.
func (s *Lanes) Each(f func(provider string, l *Lane)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, l := range s.lanes {
		f(key.provider, l)
	}
}
