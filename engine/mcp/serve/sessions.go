package serve

import (
	"maps"
	"net/http"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// mostSessions limits the sessions over HTTP: a client that starts one with each request would fill the memory long
// before the SDK drops any.
const mostSessions = 1024

// sessions are the sessions over HTTP. The one unused for longest makes room for a new one.
type sessions struct {
	server *sdk.Server

	mu   sync.Mutex
	last int64 // counts uses
	used map[string]*sessionUse
}

type sessionUse struct {
	open int // requests
	last int64
}

// counted limits the sessions. A session with an open request is not ended for another.
func (s *sessions) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(sessionHeader)
		if id == "" && r.Method == http.MethodPost && !s.makeRoom() {
			http.Error(w, "too many sessions are open", http.StatusServiceUnavailable)
			return
		}
		s.use(id, 1)
		defer s.use(id, -1)
		next.ServeHTTP(w, r)
		if made := w.Header().Get(sessionHeader); id == "" && made != "" {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.last++
			s.used[made] = &sessionUse{last: s.last}
		}
	})
}

// use counts the open requests of a session.
func (s *sessions) use(id string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.used[id]; one != nil {
		s.last++
		one.open, one.last = one.open+n, s.last
	}
}

// makeRoom reports whether one more session may be opened.
func (s *sessions) makeRoom() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.used) < mostSessions {
		return true
	}
	live := map[string]*sdk.ServerSession{}
	for one := range s.server.Sessions() {
		live[one.ID()] = one
	}
	maps.DeleteFunc(s.used, func(id string, _ *sessionUse) bool { return live[id] == nil })
	if len(s.used) < mostSessions {
		return true
	}
	idlest := ""
	for id, one := range s.used {
		if one.open == 0 && (idlest == "" || one.last < s.used[idlest].last) {
			idlest = id
		}
	}
	if idlest == "" {
		return false
	}
	delete(s.used, idlest)
	go func() { _ = live[idlest].Close() }() // a peer that is gone does not matter
	return true
}
