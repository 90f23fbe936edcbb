package mcp

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/agentscript/agentscript/diag"
	"github.com/agentscript/agentscript/engine"
	"github.com/agentscript/agentscript/engine/internal/redact"
	"github.com/agentscript/agentscript/engine/mcp/internal/oauth"
	"github.com/agentscript/agentscript/engine/remote"
)

// A server that was lost this often in a row, without a successful call in between, is left alone for a while.
const (
	maxLosses = 3
	rest      = 30 * time.Second
)

// server is one MCP server and its session, which is created when there is none or the last one was lost.
type server struct {
	client *Client
	spec   *remote.Server
	turn   chan struct{} // held while connecting
	hidden redact.Redactor
	auth   *oauth.Authority // nil if the server uses no OAuth token

	mu     sync.Mutex
	live   *session // nil if there is none, or it is lost
	losses int      // in a row
	lost   time.Time
	why    *engine.Error // the error of the last loss
}

// session returns the session with the server and connects if there is none. It must be released.
func (s *server) session(ctx context.Context) (*session, *engine.Error) {
	if live := s.hold(); live != nil {
		return live, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.client.whole, func() { cancel(errClosed) })()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, interrupted(ctx, s.spec)
	}
	if live := s.hold(); live != nil { // somebody connected meanwhile
		return live, nil
	}
	s.mu.Lock()
	losses, lost, why := s.losses, s.lost, s.why
	s.mu.Unlock()
	if losses >= maxLosses && time.Since(lost) < rest {
		e := engine.Errorf(engine.KindTool, why.Code, "MCP server %q failed %d times in a row and is left alone for %s; the last time: %s", s.spec.Name, losses, rest, why.Message)
		return nil, e.WithHelp("%s", why.Help)
	}
	next, err := s.connect(ctx)
	if err != nil {
		if ctx.Err() == nil && err.Code != diag.ServerSignIn { // a missing sign-in is not the server's fault
			s.failed(err)
		}
		return nil, err
	}
	s.mu.Lock()
	s.live = next
	next.calls++
	s.mu.Unlock()
	if s.client.whole.Err() != nil { // it was closed while connecting
		s.hangUp()
	}
	return next, nil
}

// hold returns the live session and counts one more user.
func (s *server) hold() *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == nil {
		return nil
	}
	select {
	case <-s.live.over:
		s.live = nil
		return nil
	default:
	}
	s.live.calls++
	return s.live
}

// release ends one use of a session. A retired session ends with its last use.
func (s *server) release(x *session) {
	s.mu.Lock()
	x.calls--
	last := x.calls == 0 && s.live != x
	s.mu.Unlock()
	if last {
		x.end()
	}
}

// retire stops new calls over a session, which ends with its last use.
func (s *server) retire(x *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == x {
		s.live = nil
	}
}

// hangUp ends the live session at once.
func (s *server) hangUp() {
	s.mu.Lock()
	x := s.live
	s.live = nil
	s.mu.Unlock()
	if x != nil {
		x.end()
	}
}

// failed counts a loss.
func (s *server) failed(why *engine.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.losses++
	s.lost, s.why = time.Now(), why
}

// well resets the losses: a call was answered.
func (s *server) well() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.losses = 0
}

var errClosed = errors.New("the client was closed")

func interrupted(ctx context.Context, spec *remote.Server) *engine.Error {
	if context.Cause(ctx) == errClosed {
		return clientClosed(spec)
	}
	if context.Cause(ctx) == context.DeadlineExceeded || ctx.Err() == context.DeadlineExceeded {
		return engine.Errorf(engine.KindTimeout, diag.Timeout, "MCP server %q: the time was up", spec.Name)
	}
	return &engine.Error{Kind: engine.KindCancelled, Code: diag.Cancelled, Message: "the call was cancelled", Cause: context.Canceled}
}
