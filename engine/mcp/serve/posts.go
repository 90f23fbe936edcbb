package serve

import (
	"context"
	"crypto/rand"
	"net/http"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agentscript/agentscript/engine/mcp/internal/transport"
)

// posts are the HTTP requests that wait for the answers to their calls. The SDK lets a call continue when nobody waits
// for it any more, and the end of a session waits for its calls. Here both end the calls: no answer is kept for a
// client that reconnects.
type posts struct {
	mu    sync.Mutex
	open  map[string]*post // by the name that [postHeader] passes to the call
	calls int              // at most this many are in them
	bytes int              // of their bodies
}

type post struct {
	ctx     context.Context // until the client disconnects or deletes the session
	end     context.CancelFunc
	session string

	calls, bytes int
}

const (
	postHeader    = "X-Agentscript-Post"
	sessionHeader = "Mcp-Session-Id"
)

// followed makes calls end with the request that contained them, and with their session.
func (p *posts) followed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session := r.Header.Get(sessionHeader)
		switch r.Method {
		case http.MethodDelete:
			p.endOf(session)
		case http.MethodPost:
			name := rand.Text()
			r.Header.Set(postHeader, name) // replaces any value from the client
			ctx, end := context.WithCancel(r.Context())
			p.add(name, &post{ctx: ctx, end: end, session: session})
			defer p.remove(name)
			r = r.WithContext(ctx)
		}
		next.ServeHTTP(w, r)
	})
}

func (p *posts) add(name string, one *post) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		p.open = map[string]*post{}
	}
	p.open[name] = one
}

// take counts the content of a request, and reports whether this much may wait for answers.
func (p *posts) take(name string, calls, bytes int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if one := p.open[name]; one != nil {
		one.calls, one.bytes = one.calls+calls, one.bytes+bytes
		p.calls, p.bytes = p.calls+calls, p.bytes+bytes
	}
	return p.calls <= transport.MaxOpen && p.bytes <= transport.MaxHeld
}

func (p *posts) remove(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.open[name]
	one.end()
	p.calls, p.bytes = p.calls-one.calls, p.bytes-one.bytes
	delete(p.open, name)
}

// endOf ends the calls of a session.
func (p *posts) endOf(session string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, post := range p.open {
		if session != "" && post.session == session {
			post.end()
		}
	}
}

// of returns the request that contained a call, nil for a call over stdio. If the request is no longer known, it has
// ended, and of returns an ended one.
func (p *posts) of(req *sdk.CallToolRequest) *post {
	if req.Extra == nil || req.Extra.Header.Get(postHeader) == "" {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if post := p.open[req.Extra.Header.Get(postHeader)]; post != nil {
		return post
	}
	return gone
}

// gone is a request whose client no longer waits.
var gone = func() *post {
	ctx, end := context.WithCancel(context.Background())
	end()
	return &post{ctx: ctx, end: end}
}()
